package semantics

import (
	"slices"
	"testing"
)

// TestOfKubelet: a kubelet is of its minor release, whatever its build; one that is older or newer
// than all follows the nearest, with a word about it.
func TestOfKubelet(t *testing.T) {
	for version, want := range map[string]*Release{
		"v1.36.3": v136, "v1.36.0-alpha.1": v136, "v1.37.1-eks-abc": v137, "v1.35.99+k3s1": v135,
		"v1.2.3": releases[0], "v0.9": releases[0], "v1.100.0": Newest(), "v2.0.0": Newest(),
		"": nil, "1.36.3": nil, "v1": nil, "v1.x": nil, "unknown": nil,
	} {
		got, why := OfKubelet(version)
		near := slices.Contains([]string{"v1.2.3", "v0.9", "v1.100.0", "v2.0.0"}, version)
		if got != want || (why != "") != near {
			t.Errorf("%q: %v, %q", version, got, why)
		}
	}
}

// TestLifeDifferences: what kubelets do otherwise is no difference of decisions, and the other way
// about.
func TestLifeDifferences(t *testing.T) {
	names := func(list []*Behaviour) (out []string) {
		for _, b := range list {
			out = append(out, b.Name)
		}
		return out
	}
	if got := names(LifeDifferences(v136, v137)); !slices.Equal(got, []string{"TellsSandbox", "ExitedInitialized", "ExecProbesGoOn"}) {
		t.Errorf("%v", got)
	}
	if got := names(LifeDifferences(v136, v135)); !slices.Equal(got, []string{"RestartsAll"}) {
		t.Errorf("%v", got)
	}
	if got := names(LifeDifferences(v135, v134)); !slices.Equal(got, []string{"OwnRestarts"}) {
		t.Errorf("%v", got)
	}
	if slices.Contains(names(Differences(v135, v137)), "RestartsAll") {
		t.Error("a difference of kubelets is one of decisions")
	}
}
