package state

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxTemplates bounds the compiled templates of an edit.
const maxTemplates = 4096

// PutPod is Put for a pod that differs from a template in name, UID and node alone. Only the first
// pod of a template is compiled. The template must not change as long as the edit goes on.
func (e *Edit) PutPod(template *corev1.Pod, name, uid, node string) error {
	// A claim may have the pod's name.
	if like := e.templates[template]; like != nil && like.Volumes == nil {
		p := *like
		p.Name, p.UID, p.NodeName = name, uid, node
		p.Incoming = nil
		if node == "" {
			p.Incoming = e.incoming(podOf(template, name, uid, node))
		}
		p.identify()
		e.putPod(&p)
		return nil
	}
	pod := *podOf(template, name, uid, node)
	p, err := newPod(e.s.t, &pod)
	if err != nil {
		return err
	}
	if e.templates == nil || len(e.templates) >= maxTemplates {
		e.templates = map[*corev1.Pod]*Pod{}
	}
	e.templates[template] = p
	p.Incoming = e.incoming(&pod)
	e.putPod(p)
	return nil
}

func podOf(template *corev1.Pod, name, uid, node string) *corev1.Pod {
	pod := *template
	pod.Name, pod.UID, pod.Spec.NodeName = name, types.UID(uid), node
	return &pod
}
