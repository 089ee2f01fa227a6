package rules

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"berth/internal/semantics"
)

// releases are those that semantics has.
func releases(t *testing.T) (list []*semantics.Release) {
	t.Helper()
	for name := range strings.SplitSeq(semantics.Known(), ", ") {
		r, err := semantics.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// TestReleasesOrderEachPlugin: a release has every rule of the registry once, and no other. v1.34
// is without NodeDeclaredFeatures.
func TestReleasesOrderEachPlugin(t *testing.T) {
	var names []string
	for _, d := range registry {
		names = append(names, d.Plugin)
	}
	slices.Sort(names)
	for _, r := range releases(t) {
		got := slices.Sorted(slices.Values(r.Plugins))
		if r.Minor() == "v1.34" {
			got = append(got, "NodeDeclaredFeatures")
			slices.Sort(got)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s orders %v, the registry has %v", r.Name, got, names)
		}
	}
}

// TestReleaseOfAProfile: a profile decides as the release that it names. One that names none is of
// v1.36.3, and has the digest that it had before releases could be named.
func TestReleaseOfAProfile(t *testing.T) {
	s := DefaultSpec()
	p, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(p.Payload), "semantics") || p.Semantics.Name != "v1.36.3" {
		t.Errorf("the default profile decides as %s: %s", p.Semantics.Name, p.Payload)
	}
	const before = "sha256:497ec861e25e5519b2be4c4b8ce768d90be85333e6c2e46a58456a1b18b1d26d"
	if p.Digest != before {
		t.Errorf("the default profile has digest %s, before %s", p.Digest, before)
	}
	s.Semantics = "v1.99.0"
	if _, err := Build(s); err == nil || !strings.Contains(err.Error(), "semantics") || !strings.Contains(err.Error(), semantics.Known()) {
		t.Errorf("a profile of an unknown release: %v", err)
	}
	payload, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Restore(payload); err != nil || p.Semantics != semantics.Default() || string(p.Payload) != string(payload) {
		t.Errorf("a stored profile of an unknown release: %v, %v", p, err)
	}
}

// TestProfilesOfReleases: what the default profile runs is for the release and its gates to say.
func TestProfilesOfReleases(t *testing.T) {
	const usual = "NodeAffinity NodePorts"
	for name, want := range map[string]struct{ preFilter, filter, last string }{
		"v1.34":                            {usual, "NodeUnschedulable NodeName TaintToleration", "DynamicResources"},
		"v1.35":                            {usual, "NodeUnschedulable NodeName TaintToleration", "DynamicResources"},
		"v1.35 NodeDeclaredFeatures=true":  {usual, "NodeUnschedulable NodeName TaintToleration", "NodeDeclaredFeatures"},
		"v1.36":                            {usual, "NodeUnschedulable NodeName TaintToleration", "NodeDeclaredFeatures"},
		"v1.36 NodeDeclaredFeatures=false": {usual, "NodeUnschedulable NodeName TaintToleration", "DynamicResources"},
		"v1.37":                            {"NodeName NodeUnschedulable TaintToleration " + usual, "NodeName NodeUnschedulable TaintToleration", "NodeDeclaredFeatures"},
	} {
		r, err := semantics.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		s := SpecOf(r)
		for _, p := range []struct {
			list  []string
			first string
		}{{s.PreFilter, want.preFilter}, {s.Filter, want.filter}} {
			got := strings.Join(p.list, " ")
			if !strings.HasPrefix(got, p.first+" ") || !strings.HasSuffix(got, " "+want.last) {
				t.Errorf("%s runs %s, want %s … %s", name, got, p.first, want.last)
			}
		}
		scores := slices.ContainsFunc(s.Score, func(e Enabled) bool { return e.Name == "DynamicResources" })
		if scores == r.ClaimsUnscored || scores == (r.Minor() == "v1.34") { // Z1
			t.Errorf("%s scores claims: %v", name, scores)
		}
	}
}
