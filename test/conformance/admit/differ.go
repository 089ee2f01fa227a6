package admit

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// places are those in lists, as fields of errors have them.
var places = regexp.MustCompile(`\[[^\]]*\]`)

// keyed are maps whose keys are the user's.
var keyed = regexp.MustCompile(`\.(limits|requests|overhead|nodeSelector|labels|annotations|matchLabels|userAnnotations)\..*`)

// Differ lists in what two releases judge a case otherwise: what one of them refuses, refuses in
// other words or for other reasons, or stores.
func Differ(older, newer Verdict) (list []string) {
	faults := func(v Verdict) map[string][]string {
		out := map[string][]string{}
		for _, e := range v.Errors {
			at, why, _ := strings.Cut(e, " ")
			name := places.ReplaceAllString(at, "")
			out[name] = append(out[name], why)
		}
		return out
	}
	a, b := faults(older), faults(newer)
	for name, words := range a {
		switch others, ok := b[name]; {
		case !ok:
			list = append(list, "refuses less "+name)
		case !slices.Equal(words, others):
			list = append(list, "other words "+name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			list = append(list, "refuses more "+name)
		}
	}
	if older.Allowed && newer.Allowed {
		list = append(list, stores("", plain(older.Pod), plain(newer.Pod))...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// stores lists the fields that are stored otherwise.
func stores(path string, a, b any) (list []string) {
	x, xok := a.(map[string]any)
	y, yok := b.(map[string]any)
	if xok && yok {
		for k := range x {
			list = append(list, stores(path+"."+k, x[k], y[k])...)
		}
		for k := range y {
			if _, ok := x[k]; !ok {
				list = append(list, stores(path+"."+k, nil, y[k])...)
			}
		}
		return list
	}
	v, vok := a.([]any)
	w, wok := b.([]any)
	if vok && wok && len(v) == len(w) {
		for i := range v {
			list = append(list, stores(path, v[i], w[i])...)
		}
		return list
	}
	if fmt.Sprint(a) == fmt.Sprint(b) {
		return nil
	}
	return []string{"stores " + keyed.ReplaceAllString(strings.TrimPrefix(path, "."), ".$1")}
}

// fields lists the paths of what an object has, without places in lists and keys of the user's.
func fields(path string, x any, into map[string]bool) {
	path = keyed.ReplaceAllString(path, ".$1")
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			fields(strings.TrimPrefix(path+"."+k, "."), v, into)
		}
	case []any:
		for _, v := range x {
			fields(path, v, into)
		}
	}
	into[path] = true
}

// Has lists the paths of what the pods of a case have.
func (c Case) Has() map[string]bool {
	out := map[string]bool{}
	fields("", decoded(c.Pod), out)
	if c.Old != nil {
		fields("", decoded(c.Old), out)
	}
	return out
}

// Needs lists what a case has beyond the base, without what follows: what is above another field,
// and names.
func (c Case) Needs() []string {
	has := c.Has()
	for path := range (Case{Pod: []byte(base)}).Has() {
		delete(has, path)
	}
	list := slices.Sorted(maps.Keys(has))
	return slices.DeleteFunc(list, func(path string) bool {
		return slices.ContainsFunc(list, func(below string) bool {
			return strings.HasPrefix(below, path+".") ||
				strings.HasSuffix(path, ".name") && below != path && strings.HasPrefix(below, strings.TrimSuffix(path, "name"))
		})
	})
}

// Smaller makes a case as small as it is while it still shows something.
func Smaller(c Case, shows func(Case) bool) Case {
	for again := true; again; {
		again = false
		for _, less := range without(decoded(c.Pod)) {
			if now := (Case{Encode(less), c.Old}); shows(now) {
				c, again = now, true
				break
			}
		}
		if again || c.Old == nil {
			continue
		}
		for _, less := range without(decoded(c.Old)) {
			if now := (Case{c.Pod, Encode(less)}); shows(now) {
				c, again = now, true
				break
			}
		}
	}
	return c
}
