package object

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// topologyLabels are the labels that a pod takes over from its node
// (plugin/pkg/admission/podtopologylabels admission.go defaultConfig).
var topologyLabels = [...]string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion}

// WithTopology returns the pod with its node's zone and region labels, which
// overwrite the pod's own. It returns the argument itself where it has them
// already, and a copy otherwise; the argument is not written. It implements
// PodTopologyLabelsAdmission, on by default in v1.36
// (plugin/pkg/admission/podtopologylabels admission.go admitPod and
// admitBinding, pkg/registry/core/pod/storage copyLabelsWithOverwriting).
func WithTopology(pod *corev1.Pod, node map[string]string) *corev1.Pod {
	out := pod
	for _, key := range topologyLabels {
		value, ok := node[key]
		if !ok {
			continue
		}
		if has, ok := out.Labels[key]; ok && has == value {
			continue
		}
		if out == pod {
			p := *pod
			p.Labels = maps.Clone(pod.Labels)
			if p.Labels == nil {
				p.Labels = map[string]string{}
			}
			out = &p
		}
		out.Labels[key] = value
	}
	return out
}

// TopologyOf returns labels with the zone and region labels that others have, or
// without any where they have none.
func TopologyOf(labels, others map[string]string) map[string]string {
	out := maps.Clone(labels)
	for _, key := range topologyLabels {
		if value, ok := others[key]; ok {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		} else {
			delete(out, key)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
