package podlife

import corev1 "k8s.io/api/core/v1"

// NodeLabels gives the labels of a node by its name; nil where there is no such
// node.
type NodeLabels func(node string) map[string]string

// TopologyLabels gives the labels that a pod takes over from its node when it is
// created with it or bound to it, in place of its own of these keys; nil without
// any (plugin/pkg/admission/podtopologylabels admission.go Admit).
func TopologyLabels(node map[string]string) (out map[string]string) {
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if value, ok := node[key]; ok {
			if out == nil {
				out = make(map[string]string, 2)
			}
			out[key] = value
		}
	}
	return out
}

// takeTopologyLabels labels a new pod that names its node.
func takeTopologyLabels(p *corev1.Pod, nodes NodeLabels) {
	if p.Spec.NodeName == "" || nodes == nil {
		return
	}
	for key, value := range TopologyLabels(nodes(p.Spec.NodeName)) {
		if p.Labels == nil {
			p.Labels = make(map[string]string, 2)
		}
		p.Labels[key] = value
	}
}
