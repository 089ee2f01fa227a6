package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
)

// oracleServer is a server that answers with upstream's own verdict, spoilt by a
// fault: with none every case must agree, with one it must be found.
func oracleServer(t *testing.T, fault func(*oracle.Verdict, *Answer)) *Client {
	t.Helper()
	var mu sync.Mutex
	var objects []json.RawMessage
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/snapshots", func(w http.ResponseWriter, r *http.Request) {
		var list struct{ Items []json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		objects = list.Items
		fmt.Fprint(w, `{"id":"c@1"}`)
	})
	mux.HandleFunc("POST /v1/decisions", func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Preempt *bool
			PodRef  *oracle.Key
			Pod     *struct{ Metadata oracle.Key }
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		if req.Pod != nil && req.Pod.Metadata.Name == provocation {
			http.Error(w, "its values are none", http.StatusUnprocessableEntity)
			return
		}
		c := &oracle.Case{Objects: objects}
		if req.PodRef != nil {
			c.Pod = *req.PodRef
		} else if c.Pod = req.Pod.Metadata; c.Pod.Namespace == "" {
			c.Pod.Namespace = "default"
		}
		v, err := oracle.Judge(r.Context(), c)
		if err != nil {
			t.Error(err)
			return
		}
		if v.Outcome == oracle.Failed {
			http.Error(w, v.Message, http.StatusUnprocessableEntity)
			return
		}
		a := reflection(v, req.Preempt == nil)
		if fault != nil {
			fault(v, a)
		}
		if err := json.NewEncoder(w).Encode(a); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return NewClient(server.URL, "c")
}

// reflection writes a verdict the way berth answers.
func reflection(v *oracle.Verdict, preempt bool) *Answer {
	a := &Answer{Outcome: v.Outcome, Message: v.Message, Gates: v.Gates, Best: v.Best}
	if len(v.Best) > 0 {
		for _, line := range v.Devices[v.Best[len(v.Best)-1]] {
			var d DeviceAnswer
			var id string
			if _, err := fmt.Sscan(line, &d.Claim, &d.Request, &id); err != nil {
				panic(err)
			}
			parts := strings.Split(id, "/")
			d.Driver, d.Pool, d.Device = parts[0], parts[1], parts[2]
			a.Devices = append(a.Devices, d)
		}
	}
	if p := v.Preemption; preempt && p != nil {
		a.Preemption = &PreemptionAnswer{Eligible: p.Eligible, Reason: p.Reason}
		for _, n := range p.Candidates {
			one := CandidateAnswer{Node: n.Node, NumPDBViolations: n.NumPDBViolations}
			for _, name := range n.Victims {
				ns, name, _ := strings.Cut(name, "/")
				one.Victims = append(one.Victims, oracle.Key{Namespace: ns, Name: name})
			}
			a.Preemption.Candidates = append(a.Preemption.Candidates, one)
		}
		if len(p.Choices) > 0 {
			a.Outcome, a.NominatedNode = preempting, p.Choices[0]
		}
	}
	if preempt && v.PostFilter != "" {
		a.Message += " " + v.PostFilter
	}
	a.Counts.Nodes, a.Counts.Feasible = v.Nodes, len(v.Feasible)
	if len(v.Best) > 0 {
		a.Node = v.Best[len(v.Best)-1]
	}
	by := map[string]NodeAnswer{}
	names := append([]string{}, v.Feasible...)
	for _, f := range v.Failures {
		for _, n := range f.Nodes {
			by[n] = NodeAnswer{Name: n, Plugin: f.Plugin, Code: f.Code, Reasons: f.Reasons}
			names = append(names, n)
		}
	}
	for _, n := range v.Feasible {
		na := NodeAnswer{Name: n, Feasible: true}
		if v.Scores != nil {
			row := v.Scores.Nodes[n]
			na.Score = row.Total
			for i, p := range v.Scores.Plugins {
				na.Scores = append(na.Scores, ScoreAnswer{p, row.Raw[i], row.Normalized[i], v.Scores.Weights[i], row.Normalized[i] * v.Scores.Weights[i]})
			}
		}
		by[n] = na
	}
	for _, n := range sorted(names) {
		a.Nodes = append(a.Nodes, by[n])
	}
	return a
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
		out, err := Shrink(context.Background(), client, r)
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
