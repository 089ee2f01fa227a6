package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
)

// fitMax ends the count of replicas of a trial.
const fitMax = 12

// Counting is what came of counting the replicas of one case.
type Counting struct {
	Count   int
	Ended   bool   // for want of room, not at the most
	Skipped string // why the case was not tried
	Diffs   []Difference
}

// fitAnswer is what is compared of berth's count.
type fitAnswer struct {
	Count      int
	Placements []string
	LimitedBy  *struct{ Outcome, Message string }
}

// CountFit draws the case of a seed and has berth count how many replicas of its pod fit. Then
// kube-scheduler's framework counts them in the way of cluster-capacity: it decides about a
// replica, the replica is bound, until one gets no node (sigs.k8s.io/cluster-capacity
// pkg/framework). Where upstream would choose among several best nodes by chance, it takes berth's
// choice, which has to be one of them; so the counts are comparable.
func CountFit(ctx context.Context, client *Client, seed uint64) (*Counting, error) {
	c, err := gen.Case(seed, gen.Options{MaxNodes: 12, MaxPods: 30, Config: "default"})
	if err != nil {
		return nil, err
	}
	out := &Counting{}
	invalid, err := oracle.Invalid(c)
	if err != nil {
		return nil, err
	}
	if len(invalid) > 0 {
		out.Skipped = "invalid: " + invalid[0]
		return out, nil
	}
	raw, err := c.FindPod()
	if err != nil {
		return nil, err
	}
	var pod v1.Pod
	if err := json.Unmarshal(raw, &pod); err != nil {
		return nil, err
	}
	if len(pod.Spec.SchedulingGates) > 0 {
		out.Skipped = "gated"
		return out, nil
	}
	got, err := client.fit(ctx, c, raw)
	if err != nil {
		return nil, err
	}
	out.Count = got.Count
	for i := range fitMax {
		v, err := next(ctx, c, &pod, i)
		if err != nil {
			return nil, err
		}
		switch {
		case v.Outcome == oracle.Failed:
			out.Skipped = "cycle failed: " + v.Message
			return out, nil
		case v.Outcome != oracle.Scheduled:
			out.Ended = true
			out.compare("count", fmt.Sprint(i), got.Count == i, got.Count)
			if got.Count == i && got.LimitedBy != nil {
				out.compare("limitedBy.outcome", v.Outcome, got.LimitedBy.Outcome == v.Outcome, got.LimitedBy.Outcome)
				out.compare("limitedBy.message", v.Message, strings.HasPrefix(got.LimitedBy.Message, v.Message), got.LimitedBy.Message)
			}
			return out, nil
		case i >= len(got.Placements):
			out.compare("count", fmt.Sprintf("more than %d", i), false, got.Count)
			return out, nil
		case !slices.Contains(v.Best, got.Placements[i]):
			out.compare(fmt.Sprintf("placements[%d]", i), strings.Join(v.Best, " or "), false, got.Placements[i])
			return out, nil
		}
		bound, err := boundTo(c, replica(&pod, c, i), got.Placements[i])
		if err != nil {
			return nil, err
		}
		c.Objects = append(c.Objects, bound)
	}
	out.compare("count", fmt.Sprintf("%d or more", fitMax), got.Count == fitMax, got.Count)
	return out, nil
}

func (r *Counting) compare(class, want string, same bool, got any) {
	if !same {
		r.Diffs = append(r.Diffs, Difference{Class: class, Path: class, Want: want, Got: fmt.Sprint(got)})
	}
}

// next is upstream's verdict on a replica of a pod.
func next(ctx context.Context, c *oracle.Case, pod *v1.Pod, i int) (*oracle.Verdict, error) {
	p := replica(pod, c, i)
	waits, err := gen.Compact(p)
	if err != nil {
		return nil, err
	}
	of := *c
	of.Pod = oracle.Key{Namespace: p.Namespace, Name: p.Name}
	of.Objects = append(slices.Clone(c.Objects), waits)
	return oracle.Judge(ctx, &of)
}

// replica is a pod of the same kind under a name of its own.
func replica(pod *v1.Pod, c *oracle.Case, i int) *v1.Pod {
	p := pod.DeepCopy()
	p.Name, p.Namespace, p.UID, p.Status = fmt.Sprintf("%s-%d", pod.Name, i), c.Pod.Namespace, "", v1.PodStatus{}
	return p
}

// boundTo returns a pod as its bind leaves it: with the zone and region of its node
// (plugin/pkg/admission/podtopologylabels).
func boundTo(c *oracle.Case, pod *v1.Pod, node string) (json.RawMessage, error) {
	pod.Spec.NodeName = node
	for _, raw := range c.Objects {
		var n v1.Node
		if json.Unmarshal(raw, &n) != nil || n.Kind != "Node" || n.Name != node {
			continue
		}
		for _, key := range []string{v1.LabelTopologyZone, v1.LabelTopologyRegion} {
			if value, ok := n.Labels[key]; ok {
				if pod.Labels == nil {
					pod.Labels = map[string]string{}
				}
				pod.Labels[key] = value
			}
		}
		return gen.Compact(pod)
	}
	return nil, fmt.Errorf("node %q is not in the case", node)
}

// fit posts the case's state and counts replicas of a pod.
func (c *Client) fit(ctx context.Context, kase *oracle.Case, pod json.RawMessage) (*fitAnswer, error) {
	list, err := kase.List()
	if err != nil {
		return nil, err
	}
	if err := c.post(ctx, "/v1/snapshots?allow-empty=true&cluster="+url.QueryEscape(c.Cluster), list, &struct{}{}); err != nil {
		return nil, fmt.Errorf("post snapshot: %w", err)
	}
	request := map[string]any{"pod": pod, "max": fitMax, "placements": true, "sensitivity": false}
	if len(kase.Config) > 0 {
		request["config"] = kase.Config
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	var out fitAnswer
	err = c.post(ctx, "/v1/clusters/"+url.PathEscape(c.Cluster)+"/fit", body, &out)
	var refused *Refused
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("seed %d: fit: %w", kase.Seed, err)
	}
	return &out, err
}
