package blame

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/footprint"
	"berth/internal/engine/preempt"
	"berth/internal/engine/state"
	"berth/internal/jsonscan"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/store"
	"berth/internal/world"
)

// The outcomes that are no decision's: Fits is of a node that takes the pod; the others of a node
// that a revision lacks, and of a pod that cannot be decided on.
const (
	Fits   = "fits"
	absent = "absent"
	failed = "Error"
)

// verdict is what is told about a pod at a revision.
type verdict struct {
	outcome string
	// The rest is worked out for turns: the text of the decision, and whom it evicts where.
	text   string
	node   string
	evicts []engine.Victim
}

// victims distinguishes preemptions.
func (v *verdict) victims() string {
	var b strings.Builder
	b.WriteString(v.node)
	for i := range v.evicts {
		e := &v.evicts[i]
		fmt.Fprintf(&b, " %s/%s %t", e.Namespace, e.Name, e.ViolatesPDB)
	}
	return b.String()
}

// violations counts the victims whose eviction a budget forbids.
func (v *verdict) violations() (n int) {
	for i := range v.evicts {
		if v.evicts[i].ViolatesPDB {
			n++
		}
	}
	return n
}

// judge decides about one pod at one revision after the other.
type judge struct {
	ask     *Ask
	profile *engine.Profile
	walk    *revision.Walk
	key     object.Key
	pod     *corev1.Pod // without a node, and not nominated to one
	ungated bool

	view      *revision.View
	now       time.Time
	held      []byte // the pod at hand, as the revision has it
	nominated string // the node that it is nominated to there
	before    string // nominated at the revision before
	evicted   string // the node of the last preemption; empty: there was none
}

func newJudge(ask *Ask, pod *corev1.Pod) (*judge, error) {
	free := *pod
	free.Spec.NodeName, free.Status.NominatedNodeName = "", ""
	j := &judge{ask: ask, key: object.Key{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, pod: &free}
	if ask.Count > 0 && len(free.Spec.SchedulingGates) > 0 {
		free.Spec.SchedulingGates, j.ungated = nil, true
	}
	var err error
	j.profile, err = decision.ChooseProfile(ask.Profiles, "", pod.Spec.SchedulerName)
	return j, err
}

// to goes to a revision. Its time is that of the decision.
func (j *judge) to(ctx context.Context, head *store.Revision) (*revision.View, error) {
	v, err := j.walk.To(ctx, head.Number)
	if err != nil {
		return nil, err
	}
	if j.view == nil {
		if err := memory.Take(ctx, v.Bytes()+footprint.Decision(v.State, j.pod, j.profile, engine.Options{})); err != nil {
			return nil, err
		}
	}
	j.view, j.now, j.before = v, head.CreatedAt.UTC(), j.nominated
	if js, _ := v.Object(j.key); string(js) != string(j.held) {
		j.held, j.nominated = js, ""
		if text(js, "metadata", "uid") == string(j.pod.UID) && text(js, "spec", "nodeName") == "" {
			j.nominated = text(js, "status", "nominatedNodeName")
		}
	}
	return v, nil
}

func text(js []byte, part, name string) string {
	if v := jsonscan.Member(jsonscan.Member(js, part), name); len(v) > 2 {
		return string(jsonscan.Unquote(v))
	}
	return ""
}

// verdict judges the pod on the walk's state as it is now, in full where it is to be told.
func (j *judge) verdict(ctx context.Context, full bool) (verdict, error) {
	if j.ask.Count > 0 {
		return j.count(ctx)
	}
	v, err := j.decide(ctx, full)
	var bad *decision.Error
	if errors.As(err, &bad) {
		return verdict{outcome: failed, text: bad.Detail}, nil
	}
	return v, err
}

func (j *judge) decide(ctx context.Context, full bool) (v verdict, err error) {
	pod := j.pod
	if j.nominated != "" && j.ask.Node == "" {
		p := *pod
		p.Status.NominatedNodeName, pod = j.nominated, &p
	}
	st := j.view.State
	if pod, _, err = decision.ResolvePriority(st, pod, j.ask.Class); err != nil {
		return v, err
	}
	o := engine.Options{Context: ctx, Now: j.now, NoScores: true, NoPreemption: j.ask.Node != "", EqualsBy: decision.EqualsBy(pod)}
	if still, err := j.stillPreempts(st, pod, o, full); still || err != nil {
		return verdict{outcome: string(engine.Preempting)}, decision.EngineError(ctx, err)
	}
	r, err := j.walk.Decide(st, pod, j.profile, o)
	if err := decision.EngineError(ctx, err); err != nil {
		return v, err
	}
	defer r.Release()
	if j.ask.Node != "" {
		v.outcome, v.text = ofNode(r, j.ask.Node)
		return v, nil
	}
	j.evicted = r.NominatedNode()
	if v.outcome = string(r.Outcome); !full {
		return v, nil
	}
	return v, r.Within(ctx, func() {
		v.text = strings.TrimSuffix(explain.Message(r), " "+r.PostFilter.Text())
		v.node, v.evicts = j.evicted, slices.Clone(preempt.Victims(r))
	})
}

// stillPreempts reports whether evictions on the node of the last preemption would still let a pod
// fit that fits nowhere. That is all there is to a preemption which is not to be told, since nodes
// are tried by themselves, and it spares the search on the others.
func (j *judge) stillPreempts(st *state.State, pod *corev1.Pod, o engine.Options, full bool) (bool, error) {
	if full || j.evicted == "" || pod.Status.NominatedNodeName != "" || st.Nodes().Row(j.evicted) < 0 {
		return false, nil
	}
	o.NoPreemption = true
	r, err := j.walk.Decide(st, pod, j.profile, o)
	if err != nil {
		return false, err
	}
	nowhere := r.Outcome == engine.UnschedulableOK
	if r.Release(); !nowhere {
		return false, nil
	}
	o.NoPreemption, o.Candidates = false, []string{j.evicted}
	if r, err = j.walk.Decide(st, pod, j.profile, o); err != nil {
		return false, err
	}
	defer r.Release()
	return r.Outcome == engine.Preempting, nil
}

// ofNode returns what a decision says about one node: that the pod fits, or the plugin that rejects
// it there, with why.
func ofNode(r *engine.Result, name string) (outcome, text string) {
	row := r.Nodes().Row(name)
	switch {
	case row < 0:
		return absent, ""
	case r.Outcome == engine.Gated && r.HeldBy != "":
		return r.HeldBy, r.HeldBack
	case r.Outcome == engine.Gated:
		return "SchedulingGates", explain.Message(r)
	case r.Feasible.Has(row):
		return Fits, ""
	}
	why := r.RejectionOf(row)
	if why.Plugin == "" {
		return string(engine.UnschedulableOK), strings.Join(why.Reasons, ", ")
	}
	return why.Plugin, strings.Join(why.Reasons, ", ")
}

// count binds copies of the pod one after the other, and takes them back.
func (j *judge) count(ctx context.Context) (v verdict, err error) {
	ctx, free := memory.Within(ctx)
	defer free()
	f := world.ForkOf(j.view, j.walk.Fork(), world.Options{Profiles: j.ask.Profiles, Class: j.ask.Class, Now: j.now, NoPreemption: true})
	f.Mark()
	defer func() { err = errors.Join(err, f.Undo()) }()
	copies, n := scenario.ReplicasOf(j.pod), 0
	for i := 0; n < j.ask.Count; i++ {
		p := copies.Pod(i)
		if j.view.State.Pod(p.Namespace, p.Name) != nil {
			continue // a StatefulSet's pods have such names
		}
		at, err := f.Attempt(ctx, p)
		if err != nil {
			return v, err
		}
		if at.Outcome != engine.Scheduled {
			v.text = at.Message
			break
		}
		n++
	}
	v.outcome = strconv.Itoa(n)
	return v, nil
}
