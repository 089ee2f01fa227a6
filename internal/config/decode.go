package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"berth/internal/kube/object"
	"berth/internal/semantics"
)

// Kind is the kind of object that Parse reads.
const Kind = "KubeSchedulerConfiguration"

// APIVersion is the version of it.
var APIVersion = configv1.SchemeGroupVersion.String()

// removed are the versions that kube-scheduler has read once.
var removed = []string{"v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"}

// decode reads the document strictly, as a release does. It gives also what is ignored of its top
// level, for only the document reports whether a field was there.
func decode(raw []byte, under *semantics.Release) (*configv1.KubeSchedulerConfiguration, []string, error) {
	doc := raw
	if !json.Valid(raw) {
		if len(raw) > maxYAML {
			return nil, nil, fmt.Errorf("read %s: %d bytes that are not JSON, and YAML may have %d", Kind, len(raw), maxYAML)
		}
		var err error
		if doc, err = yaml.YAMLToJSONStrict(raw); err != nil {
			return nil, nil, fmt.Errorf("read %s: %s", Kind, oneLine(err))
		}
	}
	var head map[string]json.RawMessage
	if err := json.Unmarshal(doc, &head); err != nil || head == nil {
		return nil, nil, fmt.Errorf("read %s: the document is not an object", Kind)
	}
	if held, err := unwrapped(head); held != nil || err != nil {
		if err != nil {
			return nil, nil, err
		}
		return decode(held, under)
	}
	if err := checkKind(head, APIVersion, Kind, true); err != nil {
		return nil, nil, err
	}
	var conf configv1.KubeSchedulerConfiguration
	problems := append(strictly(doc, &conf, nil), unknownPoints(doc, under)...)
	if len(problems) > 0 {
		return nil, nil, (&reader{problems: problems}).err()
	}
	var ignored []string
	for _, f := range idle {
		if _, ok := head[f.name]; ok {
			ignored = append(ignored, f.name+": "+f.why)
		}
	}
	return &conf, ignored, nil
}

// unknownPoints refuses the extension points of other releases, also where no plugin is listed.
func unknownPoints(doc []byte, r *semantics.Release) (out []error) {
	var conf struct {
		Profiles []struct {
			Plugins map[string]json.RawMessage `json:"plugins"`
		} `json:"profiles"`
	}
	_ = json.Unmarshal(doc, &conf) // what is of another type is a problem already
	for i := range conf.Profiles {
		for _, p := range points {
			if _, there := conf.Profiles[i].Plugins[p.name]; there && !slices.Contains(r.Points, p.name) {
				at := field.NewPath("profiles").Index(i).Child("plugins", p.name)
				out = append(out, fmt.Errorf("unknown field %q", at))
			}
		}
	}
	return out
}

// err joins what was found; nil where that is nothing.
func (r *reader) err() error {
	all := utilerrors.Flatten(utilerrors.NewAggregate(r.problems))
	if all == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", Kind, object.FewProblems(all)) // flat, since one may be a list
}

// succeeded are fields of v1alpha1 that went, and what they became.
var succeeded = []struct{ name, by string }{
	{"disablePreemption", "true is profiles[].plugins.postFilter.disabled: [{name: DefaultPreemption}]"},
	{"algorithmSource", "provider and policy are the plugins of profiles[].plugins; DefaultProvider is what applies without any"},
	{"schedulerName", "it is profiles[].schedulerName"},
	{"hardPodAffinitySymmetricWeight", "it is hardPodAffinityWeight in profiles[].pluginConfig of InterPodAffinity"},
	{"bindTimeoutSeconds", "it is bindTimeoutSeconds in profiles[].pluginConfig of VolumeBinding"},
}

// successors returns what became of the fields of an old version that are there.
func successors(head map[string]json.RawMessage) string {
	var b strings.Builder
	for _, f := range succeeded {
		if _, there := head[f.name]; there {
			b.WriteString("; " + f.name + ": " + f.by)
		}
	}
	return b.String()
}

// unwrapped returns the configuration that a ConfigMap holds, as they are installed; nil where the
// document is none.
func unwrapped(head map[string]json.RawMessage) ([]byte, error) {
	var kind, version string
	_ = json.Unmarshal(head["kind"], &kind) // what is no string is checkKind's to refuse
	_ = json.Unmarshal(head["apiVersion"], &version)
	switch {
	case kind == "Policy" && version != APIVersion:
		return nil, fmt.Errorf("kind: a Policy is no longer read by Kubernetes from 1.23 on; write a %s of %s, in which predicates and priorities are plugins of profiles[], and extenders are extenders[]", Kind, APIVersion)
	case kind != "ConfigMap" || version != "v1":
		return nil, nil
	}
	var data map[string]string
	if err := json.Unmarshal(head["data"], &data); err != nil && head["data"] != nil {
		return nil, fmt.Errorf("data: a ConfigMap has texts in it")
	}
	var held []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if strings.Contains(data[key], Kind) {
			held = append(held, key)
		}
	}
	if len(held) != 1 {
		return nil, fmt.Errorf("data: a ConfigMap is read where one of its keys holds a %s; in this one %d do: take the text out of it, kubectl get configmap NAME -o jsonpath='{.data.KEY}'", Kind, len(held))
	}
	text := []byte(data[held[0]])
	var inner struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(text, &inner); err == nil && inner.Kind == "ConfigMap" {
		return nil, fmt.Errorf("data[%s]: is another ConfigMap", held[0])
	}
	return text, nil
}

// checkKind returns what is wrong with apiVersion and kind. Arguments of plugins may
// leave them out.
func checkKind(head map[string]json.RawMessage, version, kind string, required bool) error {
	for _, f := range []struct{ name, want string }{{"apiVersion", version}, {"kind", kind}} {
		raw, there := head[f.name]
		var have string
		if there {
			if err := json.Unmarshal(raw, &have); err != nil {
				return fmt.Errorf("%s: must be %s", f.name, f.want)
			}
		}
		switch group, v, _ := strings.Cut(have, "/"); {
		case have == f.want, have == "" && !required:
		case have == "":
			return fmt.Errorf("%s: required; must be %s", f.name, f.want)
		case f.name == "apiVersion" && group == configv1.GroupName && slices.Contains(removed, v):
			return fmt.Errorf("apiVersion: %s is no longer part of Kubernetes; write %s%s", have, f.want, successors(head))
		default:
			return fmt.Errorf("%s: %q is not read here; must be %s", f.name, have, f.want)
		}
	}
	return nil
}

// strictly decodes JSON into v. Names count case by case, and every unknown or
// repeated field is a problem of its own, named with its path.
func strictly(doc []byte, v any, at *field.Path) []error {
	strict, err := kjson.UnmarshalStrict(doc, v)
	if all := misfits(doc, v, at); err != nil && len(all) > 0 {
		return all
	}
	if err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return []error{field.Invalid(at.Child(wrong.Field), wrong.Value, "must be of type "+wrong.Type.String())}
		}
		if at == nil {
			return []error{errors.New(oneLine(err))}
		}
		return []error{fmt.Errorf("%s: %s", at, oneLine(err))}
	}
	var out []error
	var hints []object.UnknownField
	if len(strict) > 0 {
		hints, _ = object.UnknownFields(doc, v)
	}
	for _, e := range strict {
		hint := ""
		if fe, ok := e.(kjson.FieldError); ok { //nolint:errorlint // a list of plain values, never wrapped
			for _, h := range hints {
				if h.Path == fe.FieldPath() && h.Nearest != "" {
					hint = ": did you mean " + h.Nearest + "?"
				}
			}
			if at != nil {
				fe.SetFieldPath(at.String() + "." + fe.FieldPath())
			}
		}
		if hint != "" {
			e = errors.New(e.Error() + hint)
		}
		out = append(out, e)
	}
	return out
}

// misfits lists what in a document has no place in v: values of another type, and fields that it
// does not have.
func misfits(doc []byte, v any, at *field.Path) (out []error) {
	prefix := ""
	if at != nil {
		prefix = at.String() + "."
	}
	for _, e := range object.Misshapen(doc, v) {
		e.Field = prefix + e.Field
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil
	}
	unknown, _ := object.UnknownFields(doc, v)
	for _, u := range unknown {
		what, hint := "unknown", ""
		switch {
		case u.Duplicate:
			what = "duplicate"
		case u.Nearest != "":
			hint = ": did you mean " + u.Nearest + "?"
		}
		out = append(out, fmt.Errorf("%s field %q%s", what, prefix+u.Path, hint))
	}
	return out
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
