package state

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Incoming is a pod that waits for a node, as queueing hints read it. Pods that differ in name, UID
// and status alone share one, unless that is what names their claims.
type Incoming struct {
	// Pod is not to be written. It has no name, UID and status, unless Own is set.
	Pod *corev1.Pod
	// Own reports that it is of one pod alone, since its claims have names that follow from the
	// pod's name, or stand in its status.
	Own bool
}

// incoming returns what hints read of a pod; nil for one that does not wait.
func (t *Tables) incoming(in *corev1.Pod) *Incoming {
	if in.Spec.NodeName != "" || terminal(in) {
		return nil
	}
	own := len(in.Spec.ResourceClaims) > 0 || in.Status.ExtendedResourceClaimStatus != nil
	for i := range in.Spec.Volumes {
		own = own || in.Spec.Volumes[i].Ephemeral != nil
	}
	if own {
		return &Incoming{Pod: in, Own: true}
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Labels: in.Labels, OwnerReferences: in.OwnerReferences}, Spec: in.Spec,
	}
	p.Spec.SchedulingGates = nil
	key, err := p.Marshal()
	if err != nil {
		return &Incoming{Pod: p} // shared with no other
	}
	t.mu.RLock()
	have := t.incomings[string(key)]
	t.mu.RUnlock()
	if have != nil {
		return have
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := t.incomings[string(key)]; have != nil {
		return have
	}
	fresh := &Incoming{Pod: p}
	t.incomings[string(key)] = fresh
	return fresh
}

// incoming is that of a pod of the edit; nil in an overlay, which no hint reads.
func (e *Edit) incoming(in *corev1.Pod) *Incoming {
	if e.local != nil {
		return nil
	}
	return e.s.t.incoming(in)
}

// EachPending visits the pods that wait for a node, in no particular order.
func (s *State) EachPending(f func(*Pod)) { s.pending.each(f) }
