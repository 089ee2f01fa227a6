package admit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Compare says in words how two verdicts differ; "" where they agree.
func Compare(want, got Verdict) string {
	if want.Allowed != got.Allowed {
		return fmt.Sprintf("allowed: want %v, got %v\n  want %q\n  got  %q", want.Allowed, got.Allowed, want.Errors, got.Errors)
	}
	if len(want.Errors) == 1 && strings.HasPrefix(want.Errors[0], "plugin ") {
		// The plugin names no field; berth does.
		message := InOrder(strings.TrimPrefix(want.Errors[0], "plugin "))
		if len(got.Errors) != 1 || !strings.HasSuffix(InOrder(got.Errors[0]), " FieldValueForbidden "+message) {
			return fmt.Sprintf("plugin: want %q, got %q", want.Errors, got.Errors)
		}
		if got.Forbidden != "" && InOrder(got.Forbidden) != InOrder(want.Forbidden) {
			return fmt.Sprintf("forbidden: want %q, got %q", want.Forbidden, got.Forbidden)
		}
		return ""
	}
	if !slices.Equal(want.Errors, got.Errors) {
		var b strings.Builder
		for _, e := range want.Errors {
			if !slices.Contains(got.Errors, e) {
				fmt.Fprintf(&b, "- %s\n", e)
			}
		}
		for _, e := range got.Errors {
			if !slices.Contains(want.Errors, e) {
				fmt.Fprintf(&b, "+ %s\n", e)
			}
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "repeated: want %q, got %q", want.Errors, got.Errors)
		}
		return b.String()
	}
	if !want.Allowed {
		return ""
	}
	w, g := plain(want.Pod), plain(got.Pod)
	if !reflect.DeepEqual(w, g) {
		return "pod:\n" + differences("", w, g)
	}
	return ""
}

// faultsOfLimits begin what LimitRanger says of one amount.
var faultsOfLimits = regexp.MustCompile(`, (minimum \S+ usage|maximum \S+ usage|\S+ max limit to request ratio)`)

// used are the amounts of a quota that are used up.
var used = regexp.MustCompile(`used: (.*), limited: `)

// InOrder puts what upstream leaves to the order of maps into one: the parts of what LimitRanger
// says, and the format of a sum, which is that of the first amount.
func InOrder(text string) string {
	text = used.ReplaceAllStringFunc(text, func(part string) string {
		list := strings.Split(used.FindStringSubmatch(part)[1], ",")
		for i, x := range list {
			name, amount, _ := strings.Cut(x, "=")
			if q, err := resource.ParseQuantity(amount); err == nil {
				list[i] = name + "=" + q.AsDec().String()
			}
		}
		return "used: " + strings.Join(list, ",") + ", limited: "
	})
	from, to := strings.Index(text, "["), strings.LastIndex(text, "]")
	if from < 0 || to < from || !faultsOfLimits.MatchString(text) {
		return text
	}
	parts := strings.Split(faultsOfLimits.ReplaceAllString(text[from+1:to], "\n$1"), "\n")
	slices.Sort(parts)
	return text[:from+1] + strings.Join(parts, ", ") + text[to:]
}

// plain decodes a pod without what depends on the clock or on chance.
func plain(js json.RawMessage) any {
	var v map[string]any
	if err := json.Unmarshal(js, &v); err != nil {
		return err.Error()
	}
	if meta, ok := v["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
		if _, made := meta["generateName"]; made {
			delete(meta, "name")
		}
	}
	if status, ok := v["status"].(map[string]any); ok {
		if list, ok := status["conditions"].([]any); ok {
			for _, c := range list {
				if c, ok := c.(map[string]any); ok {
					delete(c, "lastTransitionTime")
				}
			}
		}
	}
	return v
}

func differences(path string, want, got any) string {
	w, wok := want.(map[string]any)
	g, gok := got.(map[string]any)
	if !wok || !gok {
		if reflect.DeepEqual(want, got) {
			return ""
		}
		return fmt.Sprintf("  %s: want %v, got %v\n", path, want, got)
	}
	out := ""
	for k := range w {
		out += differences(path+"."+k, w[k], g[k])
	}
	for k := range g {
		if _, ok := w[k]; !ok {
			out += differences(path+"."+k, nil, g[k])
		}
	}
	return out
}
