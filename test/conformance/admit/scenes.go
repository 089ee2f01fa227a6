package admit

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
)

// amounts of a resource, in order.
var amounts = map[corev1.ResourceName][]string{
	corev1.ResourceCPU:              {"0", "50m", "0.1", "250m", "500m", "1", "1500m", "2", "3"},
	corev1.ResourceMemory:           {"32Mi", "64Mi", "100M", "128Mi", "0.5Gi", "1Gi", "1536Mi", "2G"},
	corev1.ResourceEphemeralStorage: {"1Gi", "2Gi", "5G", "10Gi"},
	"example.com/gpu":               {"1", "2", "3"},
	"hugepages-2Mi":                 {"2Mi", "4Mi", "8Mi"},
	corev1.ResourceStorage:          {"512Mi", "1Gi", "1.5Gi", "5Gi", "10Gi", "20G"},
}

var ofContainers = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// ascending draws n amounts of a resource, none below the one before.
func (g *Generator) ascending(name corev1.ResourceName, n int) (list []resource.Quantity) {
	at := make([]int, n)
	for i := range at {
		at[i] = g.IntN(len(amounts[name]))
	}
	slices.Sort(at)
	for _, i := range at {
		list = append(list, resource.MustParse(amounts[name][i]))
	}
	return list
}

// usual draws the resources of a container, seldom wrong ones.
func (g *Generator) usual() (r corev1.ResourceRequirements) {
	r.Requests, r.Limits = corev1.ResourceList{}, corev1.ResourceList{}
	for _, name := range ofContainers {
		if !g.chance(70) {
			continue
		}
		list := g.ascending(name, 2)
		if g.chance(75) {
			r.Requests[name] = list[0]
		}
		if g.chance(60) {
			r.Limits[name] = list[1]
		}
	}
	_, cpu := r.Requests[corev1.ResourceCPU]
	for _, name := range []corev1.ResourceName{"example.com/gpu", "hugepages-2Mi"} {
		if g.chance(10) && (cpu || name != "hugepages-2Mi") { // pages need cpu or memory
			r.Requests[name] = g.ascending(name, 1)[0]
			r.Limits[name] = r.Requests[name]
		}
	}
	return r
}

// Applicant draws a pod of namespace d, which the plugins have something to do with.
func (g *Generator) Applicant() *corev1.Pod {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "d", UID: "u"}}
	container := func(name string) corev1.Container {
		return corev1.Container{Name: name, Image: "img", Resources: g.usual()}
	}
	for i := range 1 + g.IntN(3) {
		p.Spec.Containers = append(p.Spec.Containers, container(fmt.Sprint("c", i)))
	}
	for i := range max(0, g.IntN(5)-2) {
		c := container(fmt.Sprint("i", i))
		if g.chance(50) {
			c.RestartPolicy = ptr(corev1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if g.chance(20) {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
		for i, name := range ofContainers[:1+g.IntN(2)] { // not below what the containers have
			of := [][]string{{"16", "20500m", "24"}, {"12G", "16Gi", "20Gi"}}[i]
			p.Spec.Resources.Requests[name] = resource.MustParse(of[g.IntN(2)])
			p.Spec.Resources.Limits[name] = resource.MustParse(of[2])
		}
	}
	if g.chance(30) {
		p.Spec.PriorityClassName = pick(g, "high", "science", "system-cluster-critical")
	}
	if g.chance(25) {
		p.Spec.ActiveDeadlineSeconds = ptr(int64(1 + g.IntN(90)))
	}
	if g.chance(20) {
		p.Spec.Affinity = g.acrossNamespaces()
	}
	if g.chance(40) {
		p.Spec.RuntimeClassName = ptr(pick(g, "kata", "kata", "sandbox", "sandbox", "plain", "gone"))
	}
	if g.chance(15) {
		p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(pick(g, "250m", "0.25", "1"))}
	}
	if g.chance(30) {
		p.Spec.NodeSelector = map[string]string{pick(g, "runtime", "disk"): pick(g, "a", "b")}
	}
	if g.chance(30) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "runtime", Operator: corev1.TolerationOpExists, Effect: pick(g, "", corev1.TaintEffectNoSchedule)}}
	}
	if g.chance(3) { // which only a subresource adds
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", Image: "img"}}}
	}
	return p
}

func (g *Generator) acrossNamespaces() *corev1.Affinity {
	t := corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, TopologyKey: "zone"}
	switch g.IntN(4) {
	case 0:
		t.Namespaces = []string{"e"}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	}
	if g.chance(50) {
		return &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{t}}}
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 5, PodAffinityTerm: t}}}}
}

// Scene draws the objects of namespace d.
func (g *Generator) Scene() *Scene {
	s := &Scene{}
	for i := range g.IntN(3) {
		s.Ranges = append(s.Ranges, g.limitRange(fmt.Sprint("limits-", i)))
	}
	for i := range g.IntN(4) {
		s.Quotas = append(s.Quotas, g.quota(fmt.Sprint("quota-", i)))
	}
	for _, name := range []string{"kata", "plain", "sandbox"} {
		s.Others = append(s.Others, g.runtimeClass(name))
	}
	for i := range g.IntN(6) {
		s.Others = append(s.Others, g.storedPod(fmt.Sprint("old-", i)))
	}
	for i := range g.IntN(4) {
		c := g.Claim(fmt.Sprint("held-", i))
		c.Spec.VolumeName, c.Status.Phase = fmt.Sprint("pv-", i), corev1.ClaimBound
		s.Others = append(s.Others, c)
	}
	for i := range g.IntN(3) {
		s.Others = append(s.Others, g.Counted(fmt.Sprint("counted-", i)))
	}
	return s
}

// storedPod draws one that an API server has taken.
func (g *Generator) storedPod(name string) *corev1.Pod {
	p := g.Applicant()
	for {
		p.Name, p.UID, p.Spec.EphemeralContainers = name, types.UID("u-"+name), nil
		if in, err := internal(Encode(p)); err == nil && len(faults(in)) == 0 {
			break
		}
		p = g.Applicant()
	}
	p.Status.Phase = pick(g, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed)
	if g.chance(20) { // long gone, or far from it
		at := metav1.NewTime(time.Now().Add(pick(g, -time.Hour, time.Hour)).Truncate(time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, ptr(int64(30))
	}
	legacyscheme.Scheme.Default(p)
	return p
}

// Claim draws a claim.
func (g *Generator) Claim(name string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{Kind: "PersistentVolumeClaim", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d"}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: g.ascending(corev1.ResourceStorage, 1)[0]}
	c.Spec.StorageClassName = pick(g, nil, ptr("gold"), ptr("bronze"), ptr(""))
	c.Spec.VolumeAttributesClassName = pick(g, nil, nil, ptr("fast"), ptr("slow"))
	return c
}

// Counted draws an object of which quotas only know how many there are.
func (g *Generator) Counted(name string) runtime.Object {
	meta := metav1.ObjectMeta{Name: name, Namespace: "d"}
	if g.chance(50) {
		return &corev1.Service{TypeMeta: metav1.TypeMeta{Kind: "Service", APIVersion: "v1"}, ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "a"}, Ports: []corev1.ServicePort{{Port: 80}}}}
	}
	return &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget", APIVersion: "policy/v1"}, ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}
}

func (g *Generator) runtimeClass(name string) *nodev1.RuntimeClass {
	c := &nodev1.RuntimeClass{TypeMeta: metav1.TypeMeta{Kind: "RuntimeClass", APIVersion: "node.k8s.io/v1"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: name}
	if name == "plain" {
		return c
	}
	if g.chance(60) {
		c.Overhead = &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(pick(g, "250m", "0.25", "1"))}}
		if g.chance(30) {
			c.Overhead.PodFixed[corev1.ResourceMemory] = resource.MustParse("64Mi")
		}
	}
	if g.chance(60) {
		c.Scheduling = &nodev1.Scheduling{}
		if g.chance(70) {
			c.Scheduling.NodeSelector = map[string]string{"runtime": pick(g, "a", "b")}
		}
		if g.chance(50) {
			c.Scheduling.Tolerations = []corev1.Toleration{{Key: pick(g, "runtime", "gpu"), Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
		}
	}
	return c
}

// limitRange draws one that an API server takes.
func (g *Generator) limitRange(name string) *corev1.LimitRange {
	for {
		r := &corev1.LimitRange{TypeMeta: metav1.TypeMeta{Kind: "LimitRange", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d"}}
		for range 1 + g.IntN(3) {
			r.Spec.Limits = append(r.Spec.Limits, g.limit(pick(g, corev1.LimitTypeContainer, corev1.LimitTypeContainer, corev1.LimitTypePod, corev1.LimitTypePersistentVolumeClaim)))
		}
		legacyscheme.Scheme.Default(r)
		in := &core.LimitRange{}
		if legacyscheme.Scheme.Convert(r, in, nil) == nil && len(validation.ValidateLimitRange(in)) == 0 {
			return r
		}
	}
}

func (g *Generator) limit(of corev1.LimitType) corev1.LimitRangeItem {
	l := corev1.LimitRangeItem{Type: of, Min: corev1.ResourceList{}, Max: corev1.ResourceList{}}
	names := ofContainers
	if of == corev1.LimitTypePersistentVolumeClaim {
		names = []corev1.ResourceName{corev1.ResourceStorage}
	}
	for _, name := range names {
		list := g.ascending(name, 4)
		if g.chance(25) {
			l.Min[name] = list[0]
		}
		if g.chance(25) {
			l.Max[name] = list[3]
		}
		if of == corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		if g.chance(15) {
			l.MaxLimitRequestRatio = corev1.ResourceList{name: resource.MustParse(pick(g, "1", "1.5", "2", "4"))}
		}
		if of == corev1.LimitTypeContainer && g.chance(40) {
			l.DefaultRequest = corev1.ResourceList{name: list[1]}
		}
		if of == corev1.LimitTypeContainer && g.chance(40) {
			l.Default = corev1.ResourceList{name: list[2]}
		}
	}
	return l
}

// hard are bounds that quotas may have, with those that are too small now and then.
var hard = map[corev1.ResourceName][]string{
	"pods": {"1", "3", "5", "9"}, "count/pods": {"2", "4", "9"},
	"cpu": {"500m", "2", "6", "20"}, "requests.cpu": {"1", "4", "20"}, "limits.cpu": {"2", "6", "30"},
	"memory": {"512Mi", "2G", "8Gi"}, "requests.memory": {"1Gi", "9G"}, "limits.memory": {"2Gi", "40G"},
	"ephemeral-storage": {"2Gi", "40Gi"}, "requests.ephemeral-storage": {"5G", "50G"}, "limits.ephemeral-storage": {"9Gi", "90Gi"},
	"requests.example.com/gpu": {"1", "4"}, "hugepages-2Mi": {"4Mi", "32Mi"}, "requests.hugepages-2Mi": {"8Mi"},
	"requests.storage": {"2Gi", "12Gi", "60G"}, "persistentvolumeclaims": {"2", "4"}, "count/persistentvolumeclaims": {"3", "9"},
	"gold.storageclass.storage.k8s.io/requests.storage": {"1Gi", "11Gi"}, "gold.storageclass.storage.k8s.io/persistentvolumeclaims": {"1", "3"},
	"bronze.storageclass.storage.k8s.io/requests.storage": {"0", "30G"},
	"services": {"1", "4"}, "count/services": {"2", "9"}, "count/poddisruptionbudgets.policy": {"1", "3"}, "count/deployments.apps": {"2"},
}

var hardNames = func() (list []corev1.ResourceName) {
	for name := range hard {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}()

// quota draws one that an API server takes.
func (g *Generator) quota(name string) *corev1.ResourceQuota {
	for {
		q := &corev1.ResourceQuota{TypeMeta: metav1.TypeMeta{Kind: "ResourceQuota", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d"}}
		q.Spec.Hard = corev1.ResourceList{}
		for range 1 + g.IntN(4) {
			of := hardNames[g.IntN(len(hardNames))]
			q.Spec.Hard[of] = resource.MustParse(hard[of][g.IntN(len(hard[of]))])
		}
		switch g.IntN(4) {
		case 0:
			q.Spec.Scopes = []corev1.ResourceQuotaScope{g.scope()}
		case 1:
			q.Spec.ScopeSelector = &corev1.ScopeSelector{}
			for range 1 + g.IntN(2) {
				q.Spec.ScopeSelector.MatchExpressions = append(q.Spec.ScopeSelector.MatchExpressions, g.scopeSelector())
			}
		}
		in := &core.ResourceQuota{}
		if legacyscheme.Scheme.Convert(q, in, nil) == nil && len(validation.ValidateResourceQuota(in)) == 0 {
			return q
		}
	}
}

func (g *Generator) scope() corev1.ResourceQuotaScope {
	return pick(g, corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity, corev1.ResourceQuotaScopeVolumeAttributesClass)
}

func (g *Generator) scopeSelector() corev1.ScopedResourceSelectorRequirement {
	s := corev1.ScopedResourceSelectorRequirement{ScopeName: g.scope(), Operator: corev1.ScopeSelectorOpExists}
	var names []string
	switch s.ScopeName {
	case corev1.ResourceQuotaScopePriorityClass:
		names = []string{"high", "science", "usual"}
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		names = []string{"fast", "slow"}
	default:
		return s
	}
	s.Operator = pick(g, corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn)
	if s.Operator == corev1.ScopeSelectorOpIn || s.Operator == corev1.ScopeSelectorOpNotIn {
		s.Values = names[:1+g.IntN(len(names))]
	}
	return s
}

// Larger returns a claim of a scene that requests more; nil where it has none.
func (g *Generator) Larger(s *Scene) (now, old *corev1.PersistentVolumeClaim) {
	for _, o := range s.Others {
		if c, is := o.(*corev1.PersistentVolumeClaim); is && c.Spec.VolumeName != "" {
			more := c.DeepCopy()
			more.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("25G")
			return more, c
		}
	}
	return nil, nil
}
