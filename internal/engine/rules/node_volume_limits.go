package rules

import (
	"cmp"
	"errors"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// ReasonVolumeLimit is the reason of a node that cannot attach the pod's volumes.
const ReasonVolumeLimit = "node(s) exceed max volume count"

// NodeVolumeLimits rejects nodes that would have to attach more volumes of a CSI driver than their
// CSINode allows. A node without a CSINode, or without a limit for the driver, takes any number.
// Whether the driver runs there is not checked while VolumeLimitScaling is off
// (plugins/nodevolumelimits/csi.go).
type NodeVolumeLimits struct{}

var (
	_ engine.PreFilterer[*incoming] = NodeVolumeLimits{}
	_ engine.Filterer[*incoming]    = NodeVolumeLimits{}
	_ engine.Detailer[*incoming]    = NodeVolumeLimits{}
	_ engine.Local                  = NodeVolumeLimits{}
)

// nodeVolumeLimitsDescriptor is the rule's entry in the registry.
var nodeVolumeLimitsDescriptor = Descriptor{
	Plugin: "NodeVolumeLimits", Phases: []string{phasePreFilter, phaseFilter},
	Judges: "How many volumes of a CSI driver a node can attach according to its CSINode. " +
		"Volumes of the pod, of the pods on the node and of VolumeAttachments count, each once. " +
		"Claims without a volume count for the provisioner of their class. Volumes of in-tree plugins that moved to a CSI driver count for that driver. " +
		"A node without a CSINode, or without a limit for the driver, takes any number.",
	Code: codeUnschedulable + "; " + codeUnresolvable + " for a missing claim", Reasons: []string{ReasonVolumeLimit}, Upstream: "nodevolumelimits/csi.go",
	Details: []*engine.DetailKind{{Name: "volumeLimit", Fields: "name of the CSI driver, requested: volumes that the pod would add, available, capacity: the limit", Cause: volumeLimitCause}},
	build:   always[*incoming](NodeVolumeLimits{}),
}

// Name is the plugin's name.
func (NodeVolumeLimits) Name() string { return "NodeVolumeLimits" }

// Locality returns Anywhere for a pod with claims: they lead to objects that may change at any
// time.
func (NodeVolumeLimits) Locality(q *engine.Query) engine.Locality {
	if attaches(q) {
		return engine.Anywhere
	}
	return engine.NodesOnly
}

// attaches reports whether the pod mounts something that may count.
func attaches(q *engine.Query) bool {
	for i := range q.Pod.Spec.Volumes {
		if state.Attachable(&q.Pod.Spec.Volumes[i]) {
			return true
		}
	}
	return false
}

// PreFilter skips pods without volumes that may count.
func (NodeVolumeLimits) PreFilter(q *engine.Query) (*incoming, engine.PreFilterResult) {
	if !attaches(q) {
		return nil, engine.PreFilterResult{Skip: true}
	}
	return attaching(q), engine.PreFilterResult{}
}

// incoming is what the pod would attach to a node with a CSINode, and to one without.
type incoming struct {
	drivers []driven
	with    verdict
	without verdict
}

// driven is the pod's volumes of one driver.
type driven struct {
	driver  int32
	volumes []int32
}

// verdict is the verdict that follows from the claims alone, for all nodes.
type verdict struct {
	code   engine.Code
	reason string
}

func attaching(q *engine.Query) *incoming {
	in := &incoming{}
	volumes, err := q.Mounted(true)
	in.with = verdictOf(err)
	for _, v := range volumes {
		i := slices.IndexFunc(in.drivers, func(d driven) bool { return d.driver == v.Driver })
		if i < 0 {
			i = len(in.drivers)
			in.drivers = append(in.drivers, driven{driver: v.Driver})
		}
		in.drivers[i].volumes = append(in.drivers[i].volumes, v.ID)
	}
	_, err = q.Mounted(false)
	in.without = verdictOf(err)
	return in
}

// or returns the incoming volumes, worked out here where PreFilter did not run.
func (in *incoming) or(q *engine.Query) *incoming {
	if in != nil {
		return in
	}
	return attaching(q)
}

// verdictOf returns the verdict for volumes that cannot be resolved.
func verdictOf(err error) verdict {
	var missing state.MissingClaimError
	switch {
	case err == nil:
		return verdict{}
	case errors.As(err, &missing):
		return verdict{engine.UnschedulableAndUnresolvable, err.Error()}
	}
	return verdict{engine.Error, err.Error()}
}

// reject rejects rows by the verdict on the claims. ok is false where nothing is left to count.
func (v verdict) reject(rows state.Bits, rej *engine.Rejected) (ok bool, err error) {
	switch {
	case v.code == engine.Success:
		return true, nil
	case v.code == engine.Error && !rows.Empty():
		return false, errors.New(v.reason)
	case v.code != engine.Error:
		rej.Add(v.reason, v.code, rows)
	}
	return false, nil
}

// Filter compares, for each driver, the volumes that a row would have attached with its limit.
func (NodeVolumeLimits) Filter(q *engine.Query, pod *incoming, in state.Bits, rej *engine.Rejected) error {
	pod, a := pod.or(q), q.State.Attachments()
	if pod.with == pod.without && pod.with.code != engine.Success {
		_, err := pod.with.reject(in.Clone(), rej)
		return err
	}
	rows := q.Bits()
	copy(rows, in)
	rows.AndNot(a.HasCSINode())
	if _, err := pod.without.reject(rows, rej); err != nil {
		return err
	}
	rows = q.Bits()
	copy(rows, in)
	rows.And(a.HasCSINode())
	if ok, err := pod.with.reject(rows, rej); err != nil || !ok {
		return err
	}
	rows.And(a.Limited())
	if len(pod.drivers) == 0 || rows.Empty() {
		return nil
	}
	if err := trouble(q, a, rows); err != nil {
		return err
	}
	full := q.Bits()
	for i := range pod.drivers {
		pod.drivers[i].exceeds(q, a, rows, full)
	}
	rej.Add(ReasonVolumeLimit, engine.Unschedulable, full)
	return nil
}

// trouble returns the error of the first pod on the rows whose volumes cannot be resolved.
func trouble(q *engine.Query, a *state.Attachments, rows state.Bits) error {
	var err error
	for row := range rows.All() {
		if err != nil || a.Unresolved(int32(row)) == 0 {
			continue
		}
		for p := range q.State.PodsOn(row).All() {
			if _, text := q.State.AttachedBy(nil, p); text != "" && err == nil {
				err = errors.New(text)
			}
		}
	}
	return err
}

// exceeds adds to full the rows on which the volumes would exceed the driver's limit.
func (d *driven) exceeds(q *engine.Query, a *state.Attachments, rows, full state.Bits) {
	limits := a.Limits(d.driver)
	if limits == nil {
		return
	}
	mounted := q.Counts(q.Nodes.Len())
	for _, id := range d.volumes {
		a.Users(id).Each(func(row, _ int32) { mounted[row]++ })
	}
	for row := range rows.All() {
		more := int32(len(d.volumes)) - mounted[row]
		if limits[row] >= 0 && more > 0 && int64(a.Held(d.driver, int32(row))+more) > limits[row] {
			full.Set(row)
		}
	}
}

// Details counts, for each driver, the volumes that the pod would add, those that the node can
// still attach, and its limit.
func (NodeVolumeLimits) Details(q *engine.Query, pod *incoming, row int) []engine.Detail {
	pod, a := pod.or(q), q.State.Attachments()
	if !a.Limited().Has(row) || pod.with.code != engine.Success {
		return nil
	}
	var out []engine.Detail
	for _, d := range pod.drivers {
		limits := a.Limits(d.driver)
		if limits == nil || limits[row] < 0 {
			continue
		}
		more := int64(0)
		for _, id := range d.volumes {
			if a.Users(id).At(int32(row)) == 0 {
				more++
			}
		}
		limit := limits[row]
		if left := limit - int64(a.Held(d.driver, int32(row))); more > 0 && more > left {
			out = append(out, engine.Detail{Kind: "volumeLimit", Name: q.State.DriverName(d.driver), Requested: &more, Available: &left, Capacity: &limit})
		}
	}
	slices.SortFunc(out, func(a, b engine.Detail) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func volumeLimitCause(d *engine.Detail) engine.Cause {
	c := engine.Cause{Code: engine.CauseVolumeLimitExceeded, About: d.Name}
	if d.Requested != nil && d.Available != nil {
		c.Of, c.Unit, c.Short = "volumes", "count", *d.Requested-*d.Available
	}
	return c
}
