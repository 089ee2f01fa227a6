package config

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine/rules"
)

// args reads pluginConfig over the default arguments; fit reports whether it has an
// entry for NodeResourcesFit. Arguments are checked whether or not their plugin
// is on, as upstream does with all but NodeResourcesFit's, which it checks only
// when it makes the plugin (validation/validation.go validatePluginConfig).
func (r *reader) args(path *field.Path, list []configv1.PluginConfig) (out rules.Args, fit bool) {
	out = rules.DefaultArgs()
	seen := map[string]bool{}
	for i := range list {
		c := &list[i]
		at := path.Index(i)
		if seen[c.Name] {
			r.refuse(field.Duplicate(at.Child("name"), c.Name))
			continue
		}
		seen[c.Name] = true
		k := r.find(c.Name)
		if k == nil {
			r.refuse(field.Invalid(at.Child("name"), c.Name, r.noPlugin(c.Name)))
			continue
		}
		fit = fit || c.Name == "NodeResourcesFit"
		if k.args == nil {
			r.ignore(at.Child("args"), c.Name+" has no arguments")
			continue
		}
		v := k.args.New()
		if !r.decodeArgs(at.Child("args"), c.Args.Raw, k.args.Kind, v) {
			continue
		}
		problems, ignored := k.args.Read(v, r.release, at.Child("args"), len(c.Args.Raw) > 0, &out)
		r.problems, r.ignored = append(r.problems, problems...), append(r.ignored, ignored...)
	}
	return out, fit
}

// decodeArgs reads one plugin's arguments; false reports whether they are refused.
// Absent arguments are empty ones. They may name their version and kind.
func (r *reader) decodeArgs(path *field.Path, raw []byte, kind string, v any) bool {
	if len(raw) == 0 {
		return true
	}
	var head map[string]json.RawMessage
	if err := json.Unmarshal(raw, &head); err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s: must be an object", path))
		return false
	}
	if err := checkKind(head, APIVersion, kind, false); err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s.%w", path, err))
		return false
	}
	problems := strictly(raw, v, path)
	if _, there := head["bindingTimeout"]; there && kind == "DynamicResourcesArgs" && r.release.NoBindingTimeout {
		// With null too, which no value of v tells.
		problems = append(problems, fmt.Errorf("unknown field %q", path.Child("bindingTimeout").String()))
	}
	r.problems = append(r.problems, problems...)
	return len(problems) == 0
}
