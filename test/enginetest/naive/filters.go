package naive

import (
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
)

// filters returns the profile's filters, in order.
func (y *cycle) filters() []filter {
	var out []filter
	for _, name := range y.spec.Filter {
		if f := y.filter(name); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// filter returns one filter; nil where it has nothing to filter for the pod.
func (y *cycle) filter(name string) filter {
	switch name {
	case "NodeUnschedulable":
		return y.unschedulable
	case "NodeName":
		return y.nodeName
	case "TaintToleration":
		return y.taints
	case "NodeAffinity":
		return y.nodeAffinity()
	case "NodePorts":
		return y.ports
	case "NodeResourcesFit":
		return y.fit
	case "VolumeRestrictions":
		return y.volumeRestrictions()
	case "NodeVolumeLimits":
		return y.volumeLimits
	case "VolumeBinding":
		return func(n *node, _ []*corev1.Pod) status { st, _ := y.volumeBinding(n); return st }
	case "VolumeZone":
		return func(n *node, _ []*corev1.Pod) status { return y.volumeZone(n) }
	case "PodTopologySpread":
		return y.spread()
	case "InterPodAffinity":
		return y.interPod()
	case "DynamicResources":
		if len(y.pod.Spec.ResourceClaims) > 0 {
			return y.dynamicResources
		}
	case "NodeDeclaredFeatures":
		return y.features
	}
	return nil
}

func hard(plugin, reason string) status {
	return status{plugin, engine.UnschedulableAndUnresolvable, []string{reason}}
}

func soft(plugin, reason string) status {
	return status{plugin, engine.Unschedulable, []string{reason}}
}

func tolerated(p *corev1.Pod, taint corev1.Taint) bool {
	for _, t := range p.Spec.Tolerations {
		if t.ToleratesTaint(klog.Logger{}, &taint, false) {
			return true
		}
	}
	return false
}

func (y *cycle) unschedulable(n *node, _ []*corev1.Pod) status {
	if n.Spec.Unschedulable && !tolerated(y.pod, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return hard("NodeUnschedulable", rules.ReasonUnschedulable)
	}
	return status{}
}

func (y *cycle) nodeName(n *node, _ []*corev1.Pod) status {
	if y.pod.Spec.NodeName != "" && y.pod.Spec.NodeName != n.Name {
		return hard("NodeName", rules.ReasonNodeName)
	}
	return status{}
}

// keptOut reports whether a taint of the node keeps the pod off it.
func keptOut(p *corev1.Pod, n *node) bool {
	for _, t := range n.Spec.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated(p, t) {
			return true
		}
	}
	return false
}

func (y *cycle) taints(n *node, _ []*corev1.Pod) status {
	if keptOut(y.pod, n) {
		return hard("TaintToleration", rules.ReasonTaint)
	}
	return status{}
}

func (y *cycle) nodeAffinity() filter {
	own := nodeaffinity.GetRequiredNodeAffinity(y.pod)
	var added *nodeaffinity.LazyErrorNodeSelector
	if a := y.spec.Args.NodeAffinity.AddedAffinity; a != nil && a.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		added = nodeaffinity.NewLazyErrorNodeSelector(a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return func(n *node, _ []*corev1.Pod) status {
		if added != nil {
			if ok, _ := added.Match(n.Node); !ok {
				return hard("NodeAffinity", rules.ReasonEnforcedAffinity)
			}
		}
		if ok, _ := own.Match(n.Node); !ok {
			return hard("NodeAffinity", rules.ReasonAffinity)
		}
		return status{}
	}
}

func requiredTerms(p *corev1.Pod) []corev1.NodeSelectorTerm {
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	return nil
}

// namedNodes returns the nodes that the required terms name by metadata.name, if every term does;
// nil if one does not.
func namedNodes(p *corev1.Pod) map[string]bool {
	var all map[string]bool
	for _, t := range requiredTerms(p) {
		var lists [][]string
		for _, f := range t.MatchFields {
			if f.Key == "metadata.name" && f.Operator == corev1.NodeSelectorOpIn {
				lists = append(lists, f.Values)
			}
		}
		if len(lists) == 0 {
			return nil
		}
		if all == nil {
			all = map[string]bool{}
		}
		for _, name := range lists[0] {
			everywhere := true
			for _, l := range lists {
				everywhere = everywhere && contains(l, name)
			}
			if everywhere {
				all[name] = true
			}
		}
	}
	return all
}

// conflicting reports whether the terms name nodes, but none that a term agrees on.
func conflicting(p *corev1.Pod) bool {
	names := namedNodes(p)
	return names != nil && len(names) == 0
}

// hostPorts lists a pod's host ports with their defaults.
func hostPorts(p *corev1.Pod) []corev1.ContainerPort {
	containers := append([]corev1.Container{}, p.Spec.Containers...)
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			containers = append(containers, c)
		}
	}
	var out []corev1.ContainerPort
	for _, c := range containers {
		for _, port := range c.Ports {
			if port.HostPort <= 0 {
				continue
			}
			if port.HostIP == "" {
				port.HostIP = "0.0.0.0"
			}
			if port.Protocol == "" {
				port.Protocol = corev1.ProtocolTCP
			}
			out = append(out, port)
		}
	}
	return out
}

// ports keeps a set as upstream does, without counts: of a port that two pods
// hold nothing is left when one of them goes.
func (y *cycle) ports(n *node, extra []*corev1.Pod) status {
	held := map[corev1.ContainerPort]bool{}
	put := func(p *corev1.Pod, there bool) {
		for _, port := range hostPorts(p) {
			held[corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: port.Protocol}] = there
		}
	}
	for _, p := range n.pods {
		put(p, true)
	}
	for _, m := range y.trail {
		put(m.pod, m.n > 0)
	}
	for _, p := range extra {
		put(p, true)
	}
	for _, want := range hostPorts(y.pod) {
		for have, there := range held {
			meets := have.HostIP == want.HostIP || have.HostIP == "0.0.0.0" || want.HostIP == "0.0.0.0"
			if there && have.HostPort == want.HostPort && have.Protocol == want.Protocol && meets {
				return soft("NodePorts", rules.ReasonPorts)
			}
		}
	}
	return status{}
}

func both(a, b []*corev1.Pod) []*corev1.Pod {
	if len(b) == 0 {
		return a
	}
	return append(append([]*corev1.Pod{}, a...), b...)
}

func (y *cycle) fit(n *node, extra []*corev1.Pod) status {
	st := status{plugin: "NodeResourcesFit", code: engine.Unschedulable}
	pods, count := both(n.pods, extra), 1
	for _, m := range y.trail {
		count += m.n
	}
	if int64(len(pods)+count) > n.Status.Allocatable.Pods().Value() {
		st.reasons = append(st.reasons, rules.ReasonTooManyPods)
	}
	ask := resourcehelper.PodRequests(y.pod, resourcehelper.PodResourcesOptions{})
	names := []string{"cpu", "memory", "ephemeral-storage"}
	var others []string
	for name := range ask {
		if state.IsScalar(name) && !y.ignored(string(name)) {
			others = append(others, string(name))
		}
	}
	sort.Strings(others)
	for _, name := range append(names, others...) {
		want := amount(ask, name)
		if want <= 0 {
			continue
		}
		have, used := amount(n.Status.Allocatable, name), int64(0)
		for _, p := range pods {
			used += amount(resourcehelper.PodRequests(p, placed), name)
		}
		for _, m := range y.trail {
			used += int64(m.n) * amount(resourcehelper.PodRequests(m.pod, placed), name)
		}
		if want > have-used {
			st.reasons = append(st.reasons, rules.ReasonInsufficient+name)
			if want > have {
				st.code = engine.UnschedulableAndUnresolvable
			}
		}
	}
	return st
}

// placed counts what resized pods hold.
var placed = resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}

// amount is in millicores for cpu, else in the resource's own unit.
func amount(l corev1.ResourceList, name string) int64 {
	q := l[corev1.ResourceName(name)]
	if name == "cpu" {
		return q.MilliValue()
	}
	return q.Value()
}

func (y *cycle) ignored(name string) bool {
	if !state.IsExtended(corev1.ResourceName(name)) {
		return false
	}
	f := y.spec.Args.NodeResourcesFit
	if contains(f.IgnoredResources, name) {
		return true
	}
	for _, group := range f.IgnoredResourceGroups {
		if len(name) > len(group) && name[:len(group)+1] == group+"/" {
			return true
		}
	}
	return false
}

func (y *cycle) features(n *node, _ []*corev1.Pod) status {
	set, err := ndf.DefaultFramework.InferForPodScheduling(&ndf.PodInfo{Spec: &y.pod.Spec}, version.MustParseSemantic(engine.Semantics))
	if err != nil {
		return status{"NodeDeclaredFeatures", engine.Error, []string{err.Error()}}
	}
	need, err := ndf.DefaultFramework.Unmap(set)
	if err != nil {
		return status{"NodeDeclaredFeatures", engine.Error, []string{err.Error()}}
	}
	for _, f := range need {
		if !contains(n.Status.DeclaredFeatures, f) {
			return hard("NodeDeclaredFeatures", rules.ReasonFeatures)
		}
	}
	return status{}
}
