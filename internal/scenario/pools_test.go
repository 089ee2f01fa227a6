package scenario_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// like is a pool of copies of a node.
func like(node string, most int, cost float64) scenario.NodePool {
	return scenario.NodePool{AddNodes: scenario.AddNodes{Like: node}, Max: &most, Cost: &cost}
}

// wide is an editor for large pools.
func wide() *scenario.Editor {
	e := editor()
	e.MaxNodes = 500
	return e
}

// waiting are pods that arrive, equal but for their names.
func waiting(n int, name string, more ...enginetest.PodOption) []world.Arrival {
	out := make([]world.Arrival, n)
	for i := range out {
		out[i].Pod = enginetest.Pod(fmt.Sprintf("%s-%d", name, i), more...)
	}
	return out
}

// TestPoolsAreSmallest runs every count of random clusters, and compares what the search found.
func TestPoolsAreSmallest(t *testing.T) {
	n := uint64(40)
	if testing.Short() {
		n = 20
	}
	const most = 6
	helped, choices := 0, 0
	for seed := range n {
		v, profiles := randomCluster(t, seed)
		o := world.Options{Profiles: profiles, Now: noon, NoPreemption: true}
		arrivals, err := world.NewFork(v, o).Pending(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var pools []scenario.NodePool
		nodes := v.State.Nodes()
		for i, row := range nodes.Order() {
			if i < 2 {
				pools = append(pools, like(nodes.Node(int(row)).Name, most, float64(i+1)))
			}
		}
		if len(pools) == 0 {
			continue
		}
		placed := func(counts ...int) int {
			e := &scenario.Edits{}
			for i, n := range counts {
				if n > 0 {
					e.AddNodes = append(e.AddNodes, scenario.AddNodes{Like: pools[i].Like, Count: &n})
				}
			}
			edited, err := wide().Apply(t.Context(), v, "edits", e)
			if err != nil {
				t.Fatal(err)
			}
			f := world.NewFork(edited.View, o)
			if _, err := f.Run(t.Context(), edited.Daemons, world.Limits{}, nil); err != nil {
				t.Fatal(err)
			}
			out, err := f.Run(t.Context(), arrivals, world.Limits{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return out.Placed
		}
		already := placed()
		got, err := wide().CountPools(t.Context(), v, o, arrivals, pools)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got.Already != already || got.Already+got.Waiting+got.Gated != got.Pods {
			t.Errorf("seed %d: %+v, want %d that fit already", seed, got, already)
		}
		for i, p := range got.Pools {
			counts := make([]int, len(pools))
			best, with := 0, 0
			for n := 1; n <= most; n++ {
				counts[i] = n
				if more := placed(counts...) - already; more > best {
					best, with = more, n
				}
			}
			if p.Placed > best || p.Fits && (p.Nodes != with || best != p.Placed) {
				t.Errorf("seed %d: %+v, want %d nodes, which place %d", seed, p, with, best)
			}
			if p.Placed > 0 {
				helped++
			}
		}
		counts := make([]int, len(pools))
		for i, c := range got.Choice.Pools {
			counts[i] = c.Nodes
		}
		if n := placed(counts...) - already; n != got.Choice.Placed || got.Bound != nil && got.Bound.Cost > got.Choice.Cost {
			t.Errorf("seed %d: the choice %+v places %d, bound %+v", seed, got.Choice, n, got.Bound)
		}
		for _, p := range got.Pools {
			if p.Fits && (!got.Choice.Fits || got.Choice.Cost > float64(p.Nodes)*p.Cost) {
				t.Errorf("seed %d: the choice %+v is worse than %+v", seed, got.Choice, p)
			}
		}
		if got.Choice.Fits != (len(got.Unplaced) == 0) {
			t.Errorf("seed %d: %+v", seed, got)
		}
		if slices.ContainsFunc(got.Choice.Pools, func(c scenario.PoolCount) bool { return c.Nodes > 0 }) {
			choices++
		}
		if seed%8 > 0 {
			continue
		}
		again, err := wide().CountPools(t.Context(), v, o, arrivals, pools)
		if err != nil || jsonOf(t, got) != jsonOf(t, again) {
			t.Errorf("seed %d: two answers to one question: %v", seed, err)
		}
	}
	if helped < 4 || choices < 2 {
		t.Errorf("pools helped %d times, %d choices have nodes", helped, choices)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	js, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}

// TestPools has pods that fit already, a mix that is cheaper than one pool, daemon pods and pods
// that no pool helps.
func TestPools(t *testing.T) {
	daemon := func(on string) *corev1.Pod {
		return enginetest.Pod("agent-"+on, enginetest.Requests("cpu", "1"), enginetest.Owner("apps/v1", "DaemonSet", "agent"), enginetest.On(on))
	}
	v := viewOf(
		t, enginetest.Node("small", enginetest.Allocatable("cpu", "2")), enginetest.Node("large", enginetest.Allocatable("cpu", "9")),
		daemon("small"), daemon("large"), enginetest.Pod("full", enginetest.Requests("cpu", "8"), enginetest.On("large")),
	)
	ask := func(arrivals []world.Arrival, pools ...scenario.NodePool) *scenario.Pools {
		t.Helper()
		got, err := wide().CountPools(t.Context(), v, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}, arrivals, pools)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	pods := append(waiting(11, "web", enginetest.Requests("cpu", "1")), waiting(2, "huge", enginetest.Requests("cpu", "20"))...)
	got := ask(pods, like("small", 20, 1), like("large", 20, 5))
	// One replica fits beside the agent of node small; eight on a new large node, one on a small.
	if got.Already != 1 || got.Waiting != 12 || got.Choice.Fits || got.Choice.Placed != 10 || got.Choice.Cost != 7 || !got.Choice.Minimal || got.Choice.Daemons != 3 {
		t.Errorf("%+v", got)
	}
	if p := got.Pools; p[0].Nodes != 10 || p[0].Placed != 10 || p[1].Nodes != 2 || p[1].Smallest != "proven" {
		t.Errorf("%+v", p)
	}
	if got.Bound == nil || got.Bound.Cost != 7 || got.Bound.Resource != "cpu" || got.Bound.Runs {
		t.Errorf("bound %+v", got.Bound)
	}
	if u := got.Unplaced; len(u) != 1 || u[0].Pods != 2 || !strings.Contains(u[0].Message, "Insufficient cpu") || u[0].More[0].Helps || u[0].More[1].Reason != "Insufficient cpu" {
		t.Errorf("%+v", u)
	}
	// The scheduler takes the older pods first, so that one takes the agent's room.
	if got.Choice.Crowded == 0 {
		t.Errorf("no daemon pod is crowded out: %+v", got.Choice)
	}
	if got := ask(pods[:1], like("small", 20, 1)); got.Already != 1 || !got.Choice.Fits || got.Choice.Cost != 0 || len(got.Pools[0].Tried) != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask(waiting(9, "web", enginetest.Requests("cpu", "1")), like("small", 2, 1)); got.Choice.Fits || got.Choice.Placed != 2 || !got.Unplaced[0].More[0].Helps {
		t.Errorf("a pool at its maximum: %+v", got)
	}
}

// TestPoolsOfOtherShapes has pools that are like a node but for what is said, and pools of nothing
// but their resources.
func TestPoolsOfOtherShapes(t *testing.T) {
	agent := enginetest.Pod("agent-a", enginetest.Requests("cpu", "1"), enginetest.Owner("apps/v1", "DaemonSet", "agent"), enginetest.On("a"))
	v := viewOf(
		t, enginetest.Node("a", enginetest.Zone("za"), enginetest.NodeLabels("topology.ebs.csi.aws.com/zone", "za"), enginetest.Allocatable("cpu", "4"), enginetest.Taint("team", "x", corev1.TaintEffectNoSchedule)),
		agent, enginetest.Claim("data", "", "1Gi", enginetest.BoundTo("pv")), enginetest.Volume("pv", "", "1Gi", enginetest.ReachableFrom("topology.ebs.csi.aws.com/zone", "zb")),
	)
	otherwise := func(pool scenario.NodePool, shape scenario.NodeShape) scenario.NodePool {
		pool.NodeShape = shape
		return pool
	}
	amounts := func(kv ...string) corev1.ResourceList {
		return enginetest.Node("n", enginetest.Allocatable(kv...)).Status.Allocatable
	}
	none := []corev1.Taint{}
	template := func(js string) scenario.NodePool {
		return scenario.NodePool{AddNodes: scenario.AddNodes{Template: json.RawMessage(js)}}
	}
	for name, c := range map[string]struct {
		pool   scenario.NodePool
		pods   []world.Arrival
		nodes  int
		called string
	}{
		"its taint":               {like("a", 9, 1), waiting(6, "web", enginetest.Requests("cpu", "1")), 0, "a"},
		"no taint":                {otherwise(like("a", 9, 1), scenario.NodeShape{Taints: none}), waiting(6, "web", enginetest.Requests("cpu", "1")), 2, "a"},
		"another size":            {otherwise(like("a", 9, 1), scenario.NodeShape{Taints: none, Resources: amounts("cpu", "8")}), waiting(6, "web", enginetest.Requests("cpu", "1")), 1, "a"},
		"its zone":                {otherwise(like("a", 9, 1), scenario.NodeShape{Taints: none}), waiting(1, "db", enginetest.Mounts("data")), 0, "a"},
		"the volume's zone":       {otherwise(like("a", 9, 1), scenario.NodeShape{Taints: none, Zone: "zb"}), waiting(1, "db", enginetest.Mounts("data")), 1, "a in zb"},
		"a label":                 {otherwise(like("a", 9, 1), scenario.NodeShape{Taints: none, Labels: map[string]string{"disk": "ssd"}}), waiting(2, "ssd", enginetest.Selects("disk", "ssd")), 1, "a"},
		"devices":                 {otherwise(scenario.NodePool{}, scenario.NodeShape{Resources: amounts("cpu", "8", "example.com/gpu", "4")}), waiting(6, "train", enginetest.Requests("example.com/gpu", "1")), 2, "pool-1"},
		"pods as of a kubelet":    {otherwise(scenario.NodePool{}, scenario.NodeShape{Resources: amounts("cpu", "8")}), waiting(111, "tiny", enginetest.Requests("cpu", "1m")), 2, "pool-1"},
		"fewer pods":              {otherwise(scenario.NodePool{}, scenario.NodeShape{Resources: amounts("cpu", "8", "pods", "3")}), waiting(6, "tiny"), 2, "pool-1"},
		"a taint":                 {otherwise(scenario.NodePool{}, scenario.NodeShape{Resources: amounts("cpu", "8"), Taints: []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}}), waiting(1, "web"), 0, "pool-1"},
		"a node that is not well": {template(`{"metadata":{"name":"a"},"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4","pods":"9"},"conditions":[{"type":"Ready","status":"False"}]}}`), waiting(4, "web", enginetest.Requests("cpu", "1")), 1, "a"},
		"a template in a zone":    {otherwise(template(`{"metadata":{"name":"t"},"status":{"allocatable":{"cpu":"4","pods":"9"}}}`), scenario.NodeShape{Zone: "zc"}), waiting(4, "web", enginetest.Requests("cpu", "1"), enginetest.Selects(corev1.LabelTopologyZone, "zc")), 1, "t in zc"},
	} {
		got, err := wide().CountPools(t.Context(), v, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}, c.pods, []scenario.NodePool{c.pool})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p := got.Pools[0]; p.Fits != (c.nodes > 0) || p.Nodes != c.nodes || p.Name != c.called || p.Fits == (p.Reason != "") {
			t.Errorf("%s: %+v, want %d nodes of %s", name, p, c.nodes, c.called)
		}
	}
}

// TestPoolsUnderSpread has zones that only together take pods: a constraint that holds for all.
func TestPoolsUnderSpread(t *testing.T) {
	zone := func(name, zone string) *corev1.Node {
		return enginetest.Node(name, enginetest.Zone(zone), enginetest.Allocatable("cpu", "2"))
	}
	v := viewOf(t, zone("a", "west"), zone("b", "east"))
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	spread := enginetest.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, web)
	arrivals := waiting(12, "web", enginetest.Requests("cpu", "1"), enginetest.Labels("app", "web"), spread)
	pools := []scenario.NodePool{like("a", 10, 1), like("b", 10, 1)}
	got, err := wide().CountPools(t.Context(), v, world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon}, arrivals, pools)
	if err != nil {
		t.Fatal(err)
	}
	// Alone a pool places one pod more; both together all of them.
	if got.Already != 4 || got.Pools[0].Placed != 1 || got.Pools[0].Fits || !got.Choice.Fits || got.Choice.Pools[0].Nodes != 2 || got.Choice.Pools[1].Nodes != 2 {
		t.Errorf("%+v", got)
	}
}

func TestPoolsRefuses(t *testing.T) {
	shaped := func(s scenario.NodeShape) []scenario.NodePool {
		return []scenario.NodePool{{AddNodes: scenario.AddNodes{Like: "a", NodeShape: s}}}
	}
	v := viewOf(t, enginetest.Node("a"))
	for name, c := range map[string]struct {
		pools []scenario.NodePool
		field string
	}{
		"none":      {nil, "pools"},
		"unknown":   {[]scenario.NodePool{like("nope", 1, 1)}, "pools[0].like"},
		"neither":   {[]scenario.NodePool{{}}, "pools[0]"},
		"large":     {[]scenario.NodePool{like("a", 501, 1)}, "pools[0].max"},
		"together":  {[]scenario.NodePool{like("a", 300, 1), {Name: "b", AddNodes: scenario.AddNodes{Like: "a"}, Max: new(300)}}, "pools[1].max"},
		"no nodes":  {[]scenario.NodePool{like("a", 0, 1)}, "pools[0].max"},
		"no cost":   {[]scenario.NodePool{like("a", 1, 0)}, "pools[0].cost"},
		"negative":  {[]scenario.NodePool{like("a", -1, 1)}, "pools[0].max"},
		"free":      {[]scenario.NodePool{like("a", 1, -1)}, "pools[0].cost"},
		"counted":   {[]scenario.NodePool{{AddNodes: scenario.AddNodes{Like: "a", Count: new(2)}}}, "pools[0].count"},
		"same name": {[]scenario.NodePool{like("a", 1, 1), like("a", 1, 1)}, "pools[1].name"},
		"same node": {[]scenario.NodePool{like("a", 1, 1), {Name: "b", AddNodes: scenario.AddNodes{Like: "a"}}}, "pools[1].like"},
		"nothing":   {[]scenario.NodePool{{AddNodes: scenario.AddNodes{NodeShape: scenario.NodeShape{Zone: "z"}}}}, "pools[0]"},
		"both":      {[]scenario.NodePool{{AddNodes: scenario.AddNodes{Like: "a", Template: json.RawMessage(`{}`)}}}, "pools[0]"},
		"zone":      {shaped(scenario.NodeShape{Zone: "eu 1"}), "pools[0].zone"},
		"label":     {shaped(scenario.NodeShape{Labels: map[string]string{"a b": "c"}}), "pools[0].labels"},
		"value":     {shaped(scenario.NodeShape{Labels: map[string]string{"a": "c d"}}), "pools[0].labels"},
		"taint":     {shaped(scenario.NodeShape{Taints: []corev1.Taint{{Key: "a b", Effect: corev1.TaintEffectNoSchedule}}}), "pools[0].taints[0].key"},
		"effect":    {shaped(scenario.NodeShape{Taints: []corev1.Taint{{Key: "a", Effect: "Never"}}}), "pools[0].taints[0].effect"},
		"resource":  {shaped(scenario.NodeShape{Resources: corev1.ResourceList{"memroy": resource.MustParse("1Gi")}}), "pools[0].resources"},
		"amount":    {shaped(scenario.NodeShape{Resources: corev1.ResourceList{"cpu": resource.MustParse("-1")}}), "pools[0].resources.cpu"},
		"a pod":     {[]scenario.NodePool{{AddNodes: scenario.AddNodes{Template: json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)}}}, "pools[0].template.kind"},
	} {
		_, err := wide().CountPools(t.Context(), v, world.Options{Profiles: profileOf(t, rules.DefaultSpec())}, nil, c.pools)
		var e *decision.Error
		if !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("%s: %v, want field %s", name, err, c.field)
		}
	}
	bad := scenario.NodePool{AddNodes: scenario.AddNodes{Template: json.RawMessage(`{"metadata":{"name":"t"},"spec":{"taints":[{"key":"a b","effect":"NoSchedule"}]}}`)}}
	_, err := wide().CountPools(t.Context(), v, world.Options{Profiles: profileOf(t, rules.DefaultSpec())}, nil, []scenario.NodePool{bad})
	var invalid *object.InvalidError
	if !errors.As(err, &invalid) {
		t.Errorf("a bad template: %v", err)
	}
}

// BenchmarkPools needs 80 nodes of two pools for 80 pods, beside 5,000 nodes with
// 150,000 pods.
func BenchmarkPools(b *testing.B) {
	v, profiles := fullSize(), profileOf(b, rules.DefaultSpec())
	first := v.State.Nodes().Node(int(v.State.Nodes().Order()[0])).Name
	second := v.State.Nodes().Node(int(v.State.Nodes().Order()[1])).Name
	runs := 0
	count := &world.Watch{Progress: func(string, int, int) { runs++ }}
	for b.Loop() {
		runs = 0
		got, err := wide().CountPools(b.Context(), v, world.Options{Profiles: profiles, Now: noon, Watch: count},
			waiting(80, "asked", enginetest.Requests("cpu", "31")), []scenario.NodePool{like(first, 50, 1), like(second, 50, 1.1)})
		if err != nil || got.Choice.Placed == 0 {
			b.Fatalf("%+v, %v", got, err)
		}
	}
	b.ReportMetric(float64(runs), "runs")
}
