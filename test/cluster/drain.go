package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubectl/pkg/drain"
)

// startsIn is how long the pods of the scenario take until they are ready.
const startsIn = time.Second

// workload is a ReplicaSet of the scenario, and how many of its pods must stay healthy; below 0: it
// has no budget.
type workload struct {
	name    string
	nodes   []int
	healthy int32
	change  func(*corev1.Pod)
}

// drainTrial plays the controllers that a drain needs: of ReplicaSets, of budgets, and the
// kubelets' part that makes pods ready.
type drainTrial struct {
	e       *env
	mu      sync.Mutex
	ready   map[types.UID]bool
	succeed map[types.UID]bool // pods that have been replaced
	budgets map[string]int32
}

// drains compares berth's answer about a drain with what kubectl drain does on the same cluster.
func drains(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, 8, 2, "8", "32Gi", nil); err != nil {
		return err
	}
	s, err := e.berth(nil)
	if err != nil {
		return err
	}
	t, err := e.enforced(full, "", s)
	if err != nil {
		return err
	}
	d := &drainTrial{e: e, ready: map[types.UID]bool{}, succeed: map[types.UID]bool{}, budgets: map[string]int32{}}
	local := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	bare := func(p *corev1.Pod) { p.OwnerReferences = nil }
	if err := d.make(ctx, []workload{
		{"web", []int{0, 0, 0, 0, 4, 5}, 4, nil}, // two may be away at a time: two waves
		{"cache", []int{0, 1, 1}, -1, nil},
		{"bare", []int{2}, -1, bare},
		{"local", []int{3, 3}, -1, local},
		{"db", []int{1, 5}, 2, nil}, // none may
	}); err != nil {
		return err
	}
	stop := d.play(ctx)
	defer stop()
	if err := until(ctx, 20*time.Second, "all pods ready and all budgets known", func() bool { return d.settled(ctx, 22) }); err != nil {
		return err
	}
	nodes := []string{"node-0000", "node-0001", "node-0002", "node-0003"}
	var want drainAnswer
	if err := until(ctx, 10*time.Second, "berth to know of the budgets", func() bool {
		want = drainAnswer{} // or what is absent now would stay from the call before
		err = s.call(ctx, "POST", "/v1/clusters/"+followed+"/drains", map[string]any{"nodes": nodes, "ignoreDaemonSets": true}, &want)
		return err == nil && len(want.Nodes) == 4 && want.Nodes[0].Waves > 1
	}); err != nil {
		return errors.Join(err, fmt.Errorf("berth: %+v", want))
	}
	got, err := d.kubectl(ctx, nodes)
	if err != nil {
		return err
	}
	d.compare(&want, got)
	if err := until(ctx, 20*time.Second, "all replacements bound", func() bool { return d.settled(ctx, 22) }); err != nil {
		return err
	}
	e.check(want.Totals.Pending == 0 && want.Totals.Placed == want.Totals.Evicted, "berth expects %+v", want.Totals)
	e.figure("4 nodes: %d pods evicted as berth said, %d refused, %d blocked, waves %v", want.Totals.Evicted, got.refused, len(want.Nodes[1].Blocked), got.waves)
	t.stop()
	// Not all books: the pods that were there before were put on their nodes by the scenario.
	b, err := e.bookkeeping(ctx, t.s, t.database)
	if err != nil {
		return err
	}
	e.answered(b, t.f)
	return nil
}

// make creates the workloads, each pod on its node, and a DaemonSet with a pod everywhere.
func (d *drainTrial) make(ctx context.Context, list []workload) error {
	ns := d.e.namespace
	for _, w := range list {
		set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: ns}}
		replicas := int32(len(w.nodes))
		set.Spec.Replicas, set.Spec.Selector = &replicas, &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.name}}
		set.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: set.Spec.Selector.MatchLabels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		made, err := d.e.client.AppsV1().ReplicaSets(ns).Create(ctx, set, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := d.e.pods(ctx, w.name, len(w.nodes), "500m", "256Mi", func(i int, p *corev1.Pod) {
			p.Spec.NodeName = fmt.Sprintf("node-%04d", w.nodes[i])
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(made, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
			if w.change != nil {
				w.change(p)
			}
		}); err != nil {
			return err
		}
		if w.healthy < 0 {
			continue
		}
		least := intstr.FromInt32(w.healthy)
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: ns}}
		b.Spec.Selector, b.Spec.MinAvailable = set.Spec.Selector, &least
		if _, err := d.e.client.PolicyV1().PodDisruptionBudgets(ns).Create(ctx, b, metav1.CreateOptions{}); err != nil {
			return err
		}
		d.budgets[w.name] = w.healthy
	}
	agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: ns}}
	agent.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}
	agent.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: agent.Spec.Selector.MatchLabels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	made, err := d.e.client.AppsV1().DaemonSets(ns).Create(ctx, agent, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return d.e.pods(ctx, "agent", 8, "100m", "64Mi", func(i int, p *corev1.Pod) {
		p.Spec.NodeName = fmt.Sprintf("node-%04d", i)
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(made, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	})
}

// play makes bound pods ready after a while, replaces pods of ReplicaSets that are being deleted,
// and keeps the statuses of budgets, every 50 ms until it is stopped.
func (d *drainTrial) play(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for _, l := range d.e.kubelets.of(d.e.namespace) {
				d.see(ctx, &l)
			}
			for name := range d.budgets {
				d.budget(ctx, name)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }
}

func (d *drainTrial) see(ctx context.Context, l *life) {
	pods := d.e.client.CoreV1().Pods(l.namespace)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(l.nodes) > 0 && !l.deleting && !d.ready[l.uid] && time.Since(l.bound) > startsIn {
		p := l.last.DeepCopy()
		now, began := metav1.Now(), metav1.NewTime(time.Now().Add(-startsIn))
		p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &began
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
		if _, err := pods.UpdateStatus(ctx, p, metav1.UpdateOptions{}); err == nil {
			d.ready[l.uid] = true
		}
	}
	owner := metav1.GetControllerOf(l.last)
	if (l.deleting || l.gone) && !d.succeed[l.uid] && owner != nil && owner.Kind == "ReplicaSet" {
		p := l.first.DeepCopy()
		p.ObjectMeta = metav1.ObjectMeta{Name: l.name + "x", Namespace: l.namespace, Labels: map[string]string{"app": owner.Name}, OwnerReferences: l.first.OwnerReferences}
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{}
		if _, err := pods.Create(ctx, p, metav1.CreateOptions{}); err == nil {
			d.succeed[l.uid] = true
		}
	}
}

// budget writes the status of a budget as its controller does (pkg/controller/disruption trySync).
func (d *drainTrial) budget(ctx context.Context, name string) {
	budgets := d.e.client.PolicyV1().PodDisruptionBudgets(d.e.namespace)
	b, err := budgets.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	healthy, all := int32(0), int32(0)
	seen := map[string]bool{}
	for _, l := range d.e.kubelets.of(d.e.namespace) {
		if l.last.Labels["app"] != name || l.gone {
			continue
		}
		all++
		seen[l.name] = l.deleting
		_, disrupted := b.Status.DisruptedPods[l.name]
		for _, c := range l.last.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && !l.deleting && !disrupted {
				healthy++
			}
		}
	}
	status := policyv1.PodDisruptionBudgetStatus{ObservedGeneration: b.Generation, CurrentHealthy: healthy, DesiredHealthy: d.budgets[name], ExpectedPods: all}
	status.DisruptionsAllowed = max(0, healthy-d.budgets[name])
	for pod, at := range b.Status.DisruptedPods {
		if deleting, there := seen[pod]; there && !deleting { // the API server's word comes before the watch's
			if status.DisruptedPods == nil {
				status.DisruptedPods = map[string]metav1.Time{}
			}
			status.DisruptedPods[pod] = at
		}
	}
	same := b.Status.CurrentHealthy == healthy && b.Status.ExpectedPods == all && b.Status.DisruptionsAllowed == status.DisruptionsAllowed && b.Status.ObservedGeneration == b.Generation && len(b.Status.DisruptedPods) == len(status.DisruptedPods)
	if same {
		return
	}
	b.Status = status
	_, _ = budgets.UpdateStatus(ctx, b, metav1.UpdateOptions{}) // a conflict is tried again
}

// settled reports whether n pods are alive and ready, and budgets allow what they should.
func (d *drainTrial) settled(ctx context.Context, n int) bool {
	alive := d.e.kubelets.alive(d.e.namespace)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range alive {
		if !d.ready[l.uid] {
			return false
		}
	}
	b, err := d.e.client.PolicyV1().PodDisruptionBudgets(d.e.namespace).Get(ctx, "web", metav1.GetOptions{})
	return err == nil && len(alive) == n && b.Status.DisruptionsAllowed == 2
}

// drainAnswer is what berth answers, as far as it is compared.
type drainAnswer struct {
	Nodes []struct {
		Name, Outcome             string
		Waves                     int
		Skipped, Refused, Blocked []struct{ Name, Reason string }
	}
	Pods []struct {
		Name, Node, Cause  string
		Wave               int
		LeavesAfterSeconds int
	}
	Totals struct{ Evicted, Placed, Pending int }
}

// drained is what kubectl did.
type drained struct {
	evicted map[string][]string // by node
	outcome map[string]string   // by node: drained, refused or blocked
	left    map[string][]string // by node: pods that were neither evicted nor of the DaemonSet
	waves   map[string][]int    // by node: how many pods each round of five seconds took
	refused int
}

// kubectl drains the nodes with kubectl's own code: all are cordoned, then drained in turn.
func (d *drainTrial) kubectl(ctx context.Context, nodes []string) (*drained, error) {
	got := &drained{evicted: map[string][]string{}, outcome: map[string]string{}, left: map[string][]string{}, waves: map[string][]int{}}
	var out bytes.Buffer
	for _, n := range nodes {
		node, err := d.e.client.CoreV1().Nodes().Get(ctx, n, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if err := drain.RunCordonOrUncordon(d.helper(ctx, &out), node, true); err != nil {
			return nil, err
		}
	}
	for _, n := range nodes {
		began := time.Now()
		var mu sync.Mutex
		h := d.helper(ctx, &out)
		h.OnPodDeletionOrEvictionFinished = func(p *corev1.Pod, _ bool, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				return
			}
			got.evicted[n] = append(got.evicted[n], p.Name)
			round := int(time.Since(began) / (5 * time.Second))
			for len(got.waves[n]) <= round {
				got.waves[n] = append(got.waves[n], 0)
			}
			got.waves[n][round]++
		}
		err := drain.RunNodeDrain(h, n)
		switch {
		case err == nil:
			got.outcome[n] = "drained"
		case strings.Contains(err.Error(), "cannot delete"):
			got.outcome[n] = "refused"
		case strings.Contains(err.Error(), "timeout"):
			got.outcome[n] = "blocked"
		default:
			return nil, fmt.Errorf("drain %s: %w\n%s", n, err, out.String())
		}
		for _, l := range d.e.kubelets.alive(d.e.namespace) {
			if slices.Contains(l.nodes, n) && l.last.Labels["app"] != "agent" {
				got.left[n] = append(got.left[n], l.name)
			}
		}
		if got.outcome[n] == "refused" {
			got.refused += len(got.left[n])
		}
	}
	return got, nil
}

func (d *drainTrial) helper(ctx context.Context, out *bytes.Buffer) *drain.Helper {
	return &drain.Helper{
		Ctx: ctx, Client: d.e.client, IgnoreAllDaemonSets: true, GracePeriodSeconds: -1, Timeout: 17 * time.Second,
		EvictErrorRetryDelay: 5 * time.Second, Out: out, ErrOut: out,
	}
}

// compare holds berth's answer to what kubectl did. Which of equal pods goes in which wave is
// chance in kubectl, whose evictions race; how many do is not.
func (d *drainTrial) compare(want *drainAnswer, got *drained) {
	for _, n := range want.Nodes {
		d.e.check(n.Outcome == got.outcome[n.Name], "%s: berth says %s, kubectl %s", n.Name, n.Outcome, got.outcome[n.Name])
		var evicted []string
		rounds := map[int]int{}
		first := -1
		for _, p := range want.Pods {
			if p.Node == n.Name && p.Cause == "eviction" {
				evicted = append(evicted, p.Name)
				if first < 0 {
					first = p.LeavesAfterSeconds
				}
				rounds[(p.LeavesAfterSeconds-first)/5]++
			}
		}
		slices.Sort(evicted)
		slices.Sort(got.evicted[n.Name])
		d.e.check(slices.Equal(evicted, got.evicted[n.Name]), "%s: berth evicts %v, kubectl %v", n.Name, evicted, got.evicted[n.Name])
		var waves []int
		for _, r := range slices.Sorted(maps.Keys(rounds)) {
			waves = append(waves, rounds[r])
		}
		took := slices.DeleteFunc(slices.Clone(got.waves[n.Name]), func(n int) bool { return n == 0 })
		d.e.check(slices.Equal(waves, took), "%s: berth's waves are %v, kubectl's %v", n.Name, waves, took)
		var left []string
		for _, list := range [][]struct{ Name, Reason string }{n.Refused, n.Blocked} {
			for _, p := range list {
				left = append(left, p.Name)
			}
		}
		if n.Outcome != "refused" { // where kubectl leaves those too that it would have taken
			slices.Sort(left)
			slices.Sort(got.left[n.Name])
			d.e.check(slices.Equal(left, got.left[n.Name]), "%s: berth leaves %v, kubectl %v", n.Name, left, got.left[n.Name])
		}
	}
}
