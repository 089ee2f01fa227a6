package gen

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// releases adds to a part of the cases what releases of Kubernetes judge differently. It changes
// what is there and draws from numbers of its own; without opts.Releases every seed stays what it
// was. What a release's types lack is written into the text of an object, so that a seed has the
// same objects under every release.
func (m *maker) releases(seed uint64, incoming *v1.Pod) {
	r := &releaser{maker: *m, incoming: incoming}
	r.Rand = rand.New(rand.NewPCG(seed, 0x72656c65617365))
	if !r.chance(m.opts.Releases) {
		return
	}
	if r.chance(50) { // most refusals of ordinary cases would hide the rest
		unbind(incoming)
	}
	for _, part := range []func(*releaser){
		(*releaser).statuses, (*releaser).namespaceSelectors, (*releaser).imageVolumes, (*releaser).overlap,
		(*releaser).partly, (*releaser).startTimes, (*releaser).drivers, (*releaser).taintRules,
		(*releaser).features, (*releaser).claimed, (*releaser).counted,
		(*releaser).waiting, (*releaser).portworx, (*releaser).alpha,
	} {
		if r.chance(40) {
			part(r)
		}
	}
	if m.opts.Named && r.chance(40) {
		r.named()
	}
	m.objs, m.serial, m.raws = r.objs, r.serial, r.raws
}

type releaser struct {
	maker
	incoming *v1.Pod
}

// existing calls f for so many of a hundred of the pods that stand on nodes.
func (r *releaser) existing(percent int, f func(*v1.Pod)) {
	for _, o := range r.objs {
		if p, ok := o.(*v1.Pod); ok && p != r.incoming && p.Spec.NodeName != "" && r.chance(percent) {
			f(p)
		}
	}
}

// statuses has kubelets report of whole pods what these request and what is allocated to them: with
// their overhead, which kubelets put there from v1.36 on, or without, and after a resize another
// amount. Plain init containers report, too.
func (r *releaser) statuses() {
	r.existing(60, func(p *v1.Pod) {
		if r.chance(40) {
			p.Spec.RuntimeClassName = new("sandboxed")
			p.Spec.Overhead = v1.ResourceList{v1.ResourceCPU: resource.MustParse("250m"), v1.ResourceMemory: resource.MustParse("256Mi")}
		}
		if r.chance(30) {
			p.Status.InitContainerStatuses = nil
			for _, c := range p.Spec.InitContainers {
				p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, v1.ContainerStatus{
					Name: c.Name, Image: c.Image, AllocatedResources: r.amounts(), Resources: &v1.ResourceRequirements{Requests: r.amounts()},
				})
			}
		}
		allocated, actual := r.sum(p), r.sum(p)
		if r.chance(30) {
			allocated = r.amounts()
		}
		if r.chance(20) {
			actual = r.amounts()
		}
		if len(allocated) > 0 { // an API server does not store an empty list
			r.status(p, "allocatedResources", allocated)
		}
		if r.chance(85) && len(actual) > 0 {
			r.status(p, "resources", tree{"requests": actual})
		}
	})
}

func (r *releaser) amounts() v1.ResourceList {
	return v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(int64(r.between(1, 20)*50), resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(int64(r.between(1, 20))<<26, resource.BinarySI),
	}
}

// sum is what the containers that stay and the overhead request of processors and memory.
func (r *releaser) sum(p *v1.Pod) v1.ResourceList {
	out := v1.ResourceList{}
	add := func(from v1.ResourceList) {
		for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
			if q, ok := from[name]; ok {
				total := out[name]
				total.Add(q)
				out[name] = total
			}
		}
	}
	for i := range p.Spec.Containers {
		add(p.Spec.Containers[i].Resources.Requests)
	}
	add(p.Spec.Overhead)
	return out
}

// namespaceSelectors gives terms of pod affinity selectors that only exclude.
func (r *releaser) namespaceSelectors() {
	terms := func(p *v1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &v1.Affinity{}
		}
		if p.Spec.Affinity.PodAffinity == nil && p.Spec.Affinity.PodAntiAffinity == nil {
			r.podAffinity(p.Spec.Affinity)
		}
		exclude := func(t *v1.PodAffinityTerm) {
			e := metav1.LabelSelectorRequirement{Key: pick(&r.maker, "env", "kubernetes.io/metadata.name"), Operator: metav1.LabelSelectorOpDoesNotExist}
			if r.chance(60) {
				e.Operator, e.Values = metav1.LabelSelectorOpNotIn, []string{pick(&r.maker, "prod", "dev", "team", "ops")}
			}
			t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}}
			t.Namespaces = nil
		}
		for _, list := range termsOf(p) {
			if r.chance(70) {
				exclude(list)
			}
		}
	}
	terms(r.incoming)
	r.existing(30, terms)
}

// termsOf are all terms of a pod's affinity to other pods.
func termsOf(p *v1.Pod) (out []*v1.PodAffinityTerm) {
	whole := func(hard []v1.PodAffinityTerm, soft []v1.WeightedPodAffinityTerm) {
		for i := range hard {
			out = append(out, &hard[i])
		}
		for i := range soft {
			out = append(out, &soft[i].PodAffinityTerm)
		}
	}
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		whole(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		whole(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}

// imageVolumes mounts images that nodes have, and others.
func (r *releaser) imageVolumes() {
	for _, n := range r.nodes {
		if len(n.Status.Images) == 0 {
			r.imagesOn(n)
		}
	}
	for i := range r.between(1, 3) {
		name := fmt.Sprintf("image%d", i)
		r.incoming.Spec.Volumes = append(r.incoming.Spec.Volumes, v1.Volume{Name: name, VolumeSource: v1.VolumeSource{
			Image: &v1.ImageVolumeSource{Reference: pick(&r.maker, append(images, "other:v9")...)},
		}})
		c := &r.incoming.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, v1.VolumeMount{Name: name, MountPath: "/" + name})
	}
}

// overlap puts several budgets over the same pods.
func (r *releaser) overlap() {
	n := 0
	r.existing(30, func(p *v1.Pod) {
		keys := slices.Sorted(maps.Keys(p.Labels))
		if len(keys) == 0 || n > 8 {
			return
		}
		for range r.between(1, 3) {
			b := &policyv1.PodDisruptionBudget{
				TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, ObjectMeta: r.meta(p.Namespace, fmt.Sprintf("also%d", n), nil),
			}
			n++
			key := pick(&r.maker, keys...)
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{key: p.Labels[key]}}
			if r.chance(40) {
				b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpExists}}}
			}
			b.Status.DisruptionsAllowed = int32(pick(&r.maker, 0, 0, 1, 1, 2))
			if r.chance(10) {
				b.Status.DisruptedPods = map[string]metav1.Time{p.Name: metav1.NewTime(epoch)}
			}
			r.objs = append(r.objs, b)
		}
	})
}

// partly requests for the pod as a whole what only some of its containers limit.
func (r *releaser) partly() {
	part := func(p *v1.Pod) {
		if len(p.Spec.InitContainers) > 0 {
			return
		}
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Resources = v1.ResourceRequirements{}
			if r.chance(60) {
				p.Spec.Containers[i].Resources.Limits = v1.ResourceList{v1.ResourceCPU: resource.MustParse("50m")}
			}
		}
		p.Spec.Resources = &v1.ResourceRequirements{}
		if r.chance(70) {
			p.Spec.Resources.Requests = v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(int64(r.between(4, 20)*50), resource.DecimalSI)}
		}
		if r.chance(40) {
			p.Spec.Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse(pick(&r.maker, "256Mi", "1Gi"))}
		}
	}
	part(r.incoming)
	r.existing(20, part)
}

// startTimes takes the start from some pods that run.
func (r *releaser) startTimes() {
	r.existing(40, func(p *v1.Pod) { p.Status.StartTime = nil })
}

// taintRules taints devices by rules apart from their slices.
func (r *releaser) taintRules() {
	var list []*resourcev1.ResourceSlice
	for _, o := range r.objs {
		if s, ok := o.(*resourcev1.ResourceSlice); ok && len(s.Spec.Devices) > 0 {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return
	}
	for i := range r.between(1, 3) {
		s := pick(&r.maker, list...)
		spec := tree{"taint": tree{"key": "example.com/sick", "effect": pick(&r.maker, "NoSchedule", "NoExecute", "None"), "timeAdded": "2026-01-01T00:00:00Z"}}
		selector := tree{}
		if r.chance(70) {
			selector["driver"] = s.Spec.Driver
		}
		if r.chance(60) {
			selector["pool"] = s.Spec.Pool.Name
		}
		if r.chance(40) {
			selector["device"] = pick(&r.maker, s.Spec.Devices...).Name
		}
		if r.chance(90) {
			spec["deviceSelector"] = selector
		}
		r.serial++
		raw, err := json.Marshal(tree{
			"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule",
			"metadata": tree{"name": fmt.Sprintf("rule%d", i), "uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", r.serial)}, "spec": spec,
		})
		if err != nil {
			panic(err) // it is a tree of texts
		}
		r.raws = append(r.raws, raw)
	}
}

// named writes the name of a node into the pod that waits. To berth such a pod is bound.
func (r *releaser) named() {
	if len(r.nodes) > 0 && r.chance(50) {
		r.incoming.Spec.NodeName = pick(&r.maker, r.nodes...).Name
	}
}
