// Command rollouts writes vectors for rollouts of Deployments: the steps that the real
// DeploymentController takes on a fake client, and the order in which a ReplicaSet deletes pods.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"sort"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/deployment"
)

// Case is a vector: a rollout with its steps, or pods in the order in which they are deleted.
type Case struct {
	Replicas    int      `json:"replicas,omitempty"`
	Sick        int      `json:"sick,omitempty"` // pods that are never Ready, those of the oldest sets
	Sets        int      `json:"sets,omitempty"` // old ReplicaSets
	Start       int      `json:"start,omitempty"`
	Surge       string   `json:"surge,omitempty"`
	Unavailable string   `json:"unavailable,omitempty"`
	Recreate    bool     `json:"recreate,omitempty"`
	Steps       []string `json:"steps,omitempty"` // "second set from>to"
	Pods        []Pod    `json:"pods,omitempty"`
}

// Pod is a pod of a ReplicaSet; times are seconds ago.
type Pod struct {
	Name     string `json:"name"`
	Node     string `json:"node,omitempty"`
	Phase    string `json:"phase"`
	Ready    bool   `json:"ready,omitempty"`
	Since    int    `json:"since"`
	Created  int    `json:"created"`
	Cost     string `json:"cost,omitempty"`
	Restarts int32  `json:"restarts,omitempty"`
}

// grace is how long every pod takes to end.
const grace = 30

// set is a ReplicaSet as its controller and kubelets would keep it: pods by what they are, those
// that start and end by when they do.
type set struct {
	spec             int32
	healthy, sick    int
	starting, ending map[int]int
}

func newSet(healthy, sick int) *set {
	return &set{int32(healthy + sick), healthy, sick, map[int]int{}, map[int]int{}}
}

func (s *set) pods() int {
	n := s.healthy + s.sick
	for _, k := range s.starting {
		n += k
	}
	return n
}

// world is a Deployment on a fake client, with informers that are filled by hand.
type world struct {
	c      *Case
	now    int
	client *fake.Clientset
	f      informers.SharedInformerFactory
	dc     *deployment.DeploymentController
	sets   map[string]*set
}

func template(image string, labels map[string]string) v1.PodTemplateSpec {
	return v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: image}}}}
}

func newWorld(ctx context.Context, c *Case) *world {
	labels := map[string]string{"app": "web"}
	replicas, deadline, yes := int32(c.Replicas), int32(600), true
	d := &apps.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "web"}, Spec: apps.DeploymentSpec{
		Replicas: &replicas, ProgressDeadlineSeconds: &deadline, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template("new", labels),
		Strategy: apps.DeploymentStrategy{Type: apps.RecreateDeploymentStrategyType},
	}}
	if !c.Recreate {
		surge, unavailable := intstr.Parse(c.Surge), intstr.Parse(c.Unavailable)
		d.Spec.Strategy = apps.DeploymentStrategy{Type: apps.RollingUpdateDeploymentStrategyType, RollingUpdate: &apps.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable}}
	}
	w := &world{c: c, client: fake.NewSimpleClientset(d), sets: map[string]*set{}}
	left, sick := c.Replicas, c.Sick
	for i := range c.Sets {
		n := left / (c.Sets - i)
		left -= n
		k := min(sick, n)
		sick -= k
		name, size := fmt.Sprintf("web-%d", i), int32(n)
		w.sets[name] = newSet(n-k, k)
		_, err := w.client.AppsV1().ReplicaSets("default").Create(ctx, &apps.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: "default", UID: types.UID(name), CreationTimestamp: metav1.Unix(int64(1000+i), 0), Labels: labels,
				Annotations:     map[string]string{"deployment.kubernetes.io/desired-replicas": fmt.Sprint(c.Replicas), "deployment.kubernetes.io/revision": fmt.Sprint(i + 1)},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "web", Controller: &yes}},
			},
			Spec: apps.ReplicaSetSpec{Replicas: &size, Selector: d.Spec.Selector, Template: template(name, labels)},
		}, metav1.CreateOptions{})
		check(err)
	}
	w.f = informers.NewSharedInformerFactory(w.client, controller.NoResyncPeriodFunc())
	var err error
	w.dc, err = deployment.NewDeploymentController(ctx, w.f.Apps().V1().Deployments(), w.f.Apps().V1().ReplicaSets(), w.f.Core().V1().Pods(), w.client)
	check(err)
	return w
}

// replicaSets lists the sets, the new one first, since it is created before others are scaled.
func (w *world) replicaSets(ctx context.Context) []apps.ReplicaSet {
	l, err := w.client.AppsV1().ReplicaSets("default").List(ctx, metav1.ListOptions{})
	check(err)
	for i := range l.Items {
		if rs := &l.Items[i]; rs.UID == "" { // the fake client gives none
			rs.UID = types.UID(rs.Name)
			_, err := w.client.AppsV1().ReplicaSets("default").Update(ctx, rs, metav1.UpdateOptions{})
			check(err)
		}
	}
	old := func(rs *apps.ReplicaSet) bool { return len(rs.Name) == len("web-0") }
	sort.Slice(l.Items, func(i, j int) bool {
		a, b := &l.Items[i], &l.Items[j]
		if old(a) != old(b) {
			return old(b)
		}
		return a.Name < b.Name
	})
	return l.Items
}

// follow has the ReplicaSets' controllers act, and the informers hear of all.
func (w *world) follow(ctx context.Context) (changed bool) {
	d, err := w.client.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
	check(err)
	check(w.f.Apps().V1().Deployments().Informer().GetIndexer().Replace([]any{d}, ""))
	var sets, pods []any
	list := w.replicaSets(ctx)
	for i := range list {
		rs := &list[i]
		s := w.sets[rs.Name]
		if s == nil {
			s = newSet(0, 0)
			w.sets[rs.Name] = s
		}
		if to := *rs.Spec.Replicas; to != s.spec {
			changed = true
			w.scale(rs.Name, s, to)
		}
		n := s.pods()
		rs.Status = apps.ReplicaSetStatus{Replicas: int32(n), ReadyReplicas: int32(s.healthy), AvailableReplicas: int32(s.healthy)}
		_, err := w.client.AppsV1().ReplicaSets("default").UpdateStatus(ctx, rs, metav1.UpdateOptions{})
		check(err)
		sets = append(sets, rs)
		for at, k := range s.ending {
			if at > w.now {
				n += k
			}
		}
		for k := range n {
			pods = append(pods, &v1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-%d", rs.Name, k), Namespace: "default", Labels: rs.Labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, apps.SchemeGroupVersion.WithKind("ReplicaSet"))},
			}, Status: v1.PodStatus{Phase: v1.PodRunning}})
		}
	}
	check(w.f.Apps().V1().ReplicaSets().Informer().GetIndexer().Replace(sets, ""))
	check(w.f.Core().V1().Pods().Informer().GetIndexer().Replace(pods, ""))
	return changed
}

func (w *world) scale(name string, s *set, to int32) {
	if len(name) > len("web-0") {
		name = "new"
	}
	w.c.Steps = append(w.c.Steps, fmt.Sprintf("%d %s %d>%d", w.now, name, s.spec, to))
	n := int(to - s.spec)
	s.spec = to
	if n > 0 {
		s.starting[w.now+w.c.Start] += n
		return
	}
	s.ending[w.now+grace] -= n
	sick := min(-n, s.sick) // who is not Ready goes first
	s.sick -= sick
	s.healthy -= -n - sick
}

// run syncs until nothing happens any more.
func (w *world) run(ctx context.Context) {
	w.follow(ctx)
	for {
		for quiet := 0; quiet < 5; quiet++ { // writes of the status take syncs of their own
			check(syncDeployment(w.dc, ctx, "default/web"))
			if w.follow(ctx) {
				quiet = 0
			}
		}
		next := -1
		for _, s := range w.sets {
			for _, m := range []map[int]int{s.starting, s.ending} {
				for at := range m {
					if at > w.now && (next < 0 || at < next) {
						next = at
					}
				}
			}
		}
		if next < 0 {
			return
		}
		w.now = next
		for _, s := range w.sets {
			s.healthy += s.starting[w.now]
			delete(s.starting, w.now)
		}
		w.follow(ctx)
	}
}

// rollout draws a rollout.
func rollout(ctx context.Context, r *rand.Rand) *Case {
	c := &Case{Replicas: 1 + r.Intn(14), Start: 1 + r.Intn(60), Recreate: r.Intn(8) == 0}
	c.Sets = 1 + r.Intn(min(3, c.Replicas))
	if r.Intn(2) == 0 {
		c.Sick = r.Intn(c.Replicas + 1)
	}
	for _, p := range []*string{&c.Surge, &c.Unavailable} {
		if *p = fmt.Sprint(1 + r.Intn(c.Replicas+1)); r.Intn(2) == 0 {
			*p = fmt.Sprintf("%d%%", 1+r.Intn(100))
		} else if r.Intn(3) == 0 {
			*p = "0"
		}
	}
	if c.Surge == "0" && c.Unavailable == "0" {
		c.Surge = "1"
	}
	newWorld(ctx, c).run(ctx)
	return c
}

// now is when pods are deleted.
var now = metav1.Unix(1_800_000_000, 0)

// order draws pods of a ReplicaSet, and puts them into upstream's order.
func order(r *rand.Rand) *Case {
	ago := func(list ...int) (int, metav1.Time) {
		n := list[r.Intn(len(list))]
		return n, metav1.Unix(now.Unix()-int64(n), 0)
	}
	byName, on := map[string]Pod{}, map[string]int{}
	a := controller.ActivePodsWithRanks{Now: now}
	for i := range 3 + r.Intn(6) {
		p := Pod{Name: fmt.Sprintf("p%d", i), Phase: "Running", Node: string(rune('a' + r.Intn(3))), Ready: r.Intn(3) > 0}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: types.UID("pod-" + p.Name)}}
		switch r.Intn(8) {
		case 0:
			p.Node, p.Phase, p.Ready = "", "Pending", false
		case 1:
			p.Phase, p.Ready = "Pending", false
		case 2:
			p.Phase = "Unknown"
		}
		var since metav1.Time
		// Equal seconds fall through to the next rule: then the order is no total one.
		p.Since, since = ago(i+1, 40+i, 600+i, 5000+i, 80000+i)
		p.Created, pod.CreationTimestamp = ago(100+i, 9000+i, 90000+i)
		if r.Intn(4) == 0 {
			p.Cost = []string{"-5", "7", "+9", "08", "x"}[r.Intn(5)]
			pod.Annotations = map[string]string{v1.PodDeletionCost: p.Cost}
		}
		if r.Intn(4) == 0 {
			p.Restarts = int32(r.Intn(3))
		}
		status := v1.ConditionFalse
		if p.Ready {
			status = v1.ConditionTrue
		}
		pod.Spec.NodeName, pod.Status.Phase = p.Node, v1.PodPhase(p.Phase)
		pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: status, LastTransitionTime: since}}
		pod.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "main", RestartCount: p.Restarts}}
		on[p.Node]++
		byName[p.Name], a.Pods = p, append(a.Pods, pod)
	}
	for _, p := range a.Pods {
		a.Rank = append(a.Rank, on[p.Spec.NodeName])
	}
	sort.Sort(a)
	c := &Case{}
	for _, p := range a.Pods {
		c.Pods = append(c.Pods, byName[p.Name])
	}
	return c
}

func main() {
	log.SetFlags(0)
	ctx, r, out := context.Background(), rand.New(rand.NewSource(7)), json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for range 150 {
		check(out.Encode(rollout(ctx, r)))
	}
	for range 150 {
		check(out.Encode(order(r)))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
