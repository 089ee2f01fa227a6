package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"berth/internal/decision"
)

// Difference is one place in which two answers differ. A value that one of them
// does not have is nil.
type Difference struct {
	Path     string `json:"path"`
	Recorded any    `json:"recorded"`
	Replayed any    `json:"replayed"`
} // @name Difference

// whole reports whether the place is the answer's as a whole, and not a node's.
func (d *Difference) whole() bool { return !strings.Contains(d.Path, "[") }

// maxDifferences bounds a replay's list; what is left out is counted.
const maxDifferences = 1000

// incomparable are the fields that identify an answer.
var incomparable = []string{
	"id", "cluster", "snapshot", "engine", "semantics", "createdAt", "verb", "boundSnapshot", "nominatedSnapshot", "pendingSnapshot", "durationMicros",
	"profileDigest", "snapshotDigest", "podDigest", "digest",
}

// compare fills in the differences of two answers. The digest is one of them
// only where the same question was asked.
func (r *Replay) compare(recorded, replayed *decision.Answer, sameQuestion bool) error {
	a, err := plain(recorded)
	if err != nil {
		return err
	}
	b, err := plain(replayed)
	if err != nil {
		return err
	}
	digestA, digestB := a["digest"], b["digest"]
	for _, f := range incomparable {
		delete(a, f)
		delete(b, f)
	}
	if sameQuestion {
		a["digest"], b["digest"] = digestA, digestB
	}
	r.diff("", a, b)
	return nil
}

func plain(a *decision.Answer) (map[string]any, error) {
	js, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(js, &out); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	return out, nil
}

func (r *Replay) diff(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			r.diffMaps(x, y, func(k string) string {
				if path == "" {
					return k
				}
				return path + "." + k
			})
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			r.diffMaps(keyed(x), keyed(y), func(k string) string { return path + "[" + k + "]" })
			return
		}
		if b == nil { // an absent list is an empty one
			r.diff(path, a, []any{})
			return
		}
	case nil:
		if y, ok := b.([]any); ok {
			r.diff(path, []any{}, y)
			return
		}
	}
	if reflect.DeepEqual(a, b) {
		return
	}
	if len(r.Differences) == maxDifferences {
		r.DifferencesOmitted++
		return
	}
	r.Differences = append(r.Differences, Difference{path, a, b})
}

func (r *Replay) diffMaps(x, y map[string]any, join func(string) string) {
	keys := make([]string, 0, len(x)+len(y))
	for k := range x {
		keys = append(keys, k)
	}
	for k := range y {
		if _, ok := x[k]; !ok {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		r.diff(join(k), x[k], y[k])
	}
}

// keyed addresses a list's items by what they are called, so that one more item
// does not move all others: nodes by name, scores by plugin, failures by plugin
// and reason, constraints by topology key, domains by value, words by
// themselves. A name met again gets a number.
func keyed(list []any) map[string]any {
	out := make(map[string]any, len(list))
	for i, item := range list {
		k := nameIn(item)
		if k == "" {
			k = strconv.Itoa(i)
		}
		if _, taken := out[k]; taken {
			k += "#" + strconv.Itoa(i)
		}
		out[k] = item
	}
	return out
}

func nameIn(item any) string {
	if s, ok := item.(string); ok {
		return s
	}
	o, ok := item.(map[string]any)
	if !ok {
		return ""
	}
	text := func(k string) string { s, _ := o[k].(string); return s }
	switch {
	case text("plugin") != "" && text("reason") != "":
		return text("plugin") + ": " + text("reason")
	case text("namespace") != "":
		return text("namespace") + "/" + text("name")
	case text("kind") != "":
		return ""
	}
	for _, k := range []string{"name", "node", "plugin", "topologyKey", "value"} {
		if s := text(k); s != "" {
			return s
		}
	}
	return ""
}
