package termination

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
)

// processPodOnNode is what the taint manager does with one pod when it sees the taints of its node.
//
//go:linkname processPodOnNode k8s.io/kubernetes/pkg/controller/tainteviction.(*Controller).processPodOnNode
func processPodOnNode(c *tainteviction.Controller, ctx context.Context, pod types.NamespacedName, node string, tolerations []corev1.Toleration, taints []corev1.Taint, now time.Time)

// Tainted is a pod on a node with taints.
type Tainted struct {
	Pod  *corev1.Pod
	Node *corev1.Node
}

// Tainted makes the next one.
func (g *Generator) Tainted() Tainted {
	g.n++
	keys := []string{corev1.TaintNodeUnreachable, "a", "b", "c"}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", g.n), Namespace: "default", UID: "u"}}
	p.Spec.NodeName, p.Spec.Containers = "n", []corev1.Container{{Name: "c", Image: "i"}}
	for range g.IntN(5) {
		t := corev1.Toleration{Key: pick(g, keys...), Operator: pick(g, corev1.TolerationOpExists, corev1.TolerationOpExists, corev1.TolerationOpEqual), Effect: pick(g, corev1.TaintEffectNoExecute, corev1.TaintEffectNoExecute, "", corev1.TaintEffectNoSchedule)}
		if g.chance(10) {
			t.Key = ""
			t.Operator = corev1.TolerationOpExists
		}
		t.TolerationSeconds = g.maybe(75, func() int64 { return pick(g, int64(-3), 0, 5, 30, 60, 300, 600) })
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, i := range g.Perm(len(keys))[:g.IntN(4)] {
		at := metav1.NewTime(Now.Add(time.Duration(g.IntN(12)) * 15 * time.Second))
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: keys[i], Value: pick(g, "", "", "v"), Effect: pick(g, corev1.TaintEffectNoExecute, corev1.TaintEffectNoExecute, corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule), TimeAdded: &at})
	}
	return Tainted{p, node}
}

// ahead is far enough in the future that no timer of upstream's fires.
const ahead = 20 * 365 * 24 * time.Hour

// deletedAt lets the taint manager see the taints as they come, and returns the time
// at which it deletes the pod; "" for never.
func (t Tainted) deletedAt() string {
	var taints []corev1.Taint
	var moments []time.Time
	for _, x := range t.Node.Spec.Taints {
		if x.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, x)
			moments = append(moments, x.TimeAdded.Time)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	fired := make(chan time.Time, 1)
	queue := tainteviction.CreateWorkerQueue(func(_ context.Context, at time.Time, _ *tainteviction.WorkArgs) error {
		fired <- at
		return nil
	})
	c := &tainteviction.Controller{}
	f := reflect.ValueOf(c).Elem().FieldByName("taintEvictionQueue")
	*(**tainteviction.TimedWorkerQueue)(unsafe.Pointer(f.UnsafeAddr())) = queue
	name := types.NamespacedName{Namespace: t.Pod.Namespace, Name: t.Pod.Name}
	for i, moment := range moments {
		if i > 0 && moment.Equal(moments[i-1]) {
			continue
		}
		if w := queue.GetWorkerUnsafe(name.String()); w != nil && !w.FireAt.After(moment.Add(ahead)) {
			break
		}
		var there []corev1.Taint
		for _, x := range taints {
			if !x.TimeAdded.After(moment) {
				there = append(there, x)
			}
		}
		// What is due is worked at once, in a goroutine of the queue's.
		all, used := helper.GetMatchingTolerations(klog.Background(), there, t.Pod.Spec.Tolerations)
		due := !all || slices.ContainsFunc(used, func(t corev1.Toleration) bool { return t.TolerationSeconds != nil && *t.TolerationSeconds <= 0 })
		if w := queue.GetWorkerUnsafe(name.String()); all && w != nil {
			due = false // a count that runs is not moved
		}
		processPodOnNode(c, context.Background(), name, "n", t.Pod.Spec.Tolerations, there, moment.Add(ahead))
		if due {
			return (<-fired).Add(-ahead).UTC().Format(time.RFC3339)
		}
	}
	w := queue.GetWorkerUnsafe(name.String())
	if w == nil {
		return ""
	}
	queue.CancelWork(klog.Background(), name.String())
	return w.FireAt.Add(-ahead).UTC().Format(time.RFC3339)
}

// TryTainted asks both sides when the pod is deleted.
func TryTainted(c *Client, t Tainted) (string, error) {
	var got struct {
		NodeDeletion struct{ DeletedAt, DeletedAtLatest string }
	}
	if err := c.post("/v1/pods/termination", map[string]any{"cause": "taint", "pod": t.Pod, "node": t.Node, "now": Now}, &got); err != nil {
		return "", err
	}
	if want := t.deletedAt(); want != got.NodeDeletion.DeletedAt || got.NodeDeletion.DeletedAtLatest != "" {
		return fmt.Sprintf("deleted at: want %q, got %+v", want, got.NodeDeletion), nil
	}
	return "", nil
}
