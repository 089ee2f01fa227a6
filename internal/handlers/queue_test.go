package handlers

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/handlers/admit"
	"berth/internal/report"
	"berth/internal/semantics"
)

func waitingPod(name, created, spec, status string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop"%s},"spec":{"containers":[{"name":"c"}]%s},"status":{%s}}`, name, created, spec, status)
}

func at(second int) string {
	return fmt.Sprintf(`,"creationTimestamp":"2026-03-01T00:00:%02dZ"`, second)
}

func TestQueue(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		o.Configuration = &decision.Configuration{Profiles: slices.Concat(config.Default(semantics.Default()), []*engine.Profile{
			{Name: "mine", Gates: true}, {Name: "ungated"},
		})}
	})
	h.want(404, nil, "GET", "/v1/clusters/prod/queue", "")
	h.want(201, nil, "POST", "/v1/priorityclasses?cluster=prod", priorityClass("high", `,"value":1000`))
	h.upload("prod", listOf(node("n1", "4"),
		waitingPod("young", at(9), "", ""), waitingPod("old", at(1), "", ""), waitingPod("timeless", "", "", ""),
		waitingPod("classed", at(9), `,"priorityClassName":"high"`, ""),
		waitingPod("mine", at(3), `,"schedulerName":"mine"`, ""), waitingPod("theirs", at(3), `,"schedulerName":"theirs"`, ""),
		waitingPod("let-through", at(4), `,"schedulerName":"ungated","schedulingGates":[{"name":"a/b"}]`, ""),
		waitingPod("gated", at(2), `,"schedulingGates":[{"name":"a/b"},{"name":"c"}]`, ""),
		waitingPod("nominated", at(2), `,"priority":5`, `"nominatedNodeName":"n1","conditions":[{"type":"PodScheduled","status":"False","lastTransitionTime":"2026-03-01T00:00:30Z"}]`),
		waitingPod("bound", at(1), `,"nodeName":"n1"`, ""), waitingPod("ended", at(1), "", `"phase":"Succeeded"`),
	))
	var q report.Queue
	h.want(200, &q, "GET", "/v1/clusters/prod/queue", "")
	show := func(q report.Queue) (out []string) {
		for _, p := range q.Active {
			since := "?"
			if p.Since != nil {
				since = p.Since.Format("05")
			}
			out = append(out, fmt.Sprintf("active %s/%s %d %s", p.Namespace, p.Name, p.Priority, since))
		}
		for _, p := range q.Gated {
			out = append(out, fmt.Sprintf("gated %s %v %s", p.Name, p.Gates, p.Since.Format("05")))
		}
		for _, p := range q.Nominated {
			out = append(out, fmt.Sprintf("nominated %s %d %s %s", p.Name, p.Priority, p.Node, p.Since.Format("05")))
		}
		return out
	}
	if d := cmp.Diff([]string{
		"active shop/classed 1000 09", "active shop/nominated 5 02", "active shop/old 0 01", "active shop/mine 0 03", "active shop/let-through 0 04",
		"active shop/young 0 09", "active shop/timeless 0 ?", "gated gated [a/b c] 02", "nominated nominated 5 n1 30",
	}, show(q)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if q.Snapshot != "prod@1" || q.Counts != (report.QueueCounts{Active: 7, Gated: 1, Nominated: 1}) || q.Cursor != "" {
		t.Errorf("%+v", q)
	}
	metrics := string(h.want(200, nil, "GET", "/metrics", "").body)
	for _, want := range []string{`scheduler_pending_pods{cluster="prod",queue="active"} 7`, `scheduler_pending_pods{cluster="prod",queue="gated"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}

	// Pages are of one revision, whatever comes in meanwhile.
	var page report.Queue
	h.want(200, &page, "GET", "/v1/clusters/prod/queue?limit=5", "")
	h.want(201, nil, "POST", "/v1/snapshots/prod@1/changes", `{"delete":[{"kind":"Pod","namespace":"shop","name":"old"},{"kind":"Pod","namespace":"shop","name":"gated"}]}`)
	var rest report.Queue
	h.want(200, &rest, "GET", "/v1/clusters/prod/queue?limit=5&cursor="+page.Cursor, "")
	if d := cmp.Diff(q.Active, append(page.Active, rest.Active...)); d != "" || rest.Cursor != "" {
		t.Errorf("by pages (-whole +pages):\n%s", d)
	}
	metrics = string(h.want(200, nil, "GET", "/metrics", "").body)
	for _, want := range []string{`scheduler_pending_pods{cluster="prod",queue="active"} 6`, `scheduler_pending_pods{cluster="prod",queue="gated"} 0`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("after the change: no %s", want)
		}
	}
	for _, bad := range []string{"?limit=0", "?limit=x", "?limit=5001", "?cursor=x", "?cursor=MS8tMQ", "?other=1"} {
		h.want(400, nil, "GET", "/v1/clusters/prod/queue"+bad, "")
	}
	h.want(400, nil, "GET", "/v1/clusters/UPPER%20/queue", "")
}

// TestQueueTellsTriedFromUntried has an important pod that fits nowhere: it is tried in vain, and
// those behind it come first until something changes.
func TestQueueTellsTriedFromUntried(t *testing.T) {
	h := start(t, nil)
	big := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","creationTimestamp":"2026-03-01T00:00:00Z"},"spec":{"priority":%d,"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]}}`
	h.upload("prod", listOf(node("n1", "4"), fmt.Sprintf(big, "high", 1000), fmt.Sprintf(big, "high-too", 1000), fmt.Sprintf(big, "low", 10)))
	try := func(name string) {
		t.Helper()
		h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","bind":true,"podRef":{"namespace":"shop","name":"`+name+`"}}`)
	}
	want := func(query string, want ...string) (q report.Queue) {
		t.Helper()
		var got []string
		h.want(200, &q, "GET", "/v1/clusters/prod/queue"+query, "")
		for _, p := range q.Active {
			next := ""
			if p.NextTry != nil {
				next = fmt.Sprintf(" %ds", int(p.NextTry.Sub(*p.LastAttempt).Seconds()))
			}
			got = append(got, fmt.Sprintf("%s %s %d%s", p.Name, p.Queue, p.Attempts, next))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", query, d)
		}
		return q
	}
	want("", "high active 0", "high-too active 0", "low active 0")
	try("high") // prod@2
	q := want("", "high-too active 0", "low active 0", "high unschedulable 1 300s")
	if q.Counts != (report.QueueCounts{Active: 3, Unschedulable: 1}) {
		t.Errorf("%+v", q.Counts)
	}
	first := *q.Active[2].LastAttempt
	try("low") // prod@3, which changes nothing for the other
	want("", "high-too active 0", "high unschedulable 1 300s", "low unschedulable 1 300s")
	metrics := string(h.want(200, nil, "GET", "/metrics", "").body)
	for part, n := range map[string]int{"active": 1, "backoff": 0, "unschedulable": 2, "gated": 0} {
		if line := fmt.Sprintf(`scheduler_pending_pods{cluster="prod",queue=%q} %d`, part, n); !strings.Contains(metrics, line) {
			t.Errorf("no %s", line)
		}
	}
	// Five minutes later both are tried again; who failed last comes last.
	late := "?now=" + first.Add(time.Hour).Format(time.RFC3339Nano)
	want(late, "high-too active 0", "high active 1", "low active 1")
	h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"apply":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"}},`+node("n2", "2")+`]}`) // prod@4, which can help neither
	want("?now="+first.Add(3*time.Second).Format(time.RFC3339Nano), "high-too active 0", "high unschedulable 1 300s", "low unschedulable 1 300s")
	h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"apply":[`+node("n3", "16")+`]}`) // prod@5
	want("?now="+first.Format(time.RFC3339Nano), "high-too active 0", "low active 0", "high backoff 1 1s")
	want("?now="+first.Add(3*time.Second).Format(time.RFC3339Nano), "high-too active 0", "high active 1", "low active 1")

	// Older revisions have the attempts up to then.
	want("?snapshot=prod@1", "high active 0", "high-too active 0", "low active 0")
	old := want("?snapshot=prod@2", "high-too active 0", "low active 0", "high unschedulable 1 300s")
	if old.Snapshot != "prod@2" || old.Now.After(time.Now()) {
		t.Errorf("%s at %s", old.Snapshot, old.Now)
	}
	want("?snapshot=prod@2&now="+first.Add(time.Hour).Format(time.RFC3339Nano), "high-too active 0", "high active 1", "low active 0")
	want("?snapshot=prod@latest&now="+first.Add(time.Hour).Format(time.RFC3339Nano), "high-too active 0", "high active 1", "low active 1")
	page := want("?limit=1&snapshot=prod@2", "high-too active 0")
	want("?limit=2&cursor="+page.Cursor, "low active 0", "high unschedulable 1 300s")
	for _, bad := range []string{"?snapshot=prod", "?snapshot=other@1", "?now=noon", "?now=2026", "?snapshot=prod@1&cursor=" + page.Cursor} {
		h.want(400, nil, "GET", "/v1/clusters/prod/queue"+bad, "")
	}
	h.want(404, nil, "GET", "/v1/clusters/prod/queue?snapshot=prod@99", "")
}

// TestAttemptsAreOfTheTimeTheyName has a pod tried at noon of another day, and then again: the
// queue and the story of that day have the attempts, and those of the clock have none.
func TestAttemptsAreOfTheTimeTheyName(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"), waitingPod("p", at(1), `,"nodeSelector":{"a":"b"}`, ""), waitingPod("q", at(1), `,"nodeSelector":{"a":"b"}`, "")))
	noon := time.Date(2027, 3, 4, 12, 0, 0, 0, time.UTC)
	named := func(d time.Duration) string { return noon.Add(d).Format(time.RFC3339) }
	try := func(now string) (a decision.Answer) {
		t.Helper()
		h.want(201, &a, "POST", "/v1/decisions", `{"snapshot":"prod@latest","bind":true,"podRef":{"namespace":"shop","name":"p"}`+now+`}`)
		return a
	}
	first := try(`,"now":"` + named(0) + `"`)
	queued := func(query string) report.QueuedPod {
		t.Helper()
		var q report.Queue
		h.want(200, &q, "GET", "/v1/clusters/prod/queue"+query, "")
		for _, p := range q.Active {
			if p.Name == "p" {
				return p
			}
		}
		t.Fatalf("%s: p is not there", query)
		return report.QueuedPod{}
	}
	told := func(query string) (s report.Story) {
		t.Helper()
		h.want(200, &s, "GET", "/v1/clusters/prod/pods/shop/p?suggest=false"+query, "")
		return s
	}
	tried := func(d time.Duration, attempts int, in string) {
		t.Helper()
		p, s := queued("?now="+named(d)), told("&now="+named(d))
		if p.Attempts != attempts || p.Queue != in || s.Queue.Attempts != attempts || string(s.Queue.Queue) != in || s.Decisions != attempts {
			t.Errorf("at %s: %+v, told %+v of %d decisions; want %d attempts, %s", named(d), p, s.Queue, s.Decisions, attempts, in)
		}
	}
	tried(-time.Second, 0, "active")
	tried(time.Second, 1, "unschedulable")
	tried(6*time.Minute, 1, "active")
	p, s := queued("?now="+named(time.Second)), told("&now="+named(time.Second))
	if !p.LastAttempt.Equal(noon) || !p.NextTry.Equal(noon.Add(5*time.Minute)) {
		t.Errorf("last attempt %s, next try %s", p.LastAttempt, p.NextTry)
	}
	if len(s.Attempts) != 1 || !s.Attempts[0].First.Equal(noon) || !s.Attempts[0].Last.Equal(noon) || len(s.Next) != 1 || !s.Next[0].At.Equal(noon.Add(5*time.Minute)) {
		t.Errorf("attempts %+v, next %+v", s.Attempts, s.Next)
	}
	live := func(attempts int, in string) {
		t.Helper()
		p, s := queued(""), told("")
		if p.Attempts != attempts || p.Queue != in || s.Decisions != attempts || s.Queue.Attempts != attempts {
			t.Errorf("now: %+v, told %d decisions, want %d attempts, %s", p, s.Decisions, attempts, in)
		}
	}
	live(0, "active")
	if line := `scheduler_pending_pods{cluster="prod",queue="unschedulable"} 0`; !strings.Contains(string(h.want(200, nil, "GET", "/metrics", "").body), line) {
		t.Errorf("no %s", line)
	}
	second := try("")
	live(1, "unschedulable")
	tried(time.Second, 2, "unschedulable") // the clock is before that day

	// A page goes on at the time, and with the attempts, of the first.
	var page report.Queue
	h.want(200, &page, "GET", "/v1/clusters/prod/queue?limit=1&now="+named(time.Second), "")
	h.want(200, &page, "GET", "/v1/clusters/prod/queue?limit=1&cursor="+page.Cursor, "")
	if len(page.Active) != 1 || page.Active[0].Attempts != 2 {
		t.Errorf("the second page: %+v", page.Active)
	}

	// Records have both times.
	var list struct{ Items []record.Row }
	h.want(200, &list, "GET", "/v1/decisions?cluster=prod", "")
	for _, r := range list.Items {
		if (r.AskedAsOf != nil) != (r.ID == first.ID) || r.AskedAsOf != nil && !r.AskedAsOf.Equal(noon) || r.CreatedAt.After(time.Now()) {
			t.Errorf("%+v", r)
		}
	}
	for id, want := range map[string]bool{first.ID: true, second.ID: false} {
		var r record.Recorded
		h.want(200, &r, "GET", "/v1/decisions/"+id, "")
		if (r.AskedAsOf != nil) != want || !r.DigestAgrees {
			t.Errorf("%+v", r)
		}
	}
}

// TestOnlyWhatCanHelpWakes has a pod that is too large for the node: a namespace that comes leaves
// it where it is, and a large node makes it active, which queue, story and metric tell alike.
func TestOnlyWhatCanHelpWakes(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "4"), `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"big","namespace":"shop"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"99"}}}]}}`))
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","bind":true,"podRef":{"namespace":"shop","name":"big"}}`)
	var first report.Queue
	h.want(200, &first, "GET", "/v1/clusters/prod/queue", "")
	failed := *first.Active[0].LastAttempt
	change := func(object string) {
		t.Helper()
		h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"apply":[`+object+`]}`)
	}
	want := func(after time.Duration, in, event string) {
		t.Helper()
		var q report.Queue
		var s report.Story
		now := "now=" + failed.Add(after).Format(time.RFC3339Nano)
		h.want(200, &q, "GET", "/v1/clusters/prod/queue?"+now, "")
		h.want(200, &s, "GET", "/v1/clusters/prod/pods/shop/big?suggest=false&"+now, "")
		p := q.Active[0]
		if p.Queue != in || string(s.Queue.Queue) != in || (p.Woken != nil) != (event != "") {
			t.Fatalf("%+v, story %+v; want it %s", p, s.Queue, in)
		}
		if d := cmp.Diff(p.Woken, s.Queue.Woken); d != "" {
			t.Errorf("queue and story:\n%s", d)
		}
		if event == "" {
			return
		}
		w := p.Woken
		if got := fmt.Sprintf("%s %s %s %s", w.Snapshot, w.Hint, w.Event, w.Object); got != event {
			t.Errorf("woken by %s, want %s", got, event)
		}
		if in == "backoff" && (len(s.Next) != 1 || !strings.Contains(s.Next[0].Detail, "Node n2")) {
			t.Errorf("next %+v", s.Next)
		}
	}
	want(3*time.Second, "unschedulable", "")
	change(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"}}`)
	want(3*time.Second, "unschedulable", "")
	metrics := string(h.want(200, nil, "GET", "/metrics", "").body)
	if line := `scheduler_pending_pods{cluster="prod",queue="unschedulable"} 1`; !strings.Contains(metrics, line) {
		t.Errorf("no %s", line)
	}
	change(node("n2", "100"))
	want(0, "backoff", "prod@4 NodeResourcesFit NodeAdd Node n2")
	want(3*time.Second, "active", "prod@4 NodeResourcesFit NodeAdd Node n2")
	metrics = string(h.want(200, nil, "GET", "/metrics", "").body)
	if line := `scheduler_pending_pods{cluster="prod",queue="unschedulable"} 0`; !strings.Contains(metrics, line) {
		t.Errorf("no %s", line)
	}
}

// A nomination says since when the pod waits for its node, asking again changes
// nothing, and the bind ends it.
func TestNominatedSince(t *testing.T) {
	h := start(t, nil)
	ask := func(bind string) string {
		return `{"snapshot":"prod@latest","bind":` + bind + `,"podRef":{"namespace":"shop","name":"urgent"}}`
	}
	want := func(cpu string) string {
		return fmt.Sprintf(`"containers":[{"name":"c","resources":{"requests":{"cpu":%q}}}]`, cpu)
	}
	h.upload("prod", listOf(node("n1", "4"),
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"batch","namespace":"shop","uid":"b"},"spec":{"nodeName":"n1","priority":1,`+want("3")+`}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"urgent","namespace":"shop","uid":"u"},"spec":{"priority":9,`+want("2")+`}}`))
	var first, second decision.Answer
	h.want(201, &first, "POST", "/v1/decisions", ask("true"))
	h.want(201, &second, "POST", "/v1/decisions", ask("true"))
	if first.Outcome != "Preempting" || first.NominatedSnapshot != "prod@2" || second.NominatedSnapshot != "" {
		t.Fatalf("%s %s, then %s", first.Outcome, first.NominatedSnapshot, second.NominatedSnapshot)
	}
	var q report.Queue
	h.want(200, &q, "GET", "/v1/clusters/prod/queue", "")
	if len(q.Nominated) != 1 || q.Nominated[0].Since == nil || q.Nominated[0].Since.After(time.Now()) {
		t.Fatalf("nominated %+v", q.Nominated)
	}
	h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"delete":[{"kind":"Pod","namespace":"shop","name":"batch"}]}`)
	var bound decision.Answer
	h.want(201, &bound, "POST", "/v1/decisions", ask("true"))
	if bound.Outcome != "Scheduled" || bound.Node != "n1" {
		t.Fatalf("%s on %s: %s", bound.Outcome, bound.Node, bound.Message)
	}
	objects := string(h.want(200, nil, "GET", "/v1/snapshots/prod@latest/objects?kind=Pod", "").body)
	if !strings.Contains(objects, `"type":"PodScheduled","status":"True"`) || strings.Contains(objects, "nominatedNodeName") {
		t.Errorf("after the bind: %s", objects)
	}
}

// TestQueueBackoffOfTheConfiguration has a pod that was rejected once, and a change.
func TestQueueBackoffOfTheConfiguration(t *testing.T) {
	m, _, stored, st := openLogAndClasses(t, new(atomic.Int64))
	h := start(t, func(o *admit.Options) {
		o.Clusters, o.PriorityClasses = m, stored
		l := record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{Classes: stored, Backoff: state.Backoff{Initial: 30 * time.Second, Max: time.Minute}})
		o.Decisions, o.Binder = l, bind.New(m, l, bind.Options{})
	})
	h.upload("prod", listOf(node("n1", "4"), waitingPod("p", at(1), `,"nodeSelector":{"a":"b"}`, "")))
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@latest","bind":true,"podRef":{"namespace":"shop","name":"p"}}`)
	h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"apply":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2","labels":{"a":"b"}}}]}`)
	var q report.Queue
	h.want(200, &q, "GET", "/v1/clusters/prod/queue", "")
	p := q.Active[0]
	if p.Queue != "backoff" || p.NextTry == nil || p.NextTry.Sub(*p.LastAttempt).Truncate(time.Second) != 30*time.Second {
		t.Errorf("%+v", p)
	}
}
