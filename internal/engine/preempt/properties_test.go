package preempt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// eachPreemption goes through random cases in which preemption finds a node.
func eachPreemption(t *testing.T, f func(seed uint64, c *enginetest.Case, s *state.State, d *engine.Decision)) {
	t.Helper()
	from, to := enginetest.Seeds(t, 600)
	found := 0
	for seed := from; seed < to; seed++ {
		c := enginetest.Crowded(seed)
		s := enginetest.Fresh(t, c.Objects...)
		d, err := c.DecideOn(s)
		if err != nil || d.Outcome != engine.Preempting {
			continue
		}
		found++
		f(seed, c, s, d)
	}
	if to-from >= 600 && found < 150 {
		t.Errorf("preemption found a node in %d of %d cases", found, to-from)
	}
}

func TestNobodyOfEqualOrHigherPriorityGoes(t *testing.T) {
	t.Parallel()
	eachPreemption(t, func(seed uint64, _ *enginetest.Case, s *state.State, d *engine.Decision) {
		for _, c := range d.Preemption.Candidates {
			for i, v := range c.Victims {
				p := s.Pod(v.Namespace, v.Name)
				if v.Priority >= d.Priority || s.PriorityOf(p) != v.Priority || p.NodeName != c.Node {
					t.Errorf("seed %d: %+v of %s goes for a pod of priority %d", seed, v, p.NodeName, d.Priority)
				}
				if i > 0 && v.Priority > c.Victims[i-1].Priority {
					t.Errorf("seed %d: victims of %s are not in order of priority: %+v", seed, c.Node, c.Victims)
				}
			}
			if len(c.Victims) == 0 {
				t.Errorf("seed %d: %s is a candidate without victims", seed, c.Node)
			}
		}
	})
}

// simple reports whether removing pods in a trial equals their absence: upstream's counts of
// topology spread subtract a leaving pod that was never counted (a terminating one), and its set of
// host ports forgets a port that two pods hold. The dry run does the same, so on such nodes it may
// differ from a cluster without the pods.
func simple(c *enginetest.Case) bool {
	if len(c.Pod.Spec.TopologySpreadConstraints) > 0 || len(c.Spec.Args.PodTopologySpread.Constraints) > 0 {
		return false
	}
	for _, o := range c.Objects {
		// Upstream counts one user for each claim in use, so that one victim may be
		// taken for all of them.
		if claim, ok := o.(*corev1.PersistentVolumeClaim); ok && slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) && mounts(c.Pod, claim.Name) {
			return false
		}
		p, ok := o.(*corev1.Pod)
		if !ok {
			continue
		}
		for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				if len(list[i].Ports) > 0 {
					return false
				}
			}
		}
	}
	return true
}

func mounts(p *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// TestThePodFitsOnceTheVictimsAreGone deletes the victims and asks again, then
// gives them back one at a time: then it does not fit.
func TestThePodFitsOnceTheVictimsAreGone(t *testing.T) {
	t.Parallel()
	checked := 0
	eachPreemption(t, func(seed uint64, c *enginetest.Case, s *state.State, d *engine.Decision) {
		if !simple(c) {
			return
		}
		checked++
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, cand := range d.Preemption.Candidates {
			fits := func(stays int) bool {
				e := s.Edit()
				for i, v := range cand.Victims {
					if i != stays {
						e.Delete("Pod", v.Namespace, v.Name)
					}
				}
				r, err := engine.Decide(e.Done(), c.Pod, p, engine.Options{Candidates: []string{cand.Node}, Now: c.Options.Now, NoPreemption: true})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				defer r.Release()
				return r.Outcome == engine.Scheduled
			}
			if !fits(-1) {
				t.Errorf("seed %d: the pod does not fit on %s without %s", seed, cand.Node, names(cand.Victims))
			}
			for i, v := range cand.Victims {
				if fits(i) {
					t.Errorf("seed %d: %s could have stayed on %s", seed, v.Name, cand.Node)
				}
				if len(v.Because) == 0 {
					t.Errorf("seed %d: nothing says why %s has to leave %s", seed, v.Name, cand.Node)
				}
			}
		}
	})
	if from, to := enginetest.Seeds(t, 600); checked < 60 && to-from >= 600 {
		t.Errorf("only %d cases were simple enough", checked)
	}
}

func TestNoCandidateWithFewerViolationsIsPassedOver(t *testing.T) {
	t.Parallel()
	several, guarded := 0, 0
	eachPreemption(t, func(seed uint64, _ *enginetest.Case, _ *state.State, d *engine.Decision) {
		p := d.Preemption
		if len(p.Candidates) > 1 {
			several++
		}
		for i, c := range p.Candidates {
			if c.NumPDBViolations > 0 {
				guarded++
			}
			if c.NumPDBViolations < p.NumPDBViolations {
				t.Errorf("seed %d: %s with %d violations is chosen, %s has %d", seed, p.Node, p.NumPDBViolations, c.Node, c.NumPDBViolations)
			}
			if c.Chosen != (i == 0) || c.Chosen != (c.Node == d.NominatedNode) || (c.Lost == nil) != c.Chosen {
				t.Errorf("seed %d: %+v while %s is nominated", seed, c, d.NominatedNode)
			}
			violating := 0
			for _, v := range c.Victims {
				forbidden := slices.ContainsFunc(v.Budgets, func(b engine.Budget) bool { return b.Violated })
				if forbidden != v.ViolatesPDB {
					t.Errorf("seed %d: %+v", seed, v)
				}
				if v.ViolatesPDB {
					violating++
				}
			}
			if violating != c.NumPDBViolations {
				t.Errorf("seed %d: %d violations on %s, victims say %d", seed, c.NumPDBViolations, c.Node, violating)
			}
		}
	})
	if from, to := enginetest.Seeds(t, 600); to-from >= 600 && (several < 50 || guarded < 30) {
		t.Errorf("%d cases with several candidates, %d candidates with violations", several, guarded)
	}
}

// columns writes a state's columns out, so that two can be compared to the byte.
func columns(s *state.State) string {
	var b strings.Builder
	const ids = 1000 // more than a case interns of anything
	for row := range s.Nodes().Len() {
		fmt.Fprintf(&b, "row %d: %+v", row, s.Use(row))
		for id := range int32(ids) {
			if n := s.Requested(id).At(row); n != 0 {
				fmt.Fprintf(&b, " %d:%d", id, n)
			}
		}
		for p := range s.PodsOn(row).All() {
			fmt.Fprintf(&b, " %s/%s", p.Namespace, p.Name)
		}
		b.WriteByte('\n')
	}
	for id := range int32(ids) {
		for _, p := range []*state.Postings{s.ShapePostings(id), s.TermPostings(id), s.PortPostings(id)} {
			fmt.Fprintf(&b, "%d: %d %v\n", id, p.Total(), p.Segments())
		}
	}
	for p := range s.NominatedPods().All() {
		fmt.Fprintf(&b, "nominated %s/%s %s\n", p.Namespace, p.Name, p.Nominated)
	}
	return b.String()
}

// TestSearchingLeavesNoTrace compares the state's columns before and after, and
// the judges' verdicts once all pods are back.
func TestSearchingLeavesNoTrace(t *testing.T) {
	t.Parallel()
	undone := 0
	eachPreemption(t, func(seed uint64, c *enginetest.Case, s *state.State, d *engine.Decision) {
		own := enginetest.Fresh(t, c.Objects...)
		before := columns(own)
		again, err := c.DecideOn(own)
		if columns(own) != before {
			t.Errorf("seed %d: the search changed the state", seed)
		}
		if err != nil || again.Digest != d.Digest {
			t.Errorf("seed %d: %s the first time and %s the second (%v)", seed, d.Digest, again.Digest, err)
		}
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Decide(s, c.Pod, p, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		tried, differs := preempt.Undo(r)
		undone += tried
		if differs != "" {
			t.Errorf("seed %d: %s", seed, differs)
		}
	})
	if from, to := enginetest.Seeds(t, 600); undone < 300 && to-from >= 600 {
		t.Errorf("only %d nodes were tried", undone)
	}
}

// TestTheChoiceIsByTheVictimsThatAreNamed compares the two ways in which a node
// is tried: by amounts in columns for the choice, and filter by filter for the
// explanation.
func TestTheChoiceIsByTheVictimsThatAreNamed(t *testing.T) {
	t.Parallel()
	eachPreemption(t, func(seed uint64, c *enginetest.Case, s *state.State, _ *engine.Decision) {
		p, err := rules.Build(c.Spec)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Decide(s, c.Pod, p, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		if text := preempt.Disagree(r); text != "" {
			t.Errorf("seed %d: %s", seed, text)
		}
	})
}
