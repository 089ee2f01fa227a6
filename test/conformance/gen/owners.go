package gen

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// makeOwners adds services and controllers, from which default spreading takes
// its selector.
func (m *maker) makeOwners() {
	if !m.on["services"] {
		return
	}
	for i := range m.between(0, 2) {
		s := &v1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: m.meta(pick(m, "default", "default", "team"), fmt.Sprintf("svc%d", i), nil)}
		s.Spec.Selector = map[string]string{"app": pick(m, apps...)}
		if m.chance(15) {
			s.Spec.Selector = nil
		}
		s.Spec.Ports = []v1.ServicePort{{Port: 80}}
		m.objs = append(m.objs, s)
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(m, apps...)}}
	if m.chance(30) {
		selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}
	}
	template := v1.PodTemplateSpec{}
	m.objs = append(m.objs,
		&appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: m.meta("default", "rs", nil), Spec: appsv1.ReplicaSetSpec{Selector: selector}},
		&appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: m.meta("default", "ss", nil), Spec: appsv1.StatefulSetSpec{Selector: selector, ServiceName: "svcweb", Template: template}},
		&v1.ReplicationController{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ReplicationController"}, ObjectMeta: m.meta("default", "rc", nil), Spec: v1.ReplicationControllerSpec{Selector: map[string]string{"app": pick(m, apps...)}}})
}

// owned sets the controller of a pod, at times one that doesn't count.
func (m *maker) owned(p *v1.Pod) {
	if !m.on["services"] || m.chance(40) {
		return
	}
	yes := !m.chance(10)
	ref := pick(m,
		metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs"},
		metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "ss"},
		metav1.OwnerReference{APIVersion: "v1", Kind: "ReplicationController", Name: "rc"},
		metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "job"},
		metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "nobody"},
		metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "ReplicaSet", Name: "rs"})
	ref.UID, ref.Controller = "owner", &yes
	p.OwnerReferences = []metav1.OwnerReference{ref}
}

// incoming draws the pod that is to be decided.
func (m *maker) incoming() *v1.Pod {
	p := m.pod(pick(m, namespaces...), "incoming")
	scale := 1
	if m.on["tight"] {
		scale = pick(m, 1, 3, 6)
	}
	m.containers(p, scale)
	m.priority(p)
	m.owned(p)
	if m.on["taints"] {
		p.Spec.Tolerations = m.tolerations()
	}
	if m.on["selector"] && m.chance(60) {
		p.Spec.NodeSelector = pick(m, map[string]string{"disk": "ssd"}, map[string]string{v1.LabelTopologyZone: "z1"}, map[string]string{"disk": "hdd", "rack": "k1"})
	}
	if m.on["nodeAffinity"] || m.on["matchFields"] {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: m.nodeAffinity()}
	}
	if m.on["podAffinity"] {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &v1.Affinity{}
		}
		m.podAffinity(p.Spec.Affinity)
	}
	if m.on["spread"] {
		p.Spec.TopologySpreadConstraints = m.spread()
	}
	if m.on["images"] && m.chance(20) {
		p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: images[1]}}}}
	}
	if m.on["gates"] {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/quota"}, {Name: "example.com/review"}}
	}
	if m.on["selfNominated"] && len(m.nodes) > 0 {
		p.Status.NominatedNodeName = m.nodes[m.IntN(len(m.nodes))].Name
		if m.chance(15) {
			p.Status.NominatedNodeName = "gone"
		}
	}
	if m.on["declared"] {
		m.declared(p)
	}
	return p
}

// declared sets what only nodes that declare it can do.
func (m *maker) declared(p *v1.Pod) {
	if m.chance(60) {
		no := false
		p.Spec.HostUsers, p.Spec.HostNetwork = &no, true
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = nil
		}
		for i := range p.Spec.InitContainers {
			p.Spec.InitContainers[i].Ports = nil
		}
	}
	if m.chance(60) {
		never := v1.ContainerRestartPolicyNever
		c := &p.Spec.Containers[0]
		c.RestartPolicy = &never
		c.RestartPolicyRules = []v1.ContainerRestartRule{{
			Action:    "RestartAllContainers",
			ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
		}}
	}
}
