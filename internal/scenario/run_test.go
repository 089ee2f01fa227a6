package scenario_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/preempt"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/world"
	"berth/test/enginetest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// viewOf makes a view of objects.
func viewOf(t testing.TB, objects ...any) *revision.View {
	t.Helper()
	v, err := revision.Standalone("prod", func(yield func(object.Object) error) (map[string]int, error) {
		seen := map[object.Key]bool{}
		for _, o := range objects {
			made, err := object.Of(o)
			if err != nil {
				return nil, err
			}
			if seen[made.Key] {
				continue
			}
			seen[made.Key] = true
			if err := yield(made); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func profileOf(t testing.TB, spec rules.Spec) []*engine.Profile {
	t.Helper()
	p, err := rules.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return []*engine.Profile{p}
}

// randomCluster is a random case with many pods that wait, drawn from other cases.
func randomCluster(t testing.TB, seed uint64) (*revision.View, []*engine.Profile) {
	c := enginetest.Generate(seed)
	objects := slices.Clone(c.Objects)
	for i := range uint64(12) {
		p := enginetest.Generate(seed*31 + i%4).Pod.DeepCopy() // several of one kind
		p.Name, p.UID = fmt.Sprintf("waits-%02d", i), ""
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{}
		if i%3 == 0 {
			p.Spec.Priority = new(int32)
			*p.Spec.Priority = int32(i * 100)
		}
		objects = append(objects, p)
	}
	return viewOf(t, objects...), profileOf(t, c.Spec)
}

// copied follows a fork by states of its own, each a copy, on which every attempt is made anew.
type copied struct {
	t       *testing.T
	f       *world.Fork
	s       *state.State
	profile *engine.Profile
	names   []string
	counts  map[engine.Outcome]int
}

// follow makes the same attempt by engine.Decide, and carries it out.
func (c *copied) follow(at *world.Attempt, pod *corev1.Pod) {
	c.t.Helper()
	who := pod.Namespace + "/" + pod.Name
	c.names = append(c.names, who)
	c.counts[at.Outcome]++
	asked, _, err := decision.ResolvePriority(c.s, pod, nil)
	if at.Outcome == world.Failed && err != nil {
		return
	}
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := engine.Decide(c.s, asked, c.profile, engine.Options{Now: noon})
	if at.Outcome == world.Failed {
		if err == nil {
			if _, err = r.Effects(); err == nil && len(pod.Spec.SchedulingGates) == 0 {
				c.t.Fatalf("%s failed: %s", who, at.Message)
			}
			r.Release()
		}
		return
	}
	if err != nil {
		c.t.Fatalf("%s: %v", who, err)
	}
	defer r.Release()
	node := r.Node() + r.NominatedNode()
	if r.Outcome != at.Outcome || node != at.Node || digest.Of(r) != at.Digest {
		c.t.Fatalf("%s: %s on %q %s, alone %s on %q %s", who, at.Outcome, at.Node, at.Digest, r.Outcome, node, digest.Of(r))
	}
	e := c.s.Edit()
	put := func(o any) {
		if err := e.Put(o); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, v := range preempt.Victims(r) {
		e.Delete("Pod", v.Namespace, v.Name)
	}
	effects, err := r.Effects()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, x := range effects.Claims {
		x.UID = object.DerivedUID(object.Key{Kind: "ResourceClaim", Namespace: x.Namespace, Name: x.Name})
		put(x)
	}
	for _, x := range effects.Volumes {
		put(x)
	}
	for _, x := range effects.VolumeClaims {
		put(x)
	}
	put(at.Pod)
	prepares := slices.ContainsFunc(preempt.Victims(r), func(v engine.Victim) bool { return !v.Terminating })
	for _, lower := range preempt.ClearedNominations(r) {
		if !prepares {
			break // all victims are being deleted already
		}
		p := c.s.Pod(lower.Namespace, lower.Name)
		after, err := c.f.Pod(lower.Namespace, lower.Name)
		if err != nil || p == nil || p.Nominated != node || after.Status.NominatedNodeName != "" {
			c.t.Fatalf("%s clears the nomination of %s/%s: %v", who, lower.Namespace, lower.Name, err)
		}
		put(after)
	}
	c.s = e.Done()
}

// TestRunEqualsAttemptsAskedAlone is the first equality: every attempt of a run, retries included,
// equals the same question to engine.Decide on a state that was made for it, digests included; and
// a run that counts equal pods without asking again comes to the same end.
func TestRunEqualsAttemptsAskedAlone(t *testing.T) {
	n := uint64(600)
	if testing.Short() {
		n = 150
	}
	total := map[engine.Outcome]int{}
	for seed := range n {
		v, profiles := randomCluster(t, seed)
		f := world.NewFork(v, world.Options{Profiles: profiles, Now: noon, Digests: true})
		arrivals, err := f.Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := &copied{t: t, f: f, s: v.State, profile: profiles[0], counts: total}
		current := map[string]*corev1.Pod{}
		for i := range arrivals {
			current[arrivals[i].Pod.Name] = arrivals[i].Pod
		}
		got, err := f.Run(t.Context(), arrivals, world.Limits{}, func(at *world.Attempt) error {
			before := current[at.Pod.Name]
			if held := c.s.Pod(before.Namespace, before.Name); held != nil && held.Nominated != before.Status.NominatedNodeName {
				p := *before // another one's preemption has cleared it
				p.Status.NominatedNodeName = held.Nominated
				before = &p
			}
			c.follow(at, before)
			current[at.Pod.Name] = at.Pod
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		tried := len(arrivals) - len(got.Gated)
		for i, p := range arrivals[:min(tried, len(c.names))] {
			if who := p.Pod.Namespace + "/" + p.Pod.Name; c.names[i] != who {
				t.Fatalf("seed %d: attempt %d is about %s, the queue has %s", seed, i, c.names[i], who)
			}
		}
		for _, w := range got.Waiting {
			pod, _, err := decision.ResolvePriority(c.s, w.Pod, nil)
			if err != nil {
				continue
			}
			r, err := engine.Decide(c.s, pod, profiles[0], engine.Options{Now: noon})
			if err != nil {
				continue
			}
			if r.Outcome == engine.Scheduled && len(pod.Spec.SchedulingGates) == 0 {
				if _, err := r.Effects(); err == nil {
					t.Errorf("seed %d: pod %s waits at the end and fits on %s", seed, w.Pod.Name, r.Node())
				}
			}
			r.Release()
		}
		quick := world.NewFork(v, world.Options{Profiles: profiles, Now: noon})
		same, err := quick.Run(t.Context(), arrivals, world.Limits{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if same.Placed != got.Placed || same.Attempts != got.Attempts || same.Victims != got.Victims || len(same.Waiting) != len(got.Waiting) {
			t.Errorf("seed %d: without digests %+v, with %+v", seed, same, got)
		}
		for i := range arrivals {
			a, errA := f.Pod(arrivals[i].Pod.Namespace, arrivals[i].Pod.Name)
			b, errB := quick.Pod(arrivals[i].Pod.Namespace, arrivals[i].Pod.Name)
			if errA == nil && errB == nil && a.Spec.NodeName != b.Spec.NodeName {
				t.Errorf("seed %d: %s on %q and %q", seed, a.Name, a.Spec.NodeName, b.Spec.NodeName)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Log(total)
	for _, o := range []engine.Outcome{engine.Scheduled, engine.UnschedulableOK, engine.Preempting} {
		if total[o] < int(n)/4 {
			t.Errorf("%d attempts of %d clusters have outcome %s", total[o], n, o)
		}
	}
}

// TestQueueOrder has pods arrive in the wrong order: priority counts first, then who came or failed
// earlier, in the first pass and in later ones.
func TestQueueOrder(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "1", "memory", "8Gi", "pods", "10")))
	f := world.NewFork(v, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon, NoPreemption: true})
	var arrivals []world.Arrival
	for _, p := range []struct {
		name     string
		priority int32
		cpu      string
	}{{"last", 0, "1"}, {"high", 10, "1"}, {"mid-1", 5, "1"}, {"mid-2", 5, "500m"}} {
		arrivals = append(arrivals, world.Arrival{Pod: enginetest.Pod(p.name, enginetest.Requests("cpu", p.cpu), enginetest.Priority(p.priority)), Duration: time.Minute})
	}
	var order []string
	if _, err := f.Run(t.Context(), arrivals, world.Limits{}, func(at *world.Attempt) error {
		order = append(order, at.Pod.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// high is bound in the first pass; each that leaves lets the others try once more.
	want := []string{"high", "mid-1", "mid-2", "last", "mid-1", "mid-2", "last", "mid-2", "last", "last"}
	if !slices.Equal(order, want) {
		t.Errorf("tried in the order %v, want %v", order, want)
	}
}
