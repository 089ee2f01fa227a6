package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

func TestInterPodAffinityFilter(t *testing.T) {
	nodes := list(et.Node("a1", et.Zone("A")), et.Node("a2", et.Zone("A")), et.Node("b1", et.Zone("B")), et.Node("none"))
	db := et.Match("app", "db")
	dbOn := func(node string, opts ...et.PodOption) *corev1.Pod {
		return et.Pod("db", append([]et.PodOption{et.On(node), et.Labels("app", "db")}, opts...)...)
	}
	near, away, existing := rules.ReasonPodAffinity+"!", rules.ReasonPodAntiAffinity, rules.ReasonExistingAntiAffinity
	allNear := map[string]string{"a1": near, "a2": near, "b1": near, "none": near}
	allOK := map[string]string{"a1": "ok", "a2": "ok", "b1": "ok", "none": "ok"}
	inZoneA := map[string]string{"a1": "ok", "a2": "ok", "b1": near, "none": near}
	byLabels := func(kv ...string) corev1.PodAffinityTerm {
		term := et.PodTerm(zoneKey, db)
		term.NamespaceSelector = et.Match(kv...)
		return term
	}
	without := func(key string) corev1.PodAffinityTerm {
		term := et.PodTerm(zoneKey, db)
		term.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpDoesNotExist}}}
		return term
	}
	named := et.PodTerm(zoneKey, db)
	named.Namespaces = []string{"data"}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"team": "red"}}}
	narrow := func(r *semantics.Release) { r.ExclusionMeansAll = false }
	check(t, "InterPodAffinity", []ruleCase{
		{name: "required affinity means the domains of matching pods, and nothing else, for good", objects: append(nodes, dbOn("a1")), pod: et.Pod("p", et.Near(et.PodTerm(zoneKey, db))), want: inZoneA},
		{name: "terminating pods count", objects: append(nodes, dbOn("a1", et.Terminating())), pod: et.Pod("p", et.Near(et.PodTerm(zoneKey, db))), want: inZoneA},
		{name: "without a matching pod nothing fits", objects: nodes, pod: et.Pod("p", et.Near(et.PodTerm(zoneKey, db))), want: allNear},
		{name: "but the first pod of a group with affinity to itself goes wherever the key is", objects: nodes, pod: et.Pod("p", et.Labels("app", "db"), et.Near(et.PodTerm(zoneKey, db))), want: map[string]string{"a1": "ok", "a2": "ok", "b1": "ok", "none": near}},
		{name: "it is not the first if one is anywhere that bears the key", objects: append(nodes, dbOn("b1")), pod: et.Pod("p", et.Labels("app", "db"), et.Near(et.PodTerm(zoneKey, db))), want: map[string]string{"a1": near, "a2": near, "b1": "ok", "none": near}},
		{
			name: "an existing pod has to match all terms to count for any", objects: append(nodes, dbOn("a1"), et.Pod("web", et.On("a1"), et.Labels("app", "web"))),
			pod: et.Pod("p", et.Near(et.PodTerm(zoneKey, db)), et.Near(et.PodTerm(zoneKey, et.Match("app", "web")))), want: allNear,
		},
		{name: "anti-affinity keeps off the domains of matching pods", objects: append(nodes, dbOn("a1")), pod: et.Pod("p", et.Away(et.PodTerm(zoneKey, db))), want: map[string]string{"a1": away, "a2": away, "b1": "ok", "none": "ok"}},
		{name: "existing pods keep others away too", objects: append(nodes, et.Pod("web", et.On("a1"), et.Away(et.PodTerm(zoneKey, db)))), pod: et.Pod("p", et.Labels("app", "db")), want: map[string]string{"a1": existing, "a2": existing, "b1": "ok", "none": "ok"}},
		{name: "own anti-affinity is named before theirs", objects: append(nodes, dbOn("a1", et.Away(et.PodTerm(zoneKey, db)))), pod: et.Pod("p", et.Labels("app", "db"), et.Away(et.PodTerm(hostKey, db))), want: map[string]string{"a1": away, "a2": existing, "b1": "ok", "none": "ok"}},
		{name: "other namespaces do not count by themselves", objects: append(nodes, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Away(et.PodTerm(zoneKey, db))), want: allOK},
		{name: "unless they are named", objects: append(nodes, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(named)), want: inZoneA},
		{name: "or selected by labels of the Namespace object", objects: append(nodes, ns, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(byLabels("team", "red"))), want: inZoneA},
		{name: "which has to exist", objects: append(nodes, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(byLabels("team", "red"))), want: allNear},
		{name: "while the empty selector means all, known or not", objects: append(nodes, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(byLabels())), want: inZoneA},
		{name: "a selector that is content with no labels means all as well: upstream asks it without them", objects: append(nodes, ns, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(without("team"))), want: inZoneA},
		{name: "until v1.36: later only those that it selects", objects: append(nodes, ns, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(without("team"))), want: allNear, under: narrow},
		{name: "of which there may be some", objects: append(nodes, ns, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(without("other"))), want: inZoneA, under: narrow},
		{name: "and none without an object", objects: append(nodes, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(without("team"))), want: allNear, under: narrow},
		{name: "which is so for anti-affinity", objects: append(nodes, ns, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Away(without("team"))), want: allOK, under: narrow},
		{name: "and leaves the empty selector as it was", objects: append(nodes, dbOn("a1", et.In("data"))), pod: et.Pod("p", et.Near(byLabels())), want: inZoneA, under: narrow},
		{name: "and the terms of existing pods", objects: append(nodes, ns, et.Pod("web", et.On("b1"), et.Away(without("other")))), pod: et.Pod("p", et.In("data"), et.Labels("app", "db")), want: map[string]string{"a1": "ok", "a2": "ok", "b1": existing, "none": "ok"}, under: narrow},
		{name: "existing pods' namespace selectors read the labels of the pod's namespace", objects: append(nodes, ns, et.Pod("web", et.On("b1"), et.Away(byLabels("team", "red")))), pod: et.Pod("p", et.In("data"), et.Labels("app", "db")), want: map[string]string{"a1": "ok", "a2": "ok", "b1": existing, "none": "ok"}},
		{name: "affinity to a nominated pod does not count, for it may go elsewhere", objects: append(nodes, et.Pod("db", et.NominatedTo("a1"), et.Labels("app", "db"))), pod: et.Pod("p", et.Near(et.PodTerm(zoneKey, db))), want: allNear},
	})
}

func TestInterPodAffinityScore(t *testing.T) {
	nodes := list(et.Node("a", et.Zone("A")), et.Node("b", et.Zone("B")), et.Node("c", et.Zone("C")))
	db := et.PodTerm(zoneKey, et.Match("app", "db"))
	at := func(name, node string, opts ...et.PodOption) *corev1.Pod {
		return et.Pod(name, append([]et.PodOption{et.On(node), et.Labels("app", name)}, opts...)...)
	}
	weighted := func(hard int32, ignore bool) *rules.Spec {
		s := rules.DefaultSpec()
		s.Args.InterPodAffinity = rules.InterPodAffinityArgs{HardPodAffinityWeight: hard, IgnorePreferredTermsOfExistingPods: ignore}
		return &s
	}
	check(t, "InterPodAffinity", []ruleCase{
		{name: "preferences add up by domain and are spread over 0 to 100", objects: append(nodes, at("db", "a"), at("web", "b")), pod: et.Pod("p", et.PreferNear(30, db), et.PreferNear(-30, et.PodTerm(zoneKey, et.Match("app", "web")))), scores: map[string]string{"a": "30/100", "b": "-30/0", "c": "0/50"}},
		{name: "existing pods' preferences count", objects: append(nodes, at("web", "b", et.PreferNear(20, db))), pod: et.Pod("p", et.Labels("app", "db")), scores: map[string]string{"a": "0/0", "b": "20/100", "c": "0/0"}},
		{name: "and so does their required affinity, with weight 1", objects: append(nodes, at("web", "b", et.Near(db))), pod: et.Pod("p", et.Labels("app", "db")), scores: map[string]string{"a": "0/0", "b": "1/100", "c": "0/0"}},
		{name: "or the profile's weight", objects: append(nodes, at("web", "b", et.Near(db))), spec: weighted(40, false), pod: et.Pod("p", et.Labels("app", "db")), scores: map[string]string{"a": "0/0", "b": "40/100", "c": "0/0"}},
		{name: "existing pods' preferences may be ignored", objects: append(nodes, at("web", "b", et.PreferNear(20, db))), spec: weighted(1, true), pod: et.Pod("p", et.Labels("app", "db")), scores: map[string]string{}},
		{name: "where nobody has a preference that matters there is no score, rather than 0", objects: append(nodes, at("web", "b")), pod: et.Pod("p", et.PreferNear(30, db)), scores: map[string]string{}},
		{name: "all equal is 0", objects: append(nodes[:1:1], at("db", "a")), pod: et.Pod("p", et.PreferNear(30, db)), scores: map[string]string{"a": "30/0"}},
	})
}

func TestInterPodAffinityDetailsNameTheTerm(t *testing.T) {
	term := et.PodTerm(zoneKey, et.Match("app", "p"))
	other := et.PodTerm(zoneKey, et.Match("tier", "x"))
	d := decide(t, ruleCase{
		objects: list(et.Node("n", et.Zone("A")), et.Pod("one", et.On("n"), et.Away(term)), et.Pod("two", et.On("n"), et.Away(other))),
		pod:     et.Pod("p", et.Labels("app", "p", "tier", "x")),
	})
	want := []engine.Detail{
		{Kind: "existingAntiAffinity", TopologyKey: zoneKey, Domain: "A", Matching: ptr(int64(2)), Term: "app=p in default by " + zoneKey},
		{Kind: "existingAntiAffinity", TopologyKey: zoneKey, Domain: "A", Matching: ptr(int64(2)), Term: "tier=x in default by " + zoneKey},
	}
	if diff := cmp.Diff(want, details(t, d, "n")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
