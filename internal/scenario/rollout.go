package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/world"
)

// Rollout is how a workload's update goes. Seconds count from the start.
type Rollout struct {
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Deployment, StatefulSet or DaemonSet is the workload: the one of the question.
	Deployment  *decision.PodRef `json:"deployment,omitempty"`
	StatefulSet *decision.PodRef `json:"statefulSet,omitempty"`
	DaemonSet   *decision.PodRef `json:"daemonSet,omitempty"`
	// Strategy, Replicas, MaxSurge and MaxUnavailable are those in force, numbers of pods. Replicas
	// of a DaemonSet are the nodes that should run a pod of it.
	Strategy       string `json:"strategy" enums:"RollingUpdate,Recreate,OnDelete"`
	Replicas       int    `json:"replicas"`
	MaxSurge       int    `json:"maxSurge"`
	MaxUnavailable int    `json:"maxUnavailable"`
	// Partition is of a StatefulSet: as many pods of the lowest ordinals keep the old template.
	Partition *int `json:"partition,omitempty"`
	// PodManagementPolicy is of a StatefulSet.
	PodManagementPolicy string `json:"podManagementPolicy,omitempty" enums:"OrderedReady,Parallel"`
	// Outcome is complete; or stuck, where nothing happens any more before it is; or onDelete,
	// where all is well but pods of the old template stay until they are deleted.
	Outcome string `json:"outcome" enums:"complete,stuck,onDelete"`
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
	// Updated is how many pods of a StatefulSet or a DaemonSet have the new template at the end.
	Updated *int `json:"updated,omitempty"`
	// Held are the pods that the controller of a stuck StatefulSet or DaemonSet waits for at the
	// end: of a StatefulSet one, of a DaemonSet one for each node that lacks an available pod.
	Held []world.Held `json:"held,omitempty"`
	// Nodes are those of a DaemonSet on which a pod was replaced or created, in turn.
	Nodes []RolloutNode `json:"nodes,omitempty"`
	// Sets are the ReplicaSets of a Deployment, the new one last.
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
	// spread constraints; nothing for a DaemonSet.
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

// RolloutNode is how a node gets its pod of a DaemonSet's new template.
type RolloutNode struct {
	Node string `json:"node" example:"worker-7"`
	// Pod is the last one that was created for it; absent where none was.
	Pod string `json:"pod,omitempty"`
	// BeginsAfterSeconds is when its old pod began to end, or the new one was created beside it.
	BeginsAfterSeconds int64 `json:"beginsAfterSeconds"`
	// ReadyAfterSeconds is when the new pod is ready; absent: it never is.
	ReadyAfterSeconds *int64 `json:"readyAfterSeconds,omitempty"`
} // @name RolloutNode

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
	RolloutOnDelete = "onDelete"
)

// RolloutQuestion is how the update to a Deployment, a StatefulSet or a DaemonSet goes: one of the
// three.
type RolloutQuestion struct {
	// Deployment is the apps/v1 Deployment with its new template.
	Deployment json.RawMessage `json:"deployment,omitempty" swaggertype:"object"`
	// StatefulSet is the apps/v1 StatefulSet with its new template. Without replicas it keeps its
	// number of pods.
	StatefulSet json.RawMessage `json:"statefulSet,omitempty" swaggertype:"object"`
	// DaemonSet is the apps/v1 DaemonSet with its new template.
	DaemonSet json.RawMessage `json:"daemonSet,omitempty" swaggertype:"object"`
	// StartSeconds is how long a pod takes from its bind until it is ready; if absent the median of
	// the Deployment's pods, what the pod took that is replaced, or 10.
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
	r, err := q.run(ctx, s, q.Timeline)
	if err != nil {
		return nil, err
	}
	r.out.Warnings, r.out.Told = append(r.d.waited(), s.warnings()...), r.d.told()
	if r.out.Outcome != RolloutComplete {
		if err := r.remedy(ctx); err != nil {
			return nil, err
		}
	}
	r.out.Chanced, err = q.chances(ctx, s, r.out.headline(), func(ctx context.Context, s *Stage) (headline, error) {
		again, err := q.run(ctx, s, false)
		if err != nil {
			return nil, err
		}
		return again.out.headline(), nil
	})
	return r.out, err
}

// rolled is an update that was run.
type rolled struct {
	d       *disruption
	out     *Rollout
	others  []*world.Replacement // pods that waited in the snapshot
	assumed []string
	// remedy looks for what would have it complete.
	remedy func(context.Context) error
}

// run has the update happen.
func (q *RolloutQuestion) run(ctx context.Context, s *Stage, tells bool) (*rolled, error) {
	given := 0
	for _, raw := range []json.RawMessage{q.Deployment, q.StatefulSet, q.DaemonSet} {
		if !isNull(raw) {
			given++
		}
	}
	if given > 1 {
		return nil, decision.Errorf(decision.Malformed, "deployment", "want a deployment, a statefulSet or a daemonSet, and only one of them")
	}
	f, err := s.fork(ctx)
	if err != nil {
		return nil, err
	}
	if given == 1 && isNull(q.Deployment) {
		return q.runSet(ctx, s, f, tells)
	}
	r := &rollout{start: q.StartSeconds, rates: q.Rates}
	if err := r.accept(s, f.Base(), "deployment", q.Deployment); err != nil {
		return nil, err
	}
	if err := checkNumber("startSeconds", q.StartSeconds, mostSeconds); err != nil {
		return nil, err
	}
	r.remedy = func(ctx context.Context) error { return r.remedies(ctx, f.Base()) }
	return &r.rolled, r.play(ctx, f, tells)
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
		Snapshot: f.Base().ID(), Strategy: string(r.Spec.Strategy.Type),
		Deployment: &decision.PodRef{Namespace: r.Namespace, Name: r.Name},
		Replicas:   r.Replicas, MaxSurge: r.Surge, MaxUnavailable: r.Unavailable,
	}
	err = r.spread(ctx, f, r.pod, r.where, func() error { return hotLoop(r.run()) })
	if err != nil {
		return err
	}
	r.report()
	return nil
}

// spread compares where the pods of the workload are before and after a run.
func (r *rolled) spread(ctx context.Context, f *world.Fork, like *corev1.Pod, where func() []string, run func() error) error {
	rows, err := mayUse(ctx, f, like)
	if err != nil {
		return err
	}
	before := where()
	if err := run(); err != nil {
		return err
	}
	after, nodes := where(), r.d.State().Nodes()
	for _, key := range spreadKeys(like) {
		r.out.Spread = append(r.out.Spread, spreadOf(key, f.Base().State.Nodes(), rows, domains(nodes, before, key), domains(nodes, after, key)))
	}
	return nil
}

// follow has the update go on until it is complete, or nothing happens any more.
func (r *rolled) follow(complete func() bool) error {
	for at, ok := r.d.Seconds(), true; ; at, ok = r.d.Next() {
		if !ok {
			r.d.Stalled()
			r.out.Outcome, r.out.Seconds = RolloutStuck, r.d.Seconds()
			return nil
		}
		if err := r.d.Advance(at); err != nil {
			return err
		}
		if complete() {
			r.out.Outcome, r.out.Seconds = RolloutComplete, r.d.Seconds()
			return r.d.Finish()
		}
	}
}

// waitedBefore notes the pods that wait in the snapshot, but for the workload's own.
func (r *rolled) waitedBefore(namespace string, own map[string]bool) {
	for _, rec := range r.d.Others() {
		if rec.Namespace != namespace || !own[rec.Name] {
			r.others = append(r.others, rec)
		}
	}
}

// report sums a rollout up.
func (r *rollout) report() {
	out := r.out
	out.DeadlineExceededAfterSeconds, out.Steps = r.DeadlineExceeded, slices.Concat([]world.Resized{}, r.Steps)
	own := map[string]bool{}
	for _, s := range r.Sets() {
		out.Sets = append(out.Sets, RolloutSet{s.Name, s == r.New, s.Before, s.Replicas})
		own["ReplicaSet/"+s.Name] = true
	}
	message := r.sum(&r.Update, own)
	if out.Outcome == RolloutStuck && !r.hangs(message) {
		switch {
		case r.out.Strategy == string(appsv1.RecreateDeploymentStrategyType) && r.New.Replicas == 0:
			out.Why = "old pods do not end, and none is created before they are gone"
		default:
			out.Why = "pods that are not ready stay so, and no further one may be taken away"
		}
	}
	if out.Outcome == RolloutStuck && out.Strategy == string(appsv1.RollingUpdateDeploymentStrategyType) && slices.ContainsFunc(out.Created, notStarted) {
		out.Try = "spec.strategy.type: Recreate, which ends the old pods first and so frees the volume"
	}
	r.digest()
}

// sum lists and counts the pods of an update, of which own are the controllers, and returns why the
// first one waits that has no node.
func (r *rolled) sum(u *world.Update, own map[string]bool) (message string) {
	out := r.out
	out.LeastAvailable, out.MostPods = u.LeastAvailable, u.MostPods
	out.Assumed, out.Created, out.Removed = slices.Concat([]string{}, r.assumed), slices.Concat([]*world.Replacement{}, u.Created), []*world.Left{}
	left := map[string][]*world.Left{}
	for _, p := range r.d.Log() {
		switch {
		case p.Cause == world.CausePreemption:
			out.Preempted = append(out.Preempted, p)
			if p.Replacement != nil && p.Replacement.Node == "" {
				out.Displaced++
			}
		case p.Namespace == u.Namespace && own[p.Owner]:
			out.Removed = append(out.Removed, p)
		}
		if p.Namespace == u.Namespace {
			left[p.Name] = append(left[p.Name], p)
		}
	}
	for _, c := range out.Created {
		if c.WaitedFor != "" || c.Node == "" {
			out.Waited++
		}
		// A StatefulSet's pod has the name of the one before.
		removed := slices.ContainsFunc(left[c.Name], func(p *world.Left) bool {
			return p.Replacement != c && p.LeavesAfterSeconds >= c.CreatedAfterSeconds
		})
		if c.Node == "" && !removed {
			out.Pending++
			message = cmp.Or(message, c.Message)
		}
	}
	for _, c := range r.others {
		if c.Node != "" {
			out.Others++
		}
	}
	return message
}

func notStarted(c *world.Replacement) bool { return c.NotStarted != "" }

// hangs notes why a stuck update hangs on a pod that was created for it, and reports whether it
// does. message is why the first one waits that has no node.
func (r *rolled) hangs(message string) bool {
	out := r.out
	held := slices.IndexFunc(out.Created, notStarted)
	switch {
	case held >= 0:
		c := out.Created[held]
		out.Why = fmt.Sprintf("%s cannot start on %s: %s", c.Name, c.Node, c.NotStarted)
	case r.d.Refusal() != "":
		out.Why = "pods of it are not created: " + r.d.Refusal()
	case out.Pending > 0:
		out.Why = fmt.Sprintf("pods of it wait (%d): %s", out.Pending, message)
	default:
		return false
	}
	return true
}

// digest is over the steps and over what became of each pod.
func (r *rolled) digest() {
	out, s := r.out, newSum("berth-rollout-1")
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
