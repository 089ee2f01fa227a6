package controllers

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/util/flowcontrol"
	nodetopology "k8s.io/component-helpers/node/topology"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
)

// Nodes are when lost nodes are given up, and how fast each zone's are tainted.
var Nodes = &Part{Name: "nodelifecycle", Draw: drawNodes, Want: playNodes, Got: taintedOf}

// taintedOf are the nodes that are given up, and of the tainted ones their zones: which node of a
// zone is first is chance upstream.
func taintedOf(k *Case, a *Answer) (list []string) {
	zones := map[string]string{}
	for _, n := range of[corev1.Node](k) {
		zones[n.Name] = nodetopology.GetZoneKey(n)
	}
	for _, m := range a.Timeline {
		switch m.What {
		case "nodeNotReady":
			list = append(list, fmt.Sprintf("%d not ready %s", m.AfterSeconds, m.Node))
		case "nodeTainted":
			list = append(list, fmt.Sprintf("%d tainted in %q", m.AfterSeconds, zones[m.Node]))
		}
	}
	return sortedLines(list)
}

// drawNodes draws zones of some nodes, of which some die and return.
func drawNodes(d *Drawing) {
	d.k.Until = 3000
	var zones [][]string
	for z := range 1 + d.IntN(4) {
		zone, count := one(d, fmt.Sprintf("z%d", z), fmt.Sprintf("z%d", z), ""), 1+d.IntN(9)
		if d.in(12) {
			count = 45 + d.IntN(12)
			d.tag("large")
		}
		names := []string{}
		for i := range count {
			n := nodeOf(fmt.Sprintf("n%d-%02d", z, i), zone)
			if d.in(4) && i > 0 {
				n.Labels["node.kubernetes.io/exclude-disruption"] = ""
				d.tag("excluded")
			}
			if z == 2 {
				n.Labels[corev1.LabelTopologyRegion] = "r"
			}
			names = append(names, n.Name)
			d.add(n)
		}
		zones = append(zones, names)
	}
	at := int64(0)
	for range 1 + d.IntN(6) {
		at += one(d, int64(0), int64(d.IntN(40)), int64(d.IntN(500)))
		names := slices.Clone(zones[d.IntN(len(zones))])
		switch d.IntN(5) {
		case 0, 1:
			d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			names = names[:1+d.IntN(len(names))]
			d.tag("some")
		case 2:
			names = slices.Concat(zones...)
			d.tag("all")
		}
		if d.in(70) {
			d.event(at, Event{Die: &NodesNamed{names}})
			continue
		}
		d.tag("return")
		d.event(at, Event{Return: &NodesNamed{names}})
	}
}

// nodeMonitor is the real controller's view of zones, and their queues on the clock of the case.
type nodeMonitor struct {
	k       *Case
	control *nodelifecycle.Controller
	zones   map[string]*zoneQueue
	lost    map[string]int64 // since when kubelets do not answer
	given   map[string]bool  // nodes that were given up
	tainted map[string]bool
	full    bool
	lines   []string
}

// zoneQueue is scheduler/rate_limited_queue.go RateLimitedTimedQueue in virtual time: a bucket of
// one token.
type zoneQueue struct {
	waiting map[string]bool
	qps     float64
	tokens  float64
	filled  int64
}

func (q *zoneQueue) accept(now int64) bool {
	q.tokens, q.filled = min(1, q.tokens+float64(now-q.filled)*q.qps), now
	if q.qps <= 0 || q.tokens < 1-1e-6 { // upstream looks every 100 ms
		return false
	}
	q.tokens--
	return true
}

// swap is SwapLimiter.
func (q *zoneQueue) swap(now int64, qps float64) {
	if q.qps == qps {
		return
	}
	full := 1.0
	if qps > 0 && !q.accept(now) {
		full = 0
	}
	q.qps, q.tokens, q.filled = qps, full, now
}

func newNodeMonitor(k *Case) (*nodeMonitor, error) {
	ctx, client := context.Background(), fake.NewSimpleClientset()
	f := informers.NewSharedInformerFactory(client, 0)
	// The settings are upstream's defaults (pkg/controller/nodelifecycle/config/v1alpha1).
	control, err := nodelifecycle.NewNodeLifecycleController(ctx, f.Coordination().V1().Leases(), f.Core().V1().Pods(), f.Core().V1().Nodes(), f.Apps().V1().DaemonSets(),
		client, 5*time.Second, time.Minute, 50*time.Second, 0.1, 0.01, 50, 0.55)
	if err != nil {
		return nil, err
	}
	m := &nodeMonitor{k: k, control: control, zones: map[string]*zoneQueue{}, lost: map[string]int64{}, given: map[string]bool{}, tainted: map[string]bool{}}
	health := reflect.ValueOf(control).Elem().FieldByName("nodeHealthMap").UnsafePointer()
	for _, n := range of[corev1.Node](k) {
		must(client.Tracker().Add(n.DeepCopy()))
		newZone(control, klog.Background(), n)
		setNodeHealth(health, n.Name, &nodeHealth{})
		if zone := nodetopology.GetZoneKey(n); m.zones[zone] == nil {
			m.zones[zone] = &zoneQueue{waiting: map[string]bool{}, qps: 0.1, tokens: 1}
		}
	}
	m.judge(0)
	return m, nil
}

// judge has the controller work out the zones' states and rates.
func (m *nodeMonitor) judge(now int64) {
	conditions := map[string][]*corev1.NodeCondition{}
	for _, n := range of[corev1.Node](m.k) {
		if _, excluded := n.Labels["node.kubernetes.io/exclude-disruption"]; excluded {
			continue
		}
		c := &corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}
		if m.given[n.Name] {
			c.Status = corev1.ConditionUnknown
		}
		zone := nodetopology.GetZoneKey(n)
		conditions[zone] = append(conditions[zone], c)
	}
	was := m.full
	m.full = true
	for _, list := range conditions {
		if _, state := m.control.ComputeZoneState(list); state != "FullDisruption" {
			m.full = false
		}
	}
	handleDisruption(m.control, context.Background(), conditions, nil)
	queues := reflect.ValueOf(m.control).Elem().FieldByName("zoneNoExecuteTainter")
	for zone, q := range m.zones {
		limiter := *(*flowcontrol.RateLimiter)(queues.MapIndex(reflect.ValueOf(zone)).Elem().FieldByName("limiter").Addr().UnsafePointer())
		qps := float64(limiter.QPS())
		if reflect.TypeOf(limiter) == reflect.TypeOf(flowcontrol.NewFakeNeverRateLimiter()) {
			qps = 0 // it says 1
		}
		q.swap(now, qps)
	}
	if m.full && !was { // markNodeAsReachable; the next pass of the monitor adds them again
		for name := range m.tainted {
			m.zoneOf(name).waiting[name] = true
		}
		m.tainted = map[string]bool{}
	}
}

func (m *nodeMonitor) zoneOf(node string) *zoneQueue {
	for _, n := range of[corev1.Node](m.k) {
		if n.Name == node {
			return m.zones[nodetopology.GetZoneKey(n)]
		}
	}
	return nil
}

// graceSeconds is the monitor's grace period: berth's clock counts it from a kubelet's end.
const graceSeconds = 50

// playNodes goes through a case second by second.
func playNodes(k *Case) ([]string, error) {
	m, err := newNodeMonitor(k)
	if err != nil {
		return nil, err
	}
	next := 0
	for now := int64(0); now <= k.Until; now++ {
		changed := false
		for ; next < len(k.Events) && k.Events[next].second <= now; next++ {
			if e := &k.Events[next]; e.Die != nil {
				for _, name := range e.Die.Nodes {
					if _, dead := m.lost[name]; !dead {
						m.lost[name] = now
					}
				}
			} else {
				for _, name := range e.Return.Nodes {
					changed = m.given[name] || changed
					delete(m.lost, name)
					delete(m.given, name)
					delete(m.tainted, name)
					delete(m.zoneOf(name).waiting, name)
				}
			}
		}
		for name, since := range m.lost {
			if now == since+graceSeconds {
				m.given[name], m.zoneOf(name).waiting[name], changed = true, true, true
				m.lines = append(m.lines, fmt.Sprintf("%d not ready %s", now, name))
			}
		}
		if changed {
			m.judge(now)
		}
		for zone, q := range m.zones {
			for len(q.waiting) > 0 && q.accept(now) {
				name := slices.Sorted(maps.Keys(q.waiting))[0]
				delete(q.waiting, name)
				m.tainted[name] = true
				m.lines = append(m.lines, fmt.Sprintf("%d tainted in %q", now, zone))
			}
		}
	}
	return sortedLines(m.lines), nil
}
