package object

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// createdDeviceClaim is validateDeviceClaim.
func createdDeviceClaim(c *resourcev1.DeviceClaim, path *field.Path) field.ErrorList {
	errs := checkMax(len(c.Requests), resourcev1.DeviceRequestsMaxSize, path.Child("requests"))
	known := map[string]bool{} // of what a constraint may name
	for i, r := range c.Requests {
		at := path.Child("requests").Index(i)
		known[r.Name] = true
		errs = append(errs, checkLabel(r.Name, at.Child("name"))...)
		switch {
		case r.Exactly == nil && len(r.FirstAvailable) == 0:
			errs = append(errs, field.Required(at, "exactly one of `exactly` or `firstAvailable` is required"))
		case r.Exactly != nil && len(r.FirstAvailable) > 0:
			errs = append(errs, field.Invalid(at, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"))
		case r.Exactly != nil:
			e := r.Exactly
			errs = append(errs, checkDeviceRequest(e.DeviceClassName, e.Selectors, e.AllocationMode, e.Count, at.Child("exactly"))...)
		}
		errs = append(errs, checkMax(len(r.FirstAvailable), resourcev1.FirstAvailableDeviceRequestMaxSize, at.Child("firstAvailable"))...)
		for j, s := range r.FirstAvailable {
			sub := at.Child("firstAvailable").Index(j)
			errs = append(errs, checkLabel(s.Name, sub.Child("name"))...)
			if known[r.Name+"/"+s.Name] {
				errs = append(errs, field.Duplicate(sub, s.Name))
			}
			known[r.Name+"/"+s.Name] = true
			errs = append(errs, checkDeviceRequest(s.DeviceClassName, s.Selectors, s.AllocationMode, s.Count, sub)...)
		}
	}
	errs = append(errs, checkMax(len(c.Constraints), resourcev1.DeviceConstraintsMaxSize, path.Child("constraints"))...)
	for i, k := range c.Constraints {
		at := path.Child("constraints").Index(i)
		errs = append(errs, checkUnique(k.Requests, at.Child("requests"))...)
		for j, name := range k.Requests {
			if !known[name] {
				errs = append(errs, field.Invalid(at.Child("requests").Index(j), name, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"))
			}
		}
		if k.MatchAttribute == nil && k.DistinctAttribute == nil {
			errs = append(errs, field.Required(at, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
		}
	}
	return errs
}

func checkMax(n, most int, at *field.Path) field.ErrorList {
	if n <= most {
		return nil
	}
	return field.ErrorList{field.TooMany(at, n, most)}
}

// checkDeviceRequest is what validateExactDeviceRequest and validateDeviceSubRequest share.
func checkDeviceRequest(class string, selectors []resourcev1.DeviceSelector, mode resourcev1.DeviceAllocationMode, count int64, path *field.Path) (errs field.ErrorList) {
	if class == "" {
		errs = append(errs, field.Required(path.Child("deviceClassName"), ""))
	} else {
		errs = append(errs, checkDNSName(class, path.Child("deviceClassName"))...)
	}
	errs = append(errs, checkDeviceSelectors(selectors, path.Child("selectors"))...)
	switch {
	case mode == resourcev1.DeviceAllocationModeAll && count != 0:
		errs = append(errs, field.Invalid(path.Child("count"), count, "must not be specified when allocationMode is 'All'"))
	case mode == resourcev1.DeviceAllocationModeExactCount && count <= 0:
		errs = append(errs, field.Invalid(path.Child("count"), count, "must be greater than zero"))
	}
	return append(errs, checkEnum(mode, path.Child("allocationMode"), resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount)...)
}

func checkDeviceSelectors(list []resourcev1.DeviceSelector, path *field.Path) field.ErrorList {
	errs := checkMax(len(list), resourcev1.DeviceSelectorsMaxSize, path)
	for i, s := range list {
		switch at := path.Index(i).Child("cel"); {
		case s.CEL == nil:
			errs = append(errs, field.Required(at, ""))
		case len(s.CEL.Expression) > resourcev1.CELSelectorExpressionMaxLength:
			errs = append(errs, field.TooLong(at.Child("expression"), "", resourcev1.CELSelectorExpressionMaxLength))
		}
	}
	return errs
}

// createdDeviceClass is validateDeviceClassSpec.
func createdDeviceClass(s *resourcev1.DeviceClassSpec, path *field.Path) field.ErrorList {
	errs := checkDeviceSelectors(s.Selectors, path.Child("selectors"))
	if name := s.ExtendedResourceName; name != nil && !isExtended(corev1.ResourceName(*name)) {
		errs = append(errs, field.Invalid(path.Child("extendedResourceName"), *name, "must be a valid extended resource name"))
	}
	return errs
}

// createdSlice is validateResourceSliceSpec.
func createdSlice(s *resourcev1.ResourceSliceSpec, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, checkName(s.Driver, isDriverName, path.Child("driver"))...)
	pool := path.Child("pool")
	if s.Pool.Name == "" {
		errs = append(errs, field.Required(pool.Child("name"), ""))
	}
	errs = append(errs, checkPositive(s.Pool.ResourceSliceCount, pool.Child("resourceSliceCount"))...)
	errs = append(errs, checkNotNegative(s.Pool.Generation, pool.Child("generation"))...)
	switch set := setFields(s.NodeName, s.NodeSelector != nil, s.AllNodes, s.PerDeviceNodeSelection); len(set) {
	case 0:
		errs = append(errs, field.Required(path, "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"))
	case 1:
	default:
		errs = append(errs, field.Invalid(path, fmt.Sprintf("{%s}", strings.Join(set, ", ")), "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set"))
	}
	if s.SharedCounters != nil && s.Devices != nil {
		errs = append(errs, field.Invalid(path, "", "only one of `sharedCounters` or `devices` is allowed"))
	}
	errs = append(errs, checkMax(len(s.Devices), resourcev1.ResourceSliceMaxDevices, path.Child("devices"))...)
	seen, each := map[string]bool{}, s.PerDeviceNodeSelection != nil && *s.PerDeviceNodeSelection
	for i, d := range s.Devices {
		at := path.Child("devices").Index(i)
		if seen[d.Name] {
			errs = append(errs, field.Duplicate(at, d.Name))
		}
		seen[d.Name] = true
		errs = append(errs, checkLabel(d.Name, at.Child("name"))...)
		switch n := len(setFields(d.NodeName, d.NodeSelector != nil, d.AllNodes, nil)); {
		case each && n == 0:
			errs = append(errs, field.Required(at, "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"))
		case each && n > 1:
			errs = append(errs, field.Invalid(at, nil, "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"))
		case !each && (d.NodeName != nil || d.NodeSelector != nil || d.AllNodes != nil):
			errs = append(errs, field.Invalid(at, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"))
		}
		for j, t := range d.Taints {
			effect := at.Child("taints").Index(j).Child("effect")
			errs = append(errs, checkRequiredEnum(t.Effect, effect, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone)...)
		}
	}
	return errs
}

// setFields returns which of the fields are set that say to what nodes devices belong.
func setFields(node *string, selector bool, all, each *bool) (set []string) {
	if node != nil && *node != "" {
		set = append(set, "`nodeName`")
	}
	if selector {
		set = append(set, "`nodeSelector`")
	}
	if all != nil && *all {
		set = append(set, "`allNodes`")
	}
	if each != nil && *each {
		set = append(set, "`perDeviceNodeSelection`")
	}
	return set
}
