package rules

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/engine"
	"berth/internal/semantics"
)

// TestUnder: a release's default profile is in another release the default profile of that one, and
// what a configuration has otherwise stays.
func TestUnder(t *testing.T) {
	var all []*semantics.Release
	for _, name := range append(strings.Split(semantics.Known(), ", "), "v1.37 StorageCapacityScoring=false") {
		r, err := semantics.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	for _, from := range all {
		for _, to := range all {
			got, err := Under(built(t, SpecOf(from)), to)
			if want := built(t, SpecOf(to)); err != nil || got.Digest != want.Digest || got.Semantics.Stamp() != to.Stamp() {
				t.Errorf("%s as %s: %s, %v, want %s", from.Stamp(), to.Stamp(), got.Payload, err, want.Payload)
			}
		}
	}
	own := DefaultSpec()
	own.SchedulerName = "own"
	customise := func(s *Spec) {
		s.Filter = slices.DeleteFunc(s.Filter, func(name string) bool { return name == "NodePorts" })
		s.Score[0].Weight = 17
	}
	customise(&own)
	slices.Reverse(own.PreFilter)
	own.Args.NodeResourcesFit.Strategy = MostAllocated
	p, err := Under(built(t, own), all[3])
	if err != nil {
		t.Fatal(err)
	}
	next := SpecOf(all[3])
	customise(&next)
	own.Filter, own.Score, own.Semantics = next.Filter, next.Score, all[3].Written()
	if want := built(t, own); p.Digest != want.Digest {
		t.Errorf("%s, want %s", p.Payload, want.Payload)
	}
	slices.Reverse(own.Score)
	if p, err = Under(built(t, own), all[0]); err != nil || strings.Contains(string(p.Payload), `{"name":"DynamicResources","weight"`) {
		t.Errorf("a plugin that does not score in %s does: %s, %v", all[0].Name, p.Payload, err)
	}
	if back, err := Under(built(t, next), semantics.Default()); err != nil || strings.Contains(string(back.Payload), "semantics") {
		t.Errorf("back as the default: %s, %v", back.Payload, err)
	}
}

// TestUnderMovesWhatADefaultMoves is for releases that order, add and take away plugins.
func TestUnderMovesWhatADefaultMoves(t *testing.T) {
	r := *semantics.Default()
	r.Plugins = []string{"a", "b", "c", "n", "own"}
	was, is := []string{"a", "b", "c", "gone"}, []string{"b", "a", "n", "c"}
	for list, want := range map[string]string{
		"a b c gone":     "b a n c",
		"a c gone":       "a n c",
		"a b c gone own": "b a n c own",
		"c b a gone":     "c b a",
		"own a":          "own a",
		"":               "",
	} {
		got := under(strings.Fields(list), was, is, &r, func(name string) string { return name })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", list, got, want)
		}
	}
}

func built(t *testing.T, s Spec) *engine.Profile {
	t.Helper()
	p, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
