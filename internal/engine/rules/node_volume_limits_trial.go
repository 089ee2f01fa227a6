package rules

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

var _ engine.Trier[*incoming] = NodeVolumeLimits{}

// Try returns the trial of the rule: it judges a node by the volumes of its pods.
func (l NodeVolumeLimits) Try(q *engine.Query, pod *incoming) engine.Trial {
	return &limitsTrial{q: q, pod: l.or(q, pod), all: q.State.Attachments(l.declared)}
}

// VolumesUntold is the message for a node in a preemption search that has a pod whose volumes
// cannot be resolved. Upstream ends the search with that pod's error.
const VolumesUntold = "the volumes of a pod on the node cannot be told"

// limitsTrial is NodeVolumeLimits on one node. Volumes of pods that were added or removed are in
// touched; all others are read from the columns.
type limitsTrial struct {
	q          *engine.Query
	pod        *incoming
	all        *state.Attachments
	row        int32
	limited    bool
	kind       state.Moved
	on         *brought // to a node of the kind
	held       []int32  // by driver of on
	unresolved int32
	touched    []touched
	volumes    []state.CSIVolume
}

// touched is a volume and how many pods on the row mount it now.
type touched struct{ volume, users int32 }

// Begin starts with the row's counts.
func (t *limitsTrial) Begin(row int32, nominated []*state.Pod) {
	t.row, t.limited, t.touched = row, t.all.Limited().Has(int(row)), t.touched[:0]
	t.unresolved = t.all.Unresolved(row)
	t.kind = t.all.Moved(int(row))
	t.on, t.held = &t.pod[t.kind], t.held[:0]
	for _, d := range t.on.drivers {
		t.held = append(t.held, t.all.Held(d.driver, row))
	}
	for _, p := range nominated {
		t.Move(p, 1)
	}
}

// Move mounts or unmounts a pod's volumes.
func (t *limitsTrial) Move(p *state.Pod, n int32) {
	if !t.limited || p.Volumes == nil {
		return
	}
	volumes, trouble := t.q.AttachedBy(t.volumes[:0], p, t.kind)
	t.volumes = volumes
	if trouble != "" {
		t.unresolved += n
		return
	}
	for _, v := range volumes {
		i := slices.IndexFunc(t.on.drivers, func(d driven) bool { return d.driver == v.Driver })
		if i < 0 {
			continue
		}
		at := t.touch(v.ID)
		before := at.users
		at.users += n
		if (before == 0 || at.users == 0) && !t.all.Known(v.ID, t.row) {
			t.held[i] += n
		}
	}
}

func (t *limitsTrial) touch(volume int32) *touched {
	i := slices.IndexFunc(t.touched, func(o touched) bool { return o.volume == volume })
	if i < 0 {
		i = len(t.touched)
		t.touched = append(t.touched, touched{volume, t.all.Users(volume).At(t.row)})
	}
	return &t.touched[i]
}

func (t *limitsTrial) users(volume int32) int32 {
	for _, o := range t.touched {
		if o.volume == volume {
			return o.users
		}
	}
	return t.all.Users(volume).At(t.row)
}

// AffectedBy reports whether pods of the class mount volumes.
func (t *limitsTrial) AffectedBy(c *state.Class) bool { return c.Mounts }

// Fits reports whether every driver may attach what the pod needs beside what is attached.
func (t *limitsTrial) Fits() bool {
	code, _ := t.verdict()
	return code == engine.Success
}

// Verdict returns the reason against the node.
func (t *limitsTrial) Verdict() (engine.Code, []string) {
	code, reason := t.verdict()
	if code == engine.Success {
		return code, nil
	}
	return code, []string{reason}
}

func (t *limitsTrial) verdict() (engine.Code, string) {
	if v := t.on.verdict; v.code != engine.Success {
		return v.code, v.reason
	}
	for i := range t.on.needs {
		if n := &t.on.needs[i]; !n.rows.Has(int(t.row)) {
			return engine.Unschedulable, n.reason()
		}
	}
	switch {
	case !t.limited || len(t.on.drivers) == 0:
		return engine.Success, ""
	case t.unresolved > 0:
		return engine.Error, VolumesUntold
	}
	for i, d := range t.on.drivers {
		limits := t.all.Limits(d.driver)
		if limits == nil || limits[t.row] < 0 {
			continue
		}
		more := int32(0)
		for _, id := range d.volumes {
			if t.users(id) == 0 {
				more++
			}
		}
		if more > 0 && int64(t.held[i]+more) > limits[t.row] {
			return engine.Unschedulable, ReasonVolumeLimit
		}
	}
	return engine.Success, ""
}
