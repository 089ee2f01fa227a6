package gen

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var resizeMutators = []mutator{
	{"podLevel", (*odd).podLevel},
	{"resize", (*odd).resize},
	{"declared", (*odd).declaredFeatures},
}

// podLevel gives pods resources of their own: limits without requests, requests of 0, huge pages
// for the whole pod. What the containers request is small, so that the pod's may differ from it.
func (o *odd) podLevel() {
	o.pods(40, func(p *v1.Pod) {
		r := &v1.ResourceRequirements{}
		if o.chance(60) {
			r.Limits = v1.ResourceList{}
			if o.chance(70) {
				r.Limits[v1.ResourceCPU] = o.amount("500m", "1", "2500m", "8", "20")
			}
			if o.chance(70) {
				r.Limits[v1.ResourceMemory] = o.amount("1Gi", "3Gi", "16Gi", "64Gi")
			}
			if o.chance(25) {
				r.Limits["hugepages-2Mi"] = o.amount("2Mi", "8Mi", "64Mi")
			}
		}
		if o.chance(50) {
			r.Requests = v1.ResourceList{}
			if o.chance(60) {
				r.Requests[v1.ResourceCPU] = o.amount("0", "300m", "1", "2500m")
			}
			if o.chance(60) {
				r.Requests[v1.ResourceMemory] = o.amount("0", "512Mi", "1Gi", "8Gi")
			}
			if pages, ok := r.Limits["hugepages-2Mi"]; ok && o.chance(50) {
				r.Requests["hugepages-2Mi"] = pages
			}
		}
		for _, c := range containersOf(p) {
			c.Resources = v1.ResourceRequirements{}
			switch o.IntN(4) {
			case 0:
				request(c, v1.ResourceCPU, resource.MustParse("50m"))
			case 1:
				c.Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse("64Mi"), v1.ResourceCPU: resource.MustParse("70m")}
			case 2:
				request(c, v1.ResourceMemory, resource.MustParse("16Mi"))
				c.Resources.Limits = v1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi")}
			}
		}
		p.Spec.Resources = r
	})
	for _, l := range o.offers() {
		if o.chance(70) {
			l["hugepages-2Mi"] = o.amount("0", "8Mi", "64Mi")
		}
	}
}

// some draws what a status reports of a container or pod, at times nothing.
func (o *odd) some() v1.ResourceList {
	l := v1.ResourceList{}
	if o.chance(80) {
		l[v1.ResourceCPU] = o.amount("100m", "700m", "2", "0")
	}
	if o.chance(80) {
		l[v1.ResourceMemory] = o.amount("64Mi", "1Gi", "3Gi", "0")
	}
	if o.chance(10) {
		l["example.com/gpu"] = resource.MustParse("1")
	}
	return l
}

// resize puts pods into a resize whose parts disagree: what is requested, allocated and in force,
// of the pod and of each container, of containers that are init ones or have another name, under
// conditions that repeat or contradict one another. The most of them counts, and where the resize
// is infeasible what is requested does not.
func (o *odd) resize() {
	o.pods(70, func(p *v1.Pod) {
		if o.chance(60) {
			o.resizePodLevel(p)
		}
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses = nil, nil
		for i, c := range containersOf(p) {
			s := v1.ContainerStatus{Name: c.Name, Image: c.Image}
			if o.chance(10) {
				s.Name = "other"
			}
			if o.chance(70) {
				s.AllocatedResources = o.some()
			}
			if o.chance(80) {
				s.Resources = &v1.ResourceRequirements{}
				if o.chance(80) {
					s.Resources.Requests = o.some()
				}
			}
			if i < len(p.Spec.Containers) {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
				continue
			}
			if o.chance(60) {
				c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
			}
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
		}
		p.Status.Conditions = nil
		for range o.IntN(3) {
			p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
				Type:   pick(o.maker, v1.PodResizePending, v1.PodResizePending, v1.PodResizeInProgress),
				Status: pick(o.maker, v1.ConditionTrue, v1.ConditionFalse),
				Reason: pick(o.maker, v1.PodReasonInfeasible, v1.PodReasonDeferred, ""),
			})
		}
	})
}

func (o *odd) resizePodLevel(p *v1.Pod) {
	if p.Spec.Resources == nil {
		p.Spec.Resources = &v1.ResourceRequirements{}
	}
	p.Spec.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("20"), v1.ResourceMemory: resource.MustParse("64Gi")}
	if o.chance(80) {
		p.Spec.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("1500m"), v1.ResourceMemory: resource.MustParse("1Gi")}
		for _, c := range containersOf(p) {
			c.Resources = v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("50m"), v1.ResourceMemory: resource.MustParse("16Mi")}}
		}
	}
	if o.chance(30) {
		delete(p.Spec.Resources.Requests, pick(o.maker, v1.ResourceCPU, v1.ResourceMemory))
	}
	if o.chance(80) {
		both := v1.ResourceRequirements{Requests: o.some()}
		if o.chance(30) {
			both = v1.ResourceRequirements{Limits: o.some()}
		}
		if len(both.Requests)+len(both.Limits) > 0 {
			o.status(p, "resources", both)
		}
	}
	if o.chance(70) {
		if some := o.some(); len(some) > 0 {
			o.status(p, "allocatedResources", some)
		}
	}
}

// declaredFeatures lets nodes declare any of the features that upstream knows, in pods that need
// several at once or need them by an init container alone.
func (o *odd) declaredFeatures() {
	for _, n := range o.nodes {
		var declared any
		for _, f := range []string{
			"ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers",
			"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport",
		} {
			if o.chance(40) {
				list, _ := declared.([]string)
				declared = append(list, f)
			}
		}
		o.status(n, "declaredFeatures", declared)
	}
	if o.chance(50) {
		o.incoming.Spec.HostUsers, o.incoming.Spec.HostNetwork = new(false), true
		for _, c := range containersOf(o.incoming) {
			c.Ports = nil
		}
	}
	if o.chance(50) {
		for i := range o.incoming.Spec.InitContainers {
			if !o.chance(50) {
				continue
			}
			c := &o.incoming.Spec.InitContainers[i]
			c.RestartPolicy = new(v1.ContainerRestartPolicyNever)
			c.RestartPolicyRules = []v1.ContainerRestartRule{{
				Action:    "RestartAllContainers",
				ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpNotIn, Values: []int32{0}},
			}}
		}
	}
}
