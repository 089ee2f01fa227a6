package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/daemon"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	"k8s.io/kubernetes/pkg/controller/util/consistency"
	clocktesting "k8s.io/utils/clock/testing"
)

// Daemons are the nodes on which a DaemonSet has pods, and its rolling update.
var Daemons = &Part{Name: "daemonset", Draw: drawDaemons, Want: playDaemons, Got: gotDaemons}

// daemonSpec is the spec of a pod for a node, as the controller makes it.
func daemonSpec(s *appsv1.DaemonSet, node string) *corev1.PodSpec {
	t := daemonutil.CreatePodTemplate(s.Spec.Template, nil, "")
	t.Spec.Affinity = daemonutil.ReplaceDaemonSetPodNodeNameNodeAffinity(t.Spec.Affinity, node)
	return &t.Spec
}

// daemons are the real controller over a cluster; its writes of pods come here, and are made once
// it is done, as some of them are chance.
type daemons struct {
	mu      sync.Mutex // pods are written several at once
	c       *cluster
	f       informers.SharedInformerFactory
	client  *fake.Clientset
	control *daemon.DaemonSetsController
	clock   *clocktesting.FakeClock
	set     *appsv1.DaemonSet
	nodes   map[string]*corev1.Node
	touched bool // the controller has begun to act
	busy    bool
	// enqueued reports that a change of a node had the controller look at the set.
	enqueued bool
	next     int64                              // when the controller looks again; below 0: it does not
	deletes  []string                           // the pods of a sync
	creates  map[string]*corev1.PodTemplateSpec // by node
	count    int
}

type laterQueue struct {
	workqueue.TypedRateLimitingInterface[string]
	j *daemons
}

// AddAfter has the controller look again at the cluster's time, the earliest of those that are
// asked for (client-go/util/workqueue/delaying_queue.go insert).
func (q laterQueue) AddAfter(_ string, after time.Duration) {
	j := q.j
	at := j.c.now + int64((after+time.Second-1)/time.Second)
	if j.next >= j.c.now && j.next <= at {
		return
	}
	j.next = at
	j.c.at(at, "~daemons", func() error {
		if j.next != at {
			return nil
		}
		j.next = -1
		return j.sync()
	})
}

func newDaemons(c *cluster) *daemons {
	j := &daemons{c: c, client: fake.NewSimpleClientset(), clock: clocktesting.NewFakeClock(Begin), next: -1, set: of[appsv1.DaemonSet](c.k)[0].DeepCopy(), nodes: map[string]*corev1.Node{}}
	for _, n := range of[corev1.Node](c.k) {
		j.nodes[n.Name] = n.DeepCopy()
	}
	must(j.client.Tracker().Add(j.set.DeepCopy()))
	j.f = informers.NewSharedInformerFactory(j.client, 0)
	var err error
	j.control, err = daemon.NewDaemonSetsController(context.Background(), j.f.Apps().V1().DaemonSets(), j.f.Apps().V1().ControllerRevisions(),
		j.f.Core().V1().Pods(), j.f.Core().V1().Nodes(), j.client, flowcontrol.NewFakeBackOff(time.Second, 15*time.Minute, j.clock))
	must(err)
	setField(j.control, "podControl", controller.PodControlInterface(j))
	setField(j.control, "queue", workqueue.TypedRateLimitingInterface[string](laterQueue{workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()), j}))
	setField(j.control, "enqueueDaemonSet", func(*appsv1.DaemonSet) { j.touched, j.enqueued = true, true })
	setField(j.control, "consistencyStore", consistency.ConsistencyStore(consistency.NewNoopConsistencyStore()))
	return j
}

// read has the controller's listers hold the cluster as it is.
func (j *daemons) read() []*corev1.Node {
	pods, nodes, list := []any{}, []any{}, []*corev1.Node{}
	for _, p := range j.c.pods {
		pods = append(pods, p)
	}
	for _, name := range slices.Sorted(maps.Keys(j.nodes)) {
		nodes, list = append(nodes, j.nodes[name]), append(list, j.nodes[name])
	}
	revisions, err := j.client.AppsV1().ControllerRevisions("default").List(context.Background(), metav1.ListOptions{})
	must(err)
	history := []any{}
	for i := range revisions.Items {
		history = append(history, &revisions.Items[i])
	}
	must(j.f.Core().V1().Pods().Informer().GetIndexer().Replace(pods, ""))
	must(j.f.Core().V1().Nodes().Informer().GetIndexer().Replace(nodes, ""))
	must(j.f.Apps().V1().ControllerRevisions().Informer().GetIndexer().Replace(history, ""))
	must(j.f.Apps().V1().DaemonSets().Informer().GetIndexer().Replace([]any{j.set}, ""))
	setField(j.control, "expectations", controller.ControllerExpectationsInterface(controller.NewControllerExpectations()))
	j.deletes, j.creates = nil, map[string]*corev1.PodTemplateSpec{}
	j.clock.SetTime(j.c.instant())
	return list
}

// sync has the controller act until it changes nothing more.
func (j *daemons) sync() error {
	if !j.touched || j.busy {
		return nil
	}
	j.busy = true
	defer func() { j.busy = false }()
	for before := -1; before != len(j.c.lines); {
		before = len(j.c.lines)
		nodes := j.read()
		if err := syncDaemons(j.control, context.Background(), "default/agent"); err != nil {
			return err
		}
		now, err := j.client.AppsV1().DaemonSets("default").Get(context.Background(), "agent", metav1.GetOptions{})
		if err != nil {
			return err
		}
		j.set.Status = now.Status
		if err := j.choose(nodes); err != nil {
			return err
		}
		for _, node := range slices.Sorted(maps.Keys(j.creates)) {
			j.make(node, j.creates[node])
		}
		for _, name := range j.deletes {
			if err := j.c.remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose takes the first nodes by name where the rolling update's choice among them is chance.
func (j *daemons) choose(nodes []*corev1.Node) error {
	deletes, creates := j.deletes, j.creates
	if len(deletes)+len(creates) == 0 || slices.ContainsFunc(deletes, func(n string) bool { return over(j.c.pods[n]) }) {
		return nil
	}
	hash := controller.ComputeHash(&j.set.Spec.Template, nil)
	j.read()
	if err := manageDaemons(j.control, context.Background(), j.set, nodes, hash); err != nil {
		return err
	}
	if len(j.deletes)+len(j.creates) > 0 {
		j.deletes, j.creates = deletes, creates
		return nil // it was no rolling update
	}
	seen, times, gone, come := map[string]int{}, 60, 0, 0
	made := map[string]*corev1.PodTemplateSpec{}
	for range times {
		j.read()
		if err := rollDaemons(j.control, context.Background(), j.set, nodes, hash); err != nil {
			return err
		}
		gone, come = len(j.deletes), len(j.creates)
		for _, name := range j.deletes {
			seen[name]++
		}
		for node, t := range j.creates {
			seen["+"+node]++
			made[node] = t
		}
	}
	list := slices.Sorted(maps.Keys(seen))
	slices.SortStableFunc(list, func(a, b string) int { // those that always go, and then by name
		return min(seen[b], times)/times - min(seen[a], times)/times
	})
	j.deletes, j.creates = nil, map[string]*corev1.PodTemplateSpec{}
	for _, what := range list {
		node, is := strings.CutPrefix(what, "+")
		switch {
		case is && len(j.creates) < come:
			j.creates[node] = made[node]
		case !is && len(j.deletes) < gone:
			j.deletes = append(j.deletes, what)
		}
	}
	return nil
}

// make makes a pod for a node.
func (j *daemons) make(node string, t *corev1.PodTemplateSpec) {
	j.count++
	p := &corev1.Pod{ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: *t.Spec.DeepCopy()}
	p.Name = fmt.Sprintf("%s-%d", node, j.count)
	p.OwnerReferences = []metav1.OwnerReference{owned("apps/v1", "DaemonSet", "agent")}
	j.c.create(p)
}

func (j *daemons) CreatePods(_ context.Context, _ string, t *corev1.PodTemplateSpec, _ runtime.Object, _ *metav1.OwnerReference) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.creates[t.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]] = t
	return nil
}

func (j *daemons) CreatePodsWithGenerateName(ctx context.Context, ns string, t *corev1.PodTemplateSpec, o runtime.Object, ref *metav1.OwnerReference, _ string) error {
	return j.CreatePods(ctx, ns, t, o, ref)
}

func (j *daemons) DeletePod(_ context.Context, _, name string, _ runtime.Object) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.deletes = append(j.deletes, name)
	return nil
}

func (j *daemons) PatchPod(context.Context, string, string, []byte) error { return nil }

// playDaemons has the events happen.
func playDaemons(k *Case) ([]string, error) {
	c := newCluster(k)
	j := newDaemons(c)
	due := int64(-1)
	c.control = func() error { // once all that kubelets write in the second is there
		if due < c.now {
			due = c.now
			c.at(due, "~~", func() error {
				due = -1
				return j.sync()
			})
		}
		return nil
	}
	c.begins = func(*corev1.Pod) { j.touched = true }
	c.ends = func(*corev1.Pod) bool {
		j.touched = true
		return true
	}
	c.ready = func() { // updatePod
		if wait := time.Duration(j.set.Spec.MinReadySeconds) * time.Second; wait > 0 && j.touched {
			laterQueue{nil, j}.AddAfter("", wait+time.Second)
		}
	}
	c.on = func(p *corev1.Pod) string {
		name, err := daemonutil.GetTargetNodeName(p)
		must(err)
		node := j.nodes[name]
		if untolerated(node, p.Spec.Tolerations, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute) || p.Spec.NodeSelector["pool"] != "" && node.Labels["pool"] != p.Spec.NodeSelector["pool"] {
			return ""
		}
		return name
	}
	c.happens(func(e *Event) error {
		switch {
		case e.Delete != nil:
			return c.remove(e.Delete.Name)
		case e.RollOut != nil:
			j.touched = true
			j.set.Spec, j.set.Generation = *e.RollOut.DaemonSet.Spec.DeepCopy(), j.set.Generation+1
			if _, err := j.client.AppsV1().DaemonSets("default").Update(context.Background(), j.set.DeepCopy(), metav1.UpdateOptions{}); err != nil {
				return err
			}
			return c.control()
		}
		return j.nodeChanges(e)
	})
	lines, err := c.run()
	return byNode(lines), err
}

// untolerated reports whether there is a taint of some effects that is not tolerated.
func untolerated(n *corev1.Node, of []corev1.Toleration, effects ...corev1.TaintEffect) bool {
	_, is := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, of, func(t *corev1.Taint) bool { return slices.Contains(effects, t.Effect) }, false)
	return is
}

// nodeChanges changes a node, as an API server and the controller of taints do.
func (j *daemons) nodeChanges(e *Event) error {
	var n *corev1.Node
	taint := func(of *TaintOf) corev1.Taint {
		n = j.nodes[of.Nodes[0]].DeepCopy()
		return corev1.Taint{Key: of.Key, Effect: corev1.TaintEffect(of.Effect)}
	}
	switch {
	case e.Apply != nil:
		n = e.Apply.(*corev1.Node).DeepCopy()
		if n.Spec.Taints == nil { // as kubectl apply keeps them
			n.Spec.Taints = j.nodes[n.Name].Spec.Taints
		}
	case e.Taint != nil:
		t := taint(e.Taint)
		if !slices.ContainsFunc(n.Spec.Taints, func(of corev1.Taint) bool { return of.MatchTaint(&t) }) {
			n.Spec.Taints = append(n.Spec.Taints, t)
		}
	case e.Untaint != nil:
		t := taint(e.Untaint)
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(of corev1.Taint) bool { return of.MatchTaint(&t) })
	}
	before := j.nodes[n.Name]
	j.nodes[n.Name] = n
	for _, name := range slices.Sorted(maps.Keys(j.c.pods)) {
		p := j.c.pods[name]
		if p == nil || p.Spec.NodeName != n.Name || over(p) {
			continue
		}
		if untolerated(n, p.Spec.Tolerations, corev1.TaintEffectNoExecute) {
			busy := j.busy
			j.busy = true // the controller of DaemonSets comes after
			err := j.c.remove(name)
			if j.busy = busy; err != nil {
				return err
			}
		}
	}
	if !shouldIgnoreNode(*before, *n) { // behind what kubelets write in the second
		j.c.at(j.c.now, "~node", func() error {
			j.read()
			j.enqueued = false
			if err := syncNode(j.control, context.Background(), n.Name); err != nil || !j.enqueued {
				return err
			}
			return j.sync()
		})
	}
	return nil
}

// gotDaemons are the moments of pods by their nodes: which pod of a node is which is not asked.
func gotDaemons(_ *Case, a *Answer) []string { return byNode(lifeOf(a)) }

// byNode names the node of each line's pod, and whether the pod was there before.
func byNode(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		f := strings.Fields(l)
		node, rest, _ := strings.Cut(strings.TrimPrefix(f[2], "agent-"), "-")
		if rest != "o" {
			node += "+"
		}
		out[i] = strings.Join([]string{f[0], f[1], node}, " ")
	}
	return sortedLines(out)
}
