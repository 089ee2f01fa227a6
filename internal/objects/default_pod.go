package objects

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// defaultPod does what an apiserver does on create, of what decisions read
// (upstream pkg/apis/core/v1/defaults.go, SetDefaults_Pod and
// SetDefaults_PodSpec; pkg/registry/core/pod/strategy.go, PrepareForCreate).
func defaultPod(p *corev1.Pod) {
	s := &p.Spec
	for _, list := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for i := range list {
			defaultContainer(&list[i], s.HostNetwork)
		}
	}
	roundUp(s.Overhead)
	defaultPodResources(p)
	if s.RestartPolicy == "" {
		s.RestartPolicy = corev1.RestartPolicyAlways
	}
	if s.TerminationGracePeriodSeconds == nil {
		s.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	} else if *s.TerminationGracePeriodSeconds < 0 {
		s.TerminationGracePeriodSeconds = new(int64(1))
	}
	if s.SchedulerName == "" {
		s.SchedulerName = corev1.DefaultSchedulerName
	}
	defaultVolumes(s)
	mergeLabelKeys(p)
	if p.Status.Phase == "" {
		p.Status.Phase = corev1.PodPending
	}
	defaultGated(p)
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for i := range list {
			roundUp(list[i].AllocatedResources)
			roundRequirements(list[i].Resources)
		}
	}
	roundUp(p.Status.AllocatedResources)
	roundRequirements(p.Status.Resources)
}

// defaultGated sets on a gated pod the condition that it was created with, of no
// known time, where nothing is said about its scheduling (upstream
// pkg/registry/core/pod/strategy.go, applySchedulingGatedCondition).
func defaultGated(p *corev1.Pod) {
	if len(p.Spec.SchedulingGates) == 0 || p.Spec.NodeName != "" || slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled
	}) {
		return
	}
	p.Status.Conditions = append(slices.Clip(p.Status.Conditions), corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
		Message: "Scheduling is blocked due to non-empty scheduling gates",
	})
}

func roundRequirements(r *corev1.ResourceRequirements) {
	if r != nil {
		roundUp(r.Limits)
		roundUp(r.Requests)
	}
}

func defaultContainer(c *corev1.Container, hostNetwork bool) {
	roundRequirements(&c.Resources)
	addMissing(&c.Resources.Requests, c.Resources.Limits)
	for i := range c.Ports {
		if c.Ports[i].Protocol == "" {
			c.Ports[i].Protocol = corev1.ProtocolTCP
		}
		if hostNetwork && c.Ports[i].HostPort == 0 {
			c.Ports[i].HostPort = c.Ports[i].ContainerPort
		}
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if p != nil {
			defaultProbe(p)
		}
	}
}

func defaultProbe(p *corev1.Probe) {
	set := func(v *int32, d int32) {
		if *v == 0 {
			*v = d
		}
	}
	set(&p.TimeoutSeconds, 1)
	set(&p.PeriodSeconds, 10)
	set(&p.SuccessThreshold, 1)
	set(&p.FailureThreshold, 3)
}

// defaultPodResources fills pod-level requests from the containers' sum and
// then from pod-level limits, and pod-level huge page limits from the
// containers' (upstream defaultHugePagePodLimits, defaultPodRequests).
func defaultPodResources(p *corev1.Pod) {
	r := p.Spec.Resources
	if r == nil {
		return
	}
	roundRequirements(r)
	if len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	for name, q := range resourcehelper.AggregateContainerLimits(p, resourcehelper.PodResourcesOptions{}) {
		if _, ok := r.Requests[name]; !ok && isHugePage(name) {
			addMissing(&r.Limits, corev1.ResourceList{name: q})
		}
	}
	if len(r.Limits) == 0 {
		return
	}
	for name, q := range resourcehelper.AggregateContainerRequests(p, resourcehelper.PodResourcesOptions{}) {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			addMissing(&r.Requests, corev1.ResourceList{name: q})
		}
	}
	for name, q := range r.Limits {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePage(name) {
			addMissing(&r.Requests, corev1.ResourceList{name: q})
		}
	}
}

func isHugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// defaultVolumes drops volumes of which nothing was kept (secrets, config maps,
// empty dirs, projections): no decision reads them.
func defaultVolumes(s *corev1.PodSpec) {
	kept := s.Volumes[:0]
	for _, v := range s.Volumes {
		if v.VolumeSource != (corev1.VolumeSource{}) {
			if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
				defaultClaimSpec(&v.Ephemeral.VolumeClaimTemplate.Spec)
			}
			if v.RBD != nil && v.RBD.RBDPool == "" {
				v.RBD.RBDPool = "rbd"
			}
			defaultAzureDisk(v.AzureDisk)
			kept = append(kept, v)
		}
	}
	if s.Volumes = kept; len(kept) == 0 {
		s.Volumes = nil
	}
}

// mergeLabelKeys adds to selectors what matchLabelKeys and mismatchLabelKeys
// stand for, since the scheduler reads only selectors for pod affinity
// (upstream strategy.go, mutatePodAffinity, mutateTopologySpreadConstraints).
// A requirement that is there already came from an earlier merge.
func mergeLabelKeys(p *corev1.Pod) {
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		mergeKeys(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
	}
	if p.Spec.Affinity == nil {
		return
	}
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		mergeTerms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution, p.Labels)
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		mergeTerms(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution, p.Labels)
	}
}

func mergeTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, labels map[string]string) {
	merge := func(t *corev1.PodAffinityTerm) {
		mergeKeys(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
		mergeKeys(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, labels)
	}
	for i := range required {
		merge(&required[i])
	}
	for i := range preferred {
		merge(&preferred[i].PodAffinityTerm)
	}
}

func mergeKeys(sel *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator, labels map[string]string) {
	if sel == nil {
		return
	}
next:
	for _, key := range keys {
		value, ok := labels[key]
		if !ok {
			continue
		}
		for _, r := range sel.MatchExpressions {
			if r.Key == key && r.Operator == op && len(r.Values) == 1 && r.Values[0] == value {
				continue next
			}
		}
		sel.MatchExpressions = append(sel.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
	}
}
