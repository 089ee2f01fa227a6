package trial

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
)

// oracleServer is a server that answers with upstream's own verdict, spoilt by a
// fault: with none every case must agree, with one it must be found.
func oracleServer(t *testing.T, fault func(*oracle.Verdict, *Answer)) *Client {
	t.Helper()
	server := httptest.NewServer(serve(fault, func(err error) { t.Error(err) }))
	t.Cleanup(server.Close)
	return NewClient(server.URL, "c")
}

func (a *Answer) candidates() []CandidateAnswer {
	if a.Preemption == nil {
		return nil
	}
	return a.Preemption.Candidates
}

var small = gen.Options{MaxNodes: 8, MaxPods: 16, Devices: 40}

func TestOracleServerAgrees(t *testing.T) {
	client := oracleServer(t, nil)
	tried := 0
	for seed := range uint64(200) {
		r, err := One(context.Background(), client, seed, small)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(r.Diffs) > 0 {
			t.Errorf("seed %d: %v", seed, r.Diffs)
		}
		if r.Skipped == "" {
			tried++
		}
	}
	if tried < 150 {
		t.Errorf("only %d of 200 cases were tried", tried)
	}
}

func TestFaultsAreFound(t *testing.T) {
	for name, fault := range map[string]func(*oracle.Verdict, *Answer){
		"message": func(_ *oracle.Verdict, a *Answer) { a.Message = strings.Replace(a.Message, "Insufficient", "No", 1) },
		"raw": func(_ *oracle.Verdict, a *Answer) {
			for i := range a.Nodes {
				for j := range a.Nodes[i].Scores {
					a.Nodes[i].Scores[j].Raw++
				}
			}
		},
		"plugin": func(_ *oracle.Verdict, a *Answer) {
			for i := range a.Nodes {
				if a.Nodes[i].Plugin == "NodeResourcesFit" {
					a.Nodes[i].Plugin = "NodePorts"
				}
			}
		},
		"feasible": func(_ *oracle.Verdict, a *Answer) {
			for i := range a.Nodes {
				if a.Nodes[i].Plugin == "TaintToleration" {
					a.Nodes[i].Feasible = true
				}
			}
		},
		"node": func(v *oracle.Verdict, a *Answer) {
			if a.Node != "" && !v.Nominated && len(v.Failures) > 0 {
				a.Node = v.Failures[0].Nodes[0]
			}
		},
		"preemption.victims": func(_ *oracle.Verdict, a *Answer) {
			for i := range a.candidates() {
				slices.Reverse(a.candidates()[i].Victims)
			}
		},
		"preemption.numPDBViolations": func(_ *oracle.Verdict, a *Answer) {
			for i := range a.candidates() {
				a.candidates()[i].NumPDBViolations++
			}
		},
		"preemption.candidates": func(_ *oracle.Verdict, a *Answer) {
			if n := len(a.candidates()); n > 1 {
				a.Preemption.Candidates = a.Preemption.Candidates[:n-1]
			}
		},
		"preemption.nominatedNode": func(v *oracle.Verdict, a *Answer) {
			for _, n := range a.candidates() {
				if !slices.Contains(v.Preemption.Choices, n.Node) {
					a.NominatedNode = n.Node
				}
			}
		},
		"devices": func(_ *oracle.Verdict, a *Answer) {
			if n := len(a.Devices); n > 0 {
				a.Devices = a.Devices[:n-1]
			}
		},
		"outcome": func(v *oracle.Verdict, a *Answer) {
			if v.Outcome == oracle.Gated {
				a.Outcome = oracle.Scheduled
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := oracleServer(t, fault)
			for seed := range uint64(100) {
				r, err := One(context.Background(), client, seed, small)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Diffs) > 0 {
					if class := r.Diffs[0].Class; !strings.HasPrefix(class, name) {
						t.Errorf("class %s", class)
					}
					return
				}
			}
			t.Error("100 cases did not show the fault")
		})
	}
}

// TestMinimise plants a fault in the server that needs one tainted node, and
// expects the case to come down to that node and the pod.
func TestMinimise(t *testing.T) {
	client := oracleServer(t, func(_ *oracle.Verdict, a *Answer) {
		for i := range a.Nodes {
			if a.Nodes[i].Plugin == "TaintToleration" {
				a.Nodes[i].Code = "Unschedulable"
			}
		}
	})
	for seed := range uint64(100) {
		r, err := One(context.Background(), client, seed, small)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Diffs) == 0 {
			continue
		}
		out, err := Shrink(context.Background(), client, r, func(got []Difference) bool {
			return slices.ContainsFunc(got, func(d Difference) bool { return d.Class == r.Diffs[0].Class })
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Case.Objects) != 2 || len(out.Diffs) == 0 {
			t.Errorf("%d objects left of %d: %s", len(out.Case.Objects), len(r.Case.Objects), out.Case.Objects)
		}
		t.Logf("%s", out.Case.Objects)
		return
	}
	t.Error("no case with a taint in 100")
}
