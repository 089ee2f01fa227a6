package suggest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
)

const (
	maxResources = 6
	maxSearch    = 48 // probes of one search
)

// resources lowers the request that is short to the most that still fits on some node, or raises
// the capacity of the node with the smallest shortfall.
func (s *searcher) resources() {
	done := map[string]bool{}
	for _, d := range s.causes(2*maxResources, "resource") {
		if done[d.Name] || len(done) == maxResources {
			continue
		}
		done[d.Name] = true
		if corev1.ResourceName(d.Name) == corev1.ResourcePods {
			if d.node != "" {
				s.moreCapacity(d.Name, d.node, d.least)
			}
			continue
		}
		// What would fit with a request of 0: on these nodes only this resource is short, and the
		// most that one of them has left is the bound.
		key := corev1.ResourceName(d.Name)
		v := s.probe(func(p *corev1.Pod) { eachRequests(p, func(l corev1.ResourceList) { delete(l, key) }) })
		if v == nil { // the containers are not what requests too much
			if d.node != "" {
				s.moreCapacity(d.Name, d.node, d.least)
			}
			continue
		}
		best, room := s.roomiest(v, d.Name)
		short := *d.Requested - room
		if best == "" || short <= 0 {
			continue
		}
		s.lessRequested(key, short)
		s.moreCapacity(d.Name, best, short)
	}
}

// eachRequests visits the lists of requests that count for a pod.
func eachRequests(p *corev1.Pod, f func(corev1.ResourceList)) {
	if p.Spec.Resources != nil {
		f(p.Spec.Resources.Requests)
	}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			f(list[i].Resources.Requests)
		}
	}
}

// roomiest returns the node with most left of a resource, the first by name among equals.
func (s *searcher) roomiest(v *verdict, name string) (node string, room int64) {
	id, known := s.q.State.ScalarID(name)
	for _, row := range v.nodes.Order() {
		i := int(row)
		if !v.rows.Has(i) {
			continue
		}
		c, u := v.nodes.Capacity(i), s.q.State.Use(i)
		left := int64(0)
		switch corev1.ResourceName(name) {
		case corev1.ResourceCPU:
			left = c.CPU - u.CPU
		case corev1.ResourceMemory:
			left = c.Memory - u.Memory
		case corev1.ResourceEphemeralStorage:
			left = c.Ephemeral - u.Ephemeral
		default:
			if known {
				left, _ = v.nodes.Offers(id, i)
				left -= s.q.State.Requested(id).At(i)
			}
		}
		if node == "" || left > room {
			node, room = v.nodes.Node(i).Name, left
		}
	}
	return node, room
}

// spot is the place of a request in the pod.
type spot struct {
	list []corev1.Container
	at   int
	path string // of the container's resources
}

// largest finds the container with the largest request.
func largest(p *corev1.Pod, key corev1.ResourceName) (best spot, ok bool) {
	var most resource.Quantity
	for _, of := range []struct {
		field string
		list  []corev1.Container
	}{{"containers", p.Spec.Containers}, {"initContainers", p.Spec.InitContainers}} {
		for i := range of.list {
			if q := of.list[i].Resources.Requests[key]; q.Cmp(most) > 0 {
				most, best, ok = q, spot{of.list, i, pointer("spec", of.field, i, "resources")}, true
			}
		}
	}
	return best, ok
}

// amountOf is a quantity in the unit in which details count the resource.
func amountOf(key corev1.ResourceName, q resource.Quantity) int64 {
	if key == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// fromTo writes a change of an amount.
func fromTo(key corev1.ResourceName, from, to int64) string {
	text := Amounts(string(key), from, to)
	return "from " + text[0] + " to " + text[1]
}

// lessRequested lowers the largest request by the shortfall. Where pods are nominated to the
// roomiest node that is not enough, and it searches for the most that fits.
func (s *searcher) lessRequested(key corev1.ResourceName, short int64) {
	if r := s.q.Pod.Spec.Resources; r != nil {
		if total, ok := r.Requests[key]; ok {
			s.lessInTotal(key, total, short)
			return
		}
	}
	at, ok := largest(s.q.Pod, key)
	if !ok {
		return
	}
	old := at.list[at.at].Resources.Requests[key]
	n := wholePages(key, amountOf(key, old)-short)
	if n < 1 {
		return
	}
	if s.request(key, at, old, n) {
		return
	}
	fits := func(n int64) bool { return s.fits(s.q.State, s.patched(s.lower(key, at, n)), probing) != nil }
	if low := wholePages(key, search(1, n, fits)); low > 0 {
		s.request(key, at, old, low)
	}
}

// lessInTotal lowers the pod-level request, which may not be below the sum of its containers'.
func (s *searcher) lessInTotal(key corev1.ResourceName, total resource.Quantity, short int64) {
	least := stored.ContainerRequests(s.q.Pod)[key]
	most, floor := amountOf(key, total), amountOf(key, least)
	n := wholePages(key, most-short)
	if n < max(floor, 1) {
		return
	}
	q := quantity(string(key), n)
	ops := []Op{{"replace", pointer("spec", "resources", "requests", key), q.String()}}
	if _, limited := s.q.Pod.Spec.Resources.Limits[key]; limited && limitEqualsRequest(key) {
		ops = append(ops, Op{"replace", pointer("spec", "resources", "limits", key), q.String()})
	}
	s.offerPod("resource", costResource, ChangePod, fmt.Sprintf("lower the %s request of the pod %s", key, fromTo(key, most, n)), ops...)
}

// limitEqualsRequest reports whether a resource's limit must equal its request, since it cannot be
// overcommitted.
func limitEqualsRequest(key corev1.ResourceName) bool {
	return state.IsExtended(key) || strings.HasPrefix(string(key), corev1.ResourceHugePagesPrefix)
}

// wholePages rounds an amount of huge pages down to whole pages. An API server accepts no other
// request (pkg/apis/core/helper IsHugePageResourceValueDivisible).
func wholePages(key corev1.ResourceName, n int64) int64 {
	size, ok := strings.CutPrefix(string(key), corev1.ResourceHugePagesPrefix)
	if !ok {
		return n
	}
	page, err := resource.ParseQuantity(size)
	if err != nil || page.Value() < 1 {
		return n
	}
	return n - n%page.Value()
}

// search returns the largest number from low to high-1 for which fits holds, given that fits holds
// for every smaller number then; 0 without one. It calls fits at most maxSearch times.
func search(low, high int64, fits func(int64) bool) int64 {
	if low >= high || !fits(low) {
		return 0
	}
	for i := 1; i < maxSearch && high-low > 1; i++ {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// lower is the patch that sets a request, and its limit for resources that cannot be overcommitted.
func (s *searcher) lower(key corev1.ResourceName, at spot, n int64) []Op {
	q := quantity(string(key), n)
	ops := []Op{{"replace", at.path + pointer("requests", key), q.String()}}
	if _, limited := at.list[at.at].Resources.Limits[key]; limited && limitEqualsRequest(key) {
		ops = append(ops, Op{"replace", at.path + pointer("limits", key), q.String()})
	}
	return ops
}

func (s *searcher) request(key corev1.ResourceName, at spot, old resource.Quantity, n int64) bool {
	change := fmt.Sprintf("lower the %s request of container %s %s", key, at.list[at.at].Name, fromTo(key, amountOf(key, old), n))
	ops := s.lower(key, at, n)
	if s.offerPod("resource", costResource, ChangePod, change, ops...) == nil {
		return false
	}
	if kind, owner := s.template(); kind != "" && strings.Contains(at.path, "/containers/") {
		amount := fmt.Sprintf("%s=%s", key, ops[0].Value)
		s.last().Command = fmt.Sprintf("kubectl set resources %s %s -n %s -c %s --requests=%s", kind, owner, s.q.Pod.Namespace, at.list[at.at].Name, amount)
		if len(ops) > 1 {
			s.last().Command += " --limits=" + amount
		}
	}
	return true
}

// moreCapacity raises a node's capacity by the shortfall.
func (s *searcher) moreCapacity(name, node string, short int64) {
	n, _ := s.node(node)
	if n == nil {
		return
	}
	if _, offers := n.Status.Allocatable[corev1.ResourceName(name)]; !offers && limitEqualsRequest(corev1.ResourceName(name)) {
		return // its kind has none
	}
	op, more := capacityOp(n, name, short)
	s.offerNode("capacity", costCapacity, node, more+" on node "+node, op)
}

// capacityOp is the patch that raises a node's capacity, and its text.
func capacityOp(n *corev1.Node, name string, short int64) (op Op, words string) {
	more := quantity(name, short)
	have := n.Status.Allocatable[corev1.ResourceName(name)]
	sum := have.DeepCopy()
	sum.Add(more)
	op = Op{"add", pointer("status", "allocatable", name), sum.String()}
	if n.Status.Allocatable == nil {
		op = Op{"add", "/status/allocatable", map[string]string{name: sum.String()}}
	}
	if corev1.ResourceName(name) == corev1.ResourcePods {
		return op, "room for " + morePods(short) + " more"
	}
	return op, more.String() + " more " + name
}

func morePods(n int64) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
