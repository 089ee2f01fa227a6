package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/world"
)

// setRollout is an update of a StatefulSet or a DaemonSet in a world.
type setRollout struct {
	rolled
	q      *RolloutQuestion
	s      *Stage
	f      *world.Fork
	field  string
	raw    json.RawMessage
	object object.Object
	like   *corev1.Pod // by its template
	// first happens once the update has begun; nil: nothing.
	first func(*disruption) error
	u     *world.Update
	stand world.Standing // at the end
}

// runSet is run for a StatefulSet or a DaemonSet.
func (q *RolloutQuestion) runSet(ctx context.Context, s *Stage, f *world.Fork, tells bool) (*rolled, error) {
	r := &setRollout{q: q, s: s, f: f, field: "statefulSet", raw: q.StatefulSet}
	if isNull(r.raw) {
		r.field, r.raw = "daemonSet", q.DaemonSet
	}
	r.remedy = r.remedies
	if err := r.accept(); err != nil {
		return nil, err
	}
	return &r.rolled, r.play(ctx, f, tells)
}

// accept reads the manifest.
func (r *setRollout) accept() (err error) {
	if r.field == "daemonSet" {
		r.object, r.like, err = r.s.Editor.daemonSet(r.f.Base(), r.field, r.raw)
	} else {
		r.object, r.like, err = r.s.Editor.statefulSet(r.f.Base(), r.field, r.raw)
	}
	if set, is := r.object.Value.(*appsv1.StatefulSet); err == nil && is && set.Spec.Replicas != nil && int(*set.Spec.Replicas) > r.s.Bounds.Pods {
		err = decision.Errorf(decision.Invalid, r.field+".spec.replicas", "want %d at most", r.s.Bounds.Pods)
	}
	return err
}

// play has the update happen on a fork, in a world of its own.
func (r *setRollout) play(ctx context.Context, f *world.Fork, tells bool) (err error) {
	if r.d, err = newDisruption(ctx, f, r.q.StartSeconds, r.q.Rates); err != nil {
		return err
	}
	if tells {
		r.d.Tell()
	}
	k := r.object.Key
	if s := r.q.StartSeconds; s != nil {
		r.d.Takes(k.Kind, world.PodName{Namespace: k.Namespace, Name: k.Name}, false, time.Duration(*s)*time.Second)
	}
	r.out = &Rollout{Snapshot: f.Base().ID(), Sets: []RolloutSet{}, Steps: []world.Resized{}, Spread: []RolloutSpread{}}
	r.assumePods()
	own := map[string]bool{}
	waiting, gated := r.d.Waiting()
	for _, w := range slices.Concat(waiting, gated) {
		if w.Pod.Namespace == k.Namespace && world.OwnerOf(w.Pod) == k.Kind+"/"+k.Name {
			own[w.Pod.Name] = true
		}
	}
	r.waitedBefore(k.Namespace, own)
	run := func() error {
		err := r.begin()
		if err == nil && r.first != nil {
			err = r.first(r.d)
		}
		if err == nil {
			err = r.follow(func() bool { return r.u.Done != nil })
		}
		return hotLoop(err)
	}
	if k.Kind == "DaemonSet" {
		err = run()
	} else {
		err = r.spread(ctx, f, r.like, r.where, run)
	}
	if err != nil {
		return err
	}
	return r.report()
}

// begin has the update come.
func (r *setRollout) begin() (err error) {
	refused := ""
	switch of := r.object.Value.(type) {
	case *appsv1.StatefulSet:
		r.out.StatefulSet = &decision.PodRef{Namespace: of.Namespace, Name: of.Name}
		r.out.Strategy = cmp.Or(string(of.Spec.UpdateStrategy.Type), string(appsv1.RollingUpdateStatefulSetStrategyType))
		if u := of.Spec.UpdateStrategy.RollingUpdate; r.out.Strategy == string(appsv1.RollingUpdateStatefulSetStrategyType) {
			if r.out.MaxUnavailable = 1; u != nil && u.Partition != nil {
				r.out.Partition = new(int(*u.Partition))
			}
		}
		r.u, refused, err = r.d.UpdateSet(of, r.like, true)
	case *appsv1.DaemonSet:
		r.out.DaemonSet = &decision.PodRef{Namespace: of.Namespace, Name: of.Name}
		r.out.Strategy = cmp.Or(string(of.Spec.UpdateStrategy.Type), string(appsv1.RollingUpdateDaemonSetStrategyType))
		if r.u, refused, err = r.d.UpdateDaemons(r.object, r.like, false, false); refused != "" { // it comes, with the update
			if _, _, err = r.d.UpdateDaemons(r.object, r.like, true, false); err == nil {
				r.u, refused, err = r.d.UpdateDaemons(r.object, r.like, false, false)
			}
		}
	}
	if err == nil && refused != "" {
		err = errors.New(refused)
	}
	return err
}

// where returns the nodes of the pods that there are and that are not being deleted.
func (r *setRollout) where() (out []string) {
	r.each(r.d.State(), func(p *state.Pod) {
		if !p.Terminating && !p.Terminal {
			out = append(out, p.NodeName)
		}
	})
	return out
}

// each visits the stored pods of the workload.
func (r *setRollout) each(st *state.State, visit func(*state.Pod)) {
	owner := unique.Make(state.Owner{Kind: r.object.Key.Kind, Name: r.object.Key.Name})
	st.EachPod(func(p *state.Pod) {
		if p.Namespace == r.object.Key.Namespace && p.Owner == owner {
			visit(p)
		}
	})
}

// assumePods notes what is assumed of pods, and of how soon one is ready.
func (r *setRollout) assumePods() {
	pods, sick, known := 0, 0, true
	r.each(r.f.Base().State, func(p *state.Pod) {
		pods++
		of, err := r.f.Base().Pod(p.Namespace, p.Name)
		if err != nil || p.NodeName == "" || p.Terminal || p.Terminating {
			return
		}
		if _, took := world.StartSeconds(of); !took {
			known = false
		}
		if !world.IsReady(of) && !world.AssumedReady(of) {
			sick++
		}
	})
	if pods == 0 {
		r.assume("the snapshot has no pods of it: all are new")
	} else {
		r.assume("its template differs from the one that its pods have")
	}
	if sick > 0 {
		r.assume("pods that are not Ready stay so: %d", sick)
	}
	if set, is := r.object.Value.(*appsv1.StatefulSet); is {
		if u := set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.MaxUnavailable != nil && u.MaxUnavailable.String() != "1" {
			r.assume("one pod is replaced at a time: maxUnavailable is behind the gate MaxUnavailableStatefulSet, which is taken to be off")
		}
	}
	switch {
	case r.q.StartSeconds != nil:
	case known && pods > 0:
		r.assume("a pod is ready as long after its bind as the one that it replaces was")
	default:
		r.assume("a pod is ready %d s after its bind where the one that it replaces does not show it: startSeconds tells better", DefaultStart)
	}
}

// report sums the update up.
func (r *setRollout) report() (err error) {
	out := r.out
	if r.stand, err = r.d.Standing(r.u); err != nil {
		return err
	}
	message := r.sum(r.u, map[string]bool{r.u.Kind + "/" + r.u.Name: true})
	out.Replicas, out.Updated = r.stand.Wanted, &r.stand.Updated
	switch {
	case r.u.Kind == "DaemonSet":
		out.Nodes = r.nodes()
		if out.Strategy == string(appsv1.RollingUpdateDaemonSetStrategyType) {
			out.MaxSurge, out.MaxUnavailable = r.stand.Surge, r.stand.Unavailable
		}
	case r.stand.Ordered:
		out.PodManagementPolicy = string(appsv1.OrderedReadyPodManagement)
	default:
		out.PodManagementPolicy = string(appsv1.ParallelPodManagement)
	}
	if out.Outcome == RolloutStuck {
		r.why(message)
	}
	r.digest()
	return nil
}

// why notes why an update is not complete.
func (r *setRollout) why(message string) {
	out := r.out
	onDelete := out.Strategy == string(appsv1.OnDeleteStatefulSetStrategyType)
	if out.Held = r.stand.Held; onDelete && len(out.Held) == 0 && out.Pending == 0 {
		out.Outcome = RolloutOnDelete
		out.Why = fmt.Sprintf("with updateStrategy OnDelete no pod is replaced before it is deleted: %d of %d keep the old template", out.Replicas-*out.Updated, out.Replicas)
		return
	}
	switch {
	case r.hangs(message), len(out.Held) == 0:
	case r.u.Kind == "DaemonSet":
		var list []string
		for _, h := range out.Held[:min(len(out.Held), fewNodes)] {
			list = append(list, h.Node+": "+h.Why)
		}
		out.Why = fmt.Sprintf("nodes lack an available pod (%d: %s), and maxUnavailable is %d", len(out.Held), strings.Join(list, "; "), out.MaxUnavailable)
	case r.stand.Ordered:
		out.Why = out.Held[0].Why + ", and with OrderedReady no other pod is replaced before it is available"
	default:
		out.Why = out.Held[0].Why
	}
}

// fewNodes is how many nodes a text names.
const fewNodes = 3

// nodes lists the nodes on which a pod was replaced or created, in turn.
func (r *setRollout) nodes() []RolloutNode {
	turns := map[string]*RolloutNode{}
	on := map[string]string{} // where a pod without a node is to be
	waiting, _ := r.d.Waiting()
	for _, w := range waiting {
		if w.Pod.Namespace == r.u.Namespace {
			on[w.Pod.Name] = world.TargetOf(w.Pod)
		}
	}
	begins := func(node string, at int64) *RolloutNode {
		n := turns[node]
		if n == nil {
			n = &RolloutNode{Node: node, BeginsAfterSeconds: at}
			turns[node] = n
		}
		n.BeginsAfterSeconds = min(n.BeginsAfterSeconds, at)
		return n
	}
	for _, p := range r.out.Removed {
		if p.Cause == world.CauseUpdate && p.Node != "" {
			begins(p.Node, p.LeavesAfterSeconds)
		}
	}
	for _, c := range r.out.Created {
		if node := cmp.Or(c.Node, on[c.Name]); node != "" {
			n := begins(node, c.CreatedAfterSeconds)
			n.Pod, n.ReadyAfterSeconds = c.Name, c.ReadyAfterSeconds
		}
	}
	list := make([]RolloutNode, 0, len(turns))
	for _, node := range slices.SortedFunc(maps.Keys(turns), func(a, b string) int {
		return cmp.Or(cmp.Compare(turns[a].BeginsAfterSeconds, turns[b].BeginsAfterSeconds), cmp.Compare(a, b))
	}) {
		list = append(list, *turns[node])
	}
	return list
}

// again plays the update anew: by another strategy, or with something that happens once it has
// begun.
func (r *setRollout) again(ctx context.Context, strategy string, first func(*disruption) error) (*setRollout, error) {
	on := &setRollout{q: r.q, s: r.s, f: r.f, field: r.field, raw: r.raw, object: r.object, like: r.like, first: first}
	if strategy != "" {
		var manifest, spec map[string]json.RawMessage
		err := cmp.Or(json.Unmarshal(r.raw, &manifest), json.Unmarshal(manifest["spec"], &spec))
		if err != nil {
			return nil, err
		}
		spec["updateStrategy"] = json.RawMessage(strategy)
		if manifest["spec"], err = json.Marshal(spec); err != nil {
			return nil, err
		}
		if on.raw, err = json.Marshal(manifest); err != nil {
			return nil, err
		}
		if err := on.accept(); err != nil {
			return nil, err
		}
	}
	return on, on.play(ctx, world.NewFork(r.f.Base(), *r.d.quiet()), false)
}

// setRemedy is a change that an update may need: another strategy, or something that happens once
// it has begun.
type setRemedy struct {
	possible                 bool
	strategy                 string
	first                    func(*disruption) error
	change, command, warning string
}

// remedies looks for what would have an update complete, or that of a DaemonSet reach more nodes.
func (r *setRollout) remedies(ctx context.Context) error {
	out, kind := r.out, strings.ToLower(r.u.Kind)
	for _, c := range r.changes() {
		if !c.possible {
			continue
		}
		again, err := r.again(ctx, c.strategy, c.first)
		if err != nil {
			return err
		}
		if again.out.Outcome != RolloutComplete && (r.u.Kind != "DaemonSet" || *again.out.Updated <= *out.Updated) {
			continue
		}
		out.Try = cmp.Or(out.Try, c.change)
		if c.strategy != "" {
			c.command = fmt.Sprintf(`kubectl patch %s %s -n %s -p '{"spec":{"updateStrategy":%s}}'`, kind, r.u.Name, r.u.Namespace, c.strategy)
		}
		out.Remedies = append(out.Remedies, Remedy{For: kind + " " + r.u.Namespace + "/" + r.u.Name, Change: c.change, Command: c.command, Warning: c.warning})
	}
	list, err := r.d.placing(ctx, waitingOf(out, r.u.Namespace), nil)
	out.Remedies = append(out.Remedies, list...)
	return err
}

// changes are what may help, before it is tried.
func (r *setRollout) changes() []setRemedy {
	out, held := r.out, world.Held{}
	if len(out.Held) > 0 {
		held = out.Held[0]
	}
	set, stuck := r.u.Kind == "StatefulSet", out.Outcome == RolloutStuck && out.Strategy != string(appsv1.OnDeleteDaemonSetStrategyType)
	node, err := r.d.Node(held.Node)
	dead := err == nil && !podlife.EndsPods(node)
	one := func(n int) string { return fmt.Sprintf(`{"rollingUpdate":{"maxSurge":0,"maxUnavailable":%d}}`, n) }
	return []setRemedy{
		{
			possible: out.Outcome == RolloutOnDelete, strategy: `{"type":"RollingUpdate"}`,
			change: "spec.updateStrategy.type: RollingUpdate, which replaces the pods in turn",
		},
		{
			possible: set && held.Pod != "", change: "delete pod " + held.Pod + ", which its controller makes again",
			command: fmt.Sprintf("kubectl delete pod %s -n %s", held.Pod, r.u.Namespace),
			first: func(d *disruption) error {
				_, err := d.DeletePod(world.PodName{Namespace: r.u.Namespace, Name: held.Pod})
				return err
			},
		},
		{
			possible: dead, change: "have node " + held.Node + " be out of service, so that what is left of its pods goes",
			command: fmt.Sprintf("kubectl taint nodes %s %s=nodeshutdown:NoExecute", held.Node, corev1.TaintNodeOutOfService),
			warning: "only where the node is certainly off",
			first: func(d *disruption) error {
				return d.TaintNode(held.Node, corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute}, true)
			},
		},
		{
			possible: stuck && !set && out.MaxSurge > 0, strategy: one(1),
			change: "spec.updateStrategy.rollingUpdate: maxSurge 0 and maxUnavailable 1, so that an old pod goes first and leaves its room",
		},
		{
			possible: stuck && !set && out.MaxSurge == 0 && *out.Updated < out.Replicas, strategy: one(len(out.Held) + 1),
			change:  fmt.Sprintf("spec.updateStrategy.rollingUpdate.maxUnavailable: %d, so that the other nodes have their turn", len(out.Held)+1),
			warning: "it holds for later updates too, until it is set back",
		},
	}
}
