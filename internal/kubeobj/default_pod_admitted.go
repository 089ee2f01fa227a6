package kubeobj

import (
	"cmp"
	"strings"
	"time"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// SetPodDefaults sets what an API server sets in every pod that it reads. It is idempotent
// (upstream pkg/apis/core/v1, zz_generated.defaults.go SetObjectDefaults_Pod and conversion.go
// Convert_v1_Pod_To_core_Pod).
func SetPodDefaults(p *corev1.Pod) {
	p.Kind, p.APIVersion = "Pod", "v1"
	s := &p.Spec
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			defaultContainer(&list[i])
			addMissing(&list[i].Resources.Requests, list[i].Resources.Limits)
			for j := range list[i].Ports {
				if port := &list[i].Ports[j]; s.HostNetwork && port.HostPort == 0 {
					port.HostPort = port.ContainerPort
				}
			}
		}
	}
	for i := range s.EphemeralContainers {
		defaultContainer((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon))
	}
	setPodResourceDefaults(p)
	roundUp(s.Overhead)
	defaultSpec(s)
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
}

func defaultSpec(s *corev1.PodSpec) {
	s.EnableServiceLinks = or(s.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	s.DNSPolicy = cmp.Or(s.DNSPolicy, corev1.DNSClusterFirst)
	s.RestartPolicy = cmp.Or(s.RestartPolicy, corev1.RestartPolicyAlways)
	s.SecurityContext = or(s.SecurityContext, corev1.PodSecurityContext{})
	s.TerminationGracePeriodSeconds = or(s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	if *s.TerminationGracePeriodSeconds < 0 {
		*s.TerminationGracePeriodSeconds = 1
	}
	s.SchedulerName = cmp.Or(s.SchedulerName, corev1.DefaultSchedulerName)
	s.ServiceAccountName = cmp.Or(s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
}

// or returns p, or a pointer to the default if p is nil.
func or[T any](p *T, otherwise T) *T {
	if p == nil {
		return &otherwise
	}
	return p
}

func defaultContainer(c *corev1.Container) {
	c.ImagePullPolicy = cmp.Or(c.ImagePullPolicy, pullPolicy(c.Image))
	c.TerminationMessagePath = cmp.Or(c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	c.TerminationMessagePolicy = cmp.Or(c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		c.Ports[i].Protocol = cmp.Or(c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultFieldRef(from.FieldRef)
			if from.FileKeyRef != nil {
				from.FileKeyRef.Optional = or(from.FileKeyRef.Optional, false)
			}
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p == nil {
			continue
		}
		setProbeDefaults(p)
		defaultHTTP(p.HTTPGet)
		if p.GRPC != nil {
			p.GRPC.Service = or(p.GRPC.Service, "")
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				defaultHTTP(h.HTTPGet)
			}
		}
	}
}

// setProbeDefaults sets the numbers that a probe leaves out (upstream SetDefaults_Probe).
func setProbeDefaults(p *corev1.Probe) {
	p.TimeoutSeconds, p.PeriodSeconds = cmp.Or(p.TimeoutSeconds, 1), cmp.Or(p.PeriodSeconds, 10)
	p.SuccessThreshold, p.FailureThreshold = cmp.Or(p.SuccessThreshold, 1), cmp.Or(p.FailureThreshold, 3)
}

// pullPolicy returns Always for an image with the tag latest or without a tag.
func pullPolicy(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	tagged, hasTag := named.(reference.Tagged)
	_, hasDigest := named.(reference.Digested)
	if hasTag && tagged.Tag() == "latest" || !hasTag && !hasDigest {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func defaultHTTP(h *corev1.HTTPGetAction) {
	if h != nil {
		h.Path, h.Scheme = cmp.Or(h.Path, "/"), cmp.Or(h.Scheme, corev1.URISchemeHTTP)
	}
}

func defaultFieldRef(f *corev1.ObjectFieldSelector) {
	if f != nil {
		f.APIVersion = cmp.Or(f.APIVersion, "v1")
	}
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

// addMissing copies to dst the resources that it lacks. dst becomes an empty list, not nil, if src
// is one.
func addMissing(dst *corev1.ResourceList, src corev1.ResourceList) {
	if src != nil && *dst == nil {
		*dst = corev1.ResourceList{}
	}
	for name, q := range src {
		if _, ok := (*dst)[name]; !ok {
			(*dst)[name] = q.DeepCopy()
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
			if resourcehelper.IsSupportedPodLevelResource(name) && admit(name) {
				addMissing(dst, corev1.ResourceList{name: q})
			}
		}
	}
	fill(&r.Limits, resourcehelper.AggregateContainerLimits(p, resourcehelper.PodResourcesOptions{}), func(name corev1.ResourceName) bool {
		_, requested := r.Requests[name]
		return isHugePage(name) && !requested
	})
	if len(r.Limits) == 0 {
		return
	}
	fill(&r.Requests, resourcehelper.AggregateContainerRequests(p, resourcehelper.PodResourcesOptions{}), overcommits)
	fill(&r.Requests, r.Limits, func(corev1.ResourceName) bool { return true })
}

func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if s := v.Image; s != nil {
		s.PullPolicy = cmp.Or(s.PullPolicy, pullPolicy(s.Reference))
	}
	if s := v.HostPath; s != nil {
		s.Type = or(s.Type, corev1.HostPathUnset)
	}
	if s := v.Secret; s != nil {
		s.DefaultMode = or(s.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if s := v.ConfigMap; s != nil {
		s.DefaultMode = or(s.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if s := v.DownwardAPI; s != nil {
		s.DefaultMode = or(s.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		for i := range s.Items {
			defaultFieldRef(s.Items[i].FieldRef)
		}
	}
	if s := v.Projected; s != nil {
		defaultProjected(s)
	}
	if s := v.Ephemeral; s != nil && s.VolumeClaimTemplate != nil {
		c := &s.VolumeClaimTemplate.Spec
		c.VolumeMode = or(c.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(c.Resources.Limits)
		roundUp(c.Resources.Requests)
	}
	defaultOldVolume(v)
}

func defaultProjected(s *corev1.ProjectedVolumeSource) {
	s.DefaultMode = or(s.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range s.Sources {
		if d := s.Sources[i].DownwardAPI; d != nil {
			for j := range d.Items {
				defaultFieldRef(d.Items[j].FieldRef)
			}
		}
		if t := s.Sources[i].ServiceAccountToken; t != nil {
			t.ExpirationSeconds = or(t.ExpirationSeconds, int64(time.Hour/time.Second))
		}
	}
}

// defaultOldVolume sets the defaults of the sources whose in-tree plugins were removed.
func defaultOldVolume(v *corev1.Volume) {
	if s := v.ISCSI; s != nil {
		s.ISCSIInterface = cmp.Or(s.ISCSIInterface, "default")
	}
	if s := v.RBD; s != nil {
		s.RBDPool, s.RadosUser, s.Keyring = cmp.Or(s.RBDPool, "rbd"), cmp.Or(s.RadosUser, "admin"), cmp.Or(s.Keyring, "/etc/ceph/keyring")
	}
	if s := v.AzureDisk; s != nil {
		s.CachingMode, s.Kind = or(s.CachingMode, corev1.AzureDataDiskCachingReadWrite), or(s.Kind, corev1.AzureSharedBlobDisk)
		s.FSType, s.ReadOnly = or(s.FSType, "ext4"), or(s.ReadOnly, false)
	}
	if s := v.ScaleIO; s != nil {
		s.StorageMode, s.FSType = cmp.Or(s.StorageMode, "ThinProvisioned"), cmp.Or(s.FSType, "xfs")
	}
}

func isHugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
