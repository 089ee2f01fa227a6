package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/revision"
	"berth/internal/world"
)

// Request is a scenario: a revision, edits of it, pods that arrive, and the configurations that are
// compared.
type Request struct {
	// Base is a revision of a cluster, or cluster@latest.
	Base     string        `json:"base,omitempty" example:"prod@latest"`
	Edits    *Edits        `json:"edits,omitempty"`
	Arrivals ArrivalSource `json:"arrivals"`
	// Profiles are the configurations, each of which the whole scenario is run under; the server's
	// own if absent.
	Profiles []Configuration `json:"profiles,omitempty"`
	Until    Until           `json:"until,omitzero"`
	// Tries is how many attempts each pod has; 0 or absent: as many as changes may help.
	Tries int `json:"tries,omitempty"`
	// Keep is how much is answered of each attempt: summary (nothing), moves (each pod's node) or
	// decisions (with the digest of each decision).
	Keep string `json:"keep,omitempty" enums:"summary,moves,decisions" default:"summary"`
	// Now is the time that decisions are made at; when the revision was made, if absent.
	Now *time.Time `json:"now,omitempty"`
	// Clock has virtual time go on: preemptions' victims end by their grace periods, pods take a
	// while to start, controllers make others, and Events happen. Pods that wait take part.
	Clock  bool    `json:"clock,omitempty"`
	Events []Event `json:"events,omitempty"`
	// StartSeconds is how long a pod takes until it is ready of which nothing is known; 10 if
	// absent. Rates are the settings of the node lifecycle controller, and how fast clients are.
	StartSeconds *int64     `json:"startSeconds,omitempty"`
	Rates        *LossRates `json:"rates,omitempty"`
	Chancing
}

// ArrivalSource names the pods that arrive: all at once unless they have a time, by priority and
// then in the order of these fields.
type ArrivalSource struct {
	// Pending are the pods of the snapshot that wait, in the order of kube-scheduler's queue.
	Pending bool `json:"pending,omitempty"`
	// Placed takes every placed pod from its node and has it arrive again, by creation: those of
	// DaemonSets and static pods stay.
	Placed bool `json:"placed,omitempty"`
	// Workloads are pods of which there are several.
	Workloads []Workload `json:"workloads,omitempty"`
	// History are the pods of recorded decisions.
	History *History `json:"history,omitempty"`
	// Pods are single pods, with their time.
	Pods []TimedPod `json:"pods,omitempty"`
} // @name SimulationArrivals

// History is the decisions that were recorded in a window: each pod as it was asked about first, in
// the order of the decisions. Pods that the base has on a node do not arrive. Without a base it
// begins at the revision of the first of them.
type History struct {
	// Cluster is that of the base if absent.
	Cluster string    `json:"cluster,omitempty" example:"prod"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"` // exclusive
	left    int       // out, as the base has them
	clock   bool      // pods that wait in the base take part by themselves
	read    bool      // list are the pods already
	list    []world.Arrival
} // @name SimulationHistory

// Workload is a number of equal pods.
type Workload struct {
	// Pod is a v1.Pod, or a workload (Deployment, Job and so on).
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Count is how many; if absent spec.replicas, or of a Job spec.parallelism, at most
	// spec.completions. Of a CronJob it is the pods of one Job.
	Count *int `json:"count,omitempty"`
} // @name SimulationWorkload

// TimedPod is a pod that arrives, and leaves once it has been on its node for a while. Times only
// order what happens.
type TimedPod struct {
	Pod      json.RawMessage  `json:"pod" swaggertype:"object"`
	At       *metav1.Duration `json:"at,omitempty" swaggertype:"string" example:"1m30s"`
	Duration *metav1.Duration `json:"duration,omitempty" swaggertype:"string" example:"2h"`
} // @name SimulationPod

// Configuration is a configuration under a name.
type Configuration struct {
	Name string `json:"name" example:"packed"`
	// Config is a KubeSchedulerConfiguration, as an object or as YAML in a string; the server's own
	// if absent.
	Config json.RawMessage `json:"config,omitempty" swaggertype:"object"`
	// Semantics is the release of Kubernetes to decide as; the scenario's if absent.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
} // @name SimulationProfile

// Until is when a scenario ends.
type Until struct {
	// Idle ends it when no pod waits that a change since its last attempt could help; so it is
	// unless told otherwise.
	Idle bool `json:"idle,omitempty"`
	// Decisions ends it after so many attempts.
	Decisions *int `json:"decisions,omitempty"`
	// Duration ends it after so much time. It needs a clock.
	Duration *metav1.Duration `json:"duration,omitempty" swaggertype:"string"`
} // @name SimulationUntil

// The values of Keep.
const (
	KeepSummary   = "summary"
	KeepMoves     = "moves"
	KeepDecisions = "decisions"
)

// Bounds are what a scenario may take.
type Bounds struct {
	Pods, Attempts, Profiles int
}

// Check refuses what no scenario can be, and fills in defaults.
func (q *Request) Check(b Bounds) error {
	a := &q.Arrivals
	switch q.Keep {
	case "":
		q.Keep = KeepSummary
	case KeepSummary, KeepMoves, KeepDecisions:
	default:
		return decision.Errorf(decision.Malformed, "keep", "want summary, moves or decisions")
	}
	if err := q.checkClock(b); err != nil {
		return err
	}
	switch {
	case q.Until.Duration != nil && !q.Clock:
		return decision.Errorf(decision.Invalid, "until.duration", "time in a scenario is ordinal, attempts take none of it: want idle or decisions, or clock: true beside it")
	case q.Until.Idle && q.Until.Decisions != nil:
		return decision.Errorf(decision.Malformed, "until", "want idle or decisions, not both")
	case q.Until.Decisions != nil && (*q.Until.Decisions < 1 || *q.Until.Decisions > b.Attempts):
		return decision.Errorf(decision.Invalid, "until.decisions", "want a number from 1 to %d", b.Attempts)
	case q.Tries < 0:
		return decision.Errorf(decision.Invalid, "tries", "want a number above 0")
	case a.Pending && a.Placed:
		return decision.Errorf(decision.Malformed, "arrivals.placed", "placed has the pending pods arrive as well: leave pending out")
	case !a.Pending && !a.Placed && len(a.Workloads) == 0 && len(a.Pods) == 0 && a.History == nil && q.Edits == nil && !q.Clock:
		return decision.Errorf(decision.Malformed, "arrivals", "want pending, placed, workloads, history or pods")
	case len(q.Profiles) > b.Profiles:
		return decision.Errorf(decision.Invalid, "profiles", "want at most %d", b.Profiles)
	case q.Chance != nil && len(q.Profiles) > 1:
		return decision.Errorf(decision.Malformed, "chance", "what chance decides is counted under one configuration: leave it out to compare several")
	}
	if err := q.checkChance(); err != nil {
		return err
	}
	if err := a.History.Check(); err != nil {
		return err
	}
	names := map[string]bool{}
	for i, p := range q.Profiles {
		field := fmt.Sprintf("profiles[%d].name", i)
		if p.Name == "" {
			return decision.Errorf(decision.Malformed, field, "a name is needed")
		}
		if names[p.Name] {
			return decision.Errorf(decision.Malformed, field, "%q is there twice", p.Name)
		}
		names[p.Name] = true
	}
	if q.Until.Decisions == nil && !q.Clock {
		q.Until.Decisions = &b.Attempts
	}
	return nil
}

// resolve reads the pods that arrive at a view. Pods that are placed are taken from their nodes in
// the view that it returns.
func (a *ArrivalSource) resolve(ctx context.Context, d *Editor, v *revision.View, o world.Options, most int) (*revision.View, []world.Arrival, error) {
	var out []world.Arrival
	var err error
	tooMany := func(field string) error {
		return decision.Errorf(decision.Invalid, field, "more than %d pods would arrive", most)
	}
	if a.Placed {
		if v, err = unplaced(ctx, v); err != nil {
			return nil, nil, err
		}
	}
	if a.Pending || a.Placed {
		f := world.NewFork(v, o)
		q := f.Queue()
		if len(q.Active)+len(q.Gated) > most {
			return nil, nil, tooMany("arrivals.pending")
		}
		if out, err = f.Pending(ctx); err != nil {
			return nil, nil, err
		}
	}
	if out, err = d.arrive(ctx, v, "arrivals.workloads", a.Workloads, most, out); err != nil {
		return nil, nil, err
	}
	if a.History != nil {
		if out, err = a.History.append(ctx, d, v, out, most, o.Watch); err != nil {
			return nil, nil, err
		}
	}
	if len(out)+len(a.Pods) > most {
		return nil, nil, tooMany("arrivals.pods")
	}
	for i := range a.Pods {
		p, field := &a.Pods[i], fmt.Sprintf("arrivals.pods[%d]", i)
		pod, err := d.Pod(v, field+".pod", p.Pod)
		if err != nil {
			return nil, nil, err
		}
		if pod.Spec.NodeName != "" {
			return nil, nil, decision.Errorf(decision.Invalid, field+".pod.spec.nodeName", "an arrival has no node yet: put a pod on its node with edits.apply")
		}
		at := world.Arrival{Pod: pod}
		if p.At != nil {
			at.At = p.At.Duration
		}
		if p.Duration != nil {
			at.Duration = p.Duration.Duration
		}
		switch {
		case at.At < 0:
			return nil, nil, decision.Errorf(decision.Invalid, field+".at", "want a duration that is not negative, such as 1m30s")
		case p.Duration != nil && at.Duration <= 0:
			return nil, nil, decision.Errorf(decision.Invalid, field+".duration", "want a duration above 0, such as 1m30s; a pod without one stays")
		}
		out = append(out, at)
	}
	return v, out, nil
}

// Check refuses a window that none is; nil is none.
func (h *History) Check() error {
	if h != nil && (h.Since.IsZero() || !h.Since.Before(h.Until)) {
		return decision.Errorf(decision.Malformed, "arrivals.history", "want since and until, a later time")
	}
	return nil
}

// ErrNoLog refuses a history where no decisions are recorded.
var ErrNoLog = decision.Errorf(decision.Invalid, "arrivals.history", "recorded decisions are kept by a server: name one with --server")

// append appends the pods of the history that a view does not have on a node.
func (h *History) append(ctx context.Context, d *Editor, v *revision.View, out []world.Arrival, most int, w *world.Watch) ([]world.Arrival, error) {
	if d.History == nil {
		return nil, ErrNoLog
	}
	if !h.read {
		var err error
		if h.list, err = d.History(ctx, h, most-len(out), func(done int) { w.Progressed("decisions read", done, 0) }); err != nil {
			return out, err
		}
		h.read = true
	}
	h.left = 0
	for _, x := range h.list {
		held := v.State.Pod(x.Pod.Namespace, x.Pod.Name)
		if held != nil && (h.clock || held.NodeName != "" || held.UID != string(x.Pod.UID)) {
			h.left++
			continue
		}
		if x.Pod.Spec.NodeName != "" {
			pod := *x.Pod
			pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
			x.Pod = &pod
		}
		out = append(out, x)
	}
	return out, nil
}

// unplaced returns a view in which placed pods wait for a node: those of DaemonSets and static pods
// are made for their node, and those that have ended or are ending do not come back.
func unplaced(ctx context.Context, v *revision.View) (*revision.View, error) {
	var names []world.PodName
	daemon := daemonsOf(v)
	v.State.EachPod(func(p *state.Pod) {
		if p.Row >= 0 && !p.Terminal && !p.Terminating && !daemon(p) {
			names = append(names, world.PodName{Namespace: p.Namespace, Name: p.Name})
		}
	})
	f := world.NewFork(v, world.Options{})
	for _, n := range names {
		pod, err := f.Pod(n.Namespace, n.Name)
		if err != nil {
			return nil, err
		}
		if world.IsMirror(pod) || world.ControlledBy(pod, "Node") {
			continue
		}
		p := *pod
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{}
		if err := f.Put(ctx, &p); err != nil {
			return nil, err
		}
	}
	return f.View(ctx)
}

// configured is a configuration of a scenario.
type configured struct {
	name     string
	profiles []*engine.Profile
}

// configurations reads those of a scenario: at least one.
func (q *Request) configurations(s *Stage) ([]configured, error) {
	list := make([]configured, 0, len(q.Profiles))
	for i, p := range q.Profiles {
		profiles, err := s.Editor.Configure(fmt.Sprintf("profiles[%d].config", i), &q.Profiles[i])
		if err != nil {
			return nil, err
		}
		list = append(list, configured{p.Name, profiles})
	}
	if len(list) == 0 {
		list = append(list, configured{Today, s.Options.Profiles})
	}
	return list, nil
}
