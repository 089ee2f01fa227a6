package rules

import (
	"strings"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// FitArgs is kubescheduler.config.k8s.io/v1 NodeResourcesFitArgs.
type FitArgs struct {
	IgnoredResources      []string         `json:"ignoredResources,omitempty"`
	IgnoredResourceGroups []string         `json:"ignoredResourceGroups,omitempty"`
	Strategy              Strategy         `json:"strategy"`
	Resources             []ResourceWeight `json:"resources"`
	Shape                 []ShapePoint     `json:"shape,omitempty"`
}

// cpuAndMemory are the resources that scores look at by default
// (apis/config/v1/defaults.go defaultResourceSpec).
func cpuAndMemory() []ResourceWeight { return []ResourceWeight{{"cpu", 1}, {"memory", 1}} }

// readFitArgs reads NodeResourcesFitArgs (apis/config/v1/defaults.go
// SetDefaults_NodeResourcesFitArgs, apis/config/validation/validation_pluginargs.go
// ValidateNodeResourcesFitArgs). A strategy without a type is refused, as upstream does.
func readFitArgs(in *argsInput, a *configv1.NodeResourcesFitArgs, out *Args) {
	for i, name := range a.IgnoredResources {
		in.refuse(metav1validation.ValidateLabelName(name, in.at.Child("ignoredResources").Index(i))...)
	}
	for i, group := range a.IgnoredResourceGroups {
		at := in.at.Child("ignoredResourceGroups").Index(i)
		if strings.Contains(group, "/") {
			in.refuse(field.Invalid(at, group, "a resource group has no '/'"))
		}
		in.refuse(metav1validation.ValidateLabelName(group, at)...)
	}
	f := &out.NodeResourcesFit
	f.IgnoredResources, f.IgnoredResourceGroups = a.IgnoredResources, a.IgnoredResourceGroups
	s := a.ScoringStrategy
	if s == nil {
		return
	}
	at := in.at.Child("scoringStrategy")
	f.Strategy = Strategy(s.Type)
	if len(s.Resources) > 0 {
		f.Resources = in.resources(at.Child("resources"), s.Resources)
	}
	ratio := at.Child("requestedToCapacityRatio")
	switch s.Type {
	case configv1.LeastAllocated, configv1.MostAllocated:
		switch {
		case s.RequestedToCapacityRatio == nil:
		case in.under.RatioOfItsType:
			in.refuse(field.Forbidden(ratio, "is for the type RequestedToCapacityRatio only"))
		default: // it has no part in the score, and has to be right
			in.shape(ratio.Child("shape"), s.RequestedToCapacityRatio.Shape)
		}
	case configv1.RequestedToCapacityRatio:
		if s.RequestedToCapacityRatio == nil {
			in.refuse(field.Required(ratio, "the type RequestedToCapacityRatio needs it"))
			return
		}
		f.Shape = in.shape(ratio.Child("shape"), s.RequestedToCapacityRatio.Shape)
	default:
		in.refuse(field.NotSupported(at.Child("type"), s.Type, []configv1.ScoringStrategyType{
			configv1.LeastAllocated, configv1.MostAllocated, configv1.RequestedToCapacityRatio,
		}))
	}
}

// resources reads weights, of which 0 stands for 1 (validateResources).
func (in *argsInput) resources(path *field.Path, list []configv1.ResourceSpec) []ResourceWeight {
	out := make([]ResourceWeight, len(list))
	for i, res := range list {
		out[i] = ResourceWeight{Name: res.Name, Weight: res.Weight}
		if res.Weight == 0 {
			out[i].Weight = 1
		}
		if w := out[i].Weight; w < 0 || w > 100 {
			in.refuse(field.Invalid(path.Index(i).Child("weight"), w, "must be in (0, 100]"))
		}
	}
	return out
}

// shape reads the corners of a function (validateFunctionShape).
func (in *argsInput) shape(path *field.Path, list []configv1.UtilizationShapePoint) []ShapePoint {
	if len(list) == 0 {
		in.refuse(field.Required(path, "at least one point is needed"))
	}
	out := make([]ShapePoint, len(list))
	for i, p := range list {
		out[i] = ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)}
		utilization := path.Index(i).Child("utilization")
		if i > 0 && list[i-1].Utilization >= p.Utilization {
			in.refuse(field.Invalid(utilization, p.Utilization, "must be greater than the one before"))
		}
		if p.Utilization < 0 || p.Utilization > 100 {
			in.refuse(field.Invalid(utilization, p.Utilization, "must be in [0, 100]"))
		}
		if p.Score < 0 || p.Score > 10 {
			in.refuse(field.Invalid(path.Index(i).Child("score"), p.Score, "must be in [0, 10]"))
		}
	}
	return out
}
