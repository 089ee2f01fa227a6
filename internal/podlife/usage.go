package podlife

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NodeUsage is what pods use, as their kubelet's stats/summary or the metrics API reports it.
type NodeUsage struct {
	// Node is the one that a summary is of; empty for metrics, which are of any nodes.
	Node string
	// Summary reports whether a kubelet measured it: metrics have memory alone.
	Summary bool
	// Signals are what a summary tells of the node itself, by the kubelet's names of signals.
	Signals map[string]Observed
	layout  layout
	pods    map[types.NamespacedName]podUsage
}

// podUsage is what one pod uses, in parts that a ranking adds up. A nil part was not measured.
type podUsage struct {
	uid                   string
	memory, processes     *int64
	layers, logs, volumes fsUsage // writable layers, logs, and volumes on the node's disk
	whole                 fsUsage // ephemeral-storage, all of them
}

// fsUsage is what a part takes of a filesystem.
type fsUsage struct{ bytes, inodes *int64 }

// layout is how a node's filesystems lie (pkg/kubelet/eviction eviction_manager.go
// HasDedicatedImageFs, and imageContainerSplitFs).
type layout int

const (
	// oneFS has images, writable layers, logs and volumes on one filesystem.
	oneFS layout = iota
	// imageFS has images and writable layers on one of their own.
	imageFS
	// splitFS has images alone on one of their own.
	splitFS
)

// The filesystems whose signals a ranking may be for.
const (
	nodefs      = "nodefs"
	imagefs     = "imagefs"
	containerfs = "containerfs"
)

// SignalNames are what SignalOf reads: the signals of a ranking, and the kubelet's own names.
var SignalNames = []string{
	string(SignalMemory), string(SignalDisk), string(SignalInodes), string(SignalPIDs), memoryAvailable, allocatableAvailable, pidAvailable,
	nodefsAvailable, nodefsInodes, imagefsAvailable, imagefsInodes, "containerfs.available", "containerfs.inodesFree",
}

// SignalOf reads the name of a signal, and which filesystem it is of; empty for none or any.
func SignalOf(name string) (s Signal, fs string, err *field.Error) {
	if !slices.Contains(SignalNames, name) {
		return "", "", field.NotSupported(field.NewPath("signal"), name, SignalNames)
	}
	fs, what, of := strings.Cut(name, ".")
	switch {
	case !of:
		return Signal(name), "", nil
	case name == pidAvailable:
		return SignalPIDs, "", nil
	case what == "inodesFree":
		return SignalInodes, fs, nil
	case fs == nodefs, fs == imagefs, fs == containerfs:
		return SignalDisk, fs, nil
	}
	return SignalMemory, "", nil
}

// Apart reports whether the node's signals of disks rank pods by different parts of their usage,
// so that one has to be named.
func (u *NodeUsage) Apart() bool { return u.layout != oneFS }

// Measures reports whether any pod was measured by what a signal ranks by.
func (u *NodeUsage) Measures(s Signal) bool {
	for _, p := range u.pods {
		if p.measured(s) {
			return true
		}
	}
	return false
}

// measured reports whether the pod has the statistics of a signal.
func (p *podUsage) measured(s Signal) bool {
	switch s {
	case SignalMemory:
		return p.memory != nil
	case SignalPIDs:
		return p.processes != nil
	}
	return slices.ContainsFunc([]fsUsage{p.layers, p.logs, p.volumes, p.whole}, func(f fsUsage) bool { return f.of(s) != nil })
}

func (f fsUsage) of(s Signal) *int64 {
	if s == SignalInodes {
		return f.inodes
	}
	return f.bytes
}

// Of returns what a pod uses of what a signal ranks by: nil without statistics. What a kubelet's
// statistics of a pod do not have counts as 0 (pkg/kubelet/eviction helpers.go memoryUsage,
// processUsage, podDiskUsage, buildSignalToRankFunc). Another pod of the same name, by its UID, has
// none (cachedStatsFunc).
func (u *NodeUsage) Of(s Signal, fs, namespace, name, uid string) corev1.ResourceList {
	p, ok := u.pods[types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok || p.uid != "" && uid != "" && p.uid != uid || !u.Summary && p.memory == nil {
		return nil
	}
	format, n := resource.BinarySI, int64(0)
	switch s {
	case SignalMemory:
		n = value(p.memory)
	case SignalPIDs:
		format, n = resource.DecimalSI, value(p.processes)
	default:
		if s == SignalInodes {
			format = resource.DecimalSI
		}
		n = p.disk(s, fs, u.layout)
	}
	return corev1.ResourceList{s.UsageKey(): *resource.NewQuantity(n, format)}
}

// disk adds up the parts that a filesystem's signal ranks by. Where no part was measured the whole
// stands for them.
func (p *podUsage) disk(s Signal, fs string, l layout) int64 {
	layers, logs, volumes := p.layers.of(s), p.logs.of(s), p.volumes.of(s)
	switch {
	case l != oneFS && fs == imagefs && l == splitFS:
		return 0 // the images of a pod are not its own
	case l == imageFS && (fs == imagefs || fs == containerfs):
		return value(layers)
	case l == imageFS && fs == nodefs:
		return add(value(logs), value(volumes))
	case layers == nil && logs == nil && volumes == nil:
		return value(p.whole.of(s))
	}
	return add(add(value(layers), value(logs)), value(volumes))
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// add returns the sum of two amounts, at most the largest number.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
