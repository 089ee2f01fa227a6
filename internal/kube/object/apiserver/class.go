package apiserver

import (
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulingv1internal "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
)

// ValidateClass returns what an API server refuses in a priority class that is to be created.
func ValidateClass(c *schedulingv1.PriorityClass) field.ErrorList {
	return inOrder(schedulingvalidation.ValidatePriorityClass(internalClass(c)))
}

// ValidateClassUpdate returns what an API server refuses in a priority class that is to replace
// another of its name. The description, the metadata and globalDefault may change.
func ValidateClassUpdate(c, old *schedulingv1.PriorityClass) field.ErrorList {
	errs := schedulingvalidation.ValidatePriorityClassUpdate(internalClass(c), internalClass(old))
	return inOrder(errs)
}

func internalClass(c *schedulingv1.PriorityClass) *scheduling.PriorityClass {
	in := &scheduling.PriorityClass{}
	converted(schedulingv1internal.Convert_v1_PriorityClass_To_scheduling_PriorityClass(c, in, nil))
	return in
}
