package bind_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/postgres"
	et "berth/test/enginetest"
	"berth/test/logtest"
	"berth/test/pgtest"
)

// members are pods as a request has them, and those of the snapshot whose names are given.
func members(pods []*corev1.Pod, refs ...string) func(context.Context, *revision.View) ([]decision.Member, int, error) {
	return func(context.Context, *revision.View) (list []decision.Member, least int, err error) {
		for i, p := range pods {
			list = append(list, decision.Member{Field: fmt.Sprintf("pods[%d]", i), Pod: p})
		}
		for _, name := range refs {
			k := logtest.PodKey("d", name)
			list = append(list, decision.Member{Field: "podGroup", Ref: &k})
		}
		return list, 0, nil
	}
}

// uploadAs uploads objects to a cluster.
func uploadAs(t *testing.T, h *logtest.Fixture, cluster string, list []object.Object) {
	t.Helper()
	if _, _, err := h.Manager.Upload(t.Context(), cluster, func(yield func(object.Object) error) (map[string]int, error) {
		for _, o := range list {
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// crowd is a cluster whose few nodes are almost full, and pods of several priorities for it.
func crowd(t *testing.T, r *rand.Rand) (list []object.Object, pods []*corev1.Pod) {
	for i := range 1 + r.IntN(5) {
		list = append(list, logtest.Node(t, fmt.Sprintf("n%d", i), 1+r.IntN(4)))
		for k := range r.IntN(3) {
			list = append(list, logtest.Held(t, logtest.Pod(t, fmt.Sprintf("held-%d-%d", i, k), fmt.Sprintf(`"nodeName":"n%d","priority":%d,`, i, r.IntN(3)*100))))
		}
	}
	for i := range 1 + r.IntN(9) {
		spec := fmt.Sprintf(`"priority":%d,`, r.IntN(4)*100)
		switch r.IntN(6) {
		case 0:
			spec += `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}],`
		case 1:
			spec += `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"web"}}}]}},`
		case 2:
			spec += `"schedulingGates":[{"name":"g"}],`
		}
		p := logtest.Pod(t, fmt.Sprintf("p%d", i), spec)
		if pods = append(pods, p); r.IntN(4) == 0 {
			list = append(list, logtest.Held(t, p)) // waits already
		}
	}
	return list, pods
}

// drawn is a cluster of every rule's objects, and pods for it.
func drawn(t *testing.T, seed uint64) (list []object.Object, pods []*corev1.Pod) {
	c := et.Mixed(seed)
	for _, o := range c.Objects {
		made, err := object.Of(o)
		if err != nil {
			continue // of a kind that no snapshot holds
		}
		list = append(list, made)
	}
	for i := range uint64(5) {
		p := c.Pod.DeepCopy()
		if i%2 == 1 {
			p = et.Mixed(seed + 1_000_000*i).Pod.DeepCopy()
		}
		p.Name = fmt.Sprintf("asked-%d", i)
		p.UID, p.Spec.NodeName = types.UID("uid-"+p.Name), ""
		pods = append(pods, p)
	}
	return list, pods
}

// told is what is the same of a pod that is placed alone and with others.
type told struct {
	Pod     string
	Outcome engine.Outcome
	Node    string
	Digest  string
	Victims []engine.Victim
	Message string
	// As the ledger has the pod afterwards.
	On, Nominated, Why string
}

// TestPlacementIsAsSingles places pods on small clusters, in one call and one by one: the answers
// are the same to the digest, and so is what the ledger has then. Every record replays.
func TestPlacementIsAsSingles(t *testing.T) {
	t.Parallel()
	h := logtest.Open(t, t.TempDir())
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	seeds, outcomes, replayed := uint64(120), map[engine.Outcome]int{}, 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 36))
		list, pods := crowd(t, r)
		if seed%8 == 0 {
			list, pods = drawn(t, seed)
		}
		singles, many := fmt.Sprint("singles-", seed), fmt.Sprint("many-", seed)
		uploadAs(t, h, singles, list)
		uploadAs(t, h, many, list)
		p := &decision.Placement{Cluster: many, Members: members(pods), InOrder: true, NoPreemption: r.IntN(4) == 0, Now: now}
		dry, dryErr := h.Binder.Try(t.Context(), p, newestIn(t, h, many))
		got, err := h.Binder.Place(t.Context(), p)
		if (err == nil) != (dryErr == nil) && !errors.Is(err, store.ErrInvalid) {
			t.Fatalf("seed %d: dry %v, bound %v", seed, dryErr, err)
		}
		var want, is []told
		var failed error
		for _, pod := range pods {
			a, err := h.Decide(t.Context(), decision.Question{Cluster: singles, Pod: pod, Bind: true, NoPreemption: p.NoPreemption, Now: now})
			if err != nil {
				failed = err
				break
			}
			x := told{pod.Name, a.Outcome, a.Node, a.Digest, nil, a.Message, "", "", ""}
			if a.Preemption != nil && a.NominatedNode != "" {
				x.Node, x.Victims = a.NominatedNode, a.Preemption.Victims
			}
			want = append(want, x)
		}
		if failed != nil || err != nil {
			if errors.Is(err, store.ErrInvalid) && errors.Is(failed, store.ErrInvalid) { // names that no store keeps
				continue
			}
			if failed == nil || err == nil || !strings.HasSuffix(strings.ReplaceAll(err.Error(), many, singles), detailOf(failed)) {
				t.Fatalf("seed %d: one by one %v, in one call %v", seed, failed, err)
			}
			continue
		}
		for i, res := range got.Results {
			rec, err := h.Get(t.Context(), res.Decision)
			if err != nil || !rec.DigestAgrees || rec.Placement != got.ID || rec.Committed == nil || !*rec.Committed {
				t.Fatalf("seed %d: record %s: %+v, %v", seed, res.Decision, rec, err)
			}
			if d := dry.Results[i]; d.Outcome != res.Outcome || d.Node != res.Node || d.Message != res.Message {
				t.Fatalf("seed %d: dry %+v, bound %+v", seed, d, res)
			}
			replayed++
			outcomes[res.Outcome]++
			is = append(is, told{res.Name, res.Outcome, res.Node, rec.Digest, res.Victims, res.Message, "", "", ""})
		}
		for i := range want {
			for k := range want[i].Victims {
				want[i].Victims[k].Because = nil // is of explanations
			}
			for k := range is[i].Victims {
				is[i].Victims[k].Because = nil
			}
			want[i].On, want[i].Nominated, want[i].Why = inLedger(t, h, singles, pods[i])
			is[i].On, is[i].Nominated, is[i].Why = inLedger(t, h, many, pods[i])
		}
		if d := cmp.Diff(want, is); d != "" {
			t.Fatalf("seed %d (-one by one +in one call):\n%s", seed, d)
		}
		if v := newestIn(t, h, many); v.Revision > 2 || got.BoundSnapshot != "" && v.ID() != got.BoundSnapshot {
			t.Fatalf("seed %d: %s was made, the answer says %q", seed, v.ID(), got.BoundSnapshot)
		}
	}
	t.Logf("%d pods: %v", replayed, outcomes)
	if outcomes[engine.Scheduled] < int(seeds) || outcomes[engine.Preempting] < int(seeds)/5 || outcomes[engine.UnschedulableOK] < int(seeds)/5 || outcomes[engine.Gated] < int(seeds)/10 {
		t.Errorf("the clusters try too little: %v", outcomes)
	}
}

func detailOf(err error) string {
	var named *decision.Error
	if errors.As(err, &named) {
		return named.Detail
	}
	return err.Error()
}

func newestIn(t *testing.T, h *logtest.Fixture, cluster string) *revision.View {
	t.Helper()
	v, err := h.Manager.View(t.Context(), cluster, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// inLedger is a pod as the ledger has it: its node, the one that it is nominated to, and why it
// waits.
func inLedger(t *testing.T, h *logtest.Fixture, cluster string, pod *corev1.Pod) (on, nominated, why string) {
	t.Helper()
	p, err := newestIn(t, h, cluster).Pod(pod.Namespace, pod.Name)
	if err != nil {
		t.Fatal(err)
	}
	return p.Spec.NodeName, p.Status.NominatedNodeName, scheduledCondition(p).Message
}

// placeFive places pods of one CPU each on two nodes of two.
func placeFive(t *testing.T, change func(*decision.Placement)) (*logtest.Fixture, *decision.PlacementAnswer) {
	t.Helper()
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Node(t, "n1", 2), logtest.Node(t, "n2", 2), logtest.Held(t, logtest.Pod(t, "low", `"nodeName":"n1","priority":-5,`)))
	var pods []*corev1.Pod
	for _, spec := range []string{`"priority":1,`, `"priority":1,`, `"priority":1,`, `"priority":7,`, `"priority":-9,`} {
		pods = append(pods, logtest.Pod(t, fmt.Sprint("p", len(pods)), spec))
	}
	p := &decision.Placement{Members: members(pods)}
	change(p)
	out, err := h.Binder.Place(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	replaysSame(t, h)
	return h, out
}

func outcomesOf(a *decision.PlacementAnswer) string {
	var list []string
	for _, r := range a.Results {
		list = append(list, string(r.Outcome))
	}
	return strings.Join(list, " ")
}

// TestPlacementHoldsOrNot: what does not hold leaves the cluster as it was, to the digest, and its
// records say so and replay.
func TestPlacementHoldsOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(*decision.Placement)
		outcomes  string
		stoppedBy string
		nodes     int
	}{
		"as many as fit, by priority": {func(*decision.Placement) {}, "Scheduled Scheduled Preempting Scheduled Unschedulable", "", 3},
		"in the order of the request": {func(p *decision.Placement) { p.InOrder = true }, "Scheduled Scheduled Scheduled Preempting Unschedulable", "", 3},
		"without preemption":          {func(p *decision.Placement) { p.NoPreemption = true }, "Scheduled Scheduled Unschedulable Scheduled Unschedulable", "", 3},
		"all or none":                 {func(p *decision.Placement) { p.Atomic = true }, "Scheduled Scheduled Preempting Scheduled NotTried", "p2", 0},
		"three at least":              {func(p *decision.Placement) { p.MinCount = 3 }, "Scheduled Scheduled Preempting Scheduled Unschedulable", "", 3},
		"four at least":               {func(p *decision.Placement) { p.Atomic, p.MinCount = true, 4 }, "Scheduled Scheduled Preempting Scheduled Unschedulable", "p4", 0},
	} {
		h, a := placeFive(t, c.change)
		v := newestOf(t, h)
		if got := outcomesOf(a); got != c.outcomes {
			t.Errorf("%s: %s", name, got)
		}
		holds := c.stoppedBy == ""
		if a.Committed != holds || (a.StoppedBy == nil) != holds || !holds && (a.StoppedBy.Name != c.stoppedBy || a.StoppedBy.Message == "") || (a.BoundSnapshot == "default@2") != holds {
			t.Errorf("%s: %s", name, logtest.Text(t, a))
		}
		bound, pending := 0, 0
		for i := range a.Results {
			switch p := v.State.Pod("d", fmt.Sprint("p", i)); {
			case p == nil:
			case p.NodeName != "":
				bound++
			default:
				pending++
			}
		}
		if bound != c.nodes || holds != (pending > 0) || holds != (v.Revision == 2) {
			t.Errorf("%s: %d pods are bound, %d wait, in %s", name, bound, pending, v.ID())
		}
		rows, err := h.List(t.Context(), store.DecisionFilter{Cluster: "default", Placement: a.ID})
		since, until, ok := record.PlacedAround(a.ID)
		if err != nil || !ok || len(rows) != a.Placed+a.Failed {
			t.Fatalf("%s: %d records of %s, %v", name, len(rows), a.ID, err)
		}
		for _, row := range rows {
			if *row.Committed != holds || (row.Purpose == decision.PurposeLive) != holds || (row.BoundSnapshot+row.NominatedSnap+row.PendingSnap != "") != holds || row.Snapshot != "default@1" {
				t.Errorf("%s: record %s", name, logtest.Text(t, row))
			}
			if row.CreatedAt.Before(since) || !row.CreatedAt.Before(until) {
				t.Errorf("%s: the record is of %s, the placement of %s to %s", name, row.CreatedAt, since, until)
			}
		}
	}
}

// TestPlacementWritesDevices: pods of one placement get a device each, and their claims are of the
// one revision.
func TestPlacementWritesDevices(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	uploadTo(t, h, gpus()...)
	var pods []*corev1.Pod
	for _, claim := range []string{"a", "b", "c", "a"} {
		pods = append(pods, et.Pod(fmt.Sprint("one-", len(pods)), et.Claims(claim)))
	}
	a, err := h.Binder.Place(t.Context(), &decision.Placement{Members: members(pods), InOrder: true, NoPreemption: true})
	if err != nil || outcomesOf(a) != "Scheduled Scheduled Unschedulable Scheduled" {
		t.Fatalf("%+v, %v", a, err)
	}
	v := newestOf(t, h)
	for claim, pods := range map[string]int{"a": 2, "b": 1, "c": 0} {
		if c := v.State.ResourceClaim("default", claim); len(c.Status.ReservedFor) != pods || (c.Status.Allocation != nil) != (pods > 0) {
			t.Errorf("claim %s: %+v", claim, c.Status)
		}
	}
	if v.ID() != a.BoundSnapshot || v.Revision != 2 {
		t.Errorf("%s was made, the answer says %s", v.ID(), a.BoundSnapshot)
	}
	replaysSame(t, h)
}

// TestPlacementOrdersStoredPods: pods of an upload that name a class, and have no priority, come by
// the class.
func TestPlacementOrdersStoredPods(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	uploadAs(t, h, "c", []object.Object{
		logtest.Node(t, "n", 1),
		logtest.Object(t, `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":1000}`),
		logtest.Held(t, logtest.Pod(t, "first", "")), logtest.Held(t, logtest.Pod(t, "second", `"priorityClassName":"high",`)),
	})
	got, err := h.Binder.Try(t.Context(), &decision.Placement{Cluster: "c", Members: members(nil, "first", "second"), NoPreemption: true}, newestIn(t, h, "c"))
	if err != nil || got.Results[0].Outcome == engine.Scheduled || got.Results[1].Outcome != engine.Scheduled {
		t.Errorf("%v: %+v", err, got)
	}
}

// TestPlacementIsPinned: a placement on a snapshot that is not the newest is refused, as a single
// decision is.
func TestPlacementIsPinned(t *testing.T) {
	h, _ := placeFive(t, func(p *decision.Placement) { p.Revision = 1 })
	_, err := h.Binder.Place(t.Context(), &decision.Placement{Revision: 1, Members: members([]*corev1.Pod{logtest.Pod(t, "late", "")})})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("%v", err)
	}
}

// TestPlacementsRace: of placements for the last room some hold, and no node gets more than it has.
func TestPlacementsRace(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	list := []object.Object{}
	for i := range 4 {
		list = append(list, logtest.Node(t, fmt.Sprint("n", i), 3))
	}
	logtest.Upload(t, h, list...)
	held, callers := make(chan bool, 20), sync.WaitGroup{}
	for caller := range 20 {
		callers.Go(func() {
			var pods []*corev1.Pod
			for i := range 5 {
				pods = append(pods, logtest.Pod(t, fmt.Sprintf("c%d-%d", caller, i), ""))
			}
			a, err := h.Binder.Place(t.Context(), &decision.Placement{Members: members(pods), Atomic: true})
			if err != nil {
				t.Error(err)
				return
			}
			held <- a.Committed
		})
	}
	callers.Wait()
	close(held)
	n := 0
	for committed := range held {
		if committed {
			n++
		}
	}
	v := newestOf(t, h)
	if n != 2 || v.State.PodCount() != 10 || v.Revision != 3 {
		t.Errorf("%d placements of 5 pods hold in %s, which has %d pods; there is room for 12", n, v.ID(), v.State.PodCount())
	}
	replaysSame(t, h)
}

// TestPlacementRemovals: of sets of pods the first is found without which all fit, and of that the
// pods that may stay.
func TestPlacementRemovals(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Node(t, "n1", 2), logtest.Node(t, "n2", 2),
		logtest.Held(t, logtest.Pod(t, "a", `"nodeName":"n1","priority":9,`)), logtest.Held(t, logtest.Pod(t, "b", `"nodeName":"n1","priority":9,`)),
		logtest.Held(t, logtest.Pod(t, "c", `"nodeName":"n2","priority":9,`)))
	keys := func(names ...string) (set []object.Key) {
		for _, name := range names {
			set = append(set, logtest.PodKey("d", name))
		}
		return set
	}
	p := &decision.Placement{Members: members([]*corev1.Pod{logtest.Pod(t, "one", `"priority":1,`), logtest.Pod(t, "two", `"priority":1,`)})}
	for _, c := range []struct {
		sets             [][]object.Key
		min              int
		first, mayReturn string
	}{
		{[][]object.Key{keys(), keys("c", "a")}, 0, "1", "c"},
		{[][]object.Key{keys(), keys("c", "a")}, 1, "0", ""},
		{[][]object.Key{keys("b", "a", "c"), keys("a")}, 0, "0", "b a"},
		{[][]object.Key{keys(), keys()}, 0, "", ""},
	} {
		p.Removals, p.MinCount = c.sets, c.min
		a, err := h.Binder.Try(t.Context(), p, newestOf(t, h))
		if err != nil {
			t.Fatal(err)
		}
		first, stay := "", []string{}
		if a.FirstSet != nil {
			first = fmt.Sprint(*a.FirstSet)
		}
		for _, k := range a.MayReturn {
			stay = append(stay, k.Name)
		}
		if first != c.first || strings.Join(stay, " ") != c.mayReturn || a.ID != "" || a.Committed || a.Results[0].Decision != "" {
			t.Errorf("%v: %s", c, logtest.Text(t, a))
		}
	}
	p.Removals, p.MinCount = [][]object.Key{keys("a"), keys("c", "nobody")}, 0
	if _, err := h.Binder.Try(t.Context(), p, newestOf(t, h)); err == nil || err.Error() != "removals[1][1]: default@1 has no pod d/nobody" {
		t.Errorf("%v", err)
	}
	if rows, err := h.Follow(t.Context(), "default", 0, 0); len(rows) > 0 || err != nil || newestOf(t, h).Revision != 1 {
		t.Errorf("%d records, %v", len(rows), err)
	}
}

// TestPlacementsOnPostgres: two servers place gangs in one cluster at the same time; what holds has
// its room, and each replays the records of both.
func TestPlacementsOnPostgres(t *testing.T) {
	url := pgtest.URL(t)
	if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	a, b := onShared(t, url), onShared(t, url)
	logtest.Upload(t, a, logtest.Node(t, "n1", 6), logtest.Node(t, "n2", 6))
	newestOf(t, b)
	var callers sync.WaitGroup
	var held atomic.Int64
	for caller := range 8 {
		callers.Go(func() {
			h := []*logtest.Fixture{a, b}[caller%2]
			var pods []*corev1.Pod
			for i := range 3 {
				pods = append(pods, logtest.Pod(t, fmt.Sprintf("c%d-%d", caller, i), ""))
			}
			out, err := h.Binder.Place(t.Context(), &decision.Placement{Members: members(pods), Atomic: true})
			if err != nil {
				t.Error(err)
			} else if out.Committed {
				held.Add(1)
			}
		})
	}
	callers.Wait()
	for _, h := range []*logtest.Fixture{a, b} {
		if v := newestOf(t, h); held.Load() != 4 || v.Revision == 5 && v.State.PodCount() != 12 {
			t.Errorf("%d placements of 3 pods hold in %s, which has %d pods; there is room for 12", held.Load(), v.ID(), v.State.PodCount())
		}
		replaysSame(t, h)
	}
}

// TestPlacementRefuses: errors name the pod by its place in the request, and nothing is written.
func TestPlacementRefuses(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	fine := logtest.Pod(t, "fine", "")
	differs := logtest.Pod(t, "free", `"priority":5,`)
	for name, c := range map[string]struct {
		p    decision.Placement
		want string
	}{
		"bound already":    {decision.Placement{Members: members([]*corev1.Pod{fine, logtest.Pod(t, "bound", "")})}, "pods[1]: pod d/bound is bound to node n1"},
		"twice":            {decision.Placement{Members: members([]*corev1.Pod{fine, fine})}, "pods[1]: pod d/fine is there twice, first in pods[0]"},
		"of no class":      {decision.Placement{Members: members([]*corev1.Pod{fine, logtest.Pod(t, "other", `"priorityClassName":"none",`)})}, "pods[1].spec.priorityClassName"},
		"not there":        {decision.Placement{Members: members([]*corev1.Pod{fine}, "nobody")}, "podGroup: default@1 has no pod d/nobody"},
		"more than all":    {decision.Placement{Members: members([]*corev1.Pod{fine}), MinCount: 2}, "minCount: want at most 1"},
		"differs":          {decision.Placement{Members: members([]*corev1.Pod{fine, differs})}, "pod d/free differs from the stored one"},
		"nothing to place": {decision.Placement{Members: members(nil)}, "pods: there is no pod to place"},
	} {
		if _, err := h.Binder.Place(t.Context(), &c.p); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if _, err := h.Binder.Try(t.Context(), &c.p, newestOf(t, h)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s, dry: %v, want %s", name, err, c.want)
		}
	}
	if rows, err := h.Follow(t.Context(), "default", 0, 0); len(rows) > 0 || err != nil || newestOf(t, h).Revision != 1 {
		t.Errorf("%d records, %v", len(rows), err)
	}
}
