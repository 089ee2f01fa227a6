package state

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/podlife"
)

const anyIP = "0.0.0.0"

// Class is everything about a placed pod that changes a node's columns. Pods
// from one template share a class.
type Class struct {
	ID    int32
	Shape *Shape
	Counted
	// others are what its pods count as by other Countings; nil where these agree. State.Counts
	// chooses.
	others *othersCounted
	Ports  []int32
	Terms  []int32
	// Mounts reports whether pods of the class have Volumes.
	Mounts bool
	// Group is the PodGroup of the pods' namespace that they are in; empty: none.
	Group string
}

// Pod is a pod as a state knows it.
type Pod struct {
	Namespace, Name, UID string
	// The fields that ranking a node's pods reads are next to each other.
	Class *Class
	// id is of namespace, name and UID.
	id uint64
	// Created and Started are seconds since 1970; Started is 0 where the pod has
	// no start time.
	Started, Created int64
	// Order is that in which a ledger created the pods of one second; 0 where it is not known
	// (object.CreatedOrder).
	Order int64
	// Priority is spec.priority; State.PriorityOf returns that of a pod without one.
	Priority int32
	// Row is the row of the pod's node, -1 where the state has no such node.
	Row         int32
	hasPriority bool
	// Terminal pods (Succeeded, Failed) use no resources.
	Terminal    bool
	Terminating bool
	// EvictedByScheduler reports that the pod terminates because of a preemption.
	EvictedByScheduler bool
	// Daemon reports that a DaemonSet controls the pod, Spreads that it has topology spread
	// constraints of its own.
	Daemon, Spreads bool
	// Wraps reports that an amount of the pod's requests does not fit 64 bits.
	Wraps     bool
	NodeName  string // empty for a pending pod
	className string
	Nominated string // status.nominatedNodeName
	Gates     []string
	Scheduler string
	// Grace is the pod's grace period in seconds at an eviction, or the one that was set
	// (podlife.GracePeriod).
	Grace int64
	// Deleted is when a terminating pod was deleted, and Ends when it is to be gone, in seconds
	// since 1970; 0 for any other.
	Deleted, Ends int64
	// Owner is the pod's controller; the zero value where it has none.
	Owner unique.Handle[Owner]
	// Resizing is what the pod counts for beyond what it has, for a resize that its node defers;
	// nil for none.
	Resizing *Amount
	// Volumes is what it mounts; nil where no rule reads it.
	Volumes *Volumes
	// Incoming is what hints read of it while it waits; nil for other pods, and in states that were
	// made for one question.
	Incoming *Incoming
}

func (p *Pod) key() (namespace, name string) { return p.Namespace, p.Name }

// identify sets the id.
func (p *Pod) identify() {
	p.id = Mix(MixString(p.Namespace) ^ 3*MixString(p.Name) ^ 5*MixString(p.UID))
}

// ClassName returns the name of the priority class in the pod's spec.
func (p *Pod) ClassName() string { return p.className }

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// occupies reports whether the pod counts on its node.
func (p *Pod) occupies() bool { return p.Row >= 0 && !p.Terminal }

// HostPorts lists the host ports that a pod uses: of containers, and of init containers that keep
// running (pkg/scheduler/util/utils.go GetHostPorts).
func HostPorts(pod *corev1.Pod) []Port {
	var out []Port
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			q := Port{IP: p.HostIP, Protocol: string(p.Protocol), Number: p.HostPort}
			if q.IP == "" {
				q.IP = anyIP
			}
			if q.Protocol == "" {
				q.Protocol = string(corev1.ProtocolTCP)
			}
			out = append(out, q)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; restarts(c) {
			add(c)
		}
	}
	return out
}

func restarts(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// class compiles and interns what the pod changes in its node's columns.
func (t *Tables) class(pod *corev1.Pod, mounts bool) (*Class, error) {
	terms, err := podTerms(pod)
	if err != nil {
		return nil, fmt.Errorf("spec.affinity: %w", err)
	}
	c := Class{Shape: t.Shape(pod.Namespace, pod.Labels, pod.DeletionTimestamp != nil), Mounts: mounts}
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		c.Group = *g.PodGroupName
	}
	c.Counted = placedRequest(t, pod)
	c.others = countOthers(t, pod, &c.Counted)
	for _, p := range HostPorts(pod) {
		c.Ports = append(c.Ports, t.port(p))
	}
	for _, x := range terms {
		c.Terms = append(c.Terms, t.term(x))
	}
	key := make([]byte, 0, 64)
	num := func(ns ...int64) {
		for _, n := range ns {
			key = binary.AppendVarint(key, n)
		}
	}
	counted := func(n *Counted) {
		num(n.Request.CPU, n.Request.Memory, n.Request.Ephemeral, n.NonZeroCPU, n.NonZeroMem, int64(len(n.Request.Scalars)))
		for _, s := range n.Request.Scalars {
			num(int64(s.ID), s.N)
		}
	}
	num(int64(c.Shape.ID), int64(len(c.Ports)))
	counted(&c.Counted)
	for _, p := range c.Ports {
		num(int64(p))
	}
	for _, x := range c.Terms {
		num(int64(x))
	}
	if mounts {
		num(-1) // which no term has
	}
	if c.others != nil {
		num(-2) // likewise
		for i := range c.others {
			counted(&c.others[i])
		}
	}
	if c.Group != "" {
		num(-3) // likewise
		key = append(key, c.Group...)
	}
	t.mu.RLock()
	have := t.classes[string(key)]
	t.mu.RUnlock()
	if have != nil {
		return have, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := t.classes[string(key)]; have != nil {
		return have, nil
	}
	fresh := c // c itself is not kept, so that a known class costs no memory
	t.addClass(string(key), &fresh)
	return &fresh, nil
}

// Owner is the controller of pods.
type Owner struct{ Kind, Name string }

// String writes kind and name.
func (o Owner) String() string { return o.Kind + "/" + o.Name }

// newPod compiles a pod of a state.
func newPod(t *Tables, in *corev1.Pod) (*Pod, error) {
	v := t.volumes(in)
	c, err := t.class(in, v != nil)
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", in.Namespace, in.Name, err)
	}
	p := &Pod{
		// The text that all pods of the shape share, which comparing two of them does not read.
		Namespace: c.Shape.Namespace, Name: in.Name, UID: string(in.UID), Class: c,
		NodeName: in.Spec.NodeName, Row: -1, Nominated: in.Status.NominatedNodeName,
		Created: in.CreationTimestamp.Unix(), Order: object.CreatedOrder(in), Terminal: terminal(in),
		Terminating: in.DeletionTimestamp != nil, Scheduler: in.Spec.SchedulerName, Volumes: v,
	}
	if in.CreationTimestamp.IsZero() {
		p.Created = 0
	}
	if in.Spec.Priority != nil {
		p.Priority, p.hasPriority = *in.Spec.Priority, true
	}
	p.identify()
	p.className = in.Spec.PriorityClassName
	if in.Status.StartTime != nil {
		p.Started = in.Status.StartTime.Unix()
	}
	for _, g := range in.Spec.SchedulingGates {
		p.Gates = append(p.Gates, g.Name)
	}
	for _, cond := range in.Status.Conditions {
		if cond.Type == corev1.DisruptionTarget {
			p.EvictedByScheduler = cond.Status == corev1.ConditionTrue && cond.Reason == corev1.PodReasonPreemptionByScheduler
			break
		}
	}
	p.Grace = podlife.GracePeriod(in)
	p.Wraps = len(AmountErrors(in)) > 0
	if owner := metav1.GetControllerOf(in); owner != nil {
		p.Daemon = owner.Kind == "DaemonSet"
		p.Owner = unique.Make(Owner{owner.Kind, owner.Name})
	}
	if p.Terminating {
		p.Ends = in.DeletionTimestamp.Unix()
		p.Deleted = p.Ends
		if grace := in.DeletionGracePeriodSeconds; grace != nil {
			p.Deleted -= *grace
		}
	}
	p.Resizing = resizing(t, in, c)
	p.Spreads = len(in.Spec.TopologySpreadConstraints) > 0
	return p, nil
}

// TopOwner returns a pod's controller, and for a pod of a ReplicaSet the Deployment that owns that;
// ok is false where it has none. A ReplicaSet that the state does not have is a Deployment's if its
// name ends as a Deployment's controller names it.
func (s *State) TopOwner(p *Pod) (o Owner, ok bool) {
	if p.Owner == (unique.Handle[Owner]{}) {
		return Owner{}, false
	}
	return s.topOwner(p.Namespace, p.Owner.Value(), p.Class.Shape.Labels), true
}

// TopOwnerOf is TopOwner of a pod that the state need not have.
func (s *State) TopOwnerOf(p *corev1.Pod) (o Owner, ok bool) {
	c := metav1.GetControllerOfNoCopy(p)
	if c == nil {
		return Owner{}, false
	}
	return s.topOwner(p.Namespace, Owner{c.Kind, c.Name}, p.Labels), true
}

// topOwner returns the owner of a controller of pods with these labels; itself where it has none.
func (s *State) topOwner(namespace string, o Owner, labels map[string]string) Owner {
	if o.Kind != "ReplicaSet" {
		return o
	}
	if rs := s.ReplicaSet(namespace, o.Name); rs != nil {
		if top := metav1.GetControllerOfNoCopy(rs); top != nil {
			return Owner{top.Kind, top.Name}
		}
		return o
	}
	hash := labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if name, cut := strings.CutSuffix(o.Name, "-"+hash); cut && hash != "" && name != "" {
		return Owner{"Deployment", name}
	}
	return o
}

// resizing returns what a pod of a class counts for beyond what its containers have, where its node
// defers a resize; nil for nothing.
func resizing(t *Tables, pod *corev1.Pod, c *Class) *Amount {
	deferred := false
	for i := range pod.Status.Conditions {
		cond := &pod.Status.Conditions[i]
		deferred = deferred || cond.Type == corev1.PodResizePending && cond.Status == corev1.ConditionTrue
	}
	if !deferred {
		return nil
	}
	has := AsAllocated(pod)
	now := placedRequest(t, has)
	more := c.Request.Minus(&now.Request.Amount)
	if more == (Amount{}) {
		return nil
	}
	return &more
}

// AsAllocated returns a copy of a pod whose containers request what its node has allocated to them.
func AsAllocated(pod *corev1.Pod) *corev1.Pod {
	has := pod.DeepCopy()
	given := map[string]corev1.ResourceList{}
	for i := range has.Status.ContainerStatuses {
		of := &has.Status.ContainerStatuses[i]
		given[of.Name] = of.AllocatedResources
		if of.AllocatedResources == nil && of.Resources != nil {
			given[of.Name] = of.Resources.Requests
		}
	}
	for i := range has.Spec.Containers {
		if list := given[has.Spec.Containers[i].Name]; list != nil {
			has.Spec.Containers[i].Resources.Requests = list
		}
	}
	return has
}
