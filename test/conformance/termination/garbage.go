package termination

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/controller/podgc"
)

// Cluster is what PodGC looks at.
type Cluster struct {
	Pods      []*corev1.Pod
	Nodes     []*corev1.Node
	Threshold int
}

// Cluster makes one of so many pods.
func (g *Generator) Cluster(n int) (c Cluster) {
	for i := range 4 {
		node := &corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}}
		if g.chance(60) {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: pick(g, corev1.TaintNodeOutOfService, corev1.TaintNodeOutOfService, "other"), Effect: pick(g, corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule)})
		}
		if g.chance(80) {
			node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: pick(g, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)})
		}
		c.Nodes = append(c.Nodes, node)
	}
	for range n {
		g.n++
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", g.n), Namespace: pick(g, "a", "b"), UID: "u"}}
		p.CreationTimestamp = metav1.NewTime(Now.Add(-time.Duration(g.IntN(8)) * time.Hour))
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		p.Spec.NodeName = pick(g, "", "n0", "n1", "n2", "n3", "gone", "lost")
		p.Status.Phase = pick(g, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed, corev1.PodFailed, corev1.PodUnknown)
		if g.chance(30) {
			p.Status.Reason = pick(g, "Evicted", "NodeLost", "Terminated")
		}
		if g.chance(35) {
			at, period := metav1.NewTime(Now), int64(30)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &period
		}
		condition := func(kind corev1.PodConditionType, reason, message string) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
				Type: kind, Status: pick(g, corev1.ConditionTrue, corev1.ConditionFalse), Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(Now.Add(-time.Hour)),
			})
		}
		if g.chance(50) {
			condition(corev1.PodReady, "x", "y")
		}
		if g.chance(25) {
			condition(corev1.DisruptionTarget, pick(g, "DeletionByPodGC", "PreemptionByScheduler"), pick(g, "PodGC: node no longer exists", "z"))
		}
		if g.chance(30) {
			condition(corev1.PodScheduled, "", "")
		}
		c.Pods = append(c.Pods, p)
	}
	c.Threshold = g.IntN(n/2+2) - 1
	return c
}

// swept is what became of a pod: the patch that was sent before the delete.
type swept struct {
	Reason string
	Patch  map[string]any
}

// collector is PodGC over a listing that stands still.
func (c *Cluster) collector(threshold int) (*podgc.PodGCController, *record, error) {
	r := &record{patches: map[string]map[string]any{}}
	client := fake.NewClientset()
	client.PrependReactor("*", "pods", r.react)
	f := informers.NewSharedInformerFactory(client, 0)
	pods, nodes := f.Core().V1().Pods(), f.Core().V1().Nodes()
	for _, p := range c.Pods {
		if err := pods.Informer().GetStore().Add(p); err != nil {
			return nil, nil, err
		}
	}
	for _, n := range c.Nodes {
		if err := nodes.Informer().GetStore().Add(n); err != nil {
			return nil, nil, err
		}
	}
	return podgc.NewPodGCInternal(context.Background(), client, pods, nodes, threshold, time.Hour, 0), r, nil
}

// record is what the controller asked of the API.
type record struct {
	mu      sync.Mutex
	patches map[string]map[string]any // by pod; nil for none
	deleted []string
	err     error
}

func (r *record) react(a clienttesting.Action) (bool, apiruntime.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch a := a.(type) {
	case clienttesting.PatchAction:
		var patch map[string]any
		if err := json.Unmarshal(a.GetPatch(), &patch); err != nil {
			r.err = err
		}
		r.patches[a.GetNamespace()+"/"+a.GetName()] = patch
		return true, &corev1.Pod{}, nil
	case clienttesting.DeleteAction:
		if o := a.GetDeleteOptions(); o.GracePeriodSeconds == nil || *o.GracePeriodSeconds != 0 {
			r.err = fmt.Errorf("a delete with period %v", o.GracePeriodSeconds)
		}
		r.deleted = append(r.deleted, a.GetNamespace()+"/"+a.GetName())
		return true, nil, nil
	}
	return false, nil, nil
}

// Sweep is PodGC's own pass: who goes, why, and with which patch. Its steps run
// on one listing, so that the first that takes a pod returns the reason.
func (c *Cluster) Sweep() (out map[string]swept, oldest []string, err error) {
	ctx := context.Background()
	out = map[string]swept{}
	whole, all, err := c.collector(c.Threshold)
	if err != nil {
		return nil, nil, err
	}
	gcPass(whole, ctx)
	for _, step := range []struct {
		reason string
		run    func(*podgc.PodGCController)
	}{
		{"terminated", func(g *podgc.PodGCController) {
			if c.Threshold > 0 {
				gcTerminated(g, ctx, c.Pods)
			}
		}},
		{"out-of-service", func(g *podgc.PodGCController) { gcTerminating(g, ctx, c.Pods) }},
		{"orphaned", func(g *podgc.PodGCController) { gcOrphaned(g, ctx, c.Pods, c.Nodes) }},
		{"unscheduled", func(g *podgc.PodGCController) { gcUnscheduled(g, ctx, c.Pods) }},
	} {
		g, r, err := c.collector(c.Threshold)
		if err != nil {
			return nil, nil, err
		}
		step.run(g)
		if r.err != nil {
			return nil, nil, r.err
		}
		for _, name := range r.deleted {
			if _, taken := out[name]; !taken {
				out[name] = swept{step.reason, r.patches[name]}
			}
		}
	}
	for _, name := range all.deleted {
		if _, taken := out[name]; !taken {
			return nil, nil, fmt.Errorf("the pass deletes %s, and no step does", name)
		}
	}
	if oldest, err = c.queue(); err != nil {
		return nil, nil, err
	}
	return out, oldest, all.err
}

// queue finds the order in which pods that are over go, by letting one more go
// each time.
func (c *Cluster) queue() (order []string, err error) {
	over := 0
	for _, p := range c.Pods {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			over++
		}
	}
	known := map[string]bool{}
	for keep := over - 1; keep >= max(c.Threshold, 1) && c.Threshold > 0; keep-- {
		g, r, err := c.collector(keep)
		if err != nil {
			return nil, err
		}
		gcTerminated(g, context.Background(), c.Pods)
		for _, name := range r.deleted {
			if !known[name] {
				known[name] = true
				order = append(order, name)
			}
		}
	}
	return order, nil
}

// TryCluster asks both sides who is garbage, and describes how they differ.
func TryCluster(client *Client, name string, c Cluster) (string, error) {
	items := []any{}
	for _, n := range c.Nodes {
		items = append(items, n)
	}
	for _, p := range c.Pods {
		items = append(items, p)
	}
	var posted struct{ ID string }
	if err := client.post("/v1/snapshots?allow-empty=true&cluster="+name, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, &posted); err != nil {
		return "", err
	}
	var got struct {
		Pods []struct {
			Namespace, Name, Reason string
			Patch                   map[string]any
		}
	}
	before := time.Now()
	if err := client.post("/v1/clusters/"+name+"/garbage", map[string]any{"terminatedPodThreshold": c.Threshold}, &got); err != nil {
		return "", err
	}
	want, order, err := c.Sweep()
	if err != nil {
		return "", err
	}
	out := ""
	var terminated []string
	has := map[string]bool{}
	for _, p := range got.Pods {
		key := p.Namespace + "/" + p.Name
		has[key] = true
		w, goes := want[key]
		switch {
		case !goes:
			out += fmt.Sprintf("%s stays, but %s\n", key, p.Reason)
		case w.Reason != p.Reason:
			out += fmt.Sprintf("%s: want %s, got %s\n", key, w.Reason, p.Reason)
		default:
			if d := comparePatches(w.Patch, p.Patch, before); d != "" {
				out += key + ": " + d + "\n"
			}
		}
		if p.Reason == "terminated" {
			terminated = append(terminated, key)
		}
	}
	for key := range want {
		if !has[key] {
			out += fmt.Sprintf("%s goes: %s\n", key, want[key].Reason)
		}
	}
	if !reflect.DeepEqual(order, terminated) {
		out += fmt.Sprintf("order: want %v\n  got %v\n", order, terminated)
	}
	return out, nil
}

// comparePatches compares patches but for the moment of the transition, which is
// each side's own.
func comparePatches(want, got map[string]any, after time.Time) string {
	plain := func(patch map[string]any) (string, bool) {
		var v map[string]any
		js, _ := json.Marshal(patch)
		_ = json.Unmarshal(js, &v)
		moved := false
		if status, ok := v["status"].(map[string]any); ok {
			list, _ := status["conditions"].([]any)
			for _, item := range list {
				c := item.(map[string]any)
				delete(c, "lastProbeTime")
				if at, ok := c["lastTransitionTime"].(string); ok {
					t, err := time.Parse(time.RFC3339, at)
					moved = err == nil && !t.Before(after.Truncate(time.Second).Add(-time.Minute))
					delete(c, "lastTransitionTime")
				}
			}
			sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
		}
		js, _ = json.Marshal(v)
		return string(js), moved
	}
	w, wMoved := plain(want)
	g, gMoved := plain(got)
	if w != g || wMoved != gMoved {
		return fmt.Sprintf("patch: want %s (%v), got %s (%v)", w, wMoved, g, gMoved)
	}
	return ""
}
