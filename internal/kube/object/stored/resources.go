package stored

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkRequirements is validateResourceRequirements without claims: names, then quantities, then
// requests against limits. Resources come in order of their names.
func checkRequirements(r *corev1.ResourceRequirements, checkName func(corev1.ResourceName, *field.Path) field.ErrorList, path *field.Path) (errs field.ErrorList) {
	if len(r.Limits) == 0 && len(r.Requests) == 0 {
		return nil
	}
	limits, requests := path.Child("limits"), path.Child("requests")
	compute, huge := false, false
	quantity := func(name corev1.ResourceName, q resource.Quantity, at *field.Path) {
		errs = append(errs, checkName(name, at)...)
		errs = append(errs, validateQuantity(name, q, at)...)
		compute = compute || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		huge = huge || isHugePage(name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		quantity(name, r.Limits[name], limits.Key(string(name)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		q := r.Requests[name]
		quantity(name, q, requests.Key(string(name)))
		limit, limited := r.Limits[name]
		switch {
		case !limited && !overcommits(name):
			errs = append(errs, field.Required(limits, "Limit must be set for non overcommitable resources"))
		case limited && !overcommits(name) && q.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(requests, q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && q.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests, q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	if huge && !compute {
		errs = append(errs, field.Forbidden(path, "HugePages require cpu or memory"))
	}
	return errs
}

// validateQuantity returns what an API server refuses in an amount of a resource (upstream
// ValidateResourceQuantityValue).
func validateQuantity(name corev1.ResourceName, q resource.Quantity, at *field.Path) (errs field.ErrorList) {
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(at, q.String(), apivalidation.IsNegativeErrorMsg))
	}
	if (integerResources[name] || IsExtended(name)) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q, "must be an integer"))
	}
	return errs
}

var (
	standardResources = names("cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.ephemeral-storage",
		"limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers",
		"secrets", "configmaps", "persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers")
	integerResources = names("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
		"persistentvolumeclaims", "services.nodeports", "services.loadbalancers")
	containerResources = names("cpu", "memory", "ephemeral-storage")
)

func names(list ...corev1.ResourceName) map[corev1.ResourceName]bool {
	m := make(map[corev1.ResourceName]bool, len(list))
	for _, n := range list {
		m[n] = true
	}
	return m
}

// IsNative reports whether a resource is one of Kubernetes' own (pkg/apis/core/v1/helper
// IsNativeResource).
func IsNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// IsExtended reports whether a resource is an extended one (IsExtendedResourceName there).
func IsExtended(name corev1.ResourceName) bool {
	return !IsNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// overcommits reports whether a limit may be above its request.
func overcommits(name corev1.ResourceName) bool { return IsNative(name) && !isHugePage(name) }

// resourceName is validateResourceName.
func resourceName(name corev1.ResourceName, at *field.Path) (errs field.ErrorList) {
	for _, msg := range validation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(at, name, msg))
	}
	if len(errs) == 0 && !strings.Contains(string(name), "/") && !standardResources[name] &&
		!isHugePage(name) && !strings.HasPrefix(string(name), "requests."+corev1.ResourceHugePagesPrefix) {
		errs = append(errs, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
	}
	return errs
}

// containerResource is validateContainerResourceName.
func containerResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if containerResources[name] {
		return nil // most names; the rest costs a regular expression
	}
	errs := resourceName(name, at)
	switch {
	case !strings.Contains(string(name), "/"):
		if !isHugePage(name) {
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
		}
	case !IsNative(name) && !IsExtended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// podResource is validatePodResourceName.
func podResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := resourceName(name, at)
	if len(errs) == 0 && !OfPods(name) {
		errs = append(errs, field.NotSupported(at, name, []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory}))
	}
	return errs
}

// podResources is validatePodResources with validatePodResourceConsistency. As upstream's, the path
// of an error for a container's limit above the pod's has containers below resources.
func (k *containerCheck) podResources(path *field.Path) (errs field.ErrorList) {
	r := k.spec.Resources
	if r == nil {
		return nil
	}
	if k.spec.OS != nil && k.spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(path, "may not be set for a windows pod")}
	}
	errs = append(errs, checkRequirements(r, podResource, path)...)
	pod := &corev1.Pod{Spec: *k.spec}
	sums := ContainerRequests(pod)
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[name]
		if q, ok := r.Requests[name]; ok && sum.Cmp(q) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), q.String(), fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", sum.String())))
		}
	}
	sums = ContainerLimits(pod)
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[name]
		if q, ok := r.Limits[name]; ok && isHugePage(name) && sum.Cmp(q) > 0 {
			errs = append(errs, field.Invalid(path.Child("limits").Key(string(name)), q.String(), fmt.Sprintf("must be greater than or equal to aggregate container limits of %s", sum.String())))
		}
	}
	for i, c := range k.spec.Containers {
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			limit := c.Resources.Limits[name]
			if q, ok := r.Limits[name]; ok && limit.Cmp(q) > 0 {
				errs = append(errs, field.Invalid(path.Child("containers").Index(i).Key(string(name)).Child("limits"), limit.String(), fmt.Sprintf("must be less than or equal to pod limits of %s", q.String())))
			}
		}
	}
	return errs
}

// checkClaimUses is validateResourceClaimNames.
func checkClaimUses(list []corev1.ResourceClaim, known map[string]bool, path *field.Path) (errs field.ErrorList) {
	if len(list) == 0 {
		return nil
	}
	seen, parts := map[string]bool{}, map[string]int{} // parts counts the requests of a claim
	for i, c := range list {
		at := path.Index(i)
		if c.Name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		if seen[c.Name] { // all its requests
			errs = append(errs, field.Duplicate(at, c.Name))
		} else {
			key := c.Name
			if c.Request != "" {
				errs = append(errs, checkLabel(c.Request, at.Child("request"))...)
				key += "/" + c.Request
			}
			if seen[key] {
				errs = append(errs, field.Duplicate(at, key))
			} else if c.Request == "" {
				for range parts[c.Name] {
					errs = append(errs, field.Duplicate(at, c.Name))
				}
			}
			if c.Request != "" && !seen[key] {
				name, _, _ := strings.Cut(key, "/")
				parts[name]++
			}
			seen[key] = true
		}
		if !known[c.Name] {
			e := field.NotFound(at, c.Name)
			e.Detail = "must be one of the names in pod.spec.resourceClaims"
			if len(known) == 0 {
				e.Detail += " which is empty"
			} else {
				e.Detail += ": " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
			}
			errs = append(errs, e)
		}
	}
	return errs
}
