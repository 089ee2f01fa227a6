package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// env is what a scenario has: a cluster of its own nodes, and a namespace.
type env struct {
	*control
	kubelets  *kubelets
	options   *options
	dir       string // of the scenario
	namespace string
	cleanups  []func()
	used      cpuTimes // of the last rate

	mu      sync.Mutex
	failed  []string
	figures []string
}

// check notes a failure unless ok, and reports whether it was.
func (e *env) check(ok bool, format string, args ...any) bool {
	if !ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.failed = append(e.failed, fmt.Sprintf(format, args...))
	}
	return ok
}

// figure reports what was measured.
func (e *env) figure(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.figures = append(e.figures, fmt.Sprintf(format, args...))
}

func (e *env) later(f func()) { e.cleanups = append(e.cleanups, f) }

// end undoes everything, and leaves an empty cluster.
func (e *env) end(ctx context.Context) error {
	for _, f := range slices.Backward(e.cleanups) {
		f()
	}
	e.cleanups = nil
	zero := int64(0)
	now := metav1.DeleteOptions{GracePeriodSeconds: &zero}
	core := e.client.CoreV1()
	if err := core.Pods(e.namespace).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		return err
	}
	if err := e.client.PolicyV1().PodDisruptionBudgets(e.namespace).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		return err
	}
	apps := e.client.AppsV1()
	if err := apps.ReplicaSets(e.namespace).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		return err
	}
	if err := apps.DaemonSets(e.namespace).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		return err
	}
	if err := e.client.SchedulingV1().PriorityClasses().DeleteCollection(ctx, now, metav1.ListOptions{LabelSelector: "suite"}); err != nil {
		return err
	}
	if err := core.Nodes().DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		return err
	}
	return core.Namespaces().Delete(ctx, e.namespace, now)
}

// begin makes a scenario's namespace and directory.
func (e *env) begin(ctx context.Context, name string) error {
	e.namespace = fmt.Sprintf("%s-%d", name, time.Now().UnixMilli())
	e.dir = filepath.Join(e.control.dir, e.namespace)
	if err := os.Mkdir(e.dir, 0o700); err != nil {
		return err
	}
	_, err := e.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.namespace}}, metav1.CreateOptions{})
	return err
}

// berth starts one over the embedded store; through is the way to the apiserver,
// nil for the direct one.
func (e *env) berth(through *wire, args ...string) (*server, error) {
	address := e.address
	if through != nil {
		address = through.address()
	}
	s, err := newServer(e.control, e.options.server, e.dir, "berth", address, args...)
	if err != nil {
		return nil, err
	}
	return s, e.start(s)
}

// start starts a server, which ends with the scenario.
func (e *env) start(s *server) error {
	e.later(func() {
		if s.proc != nil {
			s.proc.stop()
		}
	})
	return s.start()
}

// front puts a recorder in front of servers.
func (e *env) front(servers ...*server) (*frontend, error) {
	var at []string
	for _, s := range servers {
		at = append(at, s.listen)
	}
	f, err := newFrontend(at...)
	if err == nil {
		e.later(f.close)
	}
	return f, err
}

// schedule starts a kube-scheduler; it ends with the scenario or by the function.
func (e *env) schedule(p profile, x extender, flags ...string) (stop func(), err error) {
	s, err := e.startScheduler(e.dir, p, x, flags...)
	if err != nil {
		return nil, err
	}
	stop = sync.OnceFunc(s.stop)
	e.later(stop)
	return stop, nil
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// nodes makes n ready nodes over zones.
func (e *env) nodes(ctx context.Context, n, zones int, cpu, memory string, change func(i int, node *corev1.Node)) error {
	return parallel(n, func(i int) error {
		name := fmt.Sprintf("node-%04d", i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%zones),
		}}}
		node.Status.Allocatable = list(cpu, memory)
		node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
		node.Status.Capacity = node.Status.Allocatable
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if change != nil {
			change(i, node)
		}
		_, err := e.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
}

// pods makes n pods.
func (e *env) pods(ctx context.Context, prefix string, n int, cpu, memory string, change func(i int, pod *corev1.Pod)) error {
	return parallel(n, func(i int) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%04d", prefix, i), Namespace: e.namespace, Labels: map[string]string{"app": prefix}}}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "registry.invalid/" + prefix, Resources: corev1.ResourceRequirements{Requests: list(cpu, memory)}}}
		if change != nil {
			change(i, pod)
		}
		_, err := e.client.CoreV1().Pods(e.namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// parallel calls f for 0 to n-1, eight at a time, and returns the first error.
func parallel(n int, f func(i int) error) error {
	work, errs := make(chan int), make(chan error, n)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range work {
				errs <- f(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// until waits for something to come true.
func until(ctx context.Context, atMost time.Duration, what string, ok func() bool) error {
	for end := time.Now().Add(atMost); ; {
		if ok() {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("not within %s: %s", atMost, what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// allBound waits until n pods of the scenario are on nodes.
func (e *env) allBound(ctx context.Context, n int, atMost time.Duration) error {
	err := until(ctx, atMost, fmt.Sprintf("%d pods bound", n), func() bool { return e.countBound() >= n })
	if err != nil {
		return fmt.Errorf("%w; bound are %d", err, e.countBound())
	}
	return nil
}

func (e *env) countBound() (n int) {
	e.kubelets.mu.Lock()
	defer e.kubelets.mu.Unlock()
	for _, l := range e.kubelets.lives {
		if l.namespace == e.namespace && len(l.nodes) > 0 && !l.gone && !l.deleting {
			n++
		}
	}
	return n
}

// passes reports whether an answer to /filter lets a node pass.
func passes(answer []byte, node string) bool {
	var a struct{ NodeNames []string }
	return json.Unmarshal(answer, &a) == nil && slices.Contains(a.NodeNames, node)
}
