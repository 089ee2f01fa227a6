package profiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"berth/internal/kubeobj"
)

// Kind is the kind of object that Parse reads.
const Kind = "KubeSchedulerConfiguration"

// APIVersion is the version of it.
var APIVersion = configv1.SchemeGroupVersion.String()

// removed are the versions that kube-scheduler has read once.
var removed = []string{"v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"}

// decode reads the document strictly. It gives also what is ignored of its top
// level, for only the document reports whether a field was there.
func decode(raw []byte) (*configv1.KubeSchedulerConfiguration, []string, error) {
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
	if err := checkKind(head, APIVersion, Kind, true); err != nil {
		return nil, nil, err
	}
	var conf configv1.KubeSchedulerConfiguration
	if problems := strictly(doc, &conf, nil); len(problems) > 0 {
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

// err joins what was found; nil where that is nothing.
func (r *reader) err() error {
	all := utilerrors.Flatten(utilerrors.NewAggregate(r.problems))
	if all == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", Kind, kubeobj.FewProblems(all)) // flat, since one may be a list
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
	for _, e := range strict {
		if fe, ok := e.(kjson.FieldError); ok && at != nil { //nolint:errorlint // a list of plain values, never wrapped
			fe.SetFieldPath(at.String() + "." + fe.FieldPath())
		}
		out = append(out, e)
	}
	return out
}

func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
