package gen

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// epoch is the time cases play at; nothing in a verdict may depend on now.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (m *maker) pod(namespace, name string) *v1.Pod {
	p := &v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: m.meta(namespace, name, m.labels())}
	if namespace == "default" && m.chance(20) {
		p.Namespace = ""
	}
	return p
}

// container draws one container; scale stretches its requests.
func (m *maker) container(name string, scale int) v1.Container {
	c := v1.Container{Name: name, Image: pick(m, append(images, "other:v9")...)}
	req, lim := v1.ResourceList{}, v1.ResourceList{}
	if m.chance(80) {
		req[v1.ResourceCPU] = *resource.NewMilliQuantity(int64(m.between(0, 10)*25*scale), resource.DecimalSI)
	}
	if m.chance(75) {
		req[v1.ResourceMemory] = *resource.NewQuantity(int64(m.between(0, 12)*scale)<<25, resource.BinarySI)
	}
	if m.chance(8) {
		req[v1.ResourceEphemeralStorage] = resource.MustParse(pick(m, "50M", "500Mi", "2Gi"))
	}
	if m.on["scalar"] && m.chance(25) {
		n := v1.ResourceName(pick(m, scalars...))
		lim[n] = *resource.NewQuantity(int64(m.between(0, 2)), resource.DecimalSI)
	}
	if m.on["scalar"] && m.chance(15) && len(req) > 0 {
		lim["hugepages-2Mi"] = *resource.NewQuantity(int64(m.between(1, 2))<<21, resource.BinarySI)
	}
	if m.chance(12) { // a limit alone becomes the request
		delete(req, v1.ResourceCPU)
		lim[v1.ResourceCPU] = *resource.NewMilliQuantity(int64(m.between(1, 8)*50), resource.DecimalSI)
	}
	if m.on["bestEffort"] && m.chance(70) {
		return c
	}
	if len(req) > 0 {
		c.Resources.Requests = req
	}
	if len(lim) > 0 {
		c.Resources.Limits = lim
	}
	return c
}

func (m *maker) containers(p *v1.Pod, scale int) {
	for i := range pick(m, 1, 1, 1, 2, 3) {
		p.Spec.Containers = append(p.Spec.Containers, m.container(fmt.Sprintf("c%d", i), scale))
	}
	always := v1.ContainerRestartPolicyAlways
	if m.on["inits"] && m.chance(50) {
		for i := range m.between(1, 3) {
			c := m.container(fmt.Sprintf("i%d", i), scale*2)
			if m.chance(45) {
				c.RestartPolicy = &always
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
	if m.on["podLevel"] && m.chance(40) {
		// Never below the containers' sum, which validation would refuse.
		p.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{}}
		if m.chance(80) {
			p.Spec.Resources.Requests[v1.ResourceCPU] = *resource.NewMilliQuantity(int64(m.between(3, 8)*250*scale), resource.DecimalSI)
		}
		if m.chance(70) || len(p.Spec.Resources.Requests) == 0 {
			p.Spec.Resources.Requests[v1.ResourceMemory] = *resource.NewQuantity(int64(m.between(4, 10)*scale)<<27, resource.BinarySI)
		}
	}
	if m.on["overhead"] && m.chance(60) {
		class := "sandboxed"
		p.Spec.RuntimeClassName = &class
		p.Spec.Overhead = v1.ResourceList{v1.ResourceCPU: resource.MustParse("120m"), v1.ResourceMemory: resource.MustParse("64Mi")}
	}
	if m.on["ports"] {
		m.ports(p)
	}
}

func (m *maker) ports(p *v1.Pod) {
	all := [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers}
	used := map[int32]bool{}
	for _, list := range all {
		for i := range list {
			port := int32(pick(m, 80, 443, 8080))
			if used[port] || !m.chance(45) {
				continue
			}
			used[port] = true
			list[i].Ports = []v1.ContainerPort{{ContainerPort: port, HostPort: port, HostIP: pick(m, "", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"), Protocol: pick(m, v1.Protocol(""), v1.ProtocolTCP, v1.ProtocolUDP)}}
		}
	}
	if m.chance(12) { // the API gives these ports on the host too
		p.Spec.HostNetwork = true
		for _, list := range all {
			for i := range list {
				for j := range list[i].Ports {
					list[i].Ports[j].HostPort = 0
				}
			}
		}
	}
}

func (m *maker) priority(p *v1.Pod) {
	if !m.on["priorities"] {
		return
	}
	switch m.IntN(4) {
	case 0:
		p.Spec.PriorityClassName = pick(m, "low", "high", "calm")
	case 1, 2:
		value := int32(pick(m, -5, 0, 10, 100, 1000, 2000))
		p.Spec.Priority = &value
	}
}

func (m *maker) makeExisting() {
	if len(m.nodes) == 0 {
		return
	}
	scale := 1
	if m.on["tight"] {
		scale = 3
	}
	for i := range m.IntN(min(m.opts.MaxPods, 4*len(m.nodes)) + 1) {
		p := m.pod(pick(m, namespaces...), fmt.Sprintf("p%02d", i))
		m.containers(p, scale)
		m.priority(p)
		if m.on["existingAffinity"] && m.chance(40) {
			p.Spec.Affinity = &v1.Affinity{}
			m.podAffinity(p.Spec.Affinity)
		}
		m.owned(p)
		m.place(p)
		m.objs = append(m.objs, p)
	}
}

// place sets the state of an existing pod: running, done, going, or waiting.
func (m *maker) place(p *v1.Pod) {
	// No two start at once: upstream leaves the order of those that do to chance.
	start := metav1.NewTime(epoch.Add(-time.Duration(m.between(1, 500)*1000+m.serial) * time.Second))
	p.Spec.NodeName = m.nodes[m.IntN(len(m.nodes))].Name
	p.Status.Phase = v1.PodRunning
	p.Status.StartTime = &start
	switch n := m.IntN(100); {
	case n < 12 && m.on["terminal"]:
		p.Status.Phase = pick(m, v1.PodSucceeded, v1.PodFailed)
	case n < 22 && m.on["terminal"]:
		at, grace := metav1.NewTime(epoch), int64(30)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
		p.Finalizers = []string{"example.com/hold"}
	case n < 26 && m.on["terminal"]:
		p.Spec.NodeName = "gone"
	case n < 45 && m.on["nominated"]:
		p.Status.StartTime = nil
		p.Status.Phase = v1.PodPending
		p.Status.NominatedNodeName, p.Spec.NodeName = p.Spec.NodeName, ""
		if m.chance(15) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
		}
		if m.chance(15) {
			p.Spec.SchedulerName = "another"
		}
	case n < 65 && m.on["resize"]:
		m.resized(p)
	}
}

// resized puts a running pod into a resize in some state of progress.
func (m *maker) resized(p *v1.Pod) {
	for _, c := range p.Spec.Containers {
		s := v1.ContainerStatus{Name: c.Name, Image: c.Image}
		some := func() v1.ResourceList {
			return v1.ResourceList{
				v1.ResourceCPU:    *resource.NewMilliQuantity(int64(m.between(1, 12)*50), resource.DecimalSI),
				v1.ResourceMemory: *resource.NewQuantity(int64(m.between(1, 12))<<26, resource.BinarySI),
			}
		}
		if m.chance(80) {
			s.AllocatedResources = some()
		}
		if m.chance(80) {
			s.Resources = &v1.ResourceRequirements{Requests: some()}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	if m.chance(60) {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: pick(m, v1.PodReasonInfeasible, v1.PodReasonDeferred)})
	}
}
