package upgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
)

// Finding are objects that a difference between two releases concerns, whether or not a decision
// shows it today.
type Finding struct {
	// Behaviour is the name of the difference; absent where a version or a field goes.
	Behaviour string `json:"behaviour,omitempty" example:"ImageVolumesRaiseTop"`
	Kind      string `json:"kind" example:"Pod"`
	Message   string `json:"message"`
	Objects   int    `json:"objects"`
	// Sample names up to five, namespace/name.
	Sample []string `json:"sample"`
} // @name UpgradeFinding

const sampleSize = 5

func (f *Finding) add(k object.Key) {
	if f.Objects++; len(f.Sample) < sampleSize {
		name := k.Name
		if k.Namespace != "" {
			name = k.Namespace + "/" + name
		}
		f.Sample = append(f.Sample, name)
	}
}

// check finds the objects of a kind that a row of docs/releases.md concerns.
type check struct {
	row, kind, message string
	// over returns a function that reports whether an object of a view, in JSON, is one of them.
	over func(*revision.View) func(js []byte) (bool, error)
}

// of is a check that needs nothing but the object.
func of[T any](concerns func(*T) bool) func(*revision.View) func([]byte) (bool, error) {
	return func(*revision.View) func([]byte) (bool, error) { return decoded(concerns) }
}

func decoded[T any](concerns func(*T) bool) func([]byte) (bool, error) {
	return func(js []byte) (bool, error) {
		var o T
		if err := json.Unmarshal(js, &o); err != nil {
			return false, err
		}
		return concerns(&o), nil
	}
}

var checks = []check{
	{"Z2", "ResourceClaim", "distinctAttribute: v1.34 always met it, and v1.35 fails pods with it", of(func(c *resourcev1.ResourceClaim) bool {
		return slices.ContainsFunc(c.Spec.Devices.Constraints, func(k resourcev1.DeviceConstraint) bool { return k.DistinctAttribute != nil })
	})},
	{"Z5", "ResourceSlice", "its pool is not complete: until v1.34 its devices are allocated all the same", incomplete},
	{"A2", "Pod", "image volumes: ImageLocality does not count them until v1.35", of(mountsImages)},
	{"A10", "PersistentVolume", "a Portworx volume: until v1.35 it counts as migrated only where its CSINode says so", of(func(v *corev1.PersistentVolume) bool {
		return v.Spec.PortworxVolume != nil
	})},
	{"A11", "Pod", "resources of the whole pod: their status counts from v1.36 on", of(func(p *corev1.Pod) bool { return p.Spec.Resources != nil })},
	{"B3", "Pod", "a term of pod affinity whose namespaceSelector only excludes: until v1.36 it means every namespace", of(onlyExcludes)},
	{"B5", "CSIDriver", "from v1.37 on, nodes without this driver are refused (preventPodSchedulingIfMissing)", of(func(d *storagev1.CSIDriver) bool {
		return d.Spec.PreventPodSchedulingIfMissing != nil && *d.Spec.PreventPodSchedulingIfMissing
	})},
	{"B6", "Pod", "image volumes: from v1.37 on they raise the sum that scores highest", of(mountsImages)},
	{"B9", "Pod", "several disruption budgets select it: until v1.36 a victim counts against all of them, from v1.37 on against the first that is violated", overlapping},
	{"B11", "Pod", "overhead, and a status with allocatedResources: from v1.37 on the overhead counts twice", of(func(p *corev1.Pod) bool {
		return len(p.Spec.Overhead) > 0 && len(p.Status.AllocatedResources) > 0
	})},
	{"B12", "ResourceSlice", "its pool has the name of another driver's: until v1.36 they share counters", namesakes},
	{"B19", "DeviceTaintRule", "from v1.37 on it taints devices", of(func(*metav1.PartialObjectMetadata) bool { return true })},
}

func mountsImages(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Image != nil })
}

func onlyExcludes(p *corev1.Pod) bool {
	if p.Spec.Affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		terms = append(terms, required...)
		for _, t := range preferred {
			terms = append(terms, t.PodAffinityTerm)
		}
	}
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		add(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		add(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool {
		s := t.NamespaceSelector
		return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) > 0 &&
			!slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
				return r.Operator != metav1.LabelSelectorOpNotIn && r.Operator != metav1.LabelSelectorOpDoesNotExist
			})
	})
}

// overlapping finds pods that several budgets select.
func overlapping(v *revision.View) func([]byte) (bool, error) {
	in := map[string][]labels.Selector{}
	v.State.EachBudget(func(b *policyv1.PodDisruptionBudget) {
		if s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil {
			in[b.Namespace] = append(in[b.Namespace], s)
		}
	})
	return decoded(func(p *metav1.PartialObjectMetadata) bool {
		n := 0
		for _, s := range in[p.Namespace] {
			if s.Matches(labels.Set(p.Labels)) {
				n++
			}
		}
		return n > 1
	})
}

// namesakes finds slices of pools that have the name of another driver's, where one has counters.
func namesakes(v *revision.View) func([]byte) (bool, error) {
	type pool struct {
		driver            string
		several, counters bool
	}
	pools := map[string]pool{}
	for _, s := range v.State.ResourceSlices() {
		p := pools[s.Spec.Pool.Name]
		p.several = p.several || p.driver != "" && p.driver != s.Spec.Driver
		p.driver, p.counters = s.Spec.Driver, p.counters || len(s.Spec.SharedCounters) > 0
		pools[s.Spec.Pool.Name] = p
	}
	return decoded(func(s *resourcev1.ResourceSlice) bool {
		p := pools[s.Spec.Pool.Name]
		return p.several && p.counters
	})
}

// incomplete finds slices of pools that have not as many of one generation as they state.
func incomplete(v *revision.View) func([]byte) (bool, error) {
	type generation struct {
		driver, pool string
		n            int64
	}
	of := func(s *resourcev1.ResourceSlice) generation {
		return generation{s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Pool.Generation}
	}
	there := map[generation]int64{}
	for _, s := range v.State.ResourceSlices() {
		there[of(s)]++
	}
	return decoded(func(s *resourcev1.ResourceSlice) bool { return there[of(s)] != s.Spec.Pool.ResourceSliceCount })
}

// objectPage is how many objects are at hand at a time.
const objectPage = 1000

// Objects lists what the differences between two releases concern in a view, those of decisions and
// those of kubelets.
func Objects(ctx context.Context, v *revision.View, differences []*semantics.Behaviour) ([]Finding, error) {
	out := []Finding{}
	for _, c := range slices.Concat(checks, lifeChecks) {
		i := slices.IndexFunc(differences, func(b *semantics.Behaviour) bool { return b.Row == c.row })
		if i < 0 {
			continue
		}
		f := Finding{Behaviour: differences[i].Name, Kind: c.kind, Message: c.message, Sample: []string{}}
		if err := c.all(ctx, v, &f); err != nil {
			return nil, err
		}
		if f.Objects > 0 {
			out = append(out, f)
		}
	}
	return out, nil
}

func (c *check) all(ctx context.Context, v *revision.View, f *Finding) error {
	concerns := c.over(v)
	for at, more := (object.Key{Kind: c.kind}), true; more; {
		var page [][]byte
		var err error
		if page, more, err = v.List(ctx, c.kind, at, objectPage); err != nil {
			return err
		}
		for _, js := range page {
			var m metav1.PartialObjectMetadata
			if err := json.Unmarshal(js, &m); err != nil {
				return fmt.Errorf("a %s of %s: %w", c.kind, v.ID(), err)
			}
			at.Namespace, at.Name = m.Namespace, m.Name
			yes, err := concerns(js)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", at, v.ID(), err)
			}
			if yes {
				f.add(at)
			}
		}
	}
	return nil
}
