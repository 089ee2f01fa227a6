// Package stored is berth's own file of sums, and what component-helpers of a release says about
// the same pods.
package stored

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	upstream "k8s.io/component-helpers/resource"
)

var (
	pods = flag.Int("pods", 20_000, "how many pods to draw")
	seed = flag.Uint64("seed", 1, "of the first pod")
)

// TestSums draws pods and compares every sum that berth makes of them with that of the release's
// own package, to the last digit.
func TestSums(t *testing.T) {
	differ := 0 // sums in which the status counts
	for i := range *pods {
		r := drawer{rand.New(rand.NewPCG(*seed+uint64(i), 0x73756d73))}
		pod := r.pod()
		theirs := func(o upstream.PodResourcesOptions) v1.ResourceList {
			return upstream.PodRequests(pod.DeepCopy(), o) // it may write into a pod with amounts beyond 64 bits
		}
		check := func(what string, got, want v1.ResourceList) {
			t.Helper()
			if !equal(got, want) {
				raw, _ := json.Marshal(pod)
				t.Fatalf("seed %d, %s: %v, by component-helpers %v\n%s", *seed+uint64(i), what, texts(got), texts(want), raw)
			}
		}
		plain := theirs(upstream.PodResourcesOptions{})
		check("containers' requests", ContainerRequests(pod), upstream.AggregateContainerRequests(pod, upstream.PodResourcesOptions{}))
		check("containers' limits", ContainerLimits(pod), upstream.AggregateContainerLimits(pod, upstream.PodResourcesOptions{}))
		if HasPodRequests(pod) != upstream.IsPodLevelRequestsSet(pod) || HasPodResources(pod) != upstream.IsPodLevelResourcesSet(pod) {
			t.Fatalf("seed %d: pod-level requests %t, resources %t", *seed+uint64(i), HasPodRequests(pod), HasPodResources(pod))
		}
		missing := r.some(v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("200Mi")})
		for _, s := range []Sum{
			{},
			{Missing: missing},
			{ContainersOnly: true, Missing: missing},
			{Counting: Counting{Status: true}},
			{Counting: Counting{Status: true, PodStatus: true}},
			{Counting: Counting{Status: true}, Missing: missing},
			{Counting: Counting{Status: true, PodStatus: true}, Missing: missing},
			{Counting: Counting{Status: true, PodStatus: true}, ContainersOnly: true},
		} {
			s.ByPod = byPod
			want := theirs(upstream.PodResourcesOptions{
				UseStatusResources: s.Status, InPlacePodLevelResourcesVerticalScalingEnabled: s.PodStatus,
				NonMissingContainerRequests: s.Missing, SkipPodLevelResources: s.ContainersOnly,
			})
			check("sum", s.Of(pod), want)
			if len(s.Missing) == 0 && !s.ContainersOnly && !equal(want, plain) {
				differ++
				if !HasResizes(pod) {
					t.Fatalf("seed %d: a status counts that HasResizes does not tell of", *seed+uint64(i))
				}
			}
		}
		check("sum, after all others", Sum{}.Of(pod), plain)
	}
	if *pods >= 10_000 && differ < *pods {
		t.Errorf("of %d sums only %d differ by the status: the pods try too little", 2**pods, differ)
	}
}

func equal(a, b v1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, q := range a {
		other, ok := b[name]
		if !ok || q.Cmp(other) != 0 || q.Value() != other.Value() || q.MilliValue() != other.MilliValue() {
			return false
		}
	}
	return true
}

func texts(list v1.ResourceList) map[v1.ResourceName]string {
	out := map[v1.ResourceName]string{}
	for name, q := range list {
		out[name] = q.String()
	}
	return out
}

// drawer draws pods.
type drawer struct{ *rand.Rand }

func (r drawer) chance(percent int) bool { return r.IntN(100) < percent }

var names = []v1.ResourceName{
	v1.ResourceCPU, v1.ResourceCPU, v1.ResourceMemory, v1.ResourceMemory, v1.ResourceEphemeralStorage, "hugepages-2Mi", "example.com/gpu",
}

// quantities are some that carry, round, overflow 64 bits or are zero.
var quantities = []string{"0", "1m", "100m", "250m", "1", "2", "0.5", "1500u", "3n", "1Gi", "256Mi", "9e18", "9223372036854775807", "1e21", "1.5Ei", "0.1Ki"}

func (r drawer) amounts() v1.ResourceList {
	switch {
	case r.chance(10):
		return nil
	case r.chance(5):
		return v1.ResourceList{}
	}
	out := v1.ResourceList{}
	for range 1 + r.IntN(4) {
		text := quantities[r.IntN(len(quantities))]
		if r.chance(80) {
			text = quantities[r.IntN(7)]
		}
		out[names[r.IntN(len(names))]] = resource.MustParse(text)
	}
	return out
}

// some leaves out resources of a list.
func (r drawer) some(list v1.ResourceList) v1.ResourceList {
	for name := range list {
		if r.chance(25) {
			delete(list, name)
		}
	}
	return list
}

func (r drawer) requirements() *v1.ResourceRequirements {
	out := &v1.ResourceRequirements{}
	if r.chance(85) {
		out.Requests = r.amounts()
	}
	if r.chance(40) {
		out.Limits = r.amounts()
	}
	return out
}

// pod draws a pod: containers, sidecars and plain init containers in any order, statuses of most of
// them and of others, and what a node says of its resize.
func (r drawer) pod() *v1.Pod {
	p := &v1.Pod{}
	always, never := v1.ContainerRestartPolicyAlways, v1.ContainerRestartPolicyNever
	container := func(name string) v1.Container { return v1.Container{Name: name, Resources: *r.requirements()} }
	for i := range 1 + r.IntN(3) {
		p.Spec.Containers = append(p.Spec.Containers, container([]string{"a", "b", "c"}[i]))
	}
	for i := range r.IntN(4) {
		c := container([]string{"x", "y", "z"}[i])
		switch r.IntN(4) {
		case 0, 1:
			c.RestartPolicy = &always
		case 2:
			c.RestartPolicy = &never
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if r.chance(30) {
		p.Spec.Overhead = r.amounts()
	}
	if r.chance(40) {
		p.Spec.Resources = r.requirements()
	}
	if r.chance(70) {
		status := func(list *[]v1.ContainerStatus, named ...string) {
			for _, name := range named {
				if r.chance(20) {
					continue
				}
				s := v1.ContainerStatus{Name: name}
				if r.chance(70) {
					s.Resources = r.requirements()
				}
				if r.chance(60) {
					s.AllocatedResources = r.amounts()
				}
				*list = append(*list, s)
			}
		}
		status(&p.Status.ContainerStatuses, "a", "b", "c")
		status(&p.Status.InitContainerStatuses, "x", "y", "z")
		if r.chance(5) {
			status(&p.Status.ContainerStatuses, "b", "x")
		}
		if r.chance(5) {
			status(&p.Status.InitContainerStatuses, "a", "y")
		}
	}
	if r.chance(40) {
		p.Status.Resources = r.requirements()
	}
	if r.chance(40) {
		p.Status.AllocatedResources = r.amounts()
	}
	for range r.IntN(3) {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
			Type:   []v1.PodConditionType{v1.PodResizePending, v1.PodResizePending, v1.PodResizeInProgress, v1.PodReady}[r.IntN(4)],
			Reason: []string{v1.PodReasonInfeasible, v1.PodReasonInfeasible, v1.PodReasonDeferred, ""}[r.IntN(4)],
		})
	}
	if r.chance(10) { // what a list shares with another must not be written through
		p.Spec.Containers[0].Resources.Requests = p.Spec.Overhead
	}
	return p
}

// TestNothingIsShared: a sum is a list of its own.
func TestNothingIsShared(t *testing.T) {
	for i := range 2000 {
		pod := drawer{rand.New(rand.NewPCG(uint64(i), 1))}.pod()
		before := pod.DeepCopy()
		sum := Sum{Counting: Counting{Status: true, ByPod: byPod, PodStatus: true}}.Of(pod)
		for name, q := range sum {
			q.Add(resource.MustParse("1e22"))
			sum[name] = q
		}
		if !reflect.DeepEqual(texts(Sum{}.Of(pod)), texts(Sum{}.Of(before))) {
			t.Fatalf("seed %d: a sum is written into the pod", i)
		}
	}
}
