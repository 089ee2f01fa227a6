package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"
)

// The texts are upstream's (pkg/apis/core/validation/validation.go).
const (
	msgNegative   = "must be greater than or equal to 0"
	msgNotInteger = "must be an integer"
)

func resourceNames(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}

// checkQuantities is upstream ValidateResourceQuantityValue for each resource.
func checkQuantities(list corev1.ResourceList, path func(name string) *field.Path) (errs field.ErrorList) {
	for name, q := range list {
		if q.Sign() < 0 {
			errs = append(errs, field.Invalid(path(string(name)), q.String(), msgNegative))
		}
		if isInteger(name) && q.MilliValue()%1000 != 0 {
			errs = append(errs, field.Invalid(path(string(name)), q.String(), msgNotInteger))
		}
	}
	sortErrors(errs)
	return errs
}

// sortErrors puts errors found by ranging over a map in an order of their own.
func sortErrors(errs field.ErrorList) {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
}

func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

func isExtended(name corev1.ResourceName) bool {
	return !isNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func isInteger(name corev1.ResourceName) bool {
	return name == corev1.ResourcePods || isExtended(name)
}

func overcommits(name corev1.ResourceName) bool { return isNative(name) && !isHugePage(name) }

// checkContainerResource is upstream validateContainerResourceName.
func checkContainerResource(name corev1.ResourceName, path *field.Path) (errs field.ErrorList) {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return nil
	}
	for _, msg := range validation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	switch {
	case len(errs) > 0:
	case !strings.Contains(string(name), "/"):
		if !isHugePage(name) {
			errs = append(errs, field.Invalid(path, name, "must be a standard resource for containers"))
		}
	case !isNative(name) && !isExtended(name):
		errs = append(errs, field.Invalid(path, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// checkPodResource is upstream validatePodResourceName.
func checkPodResource(name corev1.ResourceName, path *field.Path) field.ErrorList {
	if resourcehelper.IsSupportedPodLevelResource(name) {
		return nil
	}
	if errs := checkContainerResource(name, path); len(errs) > 0 {
		return errs
	}
	return field.ErrorList{field.NotSupported(path, name, slices.Sorted(maps.Keys(resourcehelper.SupportedPodLevelResources())))}
}

// checkRequirements is upstream validateResourceRequirements without claims.
func checkRequirements(r *corev1.ResourceRequirements, checkName func(corev1.ResourceName, *field.Path) field.ErrorList, path *field.Path) (errs field.ErrorList) {
	if len(r.Limits) == 0 && len(r.Requests) == 0 {
		return nil
	}
	limits, requests := path.Child("limits"), path.Child("requests")
	check := func(list corev1.ResourceList, at *field.Path) {
		for _, name := range resourceNames(list) {
			errs = append(errs, checkName(name, at.Key(string(name)))...)
		}
		errs = append(errs, checkQuantities(list, at.Key)...)
	}
	check(r.Limits, limits)
	check(r.Requests, requests)
	huge, plain := false, false
	for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
		for name := range list {
			huge = huge || isHugePage(name)
			plain = plain || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		}
	}
	for _, name := range resourceNames(r.Requests) {
		request := r.Requests[name]
		limit, ok := r.Limits[name]
		switch {
		case !ok && !overcommits(name):
			errs = append(errs, field.Required(limits, "Limit must be set for non overcommitable resources"))
		case !ok:
		case request.Cmp(limit) != 0 && !overcommits(name):
			errs = append(errs, field.Invalid(requests, request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests, request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	if huge && !plain {
		errs = append(errs, field.Forbidden(path, "HugePages require cpu or memory"))
	}
	return errs
}

// checkPodResources is upstream validatePodResources: the pod's own requests
// and limits, and that the containers stay within them.
func checkPodResources(p *corev1.Pod, path *field.Path) field.ErrorList {
	r := p.Spec.Resources
	if r == nil {
		return nil
	}
	errs := checkRequirements(r, checkPodResource, path)
	sum := resourcehelper.AggregateContainerRequests(p, resourcehelper.PodResourcesOptions{})
	for _, name := range resourceNames(sum) {
		of := sum[name]
		if q, ok := r.Requests[name]; ok && of.Cmp(q) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), q.String(),
				"must be greater than or equal to aggregate container requests of "+of.String()))
		}
	}
	for i, c := range p.Spec.Containers {
		for _, name := range resourceNames(c.Resources.Limits) {
			limit := c.Resources.Limits[name]
			if q, ok := r.Limits[name]; ok && limit.Cmp(q) > 0 {
				errs = append(errs, field.Invalid(path.Child("containers").Index(i).Key(string(name)).Child("limits"), limit.String(),
					"must be less than or equal to pod limits of "+q.String()))
			}
		}
	}
	return errs
}
