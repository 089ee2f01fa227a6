package rules

import (
	"encoding/json"
	"fmt"
	"slices"

	"berth/internal/engine"
	"berth/internal/semantics"
)

// Under returns a profile as another release has it. A phase whose plugins are those of the
// profile's release by default, some taken out and others put behind them, gets the other one's in
// their place; other phases keep theirs, and an empty one stays empty. Plugins that the other
// release does not have go.
func Under(p *engine.Profile, r *semantics.Release) (*engine.Profile, error) {
	if p.Semantics.Stamp() == r.Stamp() {
		return p, nil
	}
	var s Spec
	if err := json.Unmarshal(p.Payload, &s); err != nil {
		return nil, fmt.Errorf("decode profile %s: %w", p.Name, err)
	}
	was, is := SpecOf(p.Semantics), SpecOf(r)
	itself := func(name string) string { return name }
	for _, phase := range []struct{ list, was, is *[]string }{
		{&s.PreEnqueue, &was.PreEnqueue, &is.PreEnqueue},
		{&s.PreFilter, &was.PreFilter, &is.PreFilter},
		{&s.Filter, &was.Filter, &is.Filter},
		{&s.PostFilter, &was.PostFilter, &is.PostFilter},
	} {
		*phase.list = under(*phase.list, *phase.was, *phase.is, r, itself)
	}
	s.Score = under(s.Score, was.Score, is.Score, r, func(e Enabled) string { return e.Name })
	s.Score = slices.DeleteFunc(s.Score, func(e Enabled) bool {
		d := find(e.Name).of(r)
		return !slices.Contains(slices.Concat(d.Phases, d.Also), phaseScore)
	})
	s.Semantics = r.Written()
	return BuildUnder(s, r)
}

// under returns a phase's plugins in a release. was and is are those of both releases by default.
func under[T any](list, was, is []T, r *semantics.Release, name func(T) string) []T {
	at := func(in []T, e T) int {
		return slices.IndexFunc(in, func(o T) bool { return name(o) == name(e) })
	}
	absent := func(e T) bool { return !slices.Contains(r.Plugins, name(e)) }
	own := slices.DeleteFunc(slices.Clone(list), func(e T) bool { return at(was, e) >= 0 })
	usual := slices.DeleteFunc(slices.Clone(was), func(e T) bool { return at(list, e) < 0 })
	usual = append(usual, own...)
	if len(list) == 0 && len(was) > 0 || !slices.EqualFunc(list, usual, func(a, b T) bool { return name(a) == name(b) }) {
		return slices.DeleteFunc(slices.Clone(list), absent)
	}
	var out []T
	for _, e := range is {
		if i := at(list, e); i >= 0 {
			out = append(out, list[i])
		} else if at(was, e) < 0 {
			out = append(out, e)
		}
	}
	own = slices.DeleteFunc(own, func(e T) bool { return absent(e) || at(is, e) >= 0 })
	return append(out, own...)
}
