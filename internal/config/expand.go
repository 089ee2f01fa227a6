package config

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

// entry is a plugin in a list, with the field that put it there; no field for
// the defaults.
type entry struct {
	*known
	weight int64
	path   *field.Path
}

// active is what a profile runs, point by point.
type active struct {
	at    map[point][]entry
	named map[string]bool // what the configuration enables, at whichever point
}

// plugins merges the profile's plugins with the defaults and expands multiPoint
// (default_plugins.go mergePlugins, mergePluginSet;
// framework/runtime/framework.go NewFramework).
func (r *reader) plugins(path *field.Path, custom *configv1.Plugins) active {
	if custom == nil {
		custom = &configv1.Plugins{}
	}
	out := active{at: map[point][]entry{}, named: map[string]bool{}}
	multi := r.multiPoint(path.Child("multiPoint"), custom.MultiPoint)
	for _, p := range points {
		set := p.set(custom)
		at := path.Child(p.name)
		own := r.enabled(at, *set)
		for i, e := range own {
			if e.at&p.is == 0 {
				r.refuse(field.Invalid(e.path, e.name, "plays no part in "+p.name))
			}
			if slices.ContainsFunc(own[:i], func(o entry) bool { return o.name == e.name }) {
				r.refuse(field.Duplicate(e.path, e.name))
			}
			out.named[e.name] = true
		}
		if p.is&(score|placementScore) != 0 {
			r.checkWeights(at, p.is, own, multi)
		}
		out.at[p.is] = r.expand(p.is, p.name, own, r.disabled(at, *set), multi)
	}
	for _, e := range multi {
		out.named[e.name] = true
	}
	r.checkActive(path, out)
	return out
}

// enabled resolves a list's plugins. Unknown ones are refused.
func (r *reader) enabled(path *field.Path, set configv1.PluginSet) []entry {
	var out []entry
	for i, p := range set.Enabled {
		at := path.Child("enabled").Index(i).Child("name")
		k := r.find(p.Name)
		if k == nil {
			r.refuse(field.Invalid(at, p.Name, r.noPlugin(p.Name)))
			continue
		}
		e := entry{known: k, weight: 1, path: at}
		if p.Weight != nil && *p.Weight != 0 {
			e.weight = int64(*p.Weight)
		}
		out = append(out, e)
	}
	return out
}

// disabled returns the names of a list's disabled plugins. Upstream lets any name
// stand there; one that is not a plugin is most likely a slip, so it is told.
func (r *reader) disabled(path *field.Path, set configv1.PluginSet) map[string]bool {
	out := map[string]bool{}
	for i, p := range set.Disabled {
		out[p.Name] = true
		if p.Name != "*" && r.find(p.Name) == nil {
			r.ignore(path.Child("disabled").Index(i), p.Name+" "+r.noPlugin(p.Name)+", so there is nothing to disable")
		}
	}
	return out
}

// multiPoint merges the profile's multiPoint list into the default one: what is
// disabled goes, what is given anew keeps its place, the rest follows.
func (r *reader) multiPoint(path *field.Path, set configv1.PluginSet) []entry {
	own := r.enabled(path, set)
	off := r.disabled(path, set)
	last := map[string]int{}
	for i, e := range own {
		last[e.name] = i
	}
	var out []entry
	used := map[int]bool{}
	for i := range r.known {
		k := &r.known[i]
		if k.optional || off["*"] || off[k.name] {
			continue
		}
		if at, ok := last[k.name]; ok {
			used[at] = true
			out = append(out, own[at])
			continue
		}
		weight, _ := rules.Known(k.name)
		out = append(out, entry{known: k, weight: max(weight, 1)})
	}
	for i, e := range own {
		if !used[i] {
			out = append(out, e)
		}
	}
	return out
}

// expand returns the plugins of one point in the order that they run in: first
// those that the point's own list repeats of multiPoint's, then the rest of
// multiPoint's, then the rest of the point's own
// (framework/runtime/framework.go expandMultiPointPlugins).
func (r *reader) expand(is point, name string, own []entry, off map[string]bool, multi []entry) []entry {
	if off["*"] {
		return own
	}
	has := func(list []entry, name string) bool {
		return slices.ContainsFunc(list, func(e entry) bool { return e.name == name })
	}
	var repeated, common, rest []entry
	for _, e := range multi {
		switch {
		case e.at&is == 0 || off[e.name]:
		case has(own, e.name):
			repeated = append(repeated, e)
		case has(common, e.name):
			// The later of the two is always the file's own, so it has a path.
			r.refuse(field.Invalid(e.path, e.name, "would be in "+name+" twice"))
		default:
			common = append(common, e)
		}
	}
	var out []entry
	for _, e := range own {
		if has(repeated, e.name) {
			out = append(out, e)
		} else {
			rest = append(rest, e)
		}
	}
	return append(append(out, common...), rest...)
}

// checkWeights refuses weights whose sum could overflow. The arithmetic is
// upstream's, wrapping included: a negative weight is refused there unless the
// sum before it outweighs it or nothing comes after it, and a file that
// kube-scheduler starts with should be read here
// (framework/runtime/framework.go getValidScoreWeights).
func (r *reader) checkWeights(path *field.Path, is point, own, multi []entry) {
	var total int64
	seen := map[string]bool{}
	for _, list := range [][]entry{own, multi} {
		for _, e := range list {
			if e.at&is == 0 || seen[e.name] {
				continue
			}
			seen[e.name] = true
			if e.weight*engine.MaxScore > math.MaxInt64-total {
				r.refuse(field.Invalid(path, total/engine.MaxScore, "the weights add up to a negative number or to one too large at "+e.name))
				return
			}
			total += e.weight * engine.MaxScore
		}
	}
}

// checkActive refuses what kube-scheduler would not start with or would fail
// every pod with, and tells which plugins play their part outside of a decision.
func (r *reader) checkActive(path *field.Path, on active) {
	if n := len(on.at[queueSort]); n != 1 {
		r.refuse(field.Invalid(path.Child("queueSort"), n, "exactly one plugin must sort the queue"))
	}
	if len(on.at[bind]) == 0 {
		r.refuse(field.Required(path.Child("bind"), "at least one plugin must bind"))
	}
	name := func(is point) string {
		for _, p := range points {
			if p.is == is {
				return p.name
			}
		}
		return ""
	}
	for _, p := range points {
		for _, e := range on.at[p.is] {
			if before := e.needs[p.is]; before != 0 && !on.has(before, e.name) {
				r.refuse(field.Invalid(path.Child(p.name), e.name, "relies on its "+name(before)+", which is off; kube-scheduler would fail every pod"))
			}
			if e.optional && p.is&(preEnqueue|placementGenerate|placementScore) != 0 {
				r.ignore(path.Child(p.name), e.name+" is not evaluated: berth decides pod by pod")
			}
		}
	}
}

func (a active) has(is point, name string) bool {
	return slices.ContainsFunc(a.at[is], func(e entry) bool { return e.name == name })
}

// fill writes the points that a decision goes through into a spec.
func (a active) fill(s *rules.Spec) {
	names := func(is point) []string {
		var out []string
		for _, e := range a.at[is] {
			if _, ok := rules.Known(e.name); ok {
				out = append(out, e.name)
			}
		}
		return out
	}
	s.PreEnqueue, s.PreFilter, s.Filter, s.PostFilter = names(preEnqueue), names(preFilter), names(filter), names(postFilter)
	for _, e := range a.at[score] {
		off := e.at&preScore != 0 && !a.has(preScore, e.name)
		s.Score = append(s.Score, rules.Enabled{Name: e.name, Weight: e.weight, NoPreScore: off})
	}
}
