package admit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Compare says in words how two verdicts differ; "" where they agree.
func Compare(want, got Verdict) string {
	if want.Allowed != got.Allowed {
		return fmt.Sprintf("allowed: want %v, got %v\n  want %q\n  got  %q", want.Allowed, got.Allowed, want.Errors, got.Errors)
	}
	if len(want.Errors) == 1 && strings.HasPrefix(want.Errors[0], "plugin ") {
		// The plugin names no field; berth does.
		_, message, _ := strings.Cut(want.Errors[0], "plugin ")
		if len(got.Errors) == 1 && strings.HasSuffix(got.Errors[0], " FieldValueForbidden "+message) {
			return ""
		}
		return fmt.Sprintf("plugin: want %q, got %q", want.Errors, got.Errors)
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

// plain decodes a pod without what depends on the clock.
func plain(js json.RawMessage) any {
	var v map[string]any
	if err := json.Unmarshal(js, &v); err != nil {
		return err.Error()
	}
	if meta, ok := v["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
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
