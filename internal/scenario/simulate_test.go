package scenario_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision/admit"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

var bounds = scenario.Bounds{Pods: 1000, Attempts: 5000, Profiles: 3}

// configs are upstream's configuration and one that packs.
func configs(t testing.TB) map[string][]*engine.Profile {
	packed := rules.DefaultSpec()
	packed.Args.NodeResourcesFit.Strategy = rules.MostAllocated
	return map[string][]*engine.Profile{"today": profileOf(t, rules.DefaultSpec()), "packed": profileOf(t, packed)}
}

func simulate(t testing.TB, v *revision.View, q scenario.Request) (*scenario.Simulation, error) {
	t.Helper()
	return simulateWithin(t, v, q, bounds)
}

func simulateWithin(t testing.TB, v *revision.View, q scenario.Request, bounds scenario.Bounds) (*scenario.Simulation, error) {
	t.Helper()
	c := configs(t)
	d := configured(&q, c)
	d.ReadPod = func(_ string, raw json.RawMessage) (*corev1.Pod, error) {
		w, err := object.PodOf(raw, object.Limits{})
		if err != nil {
			return nil, err
		}
		if w != nil {
			raw = w.Pod
		}
		return object.DecodePod(raw, object.Limits{})
	}
	e, err := d.Apply(t.Context(), v, "edits", q.Edits)
	if err != nil {
		return nil, err
	}
	out, err := q.Answer(t.Context(), &scenario.Stage{Edited: e, Editor: d, Options: world.Options{Profiles: c["today"], Now: noon}, Bounds: bounds})
	if err != nil {
		return nil, err
	}
	return out.(*scenario.Simulation), nil
}

// configured returns an editor for a scenario whose configurations are those of their names.
func configured(q *scenario.Request, c map[string][]*engine.Profile) *scenario.Editor {
	q.Profiles = slices.Clone(q.Profiles)
	for i := range q.Profiles {
		q.Profiles[i].Config = json.RawMessage(q.Profiles[i].Name)
	}
	d := editor()
	d.Configure = func(_ string, x *scenario.Configuration) ([]*engine.Profile, error) { return c[string(x.Config)], nil }
	return d
}

const webPod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}`

func TestSimulate(t *testing.T) {
	size := enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")
	v := viewOf(t, enginetest.Node("a", size), enginetest.Node("b", size),
		enginetest.Pod("first", enginetest.Requests("cpu", "1"), enginetest.Priority(5)), enginetest.Pod("held", enginetest.Gate("g")),
		enginetest.Pod("huge", enginetest.Requests("cpu", "9")))
	three := 3
	q := scenario.Request{
		Arrivals: scenario.ArrivalSource{Pending: true, Workloads: []scenario.Workload{{Pod: json.RawMessage(webPod), Count: &three}}},
		Profiles: []scenario.Configuration{{Name: "today"}, {Name: "packed"}}, Keep: scenario.KeepDecisions,
	}
	got, err := simulate(t, v, q)
	if err != nil {
		t.Fatal(err)
	}
	if got.Base != "prod@1" || got.Arrivals != 6 || got.Nodes != 2 || len(got.Profiles) != 2 || len(got.Differences) != 1 {
		t.Fatalf("%+v", got)
	}
	for _, r := range got.Profiles {
		if r.Placed != 4 || r.Pending != 1 || r.Gated != 1 || r.Stopped || len(r.Groups) != 1 || r.Groups[0].Example != "default/huge" || r.Groups[0].Pods != 1 || len(r.Groups[0].Groups) != 1 {
			t.Errorf("%+v", r)
		}
		if r.Moves[0].Pod != "default/first" || r.Moves[0].Digest == "" || len(r.Series) == 0 || r.End.Nodes.InUse == 0 {
			t.Errorf("%+v", r)
		}
	}
	d := got.Differences[0]
	if d.Profile != "packed" || d.Against != "today" || d.Elsewhere == 0 || d.Gained+d.Lost != 0 || d.First == nil || len(d.Pods) != d.Elsewhere {
		t.Fatalf("%+v", d)
	}
	// Both scored both nodes, and each preferred its own.
	one, other := d.First.Profile, d.First.Against
	if one.Node == other.Node || len(one.Nodes) != 2 || len(other.Nodes) != 2 || *one.Nodes[0].Score < *one.Nodes[1].Score || *other.Nodes[0].Score < *other.Nodes[1].Score {
		t.Errorf("%+v", d.First)
	}
	if end := got.Profiles[1].End.Nodes.InUse; end != 1 || got.Profiles[0].End.Nodes.InUse != 2 {
		t.Errorf("packed uses %d nodes", end)
	}
	again, err := simulate(t, v, q)
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("the same scenario has another answer: %v", err)
	}
	q.Profiles = q.Profiles[1:]
	alone, err := simulate(t, v, q)
	if err != nil || alone.Profiles[0].Digest != got.Profiles[1].Digest {
		t.Errorf("alone %s: %v", alone.Profiles[0].Digest, err)
	}
	q.Keep, q.Until.Decisions = "", new(2)
	short, err := simulate(t, v, q)
	if err != nil || !short.Profiles[0].Stopped || short.Profiles[0].Attempts != 2 || short.Profiles[0].Moves != nil {
		t.Errorf("%+v: %v", short, err)
	}
}

// TestSimulateNewNodes counts the daemon pods of new nodes as arrivals.
func TestSimulateNewNodes(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")),
		enginetest.Pod("agent", enginetest.On("a"), enginetest.Owner("apps/v1", "DaemonSet", "agent")), enginetest.Pod("huge", enginetest.Requests("cpu", "9")))
	got, err := simulate(t, v, scenario.Request{Edits: &scenario.Edits{AddNodes: []scenario.AddNodes{{Like: "a", Count: new(2)}}}, Arrivals: scenario.ArrivalSource{Pending: true}})
	if err != nil || got.Arrivals != 3 || got.Profiles[0].Placed != 2 || got.Profiles[0].Pending != 1 {
		t.Errorf("%+v: %v", got, err)
	}
}

// TestSimulatePlaced has all pods of a cluster arrive again; only those of daemons stay.
func TestSimulatePlaced(t *testing.T) {
	size := enginetest.Allocatable("cpu", "4", "memory", "8Gi", "pods", "10")
	web := func(i int, node string) any {
		return enginetest.Pod(fmt.Sprintf("web-%d", i), enginetest.On(node), enginetest.Requests("cpu", "1"))
	}
	v := viewOf(t, enginetest.Node("a", size), enginetest.Node("b", size), web(1, "a"), web(2, "b"), web(3, "b"),
		enginetest.Pod("agent", enginetest.On("b"), enginetest.Requests("cpu", "1"), enginetest.Owner("apps/v1", "DaemonSet", "agent")))
	got, err := simulate(t, v, scenario.Request{Arrivals: scenario.ArrivalSource{Placed: true}, Profiles: []scenario.Configuration{{Name: "packed"}}, Keep: scenario.KeepMoves})
	if err != nil {
		t.Fatal(err)
	}
	r := got.Profiles[0]
	if got.Arrivals != 3 || r.Placed != 3 || r.End.Nodes.InUse != 1 || got.Start.Nodes.InUse != 0 || r.Moved != 1 {
		t.Errorf("%+v", r)
	}
	for _, m := range r.Moves {
		if m.Node != "b" {
			t.Errorf("%+v", m)
		}
	}
}

// TestDepartures has pods leave, which makes room for those that wait; times order what happens.
func TestDepartures(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "1", "memory", "8Gi", "pods", "10")))
	timed := func(name string, at, stays time.Duration) scenario.TimedPod {
		return scenario.TimedPod{
			Pod: json.RawMessage(strings.Replace(webPod, `"web"`, `"`+name+`"`, 1)), At: &metav1.Duration{Duration: at}, Duration: &metav1.Duration{Duration: stays},
		}
	}
	got, err := simulate(t, v, scenario.Request{Keep: scenario.KeepMoves, Arrivals: scenario.ArrivalSource{Pods: []scenario.TimedPod{
		timed("late", time.Minute, time.Hour), timed("first", 0, 2*time.Minute), timed("never", 3*time.Hour, time.Hour), timed("last", 2*time.Minute, 90*time.Minute),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var moves []string
	for _, m := range got.Profiles[0].Moves {
		moves = append(moves, m.Pod+" "+string(m.Outcome))
	}
	want := "default/first Scheduled, default/late Unschedulable, default/late Scheduled, default/last Unschedulable, default/last Scheduled, default/never Scheduled"
	// late waited for an attempt of its own, last for one of late and one of its own.
	if w := got.Profiles[0].Wait; w.Max != 2 || w.Mean != .75 || w.P50 != 0 {
		t.Errorf("waits %+v", w)
	}
	if s := strings.Join(moves, ", "); s != want || got.Profiles[0].Placed != 4 || got.Profiles[0].Pending != 0 {
		t.Errorf("%s\nwant %s\n%+v", s, want, got.Profiles[0])
	}
}

// TestTries gives each pod one attempt: room that comes later helps no one who came before.
func TestTries(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "1", "memory", "8Gi", "pods", "10")))
	pods := []scenario.TimedPod{{Pod: json.RawMessage(webPod), Duration: &metav1.Duration{Duration: time.Minute}}, {Pod: json.RawMessage(strings.Replace(webPod, `"web"`, `"two"`, 1))}}
	for tries, placed := range map[int]int{0: 2, 1: 1} {
		got, err := simulate(t, v, scenario.Request{Tries: tries, Arrivals: scenario.ArrivalSource{Pods: pods}})
		if err != nil || got.Profiles[0].Placed != placed || got.Profiles[0].End.Nodes.InUse != 1 {
			t.Errorf("%d tries: %+v: %v", tries, got, err)
		}
	}
}

func TestBadScenarios(t *testing.T) {
	v := viewOf(t, enginetest.Node("a"))
	many, none := 2000, -1
	work := func(raw string, n *int) scenario.ArrivalSource {
		return scenario.ArrivalSource{Workloads: []scenario.Workload{{Pod: json.RawMessage(raw), Count: n}}}
	}
	pending := scenario.ArrivalSource{Pending: true}
	for want, q := range map[string]scenario.Request{
		"arrivals: want pending, placed, workloads, history or pods":        {},
		"arrivals.history: recorded decisions are kept by a server":         {Arrivals: scenario.ArrivalSource{History: &scenario.History{Since: noon, Until: noon.Add(1)}}},
		"keep: want summary, moves or decisions":                            {Keep: "all", Arrivals: pending},
		"until.duration: time in a scenario is ordinal":                     {Arrivals: pending, Until: scenario.Until{Duration: &metav1.Duration{}}},
		"until: want idle or decisions, not both":                           {Arrivals: pending, Until: scenario.Until{Idle: true, Decisions: new(1)}},
		"until.decisions: want a number from 1 to 5000":                     {Arrivals: pending, Until: scenario.Until{Decisions: new(5001)}},
		"until.decisions: want a number from 1 to":                          {Arrivals: pending, Until: scenario.Until{Decisions: new(int)}},
		"profiles: want at most 3":                                          {Arrivals: pending, Profiles: make([]scenario.Configuration, 4)},
		"profiles[0].name: a name is needed":                                {Arrivals: pending, Profiles: make([]scenario.Configuration, 1)},
		`profiles[1].name: "a" is there twice`:                              {Arrivals: pending, Profiles: []scenario.Configuration{{Name: "a"}, {Name: "a"}}},
		"tries: want a number above 0":                                      {Arrivals: pending, Tries: -1},
		"arrivals.placed: placed has the pending":                           {Arrivals: scenario.ArrivalSource{Pending: true, Placed: true}},
		"arrivals.workloads[0].count: more than 1000 pods would arrive":     {Arrivals: work(webPod, &many)},
		"arrivals.workloads[0].count: want a number above 0":                {Arrivals: work(webPod, &none)},
		"no PriorityClass with name nobody was found":                       {Arrivals: work(strings.Replace(webPod, `"spec":{`, `"spec":{"priorityClassName":"nobody",`, 1), nil)},
		"arrivals.pods[0].at: want a duration that is not negative":         {Arrivals: scenario.ArrivalSource{Pods: []scenario.TimedPod{{Pod: json.RawMessage(webPod), At: &metav1.Duration{Duration: -1}}}}},
		"arrivals.pods[0].duration: want a duration above 0":                {Arrivals: scenario.ArrivalSource{Pods: []scenario.TimedPod{{Pod: json.RawMessage(webPod), Duration: &metav1.Duration{}}}}},
		"arrivals: pod default/web arrives twice":                           {Arrivals: scenario.ArrivalSource{Pods: []scenario.TimedPod{{Pod: json.RawMessage(webPod)}, {Pod: json.RawMessage(webPod)}}}},
		"spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\"": {Arrivals: work(strings.Replace(webPod, `"1"`, `"-1"`, 1), nil)},
	} {
		if _, err := simulate(t, v, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestSamplesLoseVictims has a pod evicted that a sample counted as placed.
func TestSamplesLoseVictims(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "1", "memory", "8Gi", "pods", "10")))
	high := strings.NewReplacer(`"web"`, `"high"`, `"spec":{`, `"spec":{"priority":9,`).Replace(webPod)
	low := strings.Replace(webPod, `"spec":{`, `"spec":{"priority":1,`, 1)
	got, err := simulate(t, v, scenario.Request{Arrivals: scenario.ArrivalSource{Pods: []scenario.TimedPod{
		{Pod: json.RawMessage(low)}, {Pod: json.RawMessage(high), At: &metav1.Duration{Duration: time.Minute}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r := got.Profiles[0]
	if r.Placed != 1 || r.Evicted != 1 || r.Victims != 1 || len(r.Series) != 3 || r.Series[0].Placed != 1 || r.Series[1].Placed != 0 || r.Series[2].Placed != 1 {
		t.Errorf("%+v", r)
	}
}

// TestSeriesEndsWithTheRun: the last sample is the state at the end, however many attempts a run
// takes, and counts as waiting what the run does.
func TestSeriesEndsWithTheRun(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "3", "memory", "80Gi", "pods", "110")))
	gated := strings.NewReplacer(`"web"`, `"gated"`, `"spec":{`, `"spec":{"schedulingGates":[{"name":"g"}],`).Replace(webPod)
	for count, tries := range map[int]int{5: 1, 45: 1, 46: 30, 200: 7} {
		got, err := simulate(t, v, scenario.Request{Tries: tries, Arrivals: scenario.ArrivalSource{
			Workloads: []scenario.Workload{{Pod: json.RawMessage(webPod), Count: &count}}, Pods: []scenario.TimedPod{{Pod: json.RawMessage(gated)}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Profiles[0]
		last := r.Series[len(r.Series)-1]
		if last.Attempts != r.Attempts || last.Waiting != r.Pending || last.Placed != r.Placed || r.Gated != 1 || len(r.Series) > 41 {
			t.Errorf("%d pods: %d samples, the last %+v, of %d attempts, %d placed, %d pending", count, len(r.Series), last, r.Attempts, r.Placed, r.Pending)
		}
	}
}

// TestUneven counts pods in domains that have more pods than their constraints allow. They are even
// at first; a pod that leaves makes the others uneven, and those of soft constraints are counted
// apart.
func TestUneven(t *testing.T) {
	spread := func(name, node string, how corev1.UnsatisfiableConstraintAction) any {
		return enginetest.Pod(name, enginetest.On(node), enginetest.Requests("cpu", "1"), enginetest.Labels("app", string(how)),
			enginetest.Spread(corev1.LabelTopologyZone, 1, how, enginetest.Match("app", string(how))))
	}
	size := enginetest.Allocatable("cpu", "9", "memory", "8Gi", "pods", "20")
	v := viewOf(t, enginetest.Node("a", size, enginetest.Zone("z1")), enginetest.Node("b", size, enginetest.Zone("z2")), enginetest.Node("none", size),
		spread("h1", "a", corev1.DoNotSchedule), spread("h2", "a", corev1.DoNotSchedule), spread("h3", "b", corev1.DoNotSchedule),
		spread("s1", "a", corev1.ScheduleAnyway), spread("s2", "a", corev1.ScheduleAnyway), spread("s3", "a", corev1.ScheduleAnyway),
		spread("s4", "b", corev1.ScheduleAnyway), spread("s5", "none", corev1.ScheduleAnyway))
	for name, c := range map[string]struct {
		edits *scenario.Edits
		end   scenario.Unevenness
	}{
		"one more in z1":        {nil, scenario.Unevenness{Hard: 0, Soft: 3}},
		"the one of z2 is gone": {&scenario.Edits{Delete: []admit.Deletion{{Kind: "Pod", Namespace: "default", Name: "h3"}}}, scenario.Unevenness{Hard: 2, Soft: 3}},
	} {
		pod := []scenario.TimedPod{{Pod: json.RawMessage(webPod)}}
		got, err := simulate(t, v, scenario.Request{Edits: c.edits, Arrivals: scenario.ArrivalSource{Pods: pod}})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Profiles[0]
		if *got.StartSpread != c.end || *r.Spread != c.end || *r.Series[0].Spread != c.end {
			t.Errorf("%s: start %+v, end %+v, want %+v", name, got.StartSpread, r.Spread, c.end)
		}
	}
}

// TestFinishedRunsAreNotRunAgain goes on from what any number of finished configurations left, and
// wants the same bytes without another attempt under them.
func TestFinishedRunsAreNotRunAgain(t *testing.T) {
	for seed := range uint64(20) {
		v, profiles := randomCluster(t, seed)
		packed := rules.DefaultSpec()
		packed.Args.NodeResourcesFit.Strategy = rules.MostAllocated
		c := map[string][]*engine.Profile{"a": profiles, "b": profileOf(t, packed), "c": profiles}
		kept, went := map[string][]byte{}, map[string]int{}
		run := func(from ...string) string {
			t.Helper()
			q := scenario.Request{Arrivals: scenario.ArrivalSource{Pending: true}, Keep: scenario.KeepMoves, Profiles: []scenario.Configuration{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
			clear(went)
			watch := &world.Watch{
				Progress: func(part string, done, total int) {
					if went[part] = done; done > total {
						t.Errorf("%s: %d of %d", part, done, total)
					}
				},
				Load: func(part string, into any) (bool, error) {
					if !slices.Contains(from, part) {
						return false, nil
					}
					return true, json.Unmarshal(kept[part], into)
				},
				Save: func(part string, from any) (err error) {
					kept[part], err = json.Marshal(from)
					return err
				},
			}
			d := configured(&q, c)
			out, err := q.Answer(t.Context(), &scenario.Stage{Edited: &scenario.Edited{View: v}, Editor: d, Options: world.Options{Profiles: profiles, Now: noon, Watch: watch}, Bounds: bounds})
			if err != nil {
				t.Fatal(err)
			}
			js, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			return string(js)
		}
		whole := run()
		attempts := len(went)
		for _, from := range [][]string{{"run/a"}, {"run/a", "run/b"}, {"run/a", "run/b", "run/c"}} {
			if got := run(from...); got != whole {
				t.Fatalf("seed %d from %v\n%s\nwant\n%s", seed, from, got, whole)
			}
			if attempts > 0 && len(went) != 3-len(from) {
				t.Errorf("seed %d from %v: ran %v", seed, from, went)
			}
		}
	}
}

// TestWorkloadsArrive with as many pods as their controllers run at a time.
func TestWorkloadsArrive(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "1", "memory", "8Gi", "pods", "10")))
	for spec, want := range map[string]int{
		``: 1, `"parallelism":3,`: 3, `"completions":3,`: 1, `"parallelism":3,"completions":2,`: 2, `"parallelism":2,"completions":3,`: 2, `"parallelism":0,"completions":2,`: 0,
	} {
		job := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{` + spec + `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`
		got, err := simulate(t, v, scenario.Request{Arrivals: scenario.ArrivalSource{Workloads: []scenario.Workload{{Pod: json.RawMessage(job)}}}})
		if err != nil || got.Arrivals != want {
			t.Errorf("%s: %v, want %d: %v", spec, got, want, err)
		}
		cron := strings.Replace(strings.Replace(job, `"Job"`, `"CronJob"`, 1), `"spec":`, `"spec":{"jobTemplate":{"spec":`, 1) + "}}"
		got, err = simulate(t, v, scenario.Request{Arrivals: scenario.ArrivalSource{Workloads: []scenario.Workload{{Pod: json.RawMessage(cron)}}}})
		if err != nil || got.Arrivals != want {
			t.Errorf("%s of a CronJob: %v, want %d: %v", spec, got, want, err)
		}
	}
}

// TestPinnedArrivals refuses a pod that has a node before it arrives.
func TestPinnedArrivals(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "1", "memory", "8Gi", "pods", "10")))
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d"},"spec":{"nodeName":"a","containers":[{"name":"c","image":"i"}]}}`
	_, err := simulate(t, v, scenario.Request{Arrivals: scenario.ArrivalSource{Pods: []scenario.TimedPod{{Pod: json.RawMessage(pod)}}}})
	if err == nil || !strings.Contains(err.Error(), "arrivals.pods[0].pod.spec.nodeName") {
		t.Errorf("%v", err)
	}
}

// TestNodesWithoutPods warns of new nodes on which no pod can be.
func TestNodesWithoutPods(t *testing.T) {
	v := viewOf(t, enginetest.Node("a", enginetest.Allocatable("cpu", "1", "memory", "8Gi", "pods", "10")))
	for capacity, want := range map[string]int{`"cpu":"4"`: 1, `"cpu":"4","pods":"9"`: 0} {
		got, err := simulate(t, v, scenario.Request{Edits: &scenario.Edits{AddNodes: []scenario.AddNodes{{Template: json.RawMessage(`{"metadata":{"name":"n"},"status":{"capacity":{` + capacity + `}}}`)}}}})
		if err != nil || len(got.Warnings) != want || want > 0 && !strings.HasPrefix(got.Warnings[0], "edits.addNodes[0].template: ") {
			t.Errorf("%s: %+v, %v", capacity, got, err)
		}
	}
}
