package podlife

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// fsStats is FsStats of k8s.io/kubelet/pkg/apis/stats/v1alpha1.
type fsStats struct {
	AvailableBytes *uint64 `json:"availableBytes"`
	CapacityBytes  *uint64 `json:"capacityBytes"`
	UsedBytes      *uint64 `json:"usedBytes"`
	InodesFree     *uint64 `json:"inodesFree"`
	Inodes         *uint64 `json:"inodes"`
	InodesUsed     *uint64 `json:"inodesUsed"`
}

// memoryStats is MemoryStats there.
type memoryStats struct {
	AvailableBytes  *uint64 `json:"availableBytes"`
	WorkingSetBytes *uint64 `json:"workingSetBytes"`
}

// nodeStats is NodeStats there, as far as the kubelet's eviction manager reads it.
type nodeStats struct {
	Name    string      `json:"nodeName"`
	Memory  memoryStats `json:"memory"`
	FS      fsStats     `json:"fs"`
	Runtime struct {
		ImageFS     fsStats `json:"imageFs"`
		ContainerFS fsStats `json:"containerFs"`
	} `json:"runtime"`
	Limits struct {
		MaxPID    *uint64 `json:"maxpid"`
		Processes *uint64 `json:"curproc"`
	} `json:"rlimit"`
	SystemContainers []struct {
		Name   string      `json:"name"`
		Memory memoryStats `json:"memory"`
	} `json:"systemContainers"`
}

// podStats is PodStats there, as far as the kubelet ranks by it.
type podStats struct {
	Ref struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		UID       string `json:"uid"`
	} `json:"podRef"`
	Memory    memoryStats `json:"memory"`
	Processes struct {
		Count *uint64 `json:"process_count"`
	} `json:"process_stats"`
	Containers []struct {
		Rootfs fsStats `json:"rootfs"`
		Logs   fsStats `json:"logs"`
	} `json:"containers"`
	Volumes []struct {
		fsStats
		PVC *json.RawMessage `json:"pvcRef"`
	} `json:"volume"`
	Ephemeral fsStats `json:"ephemeral-storage"`
}

// podMetrics is PodMetrics of metrics.k8s.io, or a list of them.
type podMetrics struct {
	Kind       string               `json:"kind"`
	Metadata   types.NamespacedName `json:"metadata"`
	Containers []struct {
		Usage corev1.ResourceList `json:"usage"`
	} `json:"containers"`
}

// usageFile is either form, with what tells them apart.
type usageFile struct {
	podMetrics
	APIVersion string       `json:"apiVersion"`
	Items      []podMetrics `json:"items"`
	Pods       *[]podStats  `json:"pods"`
	Node       *nodeStats   `json:"node"`
}

// ReadNodeUsage reads the kubelet's stats/summary, or the PodMetrics of metrics.k8s.io. Errors name
// what the text is instead.
func ReadNodeUsage(raw []byte) (*NodeUsage, error) {
	var f usageFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	metrics := strings.HasPrefix(f.APIVersion, "metrics.k8s.io/")
	switch {
	case f.Node != nil && f.Pods != nil && (f.Kind == "" || f.Kind == "Summary"):
		return summaryUsage(&f)
	case f.Kind == "PodMetrics" && metrics:
		return metricsUsage([]podMetrics{f.podMetrics})
	case f.Kind == "PodMetricsList" && metrics, f.Kind == "List" && len(f.Items) > 0 && f.Items[0].Kind == "PodMetrics":
		return metricsUsage(f.Items)
	case strings.HasPrefix(f.Kind, "NodeMetrics"):
		return nil, fmt.Errorf("a %s has the sums of nodes, and nothing of their pods", f.Kind)
	case f.Kind != "":
		return nil, fmt.Errorf("a %s does not tell what pods use", f.Kind)
	}
	return nil, errors.New("it does not tell what pods use")
}

// summaryUsage takes the pods of a summary.
func summaryUsage(f *usageFile) (*NodeUsage, error) {
	u := &NodeUsage{Summary: true, Node: f.Node.Name, Signals: f.Node.signals(), pods: map[types.NamespacedName]podUsage{}}
	node, image, container := f.Node.FS.CapacityBytes, f.Node.Runtime.ImageFS.CapacityBytes, f.Node.Runtime.ContainerFS.CapacityBytes
	// A filesystem is known by its size: the statistics name no device.
	if node != nil && image != nil && *node != *image {
		u.layout = imageFS
		if container != nil && *container == *node {
			u.layout = splitFS
		}
	}
	for i := range *f.Pods {
		s := &(*f.Pods)[i]
		if s.Ref.Name == "" {
			return nil, fmt.Errorf("pods[%d].podRef.name is missing", i)
		}
		p := podUsage{uid: s.Ref.UID, memory: number(s.Memory.WorkingSetBytes), processes: number(s.Processes.Count)}
		for _, c := range s.Containers {
			p.layers.take(&c.Rootfs)
			p.logs.take(&c.Logs)
		}
		for j := range s.Volumes {
			v := &s.Volumes[j]
			// Of volumes those count that lie on the node's own disk, not claims and not
			// memory, which is a filesystem of another size (helpers.go localVolumeNames).
			if v.PVC == nil && (node == nil || v.CapacityBytes == nil || *v.CapacityBytes == *node) {
				p.volumes.take(&v.fsStats)
			}
		}
		p.whole.take(&s.Ephemeral)
		u.pods[types.NamespacedName{Namespace: s.Ref.Namespace, Name: s.Ref.Name}] = p
	}
	return u, nil
}

// signals are what the eviction manager observes in the statistics (pkg/kubelet/eviction helpers.go
// makeSignalObservations).
func (n *nodeStats) signals() map[string]Observed {
	out := map[string]Observed{}
	see := func(signal string, format resource.Format, available, capacity *int64) {
		if available != nil && capacity != nil {
			out[signal] = Observed{Available: *resource.NewQuantity(max(*available, 0), format), Capacity: *resource.NewQuantity(*capacity, format)}
		}
	}
	memory := func(signal string, m memoryStats) {
		if available, used := number(m.AvailableBytes), number(m.WorkingSetBytes); available != nil && used != nil {
			see(signal, resource.BinarySI, available, new(add(*available, *used)))
		}
	}
	memory(memoryAvailable, n.Memory)
	for _, c := range n.SystemContainers {
		if c.Name == "pods" {
			memory(allocatableAvailable, c.Memory)
		}
	}
	see(nodefsAvailable, resource.BinarySI, number(n.FS.AvailableBytes), number(n.FS.CapacityBytes))
	see(nodefsInodes, resource.DecimalSI, number(n.FS.InodesFree), number(n.FS.Inodes))
	see(imagefsAvailable, resource.BinarySI, number(n.Runtime.ImageFS.AvailableBytes), number(n.Runtime.ImageFS.CapacityBytes))
	see(imagefsInodes, resource.DecimalSI, number(n.Runtime.ImageFS.InodesFree), number(n.Runtime.ImageFS.Inodes))
	if most, now := number(n.Limits.MaxPID), number(n.Limits.Processes); most != nil && now != nil {
		see(pidAvailable, resource.DecimalSI, new(*most-*now), most)
	}
	return out
}

// metricsUsage adds up the memory of each pod's containers.
func metricsUsage(list []podMetrics) (*NodeUsage, error) {
	u := &NodeUsage{pods: map[types.NamespacedName]podUsage{}}
	for i := range list {
		m := &list[i]
		if m.Metadata.Name == "" {
			return nil, fmt.Errorf("items[%d].metadata.name is missing", i)
		}
		p := podUsage{}
		for _, c := range m.Containers {
			if q, ok := c.Usage[corev1.ResourceMemory]; ok {
				sum := add(value(p.memory), max(q.Value(), 0))
				p.memory = &sum
			}
		}
		u.pods[m.Metadata] = p
	}
	return u, nil
}

// take adds what a filesystem's statistics have.
func (f *fsUsage) take(s *fsStats) {
	for _, part := range []struct {
		into **int64
		more *uint64
	}{{&f.bytes, s.UsedBytes}, {&f.inodes, s.InodesUsed}} {
		if n := number(part.more); n != nil {
			sum := add(value(*part.into), *n)
			*part.into = &sum
		}
	}
}

func number(n *uint64) *int64 {
	if n == nil {
		return nil
	}
	return new(int64(min(*n, math.MaxInt64)))
}
