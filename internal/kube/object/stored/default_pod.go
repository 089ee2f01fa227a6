package stored

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultPod does what an apiserver does on create, of what decisions read
// (upstream pkg/apis/core/v1/defaults.go, SetDefaults_Pod and
// SetDefaults_PodSpec; pkg/registry/core/pod/strategy.go, PrepareForCreate).
func defaultPod(p *corev1.Pod) {
	s := &p.Spec
	for _, list := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for i := range list {
			defaultStoredContainer(&list[i], s.HostNetwork)
		}
	}
	roundUp(s.Overhead)
	setPodResourceDefaults(p)
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
	MergeLabelKeys(p, true)
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
	p.Status.Conditions = append(slices.Clip(p.Status.Conditions), GatedCondition(metav1.Time{}))
}

func roundRequirements(r *corev1.ResourceRequirements) {
	if r != nil {
		roundUp(r.Limits)
		roundUp(r.Requests)
	}
}

func defaultStoredContainer(c *corev1.Container, hostNetwork bool) {
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
			setProbeDefaults(p)
		}
	}
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

// setProbeDefaults sets the numbers that a probe leaves out (upstream SetDefaults_Probe).
func setProbeDefaults(p *corev1.Probe) {
	p.TimeoutSeconds, p.PeriodSeconds = cmp.Or(p.TimeoutSeconds, 1), cmp.Or(p.PeriodSeconds, 10)
	p.SuccessThreshold, p.FailureThreshold = cmp.Or(p.SuccessThreshold, 1), cmp.Or(p.FailureThreshold, 3)
}

// roundUp rounds quantities up to thousandths, the finest that an API server keeps (upstream
// pkg/apis/core/v1/defaults.go, SetDefaults_ResourceList).
func roundUp(list corev1.ResourceList) {
	for name, q := range list {
		if !q.RoundUp(resource.Milli) {
			list[name] = q
		}
	}
}

// setPodResourceDefaults completes pod-level resources that are given in part: limits of huge pages
// from the containers' sum, then requests from the containers' sum, then requests from the limits
// (upstream defaults.go, defaultHugePagePodLimits and defaultPodRequests). The containers have
// their defaults.
func setPodResourceDefaults(p *corev1.Pod) {
	r := p.Spec.Resources
	if r == nil {
		return
	}
	defer func() {
		roundUp(r.Limits)
		roundUp(r.Requests)
	}()
	if len(r.Limits) == 0 && len(r.Requests) == 0 {
		return
	}
	fill := func(dst *corev1.ResourceList, src corev1.ResourceList, admit func(corev1.ResourceName) bool) {
		for name, q := range src {
			if OfPods(name) && admit(name) {
				addMissing(dst, corev1.ResourceList{name: q})
			}
		}
	}
	fill(&r.Limits, ContainerLimits(p), func(name corev1.ResourceName) bool {
		_, requested := r.Requests[name]
		return isHugePage(name) && !requested
	})
	if len(r.Limits) == 0 {
		return
	}
	fill(&r.Requests, ContainerRequests(p), overcommits)
	fill(&r.Requests, r.Limits, func(corev1.ResourceName) bool { return true })
}
