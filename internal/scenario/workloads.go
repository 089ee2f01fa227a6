package scenario

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/world"
)

// arrive appends the pods of workloads at a place of the question, as many as it may have in all.
func (d *Editor) arrive(ctx context.Context, v *revision.View, field string, list []Workload, most int, out []world.Arrival) (_ []world.Arrival, err error) {
	for i := range list {
		if out, err = d.podsOf(ctx, v, fmt.Sprintf("%s[%d]", field, i), &list[i], most, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// podsOf appends the pods of one workload.
func (d *Editor) podsOf(ctx context.Context, v *revision.View, at string, w *Workload, most int, out []world.Arrival) ([]world.Arrival, error) {
	if isNull(w.Pod) {
		return nil, decision.Errorf(decision.Malformed, at+".pod", "want a pod, or a workload with a pod template")
	}
	n, raw := ReplicasIn(w.Pod)
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
	if len(out)+n > most {
		return nil, decision.Errorf(decision.Invalid, at+".count", "more than %d pods would arrive", most)
	}
	if err := memory.Take(ctx, world.PodBytes*int64(n)); err != nil {
		return nil, err
	}
	return replicate(v, pod, n, out), nil
}

// replicate appends equal pods, under names that the view does not have.
func replicate(v *revision.View, pod *corev1.Pod, n int, out []world.Arrival) []world.Arrival {
	replicas, had := ReplicasOf(pod), len(out)
	for i := 0; len(out)-had < n; i++ {
		if p := replicas.Pod(i); v.State.Pod(p.Namespace, p.Name) == nil {
			out = append(out, world.Arrival{Pod: p})
		}
	}
	return out
}

// ReplicasIn returns how many pods a workload wants at a time, and the workload without the
// numbers: all of them are meant, not one. Without a number it is one. A Job runs no more than it
// has to complete (pkg/controller/job/job_controller.go manageJob), and a CronJob is one Job.
func ReplicasIn(raw json.RawMessage) (int, json.RawMessage) {
	var head struct {
		Kind string `json:"kind"`
	}
	_ = json.Unmarshal(raw, &head) // the decoder names what is wrong
	switch head.Kind {
	case "", "Pod":
		return 1, raw
	case "CronJob":
		return replicasAt(raw, "spec", "jobTemplate", "spec")
	}
	return replicasAt(raw, "spec")
}

// replicasAt is replicasInSpec for the member of an object that the names lead to.
func replicasAt(raw json.RawMessage, names ...string) (int, json.RawMessage) {
	if len(names) == 0 {
		return replicasInSpec(raw)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object[names[0]] == nil {
		return 1, raw
	}
	var n int
	n, object[names[0]] = replicasAt(object[names[0]], names[1:]...)
	rest, err := json.Marshal(object)
	if err != nil {
		return 1, raw
	}
	return n, rest
}

func replicasInSpec(raw json.RawMessage) (int, json.RawMessage) {
	var spec map[string]json.RawMessage
	if json.Unmarshal(raw, &spec) != nil {
		return 1, raw
	}
	n := 1
	for _, name := range []string{"parallelism", "replicas"} {
		if spec[name] != nil && json.Unmarshal(spec[name], &n) != nil {
			return 1, raw
		}
		delete(spec, name)
	}
	if left := n; json.Unmarshal(spec["completions"], &left) == nil {
		n = min(n, left)
	}
	rest, err := json.Marshal(spec)
	if err != nil {
		return 1, raw
	}
	return n, rest
}
