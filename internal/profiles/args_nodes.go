package profiles

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine/rules"
)

// nodeAffinity reads NodeAffinityArgs; an added affinity that says nothing is
// none (ValidateNodeAffinityArgs).
func (r *reader) nodeAffinity(path *field.Path, raw []byte, out *rules.Args) {
	var a configv1.NodeAffinityArgs
	if !r.decodeArgs(path, raw, "NodeAffinityArgs", &a) || a.AddedAffinity == nil {
		return
	}
	at := path.Child("addedAffinity")
	required := a.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	preferred := a.AddedAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if required != nil {
		if _, err := nodeaffinity.NewNodeSelector(required, field.WithPath(at.Child("requiredDuringSchedulingIgnoredDuringExecution"))); err != nil {
			r.problems = append(r.problems, err)
		}
	}
	if len(preferred) > 0 {
		if _, err := nodeaffinity.NewPreferredSchedulingTerms(preferred, field.WithPath(at.Child("preferredDuringSchedulingIgnoredDuringExecution"))); err != nil {
			r.problems = append(r.problems, err)
		}
	}
	if required != nil || len(preferred) > 0 {
		out.NodeAffinity.AddedAffinity = a.AddedAffinity
	}
}

// nodeResourcesFit reads NodeResourcesFitArgs (SetDefaults_NodeResourcesFitArgs,
// ValidateNodeResourcesFitArgs). A strategy without a type is refused, as
// upstream does.
func (r *reader) nodeResourcesFit(path *field.Path, raw []byte, out *rules.Args) {
	var a configv1.NodeResourcesFitArgs
	if !r.decodeArgs(path, raw, "NodeResourcesFitArgs", &a) {
		return
	}
	for i, name := range a.IgnoredResources {
		r.refuse(metav1validation.ValidateLabelName(name, path.Child("ignoredResources").Index(i))...)
	}
	for i, group := range a.IgnoredResourceGroups {
		at := path.Child("ignoredResourceGroups").Index(i)
		if strings.Contains(group, "/") {
			r.refuse(field.Invalid(at, group, "a resource group has no '/'"))
		}
		r.refuse(metav1validation.ValidateLabelName(group, at)...)
	}
	f := &out.NodeResourcesFit
	f.IgnoredResources, f.IgnoredResourceGroups = a.IgnoredResources, a.IgnoredResourceGroups
	s := a.ScoringStrategy
	if s == nil {
		return
	}
	at := path.Child("scoringStrategy")
	f.Strategy = rules.Strategy(s.Type)
	if len(s.Resources) > 0 {
		f.Resources = r.resources(at.Child("resources"), s.Resources)
	}
	ratio := at.Child("requestedToCapacityRatio")
	switch s.Type {
	case configv1.LeastAllocated, configv1.MostAllocated:
		if s.RequestedToCapacityRatio != nil {
			r.refuse(field.Forbidden(ratio, "is for the type RequestedToCapacityRatio only"))
		}
	case configv1.RequestedToCapacityRatio:
		if s.RequestedToCapacityRatio == nil {
			r.refuse(field.Required(ratio, "the type RequestedToCapacityRatio needs it"))
			return
		}
		f.Shape = r.shape(ratio.Child("shape"), s.RequestedToCapacityRatio.Shape)
	default:
		r.refuse(field.NotSupported(at.Child("type"), s.Type, []configv1.ScoringStrategyType{
			configv1.LeastAllocated, configv1.MostAllocated, configv1.RequestedToCapacityRatio,
		}))
	}
}

// resources reads weights, of which 0 stands for 1 (validateResources).
func (r *reader) resources(path *field.Path, list []configv1.ResourceSpec) []rules.ResourceWeight {
	out := make([]rules.ResourceWeight, len(list))
	for i, res := range list {
		out[i] = rules.ResourceWeight{Name: res.Name, Weight: res.Weight}
		if res.Weight == 0 {
			out[i].Weight = 1
		}
		if w := out[i].Weight; w < 0 || w > 100 {
			r.refuse(field.Invalid(path.Index(i).Child("weight"), w, "must be in (0, 100]"))
		}
	}
	return out
}

// shape reads the corners of a function (validateFunctionShape).
func (r *reader) shape(path *field.Path, list []configv1.UtilizationShapePoint) []rules.ShapePoint {
	if len(list) == 0 {
		r.refuse(field.Required(path, "at least one point is needed"))
	}
	out := make([]rules.ShapePoint, len(list))
	for i, p := range list {
		out[i] = rules.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)}
		utilization := path.Index(i).Child("utilization")
		if i > 0 && list[i-1].Utilization >= p.Utilization {
			r.refuse(field.Invalid(utilization, p.Utilization, "must be greater than the one before"))
		}
		if p.Utilization < 0 || p.Utilization > 100 {
			r.refuse(field.Invalid(utilization, p.Utilization, "must be in [0, 100]"))
		}
		if p.Score < 0 || p.Score > 10 {
			r.refuse(field.Invalid(path.Index(i).Child("score"), p.Score, "must be in [0, 10]"))
		}
	}
	return out
}

// balancedAllocation reads NodeResourcesBalancedAllocationArgs.
func (r *reader) balancedAllocation(path *field.Path, raw []byte, out *rules.Args) {
	var a configv1.NodeResourcesBalancedAllocationArgs
	if !r.decodeArgs(path, raw, "NodeResourcesBalancedAllocationArgs", &a) || len(a.Resources) == 0 {
		return
	}
	seen := map[string]bool{}
	var list []rules.ResourceWeight
	for i, res := range a.Resources {
		at := path.Child("resources").Index(i)
		if seen[res.Name] {
			r.refuse(field.Duplicate(at.Child("name"), res.Name))
		}
		seen[res.Name] = true
		if res.Weight != 0 && res.Weight != 1 {
			r.refuse(field.Invalid(at.Child("weight"), res.Weight, "must be 1"))
		}
		list = append(list, rules.ResourceWeight{Name: res.Name, Weight: 1})
	}
	out.Balanced.Resources = list
}

// podTopologySpread reads PodTopologySpreadArgs (ValidatePodTopologySpreadArgs).
func (r *reader) podTopologySpread(path *field.Path, raw []byte, out *rules.Args) {
	var a configv1.PodTopologySpreadArgs
	if !r.decodeArgs(path, raw, "PodTopologySpreadArgs", &a) {
		return
	}
	kind := path.Child("defaultingType")
	switch a.DefaultingType {
	case "", configv1.SystemDefaulting:
		if len(a.DefaultConstraints) > 0 {
			r.refuse(field.Invalid(kind, configv1.SystemDefaulting, "must be List where there are defaultConstraints"))
		}
	case configv1.ListDefaulting:
		out.PodTopologySpread = rules.SpreadArgs{Constraints: a.DefaultConstraints}
	default:
		r.refuse(field.NotSupported(kind, a.DefaultingType, []configv1.PodTopologySpreadConstraintsDefaulting{configv1.ListDefaulting, configv1.SystemDefaulting}))
	}
	type pair struct {
		key    string
		action corev1.UnsatisfiableConstraintAction
	}
	seen := map[pair]bool{}
	for i := range a.DefaultConstraints {
		c := &a.DefaultConstraints[i]
		at := path.Child("defaultConstraints").Index(i)
		if c.MaxSkew <= 0 {
			r.refuse(field.Invalid(at.Child("maxSkew"), c.MaxSkew, "must be greater than 0"))
		}
		if c.TopologyKey == "" {
			r.refuse(field.Required(at.Child("topologyKey"), "must not be empty"))
		} else {
			r.refuse(metav1validation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey"))...)
		}
		switch c.WhenUnsatisfiable {
		case corev1.DoNotSchedule, corev1.ScheduleAnyway:
		case "":
			r.refuse(field.Required(at.Child("whenUnsatisfiable"), "must not be empty"))
		default:
			r.refuse(field.NotSupported(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
		}
		if c.LabelSelector != nil {
			r.refuse(field.Forbidden(at.Child("labelSelector"), "each pod's own Services and controller say whom to count"))
		}
		p := pair{c.TopologyKey, c.WhenUnsatisfiable}
		if seen[p] {
			r.refuse(field.Duplicate(at, fmt.Sprintf("{%s, %s}", p.key, p.action)))
		}
		seen[p] = true
	}
}
