package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// ReasonVolumeLimit is the reason of a node that cannot attach the pod's volumes.
const ReasonVolumeLimit = "node(s) exceed max volume count"

// textDriverMissing is the reason of a node without a CSI driver that has to be there.
const textDriverMissing = "%s CSI driver is not installed on the node"

// NodeVolumeLimits rejects nodes that would have to attach more volumes of a CSI driver than their
// CSINode allows, and nodes without a driver that has to be there. A node without a CSINode, or
// without a limit for the driver, takes any number (plugins/nodevolumelimits/csi.go).
type NodeVolumeLimits struct {
	declared bool // volumes of Portworx count only on nodes that say that it moved
	required func(*storagev1.CSIDriver) bool
}

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
		"A node without a CSINode, or without a limit for the driver, takes any number. " +
		"Where VolumeLimitScaling is on, a node without a driver whose CSIDriver says `preventPodSchedulingIfMissing` is rejected (`x CSI driver is not installed on the node`).",
	Code: codeUnschedulable + "; " + codeUnresolvable + " for a missing claim", Reasons: []string{ReasonVolumeLimit}, Upstream: "nodevolumelimits/csi.go",
	Differs: "Of several drivers that are missing, the first by name is told; upstream tells the first of a Go map.",
	Details: []*engine.DetailKind{
		{Name: "volumeLimit", Fields: "name of the CSI driver, requested: volumes that the pod would add, available, capacity: the limit", Cause: volumeLimitCause, Words: volumeLimitWords, Named: "; mounted by "},
		{
			Name: "driverMissing", Fields: "name of the CSI driver", Named: ": ",
			Cause: func(d *engine.Detail) engine.Cause {
				return engine.Cause{Code: engine.CauseVolumeElsewhere, About: "driver " + d.Name}
			},
			Words: func(d *engine.Detail, _ engine.AmountsFunc) string { return "driver " + d.Name },
		},
	},
	build: func(_ *Args, r *semantics.Release) (*engine.Plugin, error) {
		return engine.Adapt[*incoming](NodeVolumeLimits{r.PortworxDeclared, requiredDrivers(r)}), nil
	},
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

// requiredDrivers returns which drivers have to be on a node that gets their volumes; nil for none
// (plugins/nodevolumelimits/csi.go checkCSIDriverOnNode).
func requiredDrivers(r *semantics.Release) func(*storagev1.CSIDriver) bool {
	switch {
	case !r.VolumeLimitScaling:
		return nil
	case r.EveryDriverRequired:
		return func(*storagev1.CSIDriver) bool { return true }
	}
	return func(d *storagev1.CSIDriver) bool { return ptr.Deref(d.Spec.PreventPodSchedulingIfMissing, false) }
}

// PreFilter skips pods without volumes that may count.
func (l NodeVolumeLimits) PreFilter(q *engine.Query) (*incoming, engine.PreFilterResult) {
	if !attaches(q) {
		return nil, engine.PreFilterResult{Skip: true}
	}
	return l.attaching(q), engine.PreFilterResult{}
}

// incoming is what the pod would attach to a node, by kind of node.
type incoming [state.Moves]brought

// brought is what the pod would attach to a node of one kind.
type brought struct {
	verdict
	drivers []driven
	needs   []needed // by name of the driver
}

// driven is the pod's volumes of one driver.
type driven struct {
	driver  int32
	volumes []int32
}

// needed is a driver that has to be there, and the rows that have it.
type needed struct {
	driver string
	rows   state.Bits
}

func (n *needed) reason() string { return fmt.Sprintf(textDriverMissing, n.driver) }

// verdict is the verdict that follows from the claims alone, for all nodes.
type verdict struct {
	code   engine.Code
	reason string
}

func (l NodeVolumeLimits) attaching(q *engine.Query) *incoming {
	a, in := q.State.Attachments(l.declared), &incoming{}
	for on := range in {
		if on := state.Moved(on); on != state.MovedButPortworx || l.declared {
			in[on] = l.brings(q, a, on)
		}
	}
	return in
}

func (l NodeVolumeLimits) brings(q *engine.Query, a *state.Attachments, on state.Moved) (b brought) {
	volumes, err := q.Mounted(on)
	b.verdict = verdictOf(err)
	for _, v := range volumes {
		i := slices.IndexFunc(b.drivers, func(d driven) bool { return d.driver == v.Driver })
		if i < 0 {
			i = len(b.drivers)
			b.drivers = append(b.drivers, driven{driver: v.Driver})
		}
		b.drivers[i].volumes = append(b.drivers[i].volumes, v.ID)
	}
	if l.required == nil {
		return b
	}
	for _, d := range b.drivers {
		name := q.State.DriverName(d.driver)
		if o := q.State.CSIDriver(name); o != nil && l.required(o) {
			b.needs = append(b.needs, needed{name, q.State.Installed(a, name)})
		}
	}
	slices.SortFunc(b.needs, func(a, b needed) int { return cmp.Compare(a.driver, b.driver) })
	return b
}

// or returns the incoming volumes, worked out here where PreFilter did not run.
func (l NodeVolumeLimits) or(q *engine.Query, in *incoming) *incoming {
	if in != nil {
		return in
	}
	return l.attaching(q)
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
func (l NodeVolumeLimits) Filter(q *engine.Query, pod *incoming, in state.Bits, rej *engine.Rejected) error {
	pod, a := l.or(q, pod), q.State.Attachments(l.declared)
	if v := pod[state.MovedAll].verdict; v == pod[state.MovedNone].verdict && v.code != engine.Success {
		_, err := v.reject(in.Clone(), rej)
		return err
	}
	for on := range pod {
		rows := a.On(state.Moved(on), in)
		if rows.Empty() {
			continue
		}
		if err := pod[on].filter(q, a, state.Moved(on), rows, rej); err != nil {
			return err
		}
	}
	return nil
}

// filter judges rows of one kind.
func (b *brought) filter(q *engine.Query, a *state.Attachments, on state.Moved, rows state.Bits, rej *engine.Rejected) error {
	if ok, err := b.reject(rows, rej); err != nil || !ok {
		return err
	}
	for i := range b.needs {
		n := &b.needs[i]
		out := rows.Clone()
		out.AndNot(n.rows)
		rej.Add(n.reason(), engine.Unschedulable, out)
		rows.And(n.rows)
	}
	rows.And(a.Limited())
	if len(b.drivers) == 0 || rows.Empty() {
		return nil
	}
	if err := trouble(q, a, on, rows); err != nil {
		return err
	}
	full := q.Bits()
	for i := range b.drivers {
		b.drivers[i].exceeds(q, a, rows, full)
	}
	rej.Add(ReasonVolumeLimit, engine.Unschedulable, full)
	return nil
}

// trouble returns the error of the first pod on the rows whose volumes cannot be resolved.
func trouble(q *engine.Query, a *state.Attachments, on state.Moved, rows state.Bits) error {
	var err error
	for row := range rows.All() {
		if err != nil || a.Unresolved(int32(row)) == 0 {
			continue
		}
		for p := range q.State.PodsOn(row).All() {
			if _, text := q.State.AttachedBy(nil, p, on); text != "" && err == nil {
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

// Details names a driver that is missing, or counts for each driver the volumes that the pod would
// add, those that the node can still attach, and its limit.
func (l NodeVolumeLimits) Details(q *engine.Query, pod *incoming, row int) []engine.Detail {
	a := q.State.Attachments(l.declared)
	b := &l.or(q, pod)[a.Moved(row)]
	if b.code != engine.Success {
		return nil
	}
	for _, n := range b.needs {
		if !n.rows.Has(row) {
			return []engine.Detail{{Kind: "driverMissing", Name: n.driver}}
		}
	}
	if !a.Limited().Has(row) {
		return nil
	}
	var out []engine.Detail
	for _, d := range b.drivers {
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

func volumeLimitWords(d *engine.Detail, _ engine.AmountsFunc) string {
	if d.Requested == nil || d.Available == nil || d.Capacity == nil {
		return d.Name
	}
	return fmt.Sprintf("%s: needs %d, %d left of %d volumes", d.Name, *d.Requested, max(0, *d.Available), *d.Capacity)
}
