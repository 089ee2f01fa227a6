package gen

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claims draws claims of others, which hold devices, and those of the incoming
// pod in all states.
func (m *deviceMaker) claims(incoming *v1.Pod) {
	m.taken = map[published]bool{}
	ns := incoming.Namespace
	if ns == "" {
		ns = "default"
	}
	for i := range m.between(0, 2+len(m.there)/6) {
		c := m.claim(pick(&m.maker, namespaces...), fmt.Sprintf("held%d", i))
		c.Spec.Devices.Constraints = nil
		m.allocate(c)
		m.objs = append(m.objs, c)
	}
	if m.on["extended"] && m.chance(60) {
		return
	}
	for i := range pick(&m.maker, 1, 1, 1, 2, 2, 3) {
		name := fmt.Sprintf("mine%d", i)
		c := m.claim(ns, name)
		ref := v1.PodResourceClaim{Name: fmt.Sprintf("ref%d", i)}
		if m.chance(25) {
			template := "template"
			ref.ResourceClaimTemplateName = &template
			yes := true
			owner := incoming.UID
			if m.chance(4) {
				owner = "somebody-else"
			}
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: incoming.Name, UID: owner, Controller: &yes}}
			if !m.chance(4) {
				status := v1.PodResourceClaimStatus{Name: ref.Name}
				if !m.chance(6) {
					status.ResourceClaimName = &name
				}
				incoming.Status.ResourceClaimStatuses = append(incoming.Status.ResourceClaimStatuses, status)
			}
		} else {
			ref.ResourceClaimName = &name
		}
		incoming.Spec.ResourceClaims = append(incoming.Spec.ResourceClaims, ref)
		switch n := m.IntN(100); {
		case n < 3:
			continue // not created yet
		case n < 5:
			c.Finalizers = []string{resourcev1.Finalizer}
			at := metav1.NewTime(epoch)
			c.DeletionTimestamp = &at
		case n < 30:
			m.allocate(c)
			if m.chance(30) {
				c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: incoming.Name, UID: incoming.UID})
			}
		}
		m.objs = append(m.objs, c)
	}
}

func (m *deviceMaker) claim(namespace, name string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaim"}, ObjectMeta: m.meta(namespace, name, nil)}
	for i := range pick(&m.maker, 1, 1, 1, 2, 3) {
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, m.request(fmt.Sprintf("req%d", i)))
	}
	if m.on["constraints"] && m.chance(60) {
		a := resourcev1.FullyQualifiedName(pick(&m.maker, "shared.example.com/numa", "gpu.example.com/model", "gpu.example.com/index", "gpu.example.com/fast"))
		k := resourcev1.DeviceConstraint{}
		if m.chance(60) {
			k.MatchAttribute = &a
		} else {
			k.DistinctAttribute = &a
		}
		if m.chance(50) {
			r := c.Spec.Devices.Requests[m.IntN(len(c.Spec.Devices.Requests))]
			k.Requests = []string{r.Name}
			if len(r.FirstAvailable) > 0 && m.chance(60) {
				k.Requests = []string{r.Name + "/" + r.FirstAvailable[0].Name}
			}
		}
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, k)
	}
	return c
}

func (m *deviceMaker) class() string {
	if m.chance(1) {
		return "missing"
	}
	return pick(&m.maker, "gpu", "gpu", "gpu", "nic", "any", "picky")
}

func (m *deviceMaker) howMany() (resourcev1.DeviceAllocationMode, int64) {
	if m.on["all"] && m.chance(25) {
		return resourcev1.DeviceAllocationModeAll, 0
	}
	if m.chance(3) {
		return resourcev1.DeviceAllocationModeExactCount, int64(m.between(12, 33))
	}
	return pick(&m.maker, "", resourcev1.DeviceAllocationModeExactCount), int64(pick(&m.maker, 1, 1, 1, 1, 2, 3))
}

func (m *deviceMaker) tolerations() (out []resourcev1.DeviceToleration) {
	if m.on["taint"] && m.chance(40) {
		out = append(out, resourcev1.DeviceToleration{Key: pick(&m.maker, "", "example.com/sick"), Operator: resourcev1.DeviceTolerationOpExists, Effect: pick(&m.maker, "", resourcev1.DeviceTaintEffectNoSchedule)})
	}
	return out
}

func (m *deviceMaker) capacity() *resourcev1.CapacityRequirements {
	if !m.on["capacity"] || !m.chance(50) {
		return nil
	}
	name := resourcev1.QualifiedName(pick(&m.maker, "memory", "memory", "memory", "memory", "other"))
	return &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{name: resource.MustParse(pick(&m.maker, "1Gi", "4Gi", "6Gi", "10Gi", "14Gi", "20Gi"))}}
}

func (m *deviceMaker) request(name string) resourcev1.DeviceRequest {
	r := resourcev1.DeviceRequest{Name: name}
	if m.on["choices"] && m.chance(50) {
		for i := range m.between(1, 3) {
			a := resourcev1.DeviceSubRequest{Name: fmt.Sprintf("sub%d", i), DeviceClassName: m.class(), Selectors: m.selectors(40), Tolerations: m.tolerations(), Capacity: m.capacity()}
			a.AllocationMode, a.Count = m.howMany()
			r.FirstAvailable = append(r.FirstAvailable, a)
		}
		return r
	}
	e := &resourcev1.ExactDeviceRequest{DeviceClassName: m.class(), Selectors: m.selectors(35), Tolerations: m.tolerations(), Capacity: m.capacity()}
	e.AllocationMode, e.Count = m.howMany()
	if m.on["admin"] && m.chance(40) {
		yes := true
		e.AdminAccess = &yes
	}
	r.Exactly = e
	return r
}

// allocate adds to a claim some devices that are there, or were.
func (m *deviceMaker) allocate(c *resourcev1.ResourceClaim) {
	a := &resourcev1.AllocationResult{}
	at := metav1.NewTime(epoch.Add(-time.Duration(m.between(0, 30)) * time.Minute))
	if m.chance(70) {
		a.AllocationTimestamp = &at
	}
	node := ""
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		if len(m.there) == 0 {
			break
		}
		p := m.there[m.IntN(len(m.there))]
		if m.taken[p] && !p.multi {
			continue
		}
		m.taken[p] = true
		result := resourcev1.DeviceRequestAllocationResult{Request: r.Name, Driver: p.driver, Pool: p.pool, Device: p.device}
		if len(r.FirstAvailable) > 0 {
			result.Request += "/" + r.FirstAvailable[m.IntN(len(r.FirstAvailable))].Name
		}
		if r.Exactly != nil {
			result.AdminAccess = r.Exactly.AdminAccess
		}
		if p.multi && m.chance(80) {
			id := types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012d", m.serial*10+i))
			result.ShareID = &id
			result.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(pick(&m.maker, "1Gi", "5Gi", "8Gi"))}
		}
		if m.on["binding"] && m.chance(40) {
			result.BindingConditions, result.BindingFailureConditions = []string{"example.com/attached"}, []string{"example.com/failed"}
			if m.chance(70) {
				s := resourcev1.AllocatedDeviceStatus{Driver: p.driver, Pool: p.pool, Device: p.device}
				if result.ShareID != nil {
					id := string(*result.ShareID)
					s.ShareID = &id
				}
				s.Conditions = []metav1.Condition{{Type: pick(&m.maker, "example.com/attached", "example.com/attached", "example.com/failed"), Status: pick(&m.maker, metav1.ConditionTrue, metav1.ConditionTrue, metav1.ConditionFalse), Reason: "Because", LastTransitionTime: at}}
				c.Status.Devices = append(c.Status.Devices, s)
			}
		}
		a.Devices.Results = append(a.Devices.Results, result)
		if p.node != "" {
			node = p.node
		}
	}
	switch {
	case node != "":
		a.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{node}}}}}}
	case m.chance(50):
		a.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpExists}}}}}
	}
	c.Status.Allocation = a
	if m.chance(50) {
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "other", UID: types.UID(fmt.Sprintf("other-%d", m.serial))}}
	}
}

// extended makes the pod ask for resources behind which classes stand, by the
// name that some of them give and by the name that each has.
func (m *deviceMaker) extended(p *v1.Pod) {
	names := []v1.ResourceName{v1.ResourceName(scalars[0]), v1.ResourceName(scalars[1]), "deviceclass.resource.kubernetes.io/gpu", "deviceclass.resource.kubernetes.io/any"}
	always := v1.ContainerRestartPolicyAlways
	if m.chance(40) && len(p.Spec.InitContainers) == 0 {
		for i := range m.between(1, 2) {
			c := v1.Container{Name: fmt.Sprintf("init%d", i), Image: images[0]}
			if m.chance(40) {
				c.RestartPolicy = &always
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
	for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			for _, n := range names {
				if !m.chance(35) {
					continue
				}
				r := &list[i].Resources
				if r.Limits == nil {
					r.Limits = v1.ResourceList{}
				}
				r.Limits[n] = *resource.NewQuantity(int64(m.between(0, 2)), resource.DecimalSI)
				if _, ok := r.Requests[n]; ok {
					r.Requests[n] = r.Limits[n]
				}
			}
		}
	}
}
