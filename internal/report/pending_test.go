package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/semantics"
)

var now = time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)

// view makes a state of objects in JSON.
func view(t testing.TB, items ...string) *revision.View {
	t.Helper()
	body := `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(items, ",") + `]}`
	v, err := revision.Standalone("snapshot", func(yield func(object.Object) error) (map[string]int, error) {
		return object.Read(strings.NewReader(body), object.YAML, object.Limits{}, yield)
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func node(name, cpu string) string {
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q},"status":{"allocatable":{"cpu":%q,"memory":"8Gi","pods":"110"}}}`, name, cpu)
}

// pod has metadata and spec beside its name and one container.
func pod(name, cpu, meta, spec string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"d","name":%q%s},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":%q}}}]%s}}`, name, meta, cpu, spec)
}

// alone tells stories of a view without a log.
func alone(v *revision.View) *report.Reader {
	list := config.Default(semantics.Default())
	return &report.Reader{
		Clusters: report.Only(v), Runs: decision.RunsOf(list), Clock: func() time.Time { return now },
		Log: report.Unlogged(func(ctx context.Context, q decision.Question) (*decision.Answer, error) {
			return decision.Preview(ctx, v, list, q, time.Now)
		}),
	}
}

func pending(t testing.TB, v *revision.View, ask report.PendingAsk) *report.Pending {
	t.Helper()
	out, err := report.PendingIn(t.Context(), v, alone(v), ask)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPendingOnce: equal pods are judged once, and what they are told is what a
// decision of their own says; labels, requests and ephemeral volumes make pods
// unequal.
func TestPendingOnce(t *testing.T) {
	items := []string{node("n1", "4"), node("n2", "4")}
	for i := range 30 {
		at := fmt.Sprintf(`,"uid":"u%d","creationTimestamp":"2026-11-22T02:%02d:00Z"`, i, i)
		switch i % 5 {
		case 0:
			items = append(items, pod(fmt.Sprintf("big-%02d", i), "6", at, ""))
		case 1:
			items = append(items, pod(fmt.Sprintf("labelled-%02d", i), "6", at+fmt.Sprintf(`,"labels":{"index":"%d"}`, i%2), ""))
		case 2:
			items = append(items, pod(fmt.Sprintf("small-%02d", i), "1", at, ""))
		case 3:
			items = append(items, pod(fmt.Sprintf("volume-%02d", i), "1", at, `,"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}]`))
		default:
			items = append(items, pod(fmt.Sprintf("gated-%02d", i), "6", at, `,"schedulingGates":[{"name":"g"}]`))
		}
	}
	v := view(t, items...)
	got := pending(t, v, report.PendingAsk{Suggest: true})
	if c := got.Counts; c.Active != 24 || c.Gated != 6 || c.Judged != 1+2+1+6+1 || c.Nodes != 2 || len(got.Pods) != 30 {
		t.Errorf("%+v", c)
	}
	stories := alone(v)
	for i := range got.Pods {
		p := &got.Pods[i]
		st, err := stories.Tell(t.Context(), "snapshot", p.Namespace, p.Name, report.Ask{Suggest: true})
		if err != nil {
			t.Fatal(err)
		}
		if p.State != st.State || p.Outcome != st.Now.Outcome || p.Outcome != "Scheduled" && p.Why != st.Summary {
			t.Errorf("%+v, its own story is %s", p, st.Summary)
		}
		if (p.Remedy != nil) != (len(st.Suggestions) > 0) || p.Remedy != nil && p.Remedy.Change != st.Suggestions[0].Change {
			t.Errorf("%s: remedy %+v, its own are %+v", p.Name, p.Remedy, st.Suggestions)
		}
	}
}

// TestPendingLimits: what is not listed is counted, and changes are tried for a
// bounded number of pods.
func TestPendingLimits(t *testing.T) {
	items := []string{node("n1", "4")}
	for i := range 70 {
		items = append(items, pod(fmt.Sprintf("p-%02d", i), fmt.Sprint(5+i), "", ""))
	}
	v := view(t, items...)
	got := pending(t, v, report.PendingAsk{Suggest: true, Limit: 60})
	want := report.PendingCounts{Nodes: 1, Active: 70, Omitted: 10, Judged: 60, WithoutRemedy: 10}
	if diff := cmp.Diff(want, got.Counts); diff != "" {
		t.Error(diff)
	}
	if got.Pods[49].Remedy == nil || got.Pods[50].Remedy != nil {
		t.Errorf("%+v\n%+v", got.Pods[49], got.Pods[50])
	}
	other := pending(t, v, report.PendingAsk{Namespace: "other"})
	if diff := cmp.Diff(&report.Pending{Snapshot: "snapshot@1", Counts: report.PendingCounts{Nodes: 1, Elsewhere: 70}}, other, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	js, err := json.Marshal(other)
	if err != nil || !strings.Contains(string(js), `"pods":[]`) {
		t.Errorf("%s %v", js, err)
	}
}

// TestPendingUnstarted: pods with a node whose claim nothing will bind are told with it, in the
// namespace that was asked for, and only where the snapshot knows of claims.
func TestPendingUnstarted(t *testing.T) {
	const wait = `{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"w"},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer"}`
	claim := func(name, status string) string {
		return fmt.Sprintf(`{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"namespace":"d","name":%q},"spec":{"storageClassName":"w"%s}}`, name, status)
	}
	on := func(name, claim, status string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"d","name":%q},"spec":{"nodeName":"n1","containers":[{"name":"c"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":%q}}]}%s}`, name, claim, status)
	}
	run := `,"status":{"phase":"Running","containerStatuses":[{"name":"c","state":{"running":{"startedAt":"2026-11-22T02:00:00Z"}}}]}`
	pods := []string{
		node("n1", "4"), on("z", "open", ""), on("a", "gone", ""), on("runs", "open", run), on("over", "open", `,"status":{"phase":"Failed"}`), on("fine", "bound", ""),
	}
	with := append([]string{wait, claim("open", ""), claim("bound", `,"volumeName":"pv"},"status":{"phase":"Bound"`)}, pods...)
	got := pending(t, view(t, with...), report.PendingAsk{Limit: 1})
	if len(got.Unstarted) != 1 || got.Unstarted[0].Name != "a" || got.Unstarted[0].Claim != "gone" || got.Counts.Unstarted != 2 {
		t.Errorf("%+v", got)
	}
	got = pending(t, view(t, with...), report.PendingAsk{Namespace: "d"})
	if len(got.Unstarted) != 2 || got.Unstarted[1].Name != "z" || got.Unstarted[1].Claim != "open" || got.Unstarted[1].Node != "n1" || !strings.Contains(got.Unstarted[1].Why, "WaitForFirstConsumer") {
		t.Errorf("%+v", got)
	}
	for _, none := range []*report.Pending{pending(t, view(t, with...), report.PendingAsk{Namespace: "other"}), pending(t, view(t, pods...), report.PendingAsk{})} {
		if none.Counts.Unstarted != 0 || none.Unstarted != nil {
			t.Errorf("%+v", none)
		}
	}
}
