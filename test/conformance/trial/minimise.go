package trial

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"berth/test/conformance/oracle"
)

// budget is the most trials that making one case small may take.
const budget = 4000

// smaller shrinks one case while its difference stays.
type smaller struct {
	ctx   context.Context
	holds func(context.Context, *oracle.Case) bool
	best  *oracle.Case
	left  int
}

// Minimise drops objects, then fields, as long as holds reports whether what is
// left still shows the difference, and returns the smallest case it found.
func Minimise(ctx context.Context, c *oracle.Case, holds func(context.Context, *oracle.Case) bool) *oracle.Case {
	s := &smaller{ctx: ctx, holds: holds, best: c, left: budget}
	s.objects()
	for {
		before := s.size()
		for i := range s.best.Objects {
			s.fields(i)
		}
		s.objects()
		s.config()
		if s.size() == before || s.left <= 0 {
			return s.best
		}
	}
}

func (s *smaller) size() int {
	n := len(s.best.Config)
	for _, o := range s.best.Objects {
		n += len(o)
	}
	return n
}

// try keeps the objects if they still show the difference.
func (s *smaller) try(objects []json.RawMessage) bool {
	if s.left <= 0 || s.ctx.Err() != nil {
		return false
	}
	s.left--
	c := *s.best
	c.Objects = objects
	return s.keep(c)
}

// keep takes a smaller case for the best if it still shows the difference.
func (s *smaller) keep(c oracle.Case) bool {
	c.Verdict = nil
	if !s.holds(s.ctx, &c) {
		return false
	}
	s.best = &c
	return true
}

// config drops the configuration, or keys and list items of it.
func (s *smaller) config() {
	var tree map[string]any
	if len(s.best.Config) == 0 || json.Unmarshal(s.best.Config, &tree) != nil {
		return
	}
	attempt := func(raw json.RawMessage) bool {
		if s.left <= 0 || s.ctx.Err() != nil {
			return false
		}
		s.left--
		c := *s.best
		c.Config = raw
		return s.keep(c)
	}
	if attempt(nil) {
		return
	}
	s.shrink(tree, func(any) {}, func() bool {
		raw, err := json.Marshal(tree)
		return err == nil && attempt(raw)
	})
}

// objects drops halves, then quarters, down to single objects.
func (s *smaller) objects() {
	for chunk := max(1, len(s.best.Objects)/2); ; chunk /= 2 {
		for i := 0; i < len(s.best.Objects); {
			end := min(i+chunk, len(s.best.Objects))
			if !s.try(slices.Delete(slices.Clone(s.best.Objects), i, end)) {
				i = end
			}
		}
		if chunk <= 1 {
			return
		}
	}
}

// fields drops keys and list items of one object, outer ones first.
func (s *smaller) fields(i int) {
	var tree map[string]any
	if json.Unmarshal(s.best.Objects[i], &tree) != nil {
		return
	}
	attempt := func() bool {
		raw, err := json.Marshal(tree)
		if err != nil {
			return false
		}
		objects := slices.Clone(s.best.Objects)
		objects[i] = raw
		return s.try(objects)
	}
	s.shrink(tree, func(any) {}, attempt)
}

// shrink tries to do without each part of v; set writes v back to its parent.
func (s *smaller) shrink(v any, set func(any), attempt func() bool) {
	switch t := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			old := t[k]
			if k == "kind" || k == "apiVersion" || k == "name" || k == "uid" {
				continue
			}
			if delete(t, k); attempt() {
				continue
			}
			t[k] = old
			s.shrink(old, func(n any) { t[k] = n }, attempt)
		}
	case []any:
		for i := 0; i < len(t); {
			without := slices.Delete(slices.Clone(t), i, i+1)
			if set(without); attempt() {
				t = without
				continue
			}
			set(t)
			s.shrink(t[i], func(n any) { t[i] = n }, attempt)
			i++
		}
	}
}
