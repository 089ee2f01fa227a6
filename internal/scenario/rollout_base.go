package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/steps"
	"berth/internal/world"
)

// read finds the ReplicaSets of the Deployment, and their pods.
func (r *rollout) read(ctx context.Context, v *revision.View) error {
	r.steps = steps.Of(ctx)
	sets, foreign, err := r.readSets(ctx, v)
	if err != nil {
		return err
	}
	selector, err := metav1.LabelSelectorAsSelector(r.spec.Selector)
	if err != nil {
		return err
	}
	guessed := 0
	for _, name := range podsOf(v.State, r.namespace, selector) {
		if err := r.steps.Take(100); err != nil {
			return err
		}
		pod, err := v.Pod(name.Namespace, name.Name)
		if err != nil {
			return err
		}
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil || owner.Kind != "ReplicaSet" || foreign[owner.Name] || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		set := sets[owner.Name]
		if set == nil { // the snapshot may lack ReplicaSets
			if owner.Name != r.name+"-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] {
				continue
			}
			set = &replicaSet{name: owner.Name, spec: -1}
			sets[owner.Name] = set
			guessed++
		}
		m := &member{pod: pod, set: set, left: pod.DeletionTimestamp != nil}
		set.pods = append(set.pods, m)
		r.members[name] = m
	}
	if guessed > 0 {
		r.assume("the snapshot lacks ReplicaSets of its pods, which were told by their names and labels: %d", guessed)
	}
	r.fresh = &replicaSet{name: metav1.GetControllerOfNoCopy(r.pod).Name}
	for _, s := range slices.SortedFunc(maps.Values(sets), func(a, b *replicaSet) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
	}) {
		if n := len(s.active()); s.spec < 0 { // an older revision, or no ReplicaSet
			s.spec = n
		} else if n != s.spec {
			r.assume("ReplicaSet %s wants %d pods and has %d: no missing one is created", s.name, s.spec, n)
		}
		s.before = s.spec
		switch {
		case s.name == r.fresh.name:
			r.fresh = s
		case s.spec > 0 || len(s.pods) > 0:
			r.old = append(r.old, s)
		}
	}
	return nil
}

// setsPage is how many ReplicaSets are read at once.
const setsPage = 500

// readSets lists the Deployment's own ReplicaSets and the names of the namespace's others.
func (r *rollout) readSets(ctx context.Context, v *revision.View) (sets map[string]*replicaSet, foreign map[string]bool, err error) {
	sets, foreign = map[string]*replicaSet{}, map[string]bool{}
	for after, more := (object.Key{Kind: "ReplicaSet", Namespace: r.namespace}), true; more; {
		items, further, err := v.List(ctx, "ReplicaSet", after, setsPage)
		if err != nil {
			return nil, nil, err
		}
		more = further
		for _, js := range items {
			o, err := object.FromCanonical("ReplicaSet", js)
			if err != nil {
				return nil, nil, err
			}
			after = o.Key
			if more = more && o.Key.Namespace == r.namespace; o.Key.Namespace != r.namespace {
				break
			}
			s := o.Value.(*appsv1.ReplicaSet)
			if owner := metav1.GetControllerOfNoCopy(s); owner == nil || owner.Kind != "Deployment" || owner.Name != r.name {
				foreign[s.Name] = true
				continue
			}
			set := &replicaSet{name: s.Name, created: s.CreationTimestamp.Unix(), spec: -1}
			if s.Spec.Replicas != nil {
				set.spec = int(*s.Spec.Replicas)
			}
			sets[s.Name] = set
		}
	}
	return sets, foreign, nil
}

// podsOf lists the pods of a namespace that a selector selects, by name.
func podsOf(st *state.State, namespace string, selector labels.Selector) (list []world.PodName) {
	st.EachPod(func(p *state.Pod) {
		if p.Namespace == namespace && selector.Matches(p.Class.Shape.Labels) {
			list = append(list, world.PodName{Namespace: p.Namespace, Name: p.Name})
		}
	})
	slices.SortFunc(list, func(a, b world.PodName) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (r *rollout) assume(format string, args ...any) {
	r.out.Assumed = append(r.out.Assumed, fmt.Sprintf(format, args...))
}

// assumePods notes what is assumed of pods, and of how soon one is ready.
func (r *rollout) assumePods() {
	noStatus, sick := 0, 0
	var starts []int64
	for _, s := range r.old {
		for _, m := range s.pods {
			if took, known := world.StartSeconds(m.pod); known {
				starts = append(starts, took)
			}
			switch {
			case m.left || m.pod.Spec.NodeName == "":
			case world.AssumedReady(m.pod):
				noStatus++
			case !world.IsReady(m.pod):
				sick++
			}
		}
	}
	switch {
	case len(r.old) > 0:
		r.assume("its template differs from those of its ReplicaSets, which snapshots do not keep")
	case len(r.fresh.pods) == 0:
		r.assume("the snapshot has no pods of its ReplicaSets: all are new")
	}
	if noStatus > 0 {
		r.assume("pods without conditions are Ready: %d", noStatus)
	}
	if sick > 0 {
		r.assume("pods that are not Ready stay so: %d", sick)
	}
	switch slices.Sort(starts); {
	case r.start != nil:
		r.took = *r.start
	case len(starts) > 0:
		r.took = starts[len(starts)/2]
		r.assume("a pod is ready %d s after its bind, the median of its old pods", r.took)
	default:
		r.took = DefaultStart
		r.assume("a pod is ready %d s after its bind: startSeconds tells better", r.took)
	}
}

// begin makes ready what is there before the update.
func (r *rollout) begin() error {
	r.limits()
	r.assumePods()
	r.d.OnLeave = func(p *corev1.Pod) {
		if m := r.members[world.NameOf(p)]; m != nil {
			m.left = true
		}
	}
	r.d.OnCreate = func(p *corev1.Pod, rec *world.Replacement) {
		owner := metav1.GetControllerOfNoCopy(p)
		for _, s := range r.sets() {
			if owner != nil && p.Namespace == r.namespace && owner.Name == s.name {
				m := &member{pod: p, set: s, rec: rec}
				s.pods = append(s.pods, m)
				r.members[world.NameOf(p)] = m
				r.out.Created = append(r.out.Created, rec)
			}
		}
	}
	for _, rec := range r.d.Others() {
		if m := r.members[world.PodName{Namespace: rec.Namespace, Name: rec.Name}]; m != nil {
			m.rec = rec
		} else {
			r.others = append(r.others, rec)
		}
	}
	if err := r.endLeft(); err != nil {
		return err
	}
	r.out.LeastAvailable = math.MaxInt
	if err := r.observe(); err != nil {
		return err
	}
	// A change of the replicas comes before that of the template (deployment_controller.go
	// syncDeployment, sync.go isScalingEvent, scale).
	active := slices.DeleteFunc(slices.Clone(r.old), func(s *replicaSet) bool { return s.spec == 0 })
	if len(active) == 1 && active[0].spec != r.replicas && r.fresh.spec == 0 {
		return r.scale(active[0], r.replicas)
	}
	if len(active) > 1 {
		r.assume("the update comes while another one is on its way, with the replicas that this one has")
	}
	return nil
}

// endLeft ends the pods that are being deleted already, each at the end of its grace period.
func (r *rollout) endLeft() error {
	for _, s := range r.sets() {
		for _, m := range s.pods {
			if !m.left {
				continue
			}
			ends, err := r.d.GraceOn(m.pod.Spec.NodeName, max(0, int64(m.pod.DeletionTimestamp.Sub(r.d.Options().Now).Seconds())))
			if err == nil {
				err = r.d.Leave(m.pod, &world.Left{Cause: world.CauseDeletion}, ends)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// limits resolves the strategy's numbers (deployment_util.go ResolveFenceposts, MaxUnavailable).
func (r *rollout) limits() {
	r.replicas = int(*r.spec.Replicas)
	if r.sameReplicas {
		had := 0
		for _, s := range r.old {
			had += s.spec
		}
		if had > 0 && had != r.replicas {
			r.replicas = had
			r.assume("the manifest has no replicas, so that they stay %d", had)
		}
	}
	if u := r.spec.Strategy.RollingUpdate; u != nil {
		r.surge, r.unavailable = scaled(u.MaxSurge, r.replicas, true), scaled(u.MaxUnavailable, r.replicas, false)
		if r.surge == 0 && r.unavailable == 0 {
			r.unavailable = 1
		}
		r.unavailable = min(r.unavailable, r.replicas)
	}
	r.out.Replicas, r.out.MaxSurge, r.out.MaxUnavailable = r.replicas, r.surge, r.unavailable
}

// scaled is a number of pods, or a percentage of them.
func scaled(n *intstr.IntOrString, of int, up bool) int {
	out, err := intstr.GetScaledValueFromIntOrPercent(n, of, up)
	if err != nil {
		return 0 // it was validated
	}
	return out
}

// keys are the labels of nodes that pods are counted by.
func (r *rollout) keys() []string {
	keys := []string{corev1.LabelTopologyZone, corev1.LabelHostname}
	for _, c := range r.pod.Spec.TopologySpreadConstraints {
		if !slices.Contains(keys, c.TopologyKey) {
			keys = append(keys, c.TopologyKey)
		}
	}
	return keys
}

// domains counts the active pods by a label of their nodes.
func (r *rollout) domains(key string) map[string]int {
	nodes, out := r.d.State().Nodes(), map[string]int{}
	for _, s := range r.sets() {
		for _, m := range s.active() {
			if row := nodes.Row(r.nodeOf(m)); row >= 0 {
				if value, has := nodes.Node(row).Labels[key]; has {
					out[value]++
				}
			}
		}
	}
	return out
}

// spreadOf compares where pods are before and after.
func spreadOf(key string, nodes *state.NodeSet, rows state.Bits, before, after map[string]int) RolloutSpread {
	out := RolloutSpread{Key: key}
	domains := map[string]bool{} // may new pods use it
	for row := range rows.All() {
		if value, has := nodes.Node(row).Labels[key]; has {
			domains[value] = true
		}
	}
	skew := func(pods map[string]int) int {
		most, least := 0, math.MaxInt
		for _, n := range pods {
			most = max(most, n)
		}
		for value := range domains {
			least = min(least, pods[value])
		}
		return max(0, most-least)
	}
	out.SkewBefore, out.SkewAfter = skew(before), skew(after)
	for value := range before {
		domains[value] = domains[value] || false
	}
	for value := range after {
		domains[value] = domains[value] || false
	}
	if len(domains) <= maxDomains {
		for _, value := range slices.Sorted(maps.Keys(domains)) {
			if key == corev1.LabelHostname && before[value]+after[value] == 0 {
				continue
			}
			out.Domains = append(out.Domains, RolloutDomain{value, before[value], after[value]})
		}
	}
	return out
}

const maxDomains = 50
