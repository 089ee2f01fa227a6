package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
)

// membersFunc is that of a decision.Placement.
type membersFunc = func(ctx context.Context, v *revision.View) ([]decision.Member, int, error)

// members reads which pods are to be placed.
func (c *placementCall) members(ctx context.Context) (membersFunc, error) {
	req, given := c.req, 0
	for _, is := range []bool{req.Pods != nil, !exchange.IsNull(req.Template), !exchange.IsNull(req.Workload), req.PodGroup != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, exchange.BadField(http.StatusBadRequest, "pods", "one of pods, template, workload and podGroup is needed, and only one")
	case req.PodGroup != "":
		return c.group()
	case !exchange.IsNull(req.Workload):
		return c.workload(ctx)
	case !exchange.IsNull(req.Template):
		return c.copies(ctx)
	}
	if err := c.room(ctx, "pods", len(req.Pods)); err != nil {
		return nil, err
	}
	list := make([]decision.Member, len(req.Pods))
	for i, raw := range req.Pods {
		var q decision.Question
		at := fmt.Sprintf("pods[%d]", i)
		if err := c.posted.sharedPod(at, raw, &q, false); err != nil {
			return nil, err
		}
		list[i] = decision.Member{Field: at, Pod: q.Pod, PodJSON: q.PodJSON}
	}
	return fixed(list), nil
}

// fixed are members that are the same on every view.
func fixed(list []decision.Member) membersFunc {
	return func(context.Context, *revision.View) ([]decision.Member, int, error) { return list, 0, nil }
}

// room refuses more pods than one placement takes, and takes their memory.
func (c *placementCall) room(ctx context.Context, field string, n int) error {
	if most := c.a.Limits.PlacementMaxPods; n > most {
		return exchange.TooLarge("placement-max-pods", fmt.Sprintf("%s: %d pods are more than placement-max-pods=%d: place them in several calls", field, n, most))
	}
	return memory.Take(ctx, world.PodBytes*int64(n))
}

// copies are those of a template.
func (c *placementCall) copies(ctx context.Context) (membersFunc, error) {
	n := 1
	if c.req.Count != nil {
		n = *c.req.Count
	}
	if n < 1 {
		return nil, exchange.BadField(http.StatusUnprocessableEntity, "count", "want a number above 0")
	}
	if err := c.room(ctx, "count", n); err != nil {
		return nil, err
	}
	pod, err := c.posted.decodePod("template", c.req.Template)
	if err != nil {
		return nil, err
	}
	replicas, list := scenario.ReplicasOf(pod), make([]decision.Member, n)
	for i := range list {
		list[i] = decision.Member{Field: "template", Pod: replicas.Pod(i)}
	}
	return fixed(list), nil
}

// group are the pods of a PodGroup that wait, in the order of the queue.
func (c *placementCall) group() (membersFunc, error) {
	namespace, name, ok := strings.Cut(c.req.PodGroup, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, exchange.BadField(http.StatusBadRequest, "podGroup", "want namespace/name")
	}
	return func(ctx context.Context, v *revision.View) (list []decision.Member, least int, err error) {
		g := v.State.Group(namespace, name, "")
		if !g.Known {
			return nil, 0, decision.Errorf(decision.NotFound, "podGroup", "%s has no PodGroup %s/%s", v.ID(), namespace, name)
		}
		class := func(class string) *schedulingv1.PriorityClass { return c.a.priorityClasses.Class(v.Cluster, class) }
		for _, q := range v.State.Queue(decision.RunsOf(c.a.configured.Of(v.Cluster)), class).Active {
			if q.Namespace == namespace && q.Class.Group == name {
				list = append(list, decision.Member{Field: "podGroup", Ref: &object.Key{Kind: "Pod", Namespace: namespace, Name: q.Name}})
			}
		}
		if err := c.room(ctx, "podGroup", len(list)); err != nil {
			return nil, 0, err
		}
		least = max(0, int(g.MinCount)-g.Placed)
		if len(list) == 0 || c.req.MinCount == nil && least > len(list) {
			return nil, 0, decision.Errorf(decision.Conflict, "podGroup", "%s/%s has pods that wait and are not gated: %d; pods that are to be placed together: %d, on nodes already: %d", namespace, name, len(list), g.MinCount, g.Placed)
		}
		return list, least, nil
	}, nil
}

// workload are the pods that a controller would make.
func (c *placementCall) workload(ctx context.Context) (membersFunc, error) {
	var head struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(c.req.Workload, &head) // the decoder names what is wrong
	switch head.Kind {
	case "StatefulSet", "Job", "Deployment", "ReplicaSet":
	default:
		return nil, exchange.BadField(http.StatusUnprocessableEntity, "workload.kind", "want StatefulSet, Job, Deployment or ReplicaSet")
	}
	n, raw := scenario.ReplicasIn(c.req.Workload)
	if err := c.room(ctx, "workload", n); err != nil {
		return nil, err
	}
	if err := c.posted.fields("workload", raw, ""); err != nil {
		return nil, err
	}
	w, err := object.PodOf(raw, c.posted.limits)
	if err != nil {
		return nil, exchange.InField("workload", err)
	}
	at := "workload." + w.Template
	pod, err := object.DecodePod(w.Pod, c.posted.limits)
	if err != nil {
		return nil, exchange.InField(at, err)
	}
	if first, is := pod.Labels[appsv1.PodIndexLabel]; is && head.Kind == "StatefulSet" {
		return c.ordinals(pod, w, head.Metadata.Name, first, n, at)
	}
	if _, is := pod.Annotations[batchv1.JobCompletionIndexAnnotation]; is && head.Kind == "Job" {
		return indexes(pod, head.Metadata.Name, n, at), nil
	}
	return func(_ context.Context, v *revision.View) (list []decision.Member, _ int, _ error) {
		replicas := scenario.ReplicasOf(pod)
		for i := 0; len(list) < n; i++ {
			if p := replicas.Pod(i); v.State.Pod(p.Namespace, p.Name) == nil { // of an earlier placement
				list = append(list, decision.Member{Field: at, Pod: p})
			}
		}
		return list, 0, nil
	}, nil
}

// ordinals are the pods of a StatefulSet, whose first one is given, with their claims.
func (c *placementCall) ordinals(pod *corev1.Pod, w *object.WorkloadPod, set, first string, n int, at string) (membersFunc, error) {
	from, err := strconv.Atoi(first)
	if err != nil {
		return nil, exchange.Internal(err)
	}
	var claims []*corev1.PersistentVolumeClaim
	for i, raw := range w.Claims {
		o, err := object.Decode(raw, c.posted.limits)
		if err != nil {
			return nil, exchange.InField(fmt.Sprintf("workload.spec.volumeClaimTemplates[%d]", i), err)
		}
		claims = append(claims, o.Value.(*corev1.PersistentVolumeClaim))
	}
	return func(_ context.Context, v *revision.View) ([]decision.Member, int, error) {
		list := make([]decision.Member, n)
		for i := range list {
			m := &list[i]
			m.Field, m.Pod = at, world.PodOfSet(pod, set, from, from+i)
			m.Pod.UID = object.DerivedUID(object.Key{Kind: "Pod", Namespace: m.Pod.Namespace, Name: m.Pod.Name})
			for _, of := range claims {
				made, err := claimOf(of, v, set, from, from+i)
				if err != nil {
					return nil, 0, err
				}
				m.Claims = append(m.Claims, made)
			}
		}
		return list, 0, nil
	}, nil
}

// claimOf returns the claim of one ordinal of a StatefulSet as that of another, as it is created at
// the time of a view.
func claimOf(of *corev1.PersistentVolumeClaim, v *revision.View, set string, from, to int) (object.Object, error) {
	claim := of.DeepCopy()
	claim.Name = strings.TrimSuffix(of.Name, fmt.Sprintf("-%s-%d", set, from)) + fmt.Sprintf("-%s-%d", set, to)
	if _, old := claim.Annotations[corev1.BetaStorageClassAnnotation]; claim.Spec.StorageClassName == nil && !old {
		claim.Spec.StorageClassName = world.DefaultClass(v.State)
	}
	o, err := object.Of(claim)
	if err == nil {
		o, err = object.Created(o, time.Now())
	}
	return o, err
}

// indexes are the pods of an Indexed Job, whose first one is given
// (pkg/controller/job/job_controller.go podGenerateNameWithIndex).
func indexes(pod *corev1.Pod, job string, n int, at string) membersFunc {
	list, suffix := make([]decision.Member, n), strings.TrimPrefix(pod.Name, job+"-0")
	for i := range list {
		p, index := pod.DeepCopy(), strconv.Itoa(i)
		p.Name, p.Spec.Hostname = job+"-"+index+suffix, job+"-"+index
		p.Labels[batchv1.JobCompletionIndexAnnotation], p.Annotations[batchv1.JobCompletionIndexAnnotation] = index, index
		p.UID = object.DerivedUID(object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name})
		list[i] = decision.Member{Field: at, Pod: p}
	}
	return fixed(list)
}
