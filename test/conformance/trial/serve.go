package trial

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"berth/test/conformance/oracle"
)

// Serve answers as berth does, with upstream's own verdicts: so one release's plugins are tried
// against another's. Errors of the trial itself go to fail.
func Serve(fail func(error)) http.Handler { return serve(nil, fail) }

// serve spoils each answer by a fault, if there is one.
func serve(fault func(*oracle.Verdict, *Answer), fail func(error)) http.Handler {
	var mu sync.Mutex
	clusters := map[string][]json.RawMessage{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/snapshots", func(w http.ResponseWriter, r *http.Request) {
		var list struct{ Items []json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
			fail(err)
		}
		mu.Lock()
		defer mu.Unlock()
		id := r.URL.Query().Get("cluster")
		clusters[id] = list.Items
		if err := json.NewEncoder(w).Encode(map[string]string{"id": id}); err != nil {
			fail(err)
		}
	})
	mux.HandleFunc("POST /hints", func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Before, After *oracle.Case
			Changed       oracle.Object
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			fail(err)
		}
		hints, err := oracle.Hints(r.Context(), req.Before, req.After, req.Changed)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		if err := json.NewEncoder(w).Encode(hints); err != nil {
			fail(err)
		}
	})
	mux.HandleFunc("POST /v1/decisions", func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Snapshot string
			Preempt  *bool
			PodRef   *oracle.Key
			Pod      *struct{ Metadata oracle.Key }
			Config   json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			fail(err)
		}
		if req.Pod != nil && req.Pod.Metadata.Name == provocation {
			http.Error(w, "its values are none", http.StatusUnprocessableEntity)
			return
		}
		mu.Lock()
		c := &oracle.Case{Objects: clusters[req.Snapshot], Config: req.Config}
		mu.Unlock()
		if req.PodRef != nil {
			c.Pod = *req.PodRef
		} else if c.Pod = req.Pod.Metadata; c.Pod.Namespace == "" {
			c.Pod.Namespace = "default"
		}
		v, err := oracle.Judge(r.Context(), c)
		if err != nil {
			fail(err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
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
			fail(err)
		}
	})
	return mux
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
			if told := p.Told[a.NominatedNode]; told != "" {
				a.Message += " " + told
			}
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
