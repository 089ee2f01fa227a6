package state

import (
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"berth/internal/kube/object/stored"
)

// What a container without a request counts as in LeastAllocated and similar scorers: 100
// millicores and 200 MiB (pkg/scheduler/util/pod_resources.go).
const (
	defaultMilliCPU = 100
	defaultMemory   = 200 * 1024 * 1024
)

// Amount is an amount of the three resources that every node has. CPU is in
// millicores, the others in bytes.
type Amount struct {
	CPU, Memory, Ephemeral int64
}

func (a Amount) fits(room Amount) bool {
	return a.CPU <= room.CPU && a.Memory <= room.Memory && a.Ephemeral <= room.Ephemeral
}

// Plus is the sum of each resource; it may overflow.
func (a Amount) Plus(b *Amount) Amount {
	return Amount{a.CPU + b.CPU, a.Memory + b.Memory, a.Ephemeral + b.Ephemeral}
}

// Minus is the difference of each resource; it may overflow.
func (a Amount) Minus(b *Amount) Amount {
	return Amount{a.CPU - b.CPU, a.Memory - b.Memory, a.Ephemeral - b.Ephemeral}
}

// Scalar is an amount of an interned extended (or hugepages, or attachable)
// resource, in the resource's own unit.
type Scalar struct {
	ID int32
	N  int64
}

// Request is a pod's request.
type Request struct {
	Amount
	Scalars []Scalar // by ascending ID; zero amounts are kept as upstream keeps them
}

// IsScalar reports whether name is a resource that the scheduler counts beside cpu, memory,
// ephemeral-storage and pods (pkg/scheduler/util/utils.go IsScalarResourceName).
func IsScalar(name corev1.ResourceName) bool {
	s := string(name)
	return strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) ||
		strings.Contains(s, corev1.ResourceDefaultNamespacePrefix) ||
		strings.HasPrefix(s, corev1.ResourceAttachableVolumesPrefix) ||
		IsExtended(name)
}

// IsExtended reports whether name is an extended resource: it has a prefix that is not Kubernetes'
// own, and stays a qualified name after a quota's "requests." (pkg/apis/core/v1/helper/helpers.go
// IsExtendedResourceName).
func IsExtended(name corev1.ResourceName) bool {
	s := string(name)
	if !strings.Contains(s, "/") || strings.Contains(s, corev1.ResourceDefaultNamespacePrefix) ||
		strings.HasPrefix(s, corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+s)) == 0
}

// RequestOf returns the request of a pod to be placed, from its spec alone
// (plugins/noderesources/fit.go computePodResourceRequest).
func (l *LocalNames) RequestOf(pod *corev1.Pod) Request {
	if r, _, _, ok := plainRequest(l, pod); ok {
		return r
	}
	return request(l, stored.Sum{}.Of(pod))
}

// Counting is what pods on nodes count as, in which releases of Kubernetes differ. States are kept
// for the zero value, and State.Under has the others. It compares the amounts of a resize for each
// container, and reads what the status has about the pod as a whole.
type Counting uint8

const (
	countByPod Counting = 1 << iota
	countContainersAlone
	// Countings is how many there are.
	Countings
)

// CountingOf returns how pods count: by sums of the whole pod, and by its status as a whole
// (stored.Counting).
func CountingOf(byPod, podStatus bool) (c Counting) {
	if byPod {
		c |= countByPod
	}
	if !podStatus {
		c |= countContainersAlone
	}
	return c
}

// sums counts a pod that is being resized by the largest of the requested, the allocated and the
// actual amount.
func (c Counting) sums() stored.Counting {
	return stored.Counting{Status: true, ByPod: c&countByPod != 0, PodStatus: c&countContainersAlone == 0}
}

// Held returns what a pod requests, resizes included.
func (c Counting) Held(pod *corev1.Pod) corev1.ResourceList {
	return stored.Sum{Counting: c.sums()}.Of(pod)
}

// Counted is what a pod on a node counts as.
type Counted struct {
	Request    Request
	NonZeroCPU int64 // millicores, 100 for each container without a request
	NonZeroMem int64 // bytes, 200 MiB for each container without a request
}

func (n *Counted) equal(o *Counted) bool {
	return n.Request.Amount == o.Request.Amount && n.NonZeroCPU == o.NonZeroCPU && n.NonZeroMem == o.NonZeroMem &&
		slices.Equal(n.Request.Scalars, o.Request.Scalars)
}

// othersCounted are what a pod counts as otherwise than by the zero Counting.
type othersCounted [Countings - 1]Counted

// countOthers returns what a pod counts as by each other Counting; nil where all agree, as they do
// about nearly every pod.
func countOthers(t *Tables, pod *corev1.Pod, n *Counted) *othersCounted {
	if !stored.HasResizes(pod) {
		return nil
	}
	var others othersCounted
	differ := false
	for i := range others {
		others[i] = Counting(i+1).count(t, pod)
		differ = differ || !others[i].equal(n)
	}
	if !differ {
		return nil
	}
	return &others
}

// nonMissing returns the defaults for requests that containers lack.
func nonMissing(cpu, memory bool) corev1.ResourceList {
	l := corev1.ResourceList{}
	if cpu {
		l[corev1.ResourceCPU] = *resource.NewMilliQuantity(defaultMilliCPU, resource.DecimalSI)
	}
	if memory {
		l[corev1.ResourceMemory] = *resource.NewQuantity(defaultMemory, resource.DecimalSI)
	}
	return l
}

// placedRequest is what a pod on a node uses, and its cpu and memory with defaults for missing
// requests.
func placedRequest(t *Tables, pod *corev1.Pod) Counted {
	if r, cpu, memory, ok := plainRequest(t, pod); ok {
		return Counted{r, cpu, memory}
	}
	return Counting(0).count(t, pod)
}

// count is placedRequest for any pod and counting
// (pkg/scheduler/framework/types.go PodInfo.CalculateResource).
func (c Counting) count(t *Tables, pod *corev1.Pod) Counted {
	list := c.Held(pod)
	req := request(t, list)
	cpu, memory := true, true
	if stored.HasPodRequests(pod) {
		_, hasCPU := list[corev1.ResourceCPU]
		_, hasMemory := list[corev1.ResourceMemory]
		cpu, memory = !hasCPU, !hasMemory
	}
	if cpu || memory {
		list = stored.Sum{Counting: c.sums(), Missing: nonMissing(cpu, memory)}.Of(pod)
	}
	least, mem := list[corev1.ResourceCPU], list[corev1.ResourceMemory]
	return Counted{req, least.MilliValue(), mem.Value()}
}

// ScoringRequest returns what the resource scorers count for the pod to be placed. With nonZero, as
// Fit's strategies count, containers that lack a request for cpu or memory count by the defaults,
// and pod-level requests and the amounts of a running resize are ignored. Without, as
// BalancedAllocation counts, they are included. The difference is upstream's: Fit makes its scorer
// without the two gates (plugins/noderesources/fit.go NewFit, resource_allocation.go
// calculatePodResourceRequest).
func (l *LocalNames) ScoringRequest(s *State, pod *corev1.Pod, nonZero bool) Request {
	if r, cpu, memory, ok := plainRequest(l, pod); ok && (nonZero || s.counting == 0 || !stored.HasResizes(pod)) {
		if nonZero {
			r.CPU, r.Memory = cpu, memory
		}
		return r
	}
	if !nonZero {
		return request(l, s.counting.Held(pod))
	}
	return request(l, stored.Sum{ContainersOnly: true, Missing: nonMissing(true, true)}.Of(pod))
}

func request(ids scalarIDs, list corev1.ResourceList) Request {
	var r Request
	for name, q := range list {
		switch name {
		case corev1.ResourceCPU:
			r.CPU = q.MilliValue()
		case corev1.ResourceMemory:
			r.Memory = q.Value()
		case corev1.ResourceEphemeralStorage:
			r.Ephemeral = q.Value()
		case corev1.ResourcePods:
		default:
			if IsScalar(name) {
				r.Scalars = append(r.Scalars, Scalar{ids.scalar(string(name)), q.Value()})
			}
		}
	}
	sort.Slice(r.Scalars, func(i, j int) bool { return r.Scalars[i].ID < r.Scalars[j].ID })
	return r
}
