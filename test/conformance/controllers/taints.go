package controllers

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	clocktesting "k8s.io/utils/clock/testing"
)

// Taints are when pods are deleted for the taints of their nodes.
var Taints = &Part{Name: "tainteviction", Draw: drawTaints, Want: playTaints, Got: leavesOf}

// leavesOf are the deletions alone.
func leavesOf(_ *Case, a *Answer) (list []string) {
	for _, m := range a.Timeline {
		if m.What == "leaves" {
			list = append(list, fmt.Sprintf("%d leaves %s", m.AfterSeconds, m.Pod))
		}
	}
	return sortedLines(list)
}

// drawTaints draws pods on two nodes, and taints that come and go.
func drawTaints(d *Drawing) {
	d.add(nodeOf("a", ""), nodeOf("b", ""))
	for i := range 1 + d.IntN(8) {
		p := runs(podOf(fmt.Sprintf("p%d", i), map[string]string{"app": "x"}, nil), one(d, "a", "b"), 500, 5)
		for range d.IntN(5) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, d.toleration())
		}
		if d.in(8) {
			dying(p, int64(d.IntN(60)))
			d.tag("dying")
		}
		d.add(p)
	}
	at, was := int64(0), (*TaintOf)(nil)
	for range 1 + d.IntN(10) {
		at += one(d, int64(0), 2*int64(d.IntN(4)), 2*int64(d.IntN(30))) // no count ends in an even second
		t := &TaintOf{[]string{one(d, "a", "b")}, one(d, "x", "y", "z"), one(d, "", "", "v"), one(d, "NoExecute", "NoExecute", "NoExecute", "NoSchedule")}
		if d.in(60) {
			if was != nil && was.Key == t.Key && was.Nodes[0] == t.Nodes[0] {
				at += 2 // as below
			}
			was = t
			d.event(at, Event{Taint: t})
			continue
		}
		at += 2 // in the same second a controller may see neither, or both
		d.tag("untainted")
		d.event(at, Event{Untaint: t})
	}
}

// toleration draws one that the API allows.
func (d *Drawing) toleration() corev1.Toleration {
	t := corev1.Toleration{Key: one(d, "x", "x", "y", "z", ""), Operator: corev1.TolerationOpExists, Effect: one(d, corev1.TaintEffectNoExecute, corev1.TaintEffectNoExecute, "", corev1.TaintEffectNoSchedule)}
	if t.Key != "" && d.in(30) {
		t.Operator, t.Value = corev1.TolerationOpEqual, one(d, "", "v")
	}
	if t.Effect == corev1.TaintEffectNoExecute && d.in(75) {
		seconds := one(d, int64(-5), 0, 1, 11, int64(1+2*d.IntN(60)), 601)
		t.TolerationSeconds = &seconds
		d.tag("seconds")
	}
	return t
}

// playTaints has the real taint eviction controller judge pods as it does when a node has changed.
func playTaints(k *Case) ([]string, error) {
	ctx, c := context.Background(), newCluster(k)
	client := fake.NewSimpleClientset()
	f := informers.NewSharedInformerFactory(client, 0)
	control, err := tainteviction.New(ctx, client, f.Core().V1().Pods(), f.Core().V1().Nodes(), "taints")
	if err != nil {
		return nil, err
	}
	clock := clocktesting.NewFakeClock(Begin)
	var mu sync.Mutex
	deleted := map[string]int64{}
	queue := tainteviction.CreateWorkerQueue(func(_ context.Context, at time.Time, args *tainteviction.WorkArgs) error {
		mu.Lock()
		defer mu.Unlock()
		name := args.Object.Name
		if _, before := deleted[name]; !before && c.pods[name].DeletionTimestamp == nil {
			deleted[name] = int64(at.Sub(Begin) / time.Second)
			c.lines = append(c.lines, fmt.Sprintf("%d leaves default/%s", deleted[name], name))
		}
		return nil
	})
	setField(queue, "clock", clock)
	setField(control, "taintEvictionQueue", queue)
	running := (*sync.WaitGroup)(reflect.ValueOf(queue).Elem().FieldByName("workerWG").Addr().UnsafePointer())
	on := map[string][]corev1.Taint{}
	step := func(to int64) { // second by second, as what is due is in order
		for now := int64(clock.Since(Begin) / time.Second); now < to; now++ {
			clock.Step(time.Second)
			running.Wait()
		}
	}
	for i := range k.Events {
		e := &k.Events[i]
		step(e.second)
		t := e.Taint
		if t == nil {
			t = e.Untaint
		}
		node, taint := t.Nodes[0], corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
		at := slices.IndexFunc(on[node], func(x corev1.Taint) bool { return x.MatchTaint(&taint) })
		switch {
		case e.Taint != nil && at < 0:
			on[node] = append(on[node], taint)
		case e.Taint != nil && on[node][at].Value != taint.Value:
			on[node][at] = taint
		case e.Untaint != nil && at >= 0:
			on[node] = slices.Delete(on[node], at, at+1)
		default:
			continue
		}
		if taint.Effect != corev1.TaintEffectNoExecute {
			continue // NodeUpdated
		}
		judgeNode(control, queue, k, node, on[node], clock.Now())
		running.Wait()
	}
	step(k.Events[len(k.Events)-1].second + 700)
	return sortedLines(c.lines), nil
}

// judgeNode is handleNodeUpdate with the time of the case.
func judgeNode(control *tainteviction.Controller, queue *tainteviction.TimedWorkerQueue, k *Case, node string, all []corev1.Taint, now time.Time) {
	var taints []corev1.Taint
	for _, t := range all {
		if t.Effect == corev1.TaintEffectNoExecute {
			added := metav1.NewTime(now)
			t.TimeAdded = &added
			taints = append(taints, t)
		}
	}
	for _, p := range of[corev1.Pod](k) {
		name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		switch {
		case p.Spec.NodeName != node:
		case len(taints) == 0:
			queue.CancelWork(klog.Background(), name.String())
		default:
			judgeTaints(control, context.Background(), name, node, p.Spec.Tolerations, taints, now)
		}
	}
}
