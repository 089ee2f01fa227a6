package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"berth/internal/decision"
	"berth/internal/world"
)

// Rollout is how a Deployment's update goes. Seconds count from the start.
type Rollout struct {
	Snapshot   string          `json:"snapshot" example:"prod@1042"`
	Deployment decision.PodRef `json:"deployment"`
	// Strategy, Replicas, MaxSurge and MaxUnavailable are those in force, numbers of pods.
	Strategy       string `json:"strategy" enums:"RollingUpdate,Recreate"`
	Replicas       int    `json:"replicas"`
	MaxSurge       int    `json:"maxSurge"`
	MaxUnavailable int    `json:"maxUnavailable"`
	// Outcome is complete; or stuck, where nothing happens any more before it is.
	Outcome string `json:"outcome" enums:"complete,stuck"`
	// Why is what keeps a stuck one, and Try what would help, where it is known.
	Why string `json:"why,omitempty"`
	Try string `json:"try,omitempty"`
	Remedied
	// Seconds is when it is complete, or when the last thing happens.
	Seconds int64 `json:"seconds"`
	// DeadlineExceededAfterSeconds is when the Deployment first reports that it exceeded its
	// progressDeadlineSeconds, which stops nothing.
	DeadlineExceededAfterSeconds *int64 `json:"deadlineExceededAfterSeconds,omitempty"`
	// LeastAvailable is the smallest number of available pods on the way, MostPods the largest
	// number of pods at once, with those that are being deleted.
	LeastAvailable int `json:"leastAvailable"`
	MostPods       int `json:"mostPods"`
	// Sets are the ReplicaSets, the new one last.
	Sets []RolloutSet `json:"sets"`
	// Steps are the changes of their sizes, in order.
	Steps []world.Resized `json:"steps"`
	// Created are the pods that were created for it, Removed those that left, in order.
	Created []*world.Replacement `json:"created"`
	Removed []*world.Left        `json:"removed"`
	// Waited counts created pods that found no node at once, and Pending those that never did.
	Waited  int `json:"waited"`
	Pending int `json:"pending"`
	// Preempted are pods of others that were evicted for it, or for pods that waited before.
	Preempted []*world.Left `json:"preempted,omitempty"`
	// Displaced counts the pods that were evicted for it and find no other node.
	Displaced int `json:"displaced,omitempty"`
	// Others counts pods that waited in the snapshot and got a node meanwhile.
	Others int `json:"others,omitempty"`
	// Spread is where its pods are before and after, by zone, by host, and by the keys of its
	// spread constraints.
	Spread []RolloutSpread `json:"spread"`
	// Assumed is what the snapshot does not show.
	Assumed  []string `json:"assumed"`
	Warnings []string `json:"warnings,omitempty"`
	// Digest is over the steps and over what became of each pod.
	Digest string `json:"digest"`
	Told
	Chanced
} // @name Rollout

// RolloutSet is a ReplicaSet of the Deployment.
type RolloutSet struct {
	Name string `json:"name"`
	New  bool   `json:"new,omitempty"`
	// Before and After are its replicas.
	Before int `json:"before"`
	After  int `json:"after"`
} // @name RolloutSet

// RolloutSpread is how pods are spread over the values of a label of nodes.
type RolloutSpread struct {
	Key string `json:"key" example:"topology.kubernetes.io/zone"`
	// SkewBefore and SkewAfter are how many pods the fullest domain has more than the emptiest one
	// that the new pods may use.
	SkewBefore int `json:"skewBefore"`
	SkewAfter  int `json:"skewAfter"`
	// Domains are listed where they are at most 50; hosts where they have pods.
	Domains []RolloutDomain `json:"domains,omitempty"`
} // @name RolloutSpread

// RolloutDomain counts pods in a domain.
type RolloutDomain struct {
	Domain string `json:"domain"`
	Before int    `json:"before"`
	After  int    `json:"after"`
} // @name RolloutDomain

// Outcomes of a rollout.
const (
	RolloutComplete = "complete"
	RolloutStuck    = "stuck"
)

// RolloutQuestion is how the update to a Deployment goes.
type RolloutQuestion struct {
	// Deployment is the apps/v1 Deployment with its new template.
	Deployment json.RawMessage `json:"deployment" swaggertype:"object"`
	// StartSeconds is how long a pod takes from its bind until it is ready; the median of the
	// Deployment's pods if absent, or 10.
	StartSeconds *int64 `json:"startSeconds,omitempty"`
	// Rates are how fast clients are.
	Rates *ClientRates `json:"rates,omitempty"`
	Telling
	Chancing
}

// Answer implements Question.
func (q *RolloutQuestion) Answer(ctx context.Context, s *Stage) (any, error) {
	if err := q.checkChance(); err != nil {
		return nil, err
	}
	s = q.counting(s)
	r, f, err := q.run(ctx, s, q.Timeline)
	if err != nil {
		return nil, err
	}
	if r.out.Outcome == RolloutStuck {
		if err := r.remedy(ctx, f.Base()); err != nil {
			return nil, err
		}
	}
	r.out.Warnings, r.out.Told = append(r.d.waited(), s.warnings()...), r.d.told()
	r.out.Chanced, err = q.chances(ctx, s, r.out.headline(), func(ctx context.Context, s *Stage) (headline, error) {
		again, _, err := q.run(ctx, s, false)
		if err != nil {
			return nil, err
		}
		return again.out.headline(), nil
	})
	return r.out, err
}

// run has the update happen.
func (q *RolloutQuestion) run(ctx context.Context, s *Stage, tells bool) (*rollout, *world.Fork, error) {
	f, err := s.fork(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := &rollout{start: q.StartSeconds, rates: q.Rates}
	if err := r.accept(s, f.Base(), "deployment", q.Deployment); err != nil {
		return nil, nil, err
	}
	if err := checkNumber("startSeconds", q.StartSeconds, mostSeconds); err != nil {
		return nil, nil, err
	}
	return r, f, r.play(ctx, f, tells)
}

// headline returns the counts that chance may change.
func (r *Rollout) headline() (h headline) {
	h.count("placed", len(r.Created)-r.Pending)
	h.count("pending", r.Pending)
	h.count("preempted", len(r.Preempted))
	h.count("seconds", int(r.Seconds))
	return h
}

// play has the update happen on a fork, in a world of its own.
func (r *rollout) play(ctx context.Context, f *world.Fork, tells bool) (err error) {
	if r.d, err = newDisruption(ctx, f, nil, r.rates); err != nil {
		return err
	}
	if tells {
		r.d.Tell()
	}
	if err := r.read(ctx, f.Base()); err != nil {
		return err
	}
	r.out = &Rollout{
		Snapshot: f.Base().ID(), Strategy: string(r.Spec.Strategy.Type), Removed: []*world.Left{},
		Deployment: decision.PodRef{Namespace: r.Namespace, Name: r.Name},
		Replicas:   r.Replicas, MaxSurge: r.Surge, MaxUnavailable: r.Unavailable,
	}
	rows, err := mayUse(ctx, f, r.pod)
	if err != nil {
		return err
	}
	keys := r.keys()
	before := make([]map[string]int, len(keys))
	for i, key := range keys {
		before[i] = r.domains(key)
	}
	if err := r.run(); err != nil {
		return hotLoop(err)
	}
	for i, key := range keys {
		r.out.Spread = append(r.out.Spread, spreadOf(key, f.Base().State.Nodes(), rows, before[i], r.domains(key)))
	}
	r.report()
	return nil
}

// report sums a rollout up.
func (r *rollout) report() {
	out := r.out
	out.LeastAvailable, out.MostPods, out.DeadlineExceededAfterSeconds = r.LeastAvailable, r.MostPods, r.DeadlineExceeded
	out.Assumed, out.Steps, out.Created = r.assumed, slices.Concat([]world.Resized{}, r.Steps), slices.Concat([]*world.Replacement{}, r.Created)
	own := map[string]bool{}
	for _, s := range r.Sets() {
		out.Sets = append(out.Sets, RolloutSet{s.Name, s == r.New, s.Before, s.Replicas})
		own["ReplicaSet/"+s.Name] = true
	}
	removed := map[string]bool{}
	for _, p := range r.d.Log() {
		switch {
		case p.Cause == world.CausePreemption:
			out.Preempted = append(out.Preempted, p)
			if p.Replacement != nil && p.Replacement.Node == "" {
				out.Displaced++
			}
		case p.Namespace == r.Namespace && own[p.Owner]:
			out.Removed = append(out.Removed, p)
		}
		removed[p.Namespace+"/"+p.Name] = true
	}
	message := ""
	for _, c := range out.Created {
		if c.WaitedFor != "" || c.Node == "" {
			out.Waited++
		}
		if c.Node == "" && !removed[r.Namespace+"/"+c.Name] {
			out.Pending++
			message = cmp.Or(message, c.Message)
		}
	}
	for _, c := range r.others {
		if c.Node != "" {
			out.Others++
		}
	}
	if out.Outcome == RolloutStuck {
		held := slices.IndexFunc(out.Created, func(c *world.Replacement) bool { return c.NotStarted != "" })
		switch {
		case held >= 0:
			c := out.Created[held]
			out.Why = fmt.Sprintf("%s cannot start on %s: %s", c.Name, c.Node, c.NotStarted)
			if out.Strategy == string(appsv1.RollingUpdateDeploymentStrategyType) {
				out.Try = "spec.strategy.type: Recreate, which ends the old pods first and so frees the volume"
			}
		case r.d.Refusal() != "":
			out.Why = "pods of it are not created: " + r.d.Refusal()
		case out.Pending > 0:
			out.Why = fmt.Sprintf("pods of it wait (%d): %s", out.Pending, message)
		case r.out.Strategy == string(appsv1.RecreateDeploymentStrategyType) && r.New.Replicas == 0:
			out.Why = "old pods do not end, and none is created before they are gone"
		default:
			out.Why = "pods that are not ready stay so, and no further one may be taken away"
		}
	}
	s := newSum("berth-rollout-1")
	for _, p := range out.Steps {
		s.add(p.Set, fmt.Sprint(p.AfterSeconds, p.From, p.To))
	}
	for _, c := range out.Created {
		s.add(c.Name, c.Node, fmt.Sprint(c.CreatedAfterSeconds))
	}
	for _, p := range out.Removed {
		s.add(p.Name, fmt.Sprint(p.LeavesAfterSeconds))
	}
	s.add(out.Outcome, fmt.Sprint(out.Seconds))
	out.Digest = s.text()
}
