package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/world"
)

// rollout is an update of a Deployment in a world.
type rollout struct {
	*world.Deployment
	// pod is of its template, as admitted. sameReplicas takes the replicas that there are, as the
	// manifest has none.
	pod          *corev1.Pod
	sameReplicas bool
	start        *int64 // how long its pods take; nil: as its pods took
	rates        *ClientRates

	rolled
}

// read finds the ReplicaSets of the Deployment and their pods as they are now.
func (r *rollout) read(ctx context.Context, v *revision.View) error {
	r.assumed = []string{}
	sets, foreign, err := r.readSets(ctx, v)
	if err != nil {
		return err
	}
	selector, err := metav1.LabelSelectorAsSelector(r.Spec.Selector)
	if err != nil {
		return err
	}
	guessed := 0
	r.New = &world.ReplicaSet{Namespace: r.Namespace, Name: metav1.GetControllerOfNoCopy(r.pod).Name}
	err = r.d.Follow(r.Namespace, func(name string, l labels.Labels) *world.ReplicaSet {
		switch {
		case foreign[name], !selector.Matches(l):
			return nil
		case sets[name] != nil:
			return sets[name].ReplicaSet
		case name != r.Name+"-"+l.Get(appsv1.DefaultDeploymentUniqueLabelKey):
			return nil
		}
		sets[name] = r.setOf(name, nil) // the snapshot may lack ReplicaSets
		guessed++
		return sets[name].ReplicaSet
	})
	if err != nil {
		return err
	}
	if guessed > 0 {
		r.assume("the snapshot lacks ReplicaSets of its pods, which were told by their names and labels: %d", guessed)
	}
	for _, s := range slices.SortedFunc(maps.Values(sets), func(a, b *replicaSet) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.Name, b.Name))
	}) {
		pods := s.Pods()
		n := 0
		for _, p := range pods {
			if world.Active(p) {
				n++
			}
		}
		if s.wants == nil || r.d.Seconds() > 0 { // an older revision, no ReplicaSet, or it was scaled
			s.Replicas = n
		} else if s.Replicas = int(*s.wants); n != s.Replicas {
			r.assume("ReplicaSet %s wants %d pods and has %d: no missing one is created", s.Name, s.Replicas, n)
		}
		s.Before = s.Replicas
		switch {
		case s.Name == r.New.Name:
			r.New = s.ReplicaSet
		case s.Replicas > 0 || len(pods) > 0:
			r.Old = append(r.Old, s.ReplicaSet)
		}
	}
	r.New.Named = ReplicasOf(r.pod).Pod
	r.limits()
	r.assumePods()
	return nil
}

// replicaSet is a ReplicaSet as it is read.
type replicaSet struct {
	*world.ReplicaSet
	created int64  // in seconds of Unix time
	wants   *int32 // nil: not known
}

// setOf returns a ReplicaSet whose further pods are named after its first one.
func (r *rollout) setOf(name string, wants *int32) *replicaSet {
	s := &world.ReplicaSet{Namespace: r.Namespace, Name: name}
	s.Named = func(i int) *corev1.Pod {
		p := ReplicasOf(s.Like()).Pod(i)
		p.Labels = world.Without(p.Labels, corev1.LabelTopologyZone, corev1.LabelTopologyRegion)
		return p
	}
	return &replicaSet{ReplicaSet: s, wants: wants}
}

// setsPage is how many ReplicaSets are read at once.
const setsPage = 500

// readSets lists the Deployment's own ReplicaSets and the names of the namespace's others.
func (r *rollout) readSets(ctx context.Context, v *revision.View) (sets map[string]*replicaSet, foreign map[string]bool, err error) {
	sets, foreign = map[string]*replicaSet{}, map[string]bool{}
	for after, more := (object.Key{Kind: "ReplicaSet", Namespace: r.Namespace}), true; more; {
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
			if more = more && o.Key.Namespace == r.Namespace; o.Key.Namespace != r.Namespace {
				break
			}
			s := o.Value.(*appsv1.ReplicaSet)
			if owner := metav1.GetControllerOfNoCopy(s); owner == nil || owner.Kind != "Deployment" || owner.Name != r.Name {
				foreign[s.Name] = true
				continue
			}
			set := r.setOf(s.Name, s.Spec.Replicas)
			set.created = s.CreationTimestamp.Unix()
			sets[s.Name] = set
		}
	}
	return sets, foreign, nil
}

func (r *rolled) assume(format string, args ...any) {
	r.assumed = append(r.assumed, fmt.Sprintf(format, args...))
}

// assumePods notes what is assumed of pods, and of how soon one is ready.
func (r *rollout) assumePods() {
	noStatus, sick := 0, 0
	var starts []int64
	for _, s := range r.Old {
		for _, p := range s.Pods() {
			if took, known := world.StartSeconds(p); known {
				starts = append(starts, took)
			}
			switch {
			case !world.Active(p) || p.Spec.NodeName == "":
			case world.AssumedReady(p):
				noStatus++
			case !world.IsReady(p):
				sick++
			}
		}
	}
	switch {
	case len(r.Old) > 0:
		r.assume("its template differs from those of its ReplicaSets, which snapshots do not keep")
	case len(r.New.Pods()) == 0:
		r.assume("the snapshot has no pods of its ReplicaSets: all are new")
	}
	if noStatus > 0 {
		r.assume("pods without conditions are Ready: %d", noStatus)
	}
	if sick > 0 {
		r.assume("pods that are not Ready stay so: %d", sick)
	}
	took := r.d.Starts()
	switch slices.Sort(starts); {
	case r.start != nil:
		took = *r.start
	case len(starts) > 0:
		took = starts[len(starts)/2]
		r.assume("a pod is ready %d s after its bind, the median of its old pods", took)
	default:
		r.assume("a pod is ready %d s after its bind: startSeconds tells better", took)
	}
	r.Took = time.Duration(took) * time.Second
}

// run has the update go on until it is complete, or nothing happens any more.
func (r *rollout) run() error {
	own := map[string]bool{}
	for _, s := range r.Sets() {
		for _, p := range s.Pods() {
			own[p.Name] = true
		}
	}
	r.waitedBefore(r.Namespace, own)
	if err := r.endLeft(); err != nil {
		return err
	}
	busy := 0
	for _, s := range r.Old {
		busy += min(1, s.Replicas)
	}
	if busy > 1 {
		r.assume("the update comes while another one is on its way, with the replicas that this one has")
	}
	if err := r.d.RollOut(r.Deployment); err != nil {
		return err
	}
	return r.follow(r.Complete)
}

// endLeft ends the pods that are being deleted already, each at the end of its grace period.
func (r *rollout) endLeft() error {
	for _, s := range r.Sets() {
		for _, p := range s.Pods() {
			if p.DeletionTimestamp == nil {
				continue
			}
			ends, err := r.d.GraceOn(p.Spec.NodeName, max(0, int64(p.DeletionTimestamp.Sub(r.d.Options().Now).Seconds())))
			if err == nil {
				err = r.d.Leave(p, &world.Left{Cause: world.CauseDeletion}, ends)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// limits takes the replicas of the manifest, or those that there are.
func (r *rollout) limits() {
	replicas := int(*r.Spec.Replicas)
	if r.sameReplicas {
		had := 0
		for _, s := range r.Old {
			had += s.Replicas
		}
		if had > 0 && had != replicas {
			replicas = had
			r.assume("the manifest has no replicas, so that they stay %d", had)
		}
	}
	r.Limit(replicas)
}

// spreadKeys are the labels of nodes that pods are counted by.
func spreadKeys(like *corev1.Pod) []string {
	keys := []string{corev1.LabelTopologyZone, corev1.LabelHostname}
	for _, c := range like.Spec.TopologySpreadConstraints {
		if !slices.Contains(keys, c.TopologyKey) {
			keys = append(keys, c.TopologyKey)
		}
	}
	return keys
}

// where returns the nodes of the active pods.
func (r *rollout) where() (out []string) {
	for _, s := range r.Sets() {
		for _, p := range s.Pods() {
			if world.Active(p) {
				out = append(out, p.Spec.NodeName)
			}
		}
	}
	return out
}

// domains counts pods by a label of their nodes.
func domains(nodes *state.NodeSet, of []string, key string) map[string]int {
	out := map[string]int{}
	for _, name := range of {
		if row := nodes.Row(name); row >= 0 {
			if value, has := nodes.Node(row).Labels[key]; has {
				out[value]++
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
