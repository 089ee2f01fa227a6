package report_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/upgrade"
)

// upgraded compares two releases over a view.
func upgraded(t testing.TB, v *revision.View, from, to string, limit int) *report.Upgrade {
	t.Helper()
	a, err := semantics.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	b, err := semantics.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	list := config.Default(a)
	out, err := report.UpgradeIn(t.Context(), v, report.UpgradeAsk{Profiles: list, To: b, Limit: limit, Now: now}, func(ctx context.Context, q decision.Question) (*decision.Answer, error) {
		return decision.Preview(ctx, v, list, q, time.Now)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func owned(by string) string {
	return fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%q,"uid":%q,"controller":true}]`, by, by)
}

// TestUpgrade: each pod that waits and one of each workload is decided on under both releases, and
// each difference is there with the behaviour that makes it.
func TestUpgrade(t *testing.T) {
	v := view(
		t, node("n1", "4"), node("n2", "4"),
		pod("waits", "8", "", ""),
		pod("a-1", "1", owned("a"), `,"nodeName":"n1"`), pod("a-2", "1", owned("a"), `,"nodeName":"n1"`), pod("b-1", "1", owned("b"), `,"nodeName":"n2"`),
		pod("images", "100m", "", `,"nodeName":"n2","volumes":[{"name":"v","image":{"reference":"r"}}]`),
	)
	out := upgraded(t, v, "v1.36", "v1.37", 100)
	if out.Asked != (report.UpgradeAsked{Waiting: 1, Running: 3}) || out.From != "v1.36.3" || out.To != "v1.37.2" {
		t.Errorf("asked %+v, %s to %s", out.Asked, out.From, out.To)
	}
	i := slices.IndexFunc(out.Groups, func(g upgrade.Group) bool { return g.Kind == upgrade.OtherMessage })
	if i < 0 || !slices.Contains(out.Groups[i].Causes, "SilentAboutClaims") || out.Groups[i].Examples[0].Pod.Name != "waits" {
		t.Errorf("the message of the pod that waits: %+v", out.Groups)
	}
	i = slices.IndexFunc(out.Objects, func(f upgrade.Finding) bool { return f.Behaviour == "ImageVolumesRaiseTop" })
	if i < 0 || out.Objects[i].Objects != 1 || out.Objects[i].Sample[0] != "d/images" {
		t.Errorf("objects worth a look: %+v", out.Objects)
	}
	if some := upgraded(t, v, "v1.36", "v1.37", 2); some.Asked != (report.UpgradeAsked{Waiting: 1, Running: 1, Omitted: 2}) {
		t.Errorf("asked %+v of two", some.Asked)
	}
	if same := upgraded(t, v, "v1.36", "v1.36", 100); same.Differ != 0 || len(same.Groups)+len(same.Behaviours)+len(same.Objects) > 0 {
		t.Errorf("a release differs from itself: %+v", same)
	}
}

// TestUpgradeGoes: objects in versions and with fields that the other release does not have are
// named, and what stays is not.
func TestUpgradeGoes(t *testing.T) {
	rule := func(version string) string {
		return `{"kind":"DeviceTaintRule","apiVersion":"resource.k8s.io/` + version + `","metadata":{"name":"` + version + `"},"spec":{"taint":{"key":"k","effect":"NoSchedule"}}}`
	}
	v := view(
		t, node("n1", "4"), rule("v1alpha3"), rule("v1beta2"),
		`{"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha2","metadata":{"namespace":"d","name":"g"},"spec":{"schedulingPolicy":{"basic":{}}}}`,
		`{"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","metadata":{"name":"x.example.com"},"spec":{"preventPodSchedulingIfMissing":true}}`,
	)
	for pair, want := range map[string][]string{
		"v1.36 v1.37": {
			"DeviceTaintRule v1alpha3: resource.k8s.io/v1alpha3 is deprecated in v1.37; it also has resource.k8s.io/v1",
			"PodGroup d/g: scheduling.k8s.io/v1alpha2 is gone in v1.37; it has scheduling.k8s.io/v1beta1",
		},
		"v1.37 v1.36": {
			"DeviceTaintRule v1alpha3: resource.k8s.io/v1alpha3 is deprecated in v1.36; it also has resource.k8s.io/v1beta2",
			"CSIDriver x.example.com: spec.preventPodSchedulingIfMissing is dropped by v1.36 at its default gates",
		},
		"v1.36 v1.35": {
			"DeviceTaintRule v1beta2: resource.k8s.io/v1beta2 is gone in v1.35; it has resource.k8s.io/v1alpha3",
			"PodGroup d/g: PodGroup is in no version in v1.35",
		},
	} {
		from, to, _ := strings.Cut(pair, " ")
		var got []string
		for _, f := range upgraded(t, v, from, to, 100).Gone {
			got = append(got, fmt.Sprintf("%s %s: %s", f.Kind, f.Sample[0], f.Message))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pair, got, want)
		}
	}
}

// TestUpgradeRefusesSettings: what the other release does not take of the configuration is named by
// its field, and decisions are made by the rest.
func TestUpgradeRefusesSettings(t *testing.T) {
	v := view(t, node("n1", "4"), pod("p", "1", "", ""))
	for _, c := range []struct{ from, to, profile, want string }{
		{"v1.35", "v1.36", `{"plugins":{"reserve":{"enabled":[{"name":"GangScheduling"}]}}}`, "GangScheduling"},
		{"v1.37", "v1.36", `{"plugins":{"filter":{"enabled":[{"name":"DeferredPodScheduling"}]}}}`, "DeferredPodScheduling"},
		{"v1.36", "v1.37", `{"schedulerName":"mine"}`, ""},
	} {
		var releases [2]*semantics.Release
		for i, name := range []string{c.from, c.to} {
			r, err := semantics.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			releases[i] = r
		}
		file, err := config.Read([]byte(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[`+c.profile+`]}`), releases[0])
		if err != nil {
			t.Fatal(err)
		}
		server := &decision.Configuration{Profiles: file.Profiles, Read: file.Under}
		ask := report.UpgradeAsk{Profiles: file.Profiles, To: releases[1], Refused: server.Refused(releases[1]), Limit: 10, Now: now}
		out, err := report.UpgradeIn(t.Context(), v, ask, func(ctx context.Context, q decision.Question) (*decision.Answer, error) {
			return decision.Preview(ctx, v, file.Profiles, q, time.Now)
		})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(out.Settings, "; ")
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) || out.Asked.Waiting != 1 {
			t.Errorf("%s to %s: %q of %+v, want %q", c.from, c.to, text, out.Asked, c.want)
		}
	}
}

// TestUpgradeOfScores: a node that is another one because of a single behaviour is told so, and it
// alone keeps the answer of before.
func TestUpgradeOfScores(t *testing.T) {
	wide := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"wide"},"status":{"allocatable":{"cpu":"4","memory":"64Gi","pods":"110"}}}`
	v := view(t, node("n1", "16"), wide, pod("p", "2", "", ""), pod("q", "1", "", `,"nodeName":"n1"`))
	out := upgraded(t, v, "v1.35", "v1.36", 100)
	found := false
	for _, g := range out.Groups {
		if g.Kind == upgrade.OtherNode || g.Kind == upgrade.OtherScores {
			found = true
			if !slices.Equal(g.Causes, []string{"Balance"}) {
				t.Errorf("%s because of %v: %+v", g.Kind, g.Causes, g.Examples)
			}
		}
	}
	if !found {
		t.Errorf("no other scores: %+v", out.Groups)
	}
}
