package decision

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/revision"
)

// admit completes the pod of a question as an apiserver would that creates or updates it. A pod
// that comes without a UID is the one of its name that the ledger has. One that the ledger is to
// create gets what admission sets, before it is judged, and a UID of its own: another pod of that
// name may have been deleted before.
func (s *Scheduler) admit(p *Prepared) {
	if p.Question.Pod == nil || p.Verb != VerbDecide {
		return
	}
	uid, js := p.Question.Pod.UID, p.Question.PodJSON
	k := podKey(p.Question.Pod.Namespace, p.Question.Pod.Name)
	held := p.State.Pod(k.Namespace, k.Name)
	if (held != nil || p.Bind) && uid == object.DerivedUID(k) {
		if held != nil {
			uid = types.UID(held.UID)
		} else {
			uid = object.GivenUID(k, p.View.Revision+1)
		}
	}
	tolerates := s.TolerationSeconds && p.Bind && held == nil
	if uid == p.Question.Pod.UID && !tolerates {
		return
	}
	pod := *p.Question.Pod
	pod.UID = uid
	if js != nil {
		js = object.WithUID(js, uid)
	}
	if tolerates {
		js = nil
		pod.Spec.Tolerations = slices.Clip(pod.Spec.Tolerations)
		podlife.AddTolerationSeconds(&pod.Spec)
	}
	p.Question.Pod, p.Question.PodJSON = &pod, js
}

// findPod takes the question's pod, or the snapshot's of the name given.
func (p *Prepared) findPod() error {
	if ref := p.PodRef; ref != nil {
		js, ok := p.View.Object(*ref)
		if !ok {
			return Errorf(NotFound, "podRef", "%s has no pod %s/%s", p.View.ID(), ref.Namespace, ref.Name)
		}
		pod, err := p.View.Pod(ref.Namespace, ref.Name)
		if err != nil {
			return err
		}
		p.Pod, p.Stored, p.PodJSON, p.InSnapshot = pod, pod, js, true
		return nil
	}
	p.Pod = p.Question.Pod
	if p.Recorded != nil && p.Recorded.PodJSON != nil {
		p.PodJSON = p.Recorded.PodJSON
		return nil
	}
	if p.PodJSON = p.Question.PodJSON; p.PodJSON == nil {
		js, err := object.Encode(WithKind(p.Pod))
		if err != nil {
			return Errorf(Invalid, "pod", "%v", err)
		}
		p.PodJSON = js
	}
	held, ok := p.View.Object(podKey(p.Pod.Namespace, p.Pod.Name))
	p.InSnapshot = ok && string(held) == string(p.PodJSON)
	return nil
}

// WithKind returns a pod that has its kind, which spares object.Encode a deep copy.
func WithKind(pod *corev1.Pod) *corev1.Pod {
	if pod.Kind == "Pod" && pod.APIVersion == "v1" {
		return pod
	}
	p := *pod
	p.Kind, p.APIVersion = "Pod", "v1"
	return &p
}

// excludePods takes out of the state the pod itself, which counts only as the one in question, and
// the question's excluded pods. A bound pod is refused unless the question is a dry run.
func (p *Prepared) excludePods() error {
	held := p.State.Pod(p.Pod.Namespace, p.Pod.Name)
	isBound := held != nil && held.NodeName != ""
	switch {
	case p.DryRun:
	case isBound && p.succeeds(held):
	case isBound && isOther(held, p.Pod):
		return p.otherPod(held, p.Pod)
	case isBound:
		return boundAlready(p.View, "pod", held.NodeName, "pod %s/%s is bound to node %s in %s", p.Pod.Namespace, p.Pod.Name, held.NodeName, p.View.ID())
	case p.Pod.Spec.NodeName != "":
		return boundAlready(p.View, "pod.spec.nodeName", p.Pod.Spec.NodeName, "the pod is bound to node %s already", p.Pod.Spec.NodeName)
	}
	if p.Pod.Spec.NodeName != "" {
		free := *p.Pod
		free.Spec.NodeName = ""
		p.Pod = &free
	}
	// A pending pod changes nothing for others unless it is nominated to a node.
	out := p.present(p.Question.Excluded)
	itself := isBound || held != nil && held.Nominated != ""
	if !itself && len(out) == 0 {
		return nil
	}
	e := p.State.Overlay()
	if isBound && p.DryRun && p.Recorded == nil {
		p.boundTo = held.NodeName
	}
	if itself {
		e.Delete("Pod", p.Pod.Namespace, p.Pod.Name)
	}
	for _, x := range out {
		e.Delete("Pod", x.Namespace, x.Name)
	}
	p.State, p.Excluded = e.Done(), out
	return nil
}

// boundAlready refuses a pod that a view has on a node.
func boundAlready(v *revision.View, field, node, format string, args ...any) *Error {
	e := Errorf(Conflict, field, format, args...)
	e.Node, e.Revision = node, v.Revision
	return e
}

// present returns those of the excluded pods that the state has.
func (p *Prepared) present(list []Excluded) (out []Excluded) {
	for _, x := range list {
		if held := p.State.Pod(x.Namespace, x.Name); held != nil && held.UID == x.UID {
			out = append(out, x)
		}
	}
	return out
}

// succeeds reports whether an extender's pod has the name of the held pod and another UID. An
// apiserver has only one pod of a name, so the held one is deleted and its watch event has not
// come.
func (p *Prepared) succeeds(held *state.Pod) bool {
	if p.Verb != VerbFilter && p.Verb != VerbPrioritize && p.Verb != VerbPreempt {
		return false
	}
	return isOther(held, p.Pod)
}
