package report

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
)

// Pending lists the pods that wait for a node, with why each waits and what would
// help it most cheaply.
type Pending struct {
	// Snapshot is the revision that the answer is about.
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Pods are in the order of scheduling, those with gates behind the others.
	Pods []PendingPod `json:"pods"`
	// Unstarted are pods that have a node and wait there for a claim that nothing will bind, by
	// namespace and name.
	Unstarted []UnstartedPod `json:"unstarted,omitempty"`
	Counts    PendingCounts  `json:"counts"`
} // @name Pending

// PendingCounts counts pods of the whole answer, whether or not they are listed.
type PendingCounts struct {
	Nodes  int `json:"nodes"`
	Active int `json:"active"`
	Gated  int `json:"gated"`
	// Elsewhere are the waiting pods of other namespaces, where one was asked for or the caller may
	// not see all.
	Elsewhere int `json:"elsewhere"`
	// Omitted pods are behind the limit and were not judged.
	Omitted int `json:"omitted"`
	// Judged is how many decisions were made: pods that differ only in what no
	// decision reads are judged once.
	Judged int `json:"judged"`
	// WithoutRemedy are those that fit nowhere and for which no changes were tried,
	// because they were tried for many others.
	WithoutRemedy int `json:"withoutRemedy"`
	// Unstarted are pods with a node that cannot start there.
	Unstarted int `json:"unstarted,omitempty"`
} // @name PendingCounts

// PendingPod is a pod that waits.
type PendingPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Priority  int32  `json:"priority"`
	// Since is when the pod was created; absent where the snapshot does not say.
	Since *time.Time `json:"since,omitempty"`
	State State      `json:"state" enums:"pending,gated,nominated" swaggertype:"string"`
	// Position is the place in the list of the pod's state, active or gated, from 1.
	Position int      `json:"position"`
	Gates    []string `json:"gates,omitempty"`
	// Why is one sentence of at most 120 characters.
	Why string `json:"why"`
	// Outcome is that of a decision now, with every pod judged as if it were the
	// next; absent where there is none.
	Outcome engine.Outcome  `json:"outcome,omitempty" enums:"Scheduled,Unschedulable,Gated,Preempting" swaggertype:"string"`
	Reasons []PendingReason `json:"reasons,omitempty"`
	// Cause is the reason that keeps it from a node: what none has that it wants, else what most
	// lack of those that have it.
	Cause string `json:"cause,omitempty" example:"InsufficientCPU"`
	// Remedy is the cheapest of the changes that were tried and help.
	Remedy *Remedy `json:"remedy,omitempty"`
	// Like is the pod that was judged in this one's place, since they are equal.
	Like *decision.PodRef `json:"like,omitempty"`
} // @name PendingPod

// PendingReason counts the nodes that reject a pod for the same reason.
type PendingReason struct {
	Reason string `json:"reason" example:"InsufficientCPU"`
	Nodes  int    `json:"nodes"`
} // @name PendingReason

// Remedy is a change that would help a pod, in short.
type Remedy struct {
	Change  string         `json:"change"`
	Action  suggest.Action `json:"action" enums:"wait,changePod,askPlatform" swaggertype:"string"`
	Fits    int            `json:"fits"`
	Outcome engine.Outcome `json:"outcome" enums:"Scheduled,Preempting" swaggertype:"string"`
} // @name PendingRemedy

// PendingAsk describes which pods are looked at, and how closely.
type PendingAsk struct {
	Namespace string // empty: all
	Limit     int    // pods that are listed; 0: all
	Suggest   bool   // changes are tried
}

// suggested is for how many different pods changes are tried: each takes as long
// as dozens of decisions.
const suggested = 50

// PendingIn lists the pods of a view that wait for the schedulers of a teller,
// whose clusters and log are not asked: decide makes a decision that is not
// recorded.
func PendingIn(ctx context.Context, v *revision.View, t *Reader, ask PendingAsk) (*Pending, error) {
	j := &judge{ctx: ctx, view: v, stories: *t, known: map[string]*PendingPod{}, ask: ask}
	j.stories.Clusters, j.stories.Log = Only(v), Unlogged(t.Log.Decide)
	if err := memory.Take(ctx, record.QueueBytes(v, t.Runs)); err != nil {
		return nil, err
	}
	q := v.State.Queue(t.Runs, func(name string) *schedulingv1.PriorityClass {
		if t.Class == nil {
			return nil
		}
		return t.Class(v.Cluster, name)
	})
	out := &Pending{Snapshot: v.ID(), Pods: []PendingPod{}}
	for _, list := range []struct {
		pods  []state.Queued
		count *int
	}{{q.Active, &out.Counts.Active}, {q.Gated, &out.Counts.Gated}} {
		for i := range list.pods {
			p := &list.pods[i]
			if ask.Namespace != "" && p.Namespace != ask.Namespace || t.Sees != nil && !t.Sees(p.Namespace) {
				out.Counts.Elsewhere++
				continue
			}
			if *list.count++; ask.Limit > 0 && len(out.Pods) >= ask.Limit {
				out.Counts.Omitted++
				continue
			}
			one, err := j.pod(p)
			if err != nil {
				return nil, err
			}
			one.Position = i + 1
			out.Pods = append(out.Pods, *one)
		}
	}
	if err := j.unstarted(out, t.Sees); err != nil {
		return nil, err
	}
	out.Counts.Nodes, out.Counts.Judged, out.Counts.WithoutRemedy = v.State.Nodes().Count(), j.judged, j.without
	return out, nil
}

// pendingBytes is what a listed pod takes in an answer and in its text.
const pendingBytes = 4 << 10

// judge judges pods that differ, and remembers what became of them.
type judge struct {
	ctx             context.Context
	view            *revision.View
	stories         Reader
	ask             PendingAsk
	known           map[string]*PendingPod // by shape
	judged, without int
	tried           int // pods for which changes were tried
}

func (j *judge) pod(p *state.Queued) (*PendingPod, error) {
	out := &PendingPod{Namespace: p.Namespace, Name: p.Name, Priority: p.Priority, Gates: p.Gates}
	if p.Created != 0 {
		at := time.Unix(p.Created, 0).UTC()
		out.Since = &at
	}
	shape, err := j.shape(p.Pod)
	if err != nil {
		return nil, err
	}
	like, ok := j.known[shape]
	need := int64(pendingBytes)
	if !ok {
		need += int64(len(shape))
	}
	if err := memory.Take(j.ctx, need); err != nil {
		return nil, err
	}
	if !ok {
		return out, j.tell(out, shape)
	}
	out.State, out.Why, out.Outcome, out.Reasons, out.Cause, out.Remedy = like.State, like.Why, like.Outcome, like.Reasons, like.Cause, like.Remedy
	out.Like = &decision.PodRef{Namespace: like.Namespace, Name: like.Name}
	if j.ask.Suggest && like.Remedy == nil && j.tried > suggested {
		j.without++
	}
	return out, nil
}

// tell judges a pod by its story.
func (j *judge) tell(out *PendingPod, shape string) error {
	suggest := j.ask.Suggest && j.tried < suggested
	ctx, end := memory.Within(j.ctx)
	defer end()
	st, err := j.stories.Tell(ctx, j.view.Cluster, out.Namespace, out.Name, Ask{Suggest: suggest})
	if err != nil {
		return err
	}
	j.judged++
	j.known[shape] = out
	out.State, out.Why = st.State, st.Summary
	now := st.Now
	if st.AfterGates != nil {
		now = st.AfterGates
	}
	if st.Now != nil {
		out.Outcome = st.Now.Outcome
	}
	if now == nil || now.Outcome == engine.Scheduled {
		return nil
	}
	for i := range now.Groups {
		out.Reasons = addReason(out.Reasons, now.Groups[i].Reason, now.Groups[i].Nodes)
	}
	switch {
	case now.Narrowed != nil:
		out.Cause = now.Narrowed.Cause()
	case len(now.Groups) > 0:
		out.Cause = now.Groups[0].Reason
	}
	switch {
	case suggest:
		j.tried++
	case j.ask.Suggest:
		j.without++
	}
	if len(st.Suggestions) > 0 {
		s := &st.Suggestions[0]
		out.Remedy = &Remedy{s.Change, s.Action, s.Fits, s.Outcome}
	}
	return nil
}

func addReason(list []PendingReason, reason string, nodes int) []PendingReason {
	for i := range list {
		if list[i].Reason == reason {
			list[i].Nodes += nodes
			return list
		}
	}
	return append(list, PendingReason{reason, nodes})
}

// shape is the part of a pod that decisions read. Name, uid and age are no part of
// it, with one exception: the claims of ephemeral volumes bear the pod's name
// (component-helpers/storage/ephemeral VolumeClaimName).
func (j *judge) shape(p *state.Pod) (_ string, err error) {
	js, ok := j.view.Object(object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
	if !ok {
		return "", fmt.Errorf("pod %s/%s is in the state of %s and not among its objects", p.Namespace, p.Name, j.view.ID())
	}
	var pod struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
		Spec     json.RawMessage            `json:"spec"`
		Status   struct {
			Nominated json.RawMessage `json:"nominatedNodeName"`
			Claims    json.RawMessage `json:"resourceClaimStatuses"`
			Extended  json.RawMessage `json:"extendedResourceClaimStatus"`
			Resources json.RawMessage `json:"resources"`
			Main      json.RawMessage `json:"containerStatuses"`
			Init      json.RawMessage `json:"initContainerStatuses"`
		} `json:"status"`
	}
	if err := json.Unmarshal(js, &pod); err != nil {
		return "", fmt.Errorf("pod %s/%s in %s: %w", p.Namespace, p.Name, j.view.ID(), err)
	}
	delete(pod.Metadata, "uid")
	delete(pod.Metadata, "creationTimestamp")
	if js, has := pod.Metadata["annotations"]; has {
		var annotations map[string]string
		if err := json.Unmarshal(js, &annotations); err != nil {
			return "", fmt.Errorf("pod %s/%s in %s: %w", p.Namespace, p.Name, j.view.ID(), err)
		}
		if annotations = state.WithoutOrder(annotations); annotations == nil {
			delete(pod.Metadata, "annotations")
		} else if pod.Metadata["annotations"], err = json.Marshal(annotations); err != nil {
			return "", err
		}
	}
	if !ephemeral(pod.Spec) {
		delete(pod.Metadata, "name")
	}
	shape, err := json.Marshal(pod)
	return string(shape), err
}

func ephemeral(spec json.RawMessage) bool {
	var s struct {
		Volumes []struct {
			Ephemeral json.RawMessage `json:"ephemeral"`
		} `json:"volumes"`
	}
	if json.Unmarshal(spec, &s) != nil {
		return true
	}
	for _, v := range s.Volumes {
		if v.Ephemeral != nil {
			return true
		}
	}
	return false
}
