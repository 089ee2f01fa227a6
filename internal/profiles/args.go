package profiles

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
		if find(c.Name) == nil {
			r.refuse(field.Invalid(at.Child("name"), c.Name, noPlugin(c.Name)))
			continue
		}
		fit = fit || c.Name == "NodeResourcesFit"
		read, ok := readers[c.Name]
		if !ok {
			r.ignore(at.Child("args"), c.Name+" has no arguments")
			continue
		}
		read(r, at.Child("args"), c.Args.Raw, &out)
	}
	return out, fit
}

// readers read the arguments of the plugins that have some.
var readers = map[string]func(*reader, *field.Path, []byte, *rules.Args){
	"DefaultPreemption":               (*reader).defaultPreemption,
	"DynamicResources":                (*reader).dynamicResources,
	"InterPodAffinity":                (*reader).interPodAffinity,
	"NodeAffinity":                    (*reader).nodeAffinity,
	"NodeResourcesBalancedAllocation": (*reader).balancedAllocation,
	"NodeResourcesFit":                (*reader).nodeResourcesFit,
	"PodTopologySpread":               (*reader).podTopologySpread,
	"VolumeBinding":                   (*reader).volumeBinding,
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
	r.problems = append(r.problems, problems...)
	return len(problems) == 0
}

func (r *reader) defaultPreemption(path *field.Path, raw []byte, out *rules.Args) {
	var a configv1.DefaultPreemptionArgs
	if !r.decodeArgs(path, raw, "DefaultPreemptionArgs", &a) {
		return
	}
	d := &out.DefaultPreemption
	set(&d.MinCandidateNodesPercentage, a.MinCandidateNodesPercentage)
	set(&d.MinCandidateNodesAbsolute, a.MinCandidateNodesAbsolute)
	percentage, absolute := path.Child("minCandidateNodesPercentage"), path.Child("minCandidateNodesAbsolute")
	if p := d.MinCandidateNodesPercentage; p < 0 || p > 100 {
		r.refuse(field.Invalid(percentage, p, "must be in [0, 100]"))
	}
	if n := d.MinCandidateNodesAbsolute; n < 0 {
		r.refuse(field.Invalid(absolute, n, "must not be negative"))
	}
	if d.MinCandidateNodesPercentage == 0 && d.MinCandidateNodesAbsolute == 0 {
		r.refuse(field.Invalid(percentage, 0, "must not be zero together with minCandidateNodesAbsolute"))
	}
	if len(raw) > 0 {
		r.ignore(path, "berth looks for victims on all candidate nodes")
	}
}

func (r *reader) interPodAffinity(path *field.Path, raw []byte, out *rules.Args) {
	var a configv1.InterPodAffinityArgs
	if !r.decodeArgs(path, raw, "InterPodAffinityArgs", &a) {
		return
	}
	i := &out.InterPodAffinity
	set(&i.HardPodAffinityWeight, a.HardPodAffinityWeight)
	i.IgnorePreferredTermsOfExistingPods = a.IgnorePreferredTermsOfExistingPods
	if w := i.HardPodAffinityWeight; w < 0 || w > 100 {
		r.refuse(field.Invalid(path.Child("hardPodAffinityWeight"), w, "must be in [0, 100]"))
	}
}

// dynamicResources keeps the time that devices have to become ready; the one that
// a search may take is accepted, and a clock to measure it by is not there.
func (r *reader) dynamicResources(path *field.Path, raw []byte, out *rules.Args) {
	var a configv1.DynamicResourcesArgs
	if !r.decodeArgs(path, raw, "DynamicResourcesArgs", &a) {
		return
	}
	if t := a.FilterTimeout; t != nil && t.Duration < 0 {
		r.refuse(field.Invalid(path.Child("filterTimeout"), t.Duration.String(), "must not be negative"))
	}
	if t := a.BindingTimeout; t != nil && t.Duration.Seconds() < 1 {
		r.refuse(field.Invalid(path.Child("bindingTimeout"), t.Duration.String(), "must be at least 1s"))
	}
	if t := a.BindingTimeout; t != nil {
		out.DynamicResources = &rules.DynamicResourcesArgs{BindingTimeout: t.Duration}
	}
	if a.FilterTimeout != nil {
		r.ignore(path.Child("filterTimeout"), devices)
	}
}

// volumeBinding refuses a shape, as upstream does while StorageCapacityScoring is
// off, which it is by default (ValidateVolumeBindingArgs).
func (r *reader) volumeBinding(path *field.Path, raw []byte, _ *rules.Args) {
	var a configv1.VolumeBindingArgs
	if !r.decodeArgs(path, raw, "VolumeBindingArgs", &a) {
		return
	}
	if t := a.BindTimeoutSeconds; t != nil && *t < 0 {
		r.refuse(field.Invalid(path.Child("bindTimeoutSeconds"), *t, "must not be negative"))
	}
	if a.Shape != nil {
		r.refuse(field.Forbidden(path.Child("shape"), "needs the feature gate StorageCapacityScoring, which is off by default; berth does not score by it"))
	}
	r.ignore(path, volumes)
}

// set sets a field where the file has a value for it.
func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
