package scenario

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/memory"
)

// PoolsAsk is a question about pools as it is sent.
type PoolsAsk struct {
	// For is the pods that have to fit: "pending", the pods of the snapshot that wait, or
	// {"workloads":[{"pod":{…},"count":3}]}, where pod is a v1.Pod or a workload. Without a count
	// it is the workload's replicas, or 1.
	For json.RawMessage `json:"for,omitempty" swaggertype:"object"`
	// Pools are the kinds of nodes that may be added.
	Pools []NodePool `json:"pools"`
}

// Workloads are pods that arrive, in this order.
type Workloads struct {
	Workloads []Workload `json:"workloads"`
}

// AskPools reads a question and answers it. The pods may be that many at most; 0: no bound.
func (d *Editor) AskPools(ctx context.Context, v *cluster.View, o Options, ask *PoolsAsk, maxPods int) (*Pools, error) {
	q := PoolsQuestion{Pools: ask.Pools}
	var err error
	waiting := false
	switch {
	case len(ask.For) == 0 || string(ask.For) == "null" || string(ask.For) == `"pending"`:
		waiting = true
		q.Arrivals, err = NewFork(v, o).Pending(ctx)
	default:
		q.Arrivals, err = d.workloads(ctx, v, ask.For, maxPods)
	}
	if err != nil {
		return nil, err
	}
	if maxPods > 0 && len(q.Arrivals) > maxPods {
		return nil, decision.Errorf(decision.Invalid, "for", "%d pods, want %d at most", len(q.Arrivals), maxPods)
	}
	out, err := d.CountPools(ctx, v, o, q)
	if err != nil {
		return nil, err
	}
	if active, _, _ := v.State.Waiting(decision.RunsOf(o.Profiles)); active > 0 && !waiting {
		out.Notes = append(out.Notes, fmt.Sprintf("no room is kept for the pods of the snapshot that wait: %d", active))
	}
	for i := range q.Pools {
		if len(q.Pools[i].Template) > 0 {
			out.Notes = append(out.Notes, "no daemon pods are counted on nodes of a template: those of a node are known where a pool is like it")
			break
		}
	}
	return out, nil
}

// workloads reads the pods of a question.
func (d *Editor) workloads(ctx context.Context, v *cluster.View, raw json.RawMessage, maxPods int) ([]Arrival, error) {
	var list Workloads
	strict, err := kjson.UnmarshalStrict(raw, &list, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
	if err != nil || len(strict) > 0 || len(list.Workloads) == 0 {
		return nil, decision.Errorf(decision.Malformed, "for", `want "pending" or {"workloads":[{"pod":{…},"count":3}]}`)
	}
	return d.arrive(ctx, v, "for.workloads", list.Workloads, maxPods, nil)
}

// arrive appends the pods of workloads at a place of the question, as many as it may have in all;
// 0: no bound.
func (d *Editor) arrive(ctx context.Context, v *cluster.View, field string, list []Workload, most int, out []Arrival) ([]Arrival, error) {
	for i, w := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		if len(w.Pod) == 0 || string(w.Pod) == "null" {
			return nil, decision.Errorf(decision.Malformed, at+".pod", "want a pod, or a workload with a pod template")
		}
		n, raw := replicasIn(w.Pod)
		pod, err := d.Pod(v, at+".pod", raw)
		if err != nil {
			return nil, err
		}
		if w.Count != nil {
			n = *w.Count
		}
		if n < 0 {
			return nil, decision.Errorf(decision.Invalid, at+".count", "want a number above 0")
		}
		if most > 0 && len(out)+n > most {
			return nil, decision.Errorf(decision.Invalid, at+".count", "more than %d pods would arrive", most)
		}
		if err := memory.Take(ctx, podBytes*int64(n)); err != nil {
			return nil, err
		}
		out = replicate(v, pod, n, out)
	}
	return out, nil
}

// replicate appends equal pods, under names that the view does not have.
func replicate(v *cluster.View, pod *corev1.Pod, n int, out []Arrival) []Arrival {
	replicas, had := ReplicasOf(pod), len(out)
	for i := 0; len(out)-had < n; i++ {
		if p := replicas.Pod(i); v.State.Pod(p.Namespace, p.Name) == nil {
			out = append(out, Arrival{Pod: p})
		}
	}
	return out
}

// replicasIn returns how many pods a workload wants, and the workload without the number: all of
// them are meant, not one. Without a number it is one.
func replicasIn(raw json.RawMessage) (int, json.RawMessage) {
	var object, spec map[string]json.RawMessage
	n := 1
	if json.Unmarshal(raw, &object) != nil || json.Unmarshal(object["spec"], &spec) != nil {
		return 1, raw // the decoder names what is wrong
	}
	for _, name := range []string{"parallelism", "replicas"} {
		if spec[name] != nil && json.Unmarshal(spec[name], &n) != nil {
			return 1, raw
		}
		delete(spec, name)
	}
	var err error
	if object["spec"], err = json.Marshal(spec); err != nil {
		return 1, raw
	}
	rest, err := json.Marshal(object)
	if err != nil {
		return 1, raw
	}
	return n, rest
}
