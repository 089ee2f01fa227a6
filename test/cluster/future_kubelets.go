package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// nodelets play the kubelets of a plane and the attacher of its CSI driver: pods start and end
// after a fixed time, nodes have heartbeats until they die, volumes are attached when told so.
type nodelets struct {
	p      *plane
	ctx    context.Context
	starts time.Duration
	seen   *sightings

	mu     sync.Mutex
	dead   map[string]bool
	nodes  map[string]*corev1.Node
	pods   map[types.UID]*corev1.Pod
	busy   map[types.UID]bool // a start or an end is on its way
	ran    map[types.UID]bool // it was ready once
	gaveUp map[types.UID]bool // it lost Ready while its node was dead
	inUse  map[string][]string
	takes  map[string]time.Duration // by "startsIn Kind/name" or "endsIn Kind/name"
}

// heartbeat is how often a kubelet renews its lease; upstream's is 10 s.
const heartbeat = time.Second

func startNodelets(ctx context.Context, p *plane, starts time.Duration, seen *sightings) *nodelets {
	k := &nodelets{
		p: p, ctx: ctx, starts: starts, seen: seen, dead: map[string]bool{}, nodes: map[string]*corev1.Node{}, pods: map[types.UID]*corev1.Pod{},
		busy: map[types.UID]bool{}, ran: map[types.UID]bool{}, gaveUp: map[types.UID]bool{}, inUse: map[string][]string{}, takes: map[string]time.Duration{},
	}
	f := informers.NewSharedInformerFactory(p.client, 0)
	on := func(i cache.SharedIndexInformer, see func(old, o any)) {
		_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{ // it has not stopped
			AddFunc: func(o any) { see(nil, o) }, UpdateFunc: see, DeleteFunc: func(o any) {
				if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
					o = unknown.Obj
				}
				see(o, nil)
			},
		})
	}
	on(f.Core().V1().Pods().Informer(), func(old, o any) {
		a, _ := old.(*corev1.Pod)
		b, _ := o.(*corev1.Pod)
		seen.pod(a, b)
		k.mu.Lock()
		defer k.mu.Unlock()
		if b == nil {
			delete(k.pods, a.UID)
			return
		}
		k.pods[b.UID] = b
		k.consider(b)
	})
	on(f.Core().V1().Nodes().Informer(), func(old, o any) {
		a, _ := old.(*corev1.Node)
		b, _ := o.(*corev1.Node)
		seen.node(a, b)
		k.mu.Lock()
		defer k.mu.Unlock()
		if b == nil {
			delete(k.nodes, a.Name)
			return
		}
		k.nodes[b.Name] = b
		k.each(b.Name, k.consider)
	})
	on(f.Storage().V1().VolumeAttachments().Informer(), func(_, o any) { k.attach(o) })
	on(f.Apps().V1().Deployments().Informer(), seen.workload)
	on(f.Apps().V1().StatefulSets().Informer(), seen.workload)
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	go k.beat()
	return k
}

// beat renews the leases of all nodes that are alive.
func (k *nodelets) beat() {
	leases := k.p.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	held := map[string]*coordinationv1.Lease{}
	for t := time.NewTicker(heartbeat); ; {
		k.mu.Lock()
		var alive []string
		for n := range k.nodes {
			if !k.dead[n] {
				alive = append(alive, n)
			}
		}
		k.mu.Unlock()
		for _, n := range alive {
			now := metav1.NowMicro()
			l := held[n]
			var err error
			if l == nil {
				l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: n}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &n, LeaseDurationSeconds: new(int32(40)), RenewTime: &now}}
				l, err = leases.Create(k.ctx, l, metav1.CreateOptions{})
			} else {
				l = l.DeepCopy()
				l.Spec.RenewTime = &now
				l, err = leases.Update(k.ctx, l, metav1.UpdateOptions{})
			}
			if err == nil {
				held[n] = l
			}
		}
		select {
		case <-k.ctx.Done():
			return
		case <-t.C:
		}
	}
}

func (k *nodelets) each(node string, do func(*corev1.Pod)) {
	for _, p := range k.pods {
		if p.Spec.NodeName == node {
			do(p)
		}
	}
}

// die has kubelets stop, or go on where they were.
func (k *nodelets) die(nodes []string, dead bool) error {
	k.mu.Lock()
	for _, n := range nodes {
		k.dead[n] = dead
	}
	k.mu.Unlock()
	if dead {
		return nil
	}
	for _, n := range nodes {
		ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}
		if err := k.patchNode(n, map[string]any{"conditions": []any{ready}}); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, n := range nodes {
		k.each(n, k.consider)
	}
	return nil
}

func (k *nodelets) patchNode(name string, status any) error {
	js, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = k.p.client.CoreV1().Nodes().Patch(k.ctx, name, types.StrategicMergePatchType, js, metav1.PatchOptions{}, "status")
	}
	return err
}

func (k *nodelets) patchPod(p *corev1.Pod, status corev1.PodStatus) {
	js, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": status})
	if err == nil {
		_, err = k.p.client.CoreV1().Pods(p.Namespace).Patch(k.ctx, p.Name, types.StrategicMergePatchType, js, metav1.PatchOptions{}, "status")
	}
	k.seen.failed(err)
}

// consider has the kubelet of a pod's node do what is due. mu is held.
func (k *nodelets) consider(p *corev1.Pod) {
	n, over := p.Spec.NodeName, p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
	ready := isReady(p)
	if ready {
		k.ran[p.UID] = true
	}
	if n != "" && k.dead[n] && k.ran[p.UID] && !ready {
		k.gaveUp[p.UID] = true
	}
	if n == "" || k.nodes[n] == nil || k.dead[n] || k.busy[p.UID] {
		return
	}
	switch {
	case p.DeletionTimestamp != nil:
		grace := time.Duration(0)
		if g := p.DeletionGracePeriodSeconds; g != nil {
			grace = time.Duration(*g) * time.Second
		}
		if d, is := k.takesOf("endsIn", p); is {
			grace = min(grace, d)
		}
		k.after(p.UID, grace, k.end)
	case over:
	case !k.ran[p.UID]:
		if !k.mounts(p) {
			return
		}
		d, is := k.takesOf("startsIn", p)
		if !is {
			d = k.starts
		}
		k.after(p.UID, d, func(p *corev1.Pod) { k.start(p, d) })
	case k.gaveUp[p.UID] && !ready:
		delete(k.gaveUp, p.UID)
		go k.patchPod(p, corev1.PodStatus{Conditions: readiness(corev1.ConditionTrue, time.Now())})
	}
}

// after does something to a pod some time later, if its node is alive then and nothing has come
// between. mu is held.
func (k *nodelets) after(uid types.UID, d time.Duration, do func(*corev1.Pod)) {
	k.busy[uid] = true
	deleting := k.pods[uid].DeletionTimestamp != nil
	time.AfterFunc(d, func() {
		k.mu.Lock()
		p := k.pods[uid]
		ok := p != nil && !k.dead[p.Spec.NodeName] && (p.DeletionTimestamp != nil) == deleting
		if !deleting || !ok {
			delete(k.busy, uid)
		}
		if !ok && p != nil {
			k.consider(p)
		}
		k.mu.Unlock()
		if ok {
			do(p)
		}
	})
}

// takeOf is how long pods of a workload take, as a scenario says.
func (k *nodelets) takesOf(what string, p *corev1.Pod) (time.Duration, bool) {
	for _, w := range []string{"/" + p.Name, "Pod/" + p.Name, k.seen.workloadOf(p)} {
		if d, is := k.takes[what+" "+w]; is {
			return d, true
		}
	}
	return 0, false
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func readiness(to corev1.ConditionStatus, at time.Time) (list []corev1.PodCondition) {
	for _, t := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady} {
		list = append(list, corev1.PodCondition{Type: t, Status: to, LastTransitionTime: metav1.NewTime(at)})
	}
	return list
}

// start has a pod run and be ready. What its status says of how long that took is exact.
func (k *nodelets) start(p *corev1.Pod, took time.Duration) {
	now := time.Now().Truncate(time.Second)
	began := metav1.NewTime(now.Add(-took))
	s := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &began, Conditions: readiness(corev1.ConditionTrue, now)}
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: new(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}},
		})
	}
	k.patchPod(p, s)
}

// exit ends all containers of a pod, which its kubelet then calls failed or succeeded.
func (k *nodelets) exit(p *corev1.Pod, code int32) {
	s := p.Status.DeepCopy()
	if s.Phase = corev1.PodFailed; code == 0 {
		s.Phase = corev1.PodSucceeded
	}
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.LastTransitionTime = corev1.ConditionFalse, metav1.Now()
		}
	}
	s.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now(), StartedAt: p.CreationTimestamp}},
		})
	}
	js, err := json.Marshal(map[string]any{"status": s})
	if err == nil { // a patch that replaces lists: the state of what ran must go
		_, err = k.p.client.CoreV1().Pods(p.Namespace).Patch(k.ctx, p.Name, types.MergePatchType, js, metav1.PatchOptions{}, "status")
	}
	k.seen.failed(err)
}

// end ends a pod that is being deleted, with its volumes, and then deletes its object.
func (k *nodelets) end(p *corev1.Pod) {
	if p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
		k.exit(p, 143)
	}
	k.mu.Lock()
	used := slices.DeleteFunc(slices.Clone(k.inUse[p.Spec.NodeName]), func(v string) bool { return slices.Contains(k.volumes(p), v) })
	changed := len(used) != len(k.inUse[p.Spec.NodeName])
	k.inUse[p.Spec.NodeName] = used
	k.mu.Unlock()
	if changed {
		k.seen.failed(k.uses(p.Spec.NodeName, used))
	}
	err := k.p.client.CoreV1().Pods(p.Namespace).Delete(k.ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &p.UID}})
	k.seen.failed(err)
}

// uses writes which volumes a kubelet has mounted, without which none is detached safely.
func (k *nodelets) uses(node string, volumes []string) error {
	js, err := json.Marshal(map[string]any{"status": map[string]any{"volumesInUse": append([]string{}, volumes...)}})
	if err == nil {
		_, err = k.p.client.CoreV1().Nodes().Patch(k.ctx, node, types.MergePatchType, js, metav1.PatchOptions{}, "status")
	}
	return err
}

// volumes returns the names of a pod's volumes that have to be attached: of each claim, whose
// volume and handle have its name.
func (k *nodelets) volumes(p *corev1.Pod) (list []string) {
	for _, v := range p.Spec.Volumes {
		if c := v.PersistentVolumeClaim; c != nil {
			list = append(list, fmt.Sprintf("kubernetes.io/csi/%s^%s", driver, c.ClaimName))
		}
	}
	return list
}

// driver is the CSI driver of the suite's volumes.
const driver = "csi.suite.invalid"

// mounts reports whether all volumes of a pod are attached to its node. mu is held.
func (k *nodelets) mounts(p *corev1.Pod) bool {
	list, node := k.volumes(p), k.nodes[p.Spec.NodeName]
	used := slices.Clone(k.inUse[node.Name])
	for _, v := range list {
		if !slices.ContainsFunc(node.Status.VolumesAttached, func(a corev1.AttachedVolume) bool { return string(a.Name) == v }) {
			return false
		}
		used = append(used, v)
	}
	if len(list) > 0 {
		k.inUse[node.Name] = used
		go func() { k.seen.failed(k.uses(node.Name, used)) }()
	}
	return true
}

// attach plays the external attacher: what is to be attached is.
func (k *nodelets) attach(o any) {
	a, ok := o.(*storagev1.VolumeAttachment)
	if !ok || a.Status.Attached {
		return
	}
	go func() {
		_, err := k.p.client.StorageV1().VolumeAttachments().Patch(k.ctx, a.Name, types.MergePatchType, []byte(`{"status":{"attached":true}}`), metav1.PatchOptions{}, "status")
		k.seen.failed(err)
	}()
}
