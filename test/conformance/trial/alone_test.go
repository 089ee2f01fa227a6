package trial

import (
	"testing"

	"berth/test/conformance/oracle"
)

// TestCompareAlone: a rule too few, one too many and another code are all found, and the
// first rule is not asked for twice.
func TestCompareAlone(t *testing.T) {
	alone := map[string][]oracle.Failure{"n": {
		{Plugin: "TaintToleration", Code: "UnschedulableAndUnresolvable", Reasons: []string{"t"}},
		{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reasons: []string{"a", "b"}},
		{Plugin: "VolumeBinding", Code: "Error", Reasons: []string{"e"}},
	}}
	type failure = struct {
		Plugin  string   `json:"plugin"`
		Code    string   `json:"code"`
		Reasons []string `json:"reasons"`
	}
	type broken = struct {
		Plugin string `json:"plugin"`
	}
	fit := failure{"NodeResourcesFit", "Unschedulable", []string{"b", "a"}}
	for _, c := range []struct {
		what    string
		failing []failure
		broken  []broken
		want    int
	}{
		{"alike", []failure{fit}, []broken{{"VolumeBinding"}}, 0},
		{"too few", nil, []broken{{"VolumeBinding"}}, 1},
		{"too many", []failure{fit, {"NodePorts", "Unschedulable", []string{"p"}}}, []broken{{"VolumeBinding"}}, 1},
		{"another code", []failure{{"NodeResourcesFit", "UnschedulableAndUnresolvable", []string{"a", "b"}}}, []broken{{"VolumeBinding"}}, 1},
		{"an error is not told", []failure{fit}, nil, 1},
	} {
		a := &Answer{Nodes: []NodeAnswer{{Name: "n", Plugin: "TaintToleration", AlsoFailing: c.failing, NotJudged: c.broken}, {Name: "free", Feasible: true}}}
		if got := CompareAlone(alone, a); len(got) != c.want {
			t.Errorf("%s: %v, want %d", c.what, got, c.want)
		}
	}
}
