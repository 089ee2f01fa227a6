package report_test

import (
	"context"
	"fmt"
	"slices"
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
