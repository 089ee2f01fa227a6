package stored

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateService(s *corev1.Service) field.ErrorList {
	return metavalidation.ValidateLabels(s.Spec.Selector, field.NewPath("spec", "selector"))
}

func validatePDB(b *policyv1.PodDisruptionBudget) (errs field.ErrorList) {
	errs = checkSelector(b.Spec.Selector, field.NewPath("spec", "selector"))
	status := field.NewPath("status")
	errs = append(errs, checkNotNegative(int64(b.Status.DisruptionsAllowed), status.Child("disruptionsAllowed"))...)
	for name, t := range b.Status.DisruptedPods {
		errs = append(errs, checkTime(&t, status.Child("disruptedPods").Key(name))...)
	}
	sortErrors(errs)
	return errs
}

func validatePV(v *corev1.PersistentVolume) field.ErrorList {
	spec := field.NewPath("spec")
	errs := checkQuantities(v.Spec.Capacity, spec.Child("capacity").Key)
	if a := v.Spec.NodeAffinity; a != nil {
		errs = append(errs, validateNodeSelector(a.Required, spec.Child("nodeAffinity", "required"))...)
	}
	return errs
}

func validatePVC(c *corev1.PersistentVolumeClaim) field.ErrorList {
	spec := field.NewPath("spec")
	errs := checkSelector(c.Spec.Selector, spec.Child("selector"))
	return append(errs, checkQuantities(c.Spec.Resources.Requests, spec.Child("resources", "requests").Key)...)
}

func validateStorageClass(c *storagev1.StorageClass) (errs field.ErrorList) {
	if c.Provisioner == "" {
		errs = append(errs, field.Required(field.NewPath("provisioner"), ""))
	}
	errs = append(errs, checkOptionalEnum(*c.VolumeBindingMode, field.NewPath("volumeBindingMode"), storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
	for i, t := range c.AllowedTopologies {
		for j, r := range t.MatchLabelExpressions {
			at := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j)
			errs = append(errs, checkKey(r.Key, at.Child("key"))...)
			if len(r.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), ""))
			}
		}
	}
	return errs
}

func validateCSINode(n *storagev1.CSINode) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, d := range n.Spec.Drivers {
		at := field.NewPath("spec", "drivers").Index(i)
		if d.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if seen[d.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), d.Name))
		}
		seen[d.Name] = true
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			errs = append(errs, checkNotNegative(int64(*d.Allocatable.Count), at.Child("allocatable", "count"))...)
		}
	}
	return errs
}

func validateCSICapacity(c *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := checkSelector(c.NodeTopology, field.NewPath("nodeTopology"))
	if c.StorageClassName == "" {
		errs = append(errs, field.Required(field.NewPath("storageClassName"), ""))
	}
	for name, q := range map[string]*resource.Quantity{"capacity": c.Capacity, "maximumVolumeSize": c.MaximumVolumeSize} {
		if q != nil && q.Sign() < 0 {
			errs = append(errs, field.Invalid(field.NewPath(name), q.String(), apivalidation.IsNegativeErrorMsg))
		}
	}
	sortErrors(errs)
	return errs
}

// validateAttachment leaves the source aside, of which only a PersistentVolume's
// name is kept.
func validateAttachment(a *storagev1.VolumeAttachment) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	if a.Spec.Attacher == "" {
		errs = append(errs, field.Required(spec.Child("attacher"), ""))
	}
	if a.Spec.NodeName == "" {
		errs = append(errs, field.Required(spec.Child("nodeName"), ""))
	}
	return errs
}

func validateClaim(c *resourcev1.ResourceClaim) field.ErrorList {
	errs := checkDevices(&c.Spec.Devices, field.NewPath("spec", "devices"))
	if a := c.Status.Allocation; a != nil {
		at := field.NewPath("status", "allocation")
		errs = append(errs, validateNodeSelector(a.NodeSelector, at.Child("nodeSelector"))...)
		errs = append(errs, checkTime(a.AllocationTimestamp, at.Child("allocationTimestamp"))...)
	}
	for i, d := range c.Status.Devices {
		for j := range d.Conditions {
			errs = append(errs, checkTime(&d.Conditions[j].LastTransitionTime, field.NewPath("status", "devices").Index(i).Child("conditions").Index(j).Child("lastTransitionTime"))...)
		}
	}
	return errs
}

func validateClaimTemplate(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
	return checkDevices(&t.Spec.Spec.Devices, field.NewPath("spec", "spec", "devices"))
}

func checkDevices(c *resourcev1.DeviceClaim, path *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, r := range c.Requests {
		at := path.Child("requests").Index(i)
		if r.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if seen[r.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), r.Name))
		}
		seen[r.Name] = true
		if r.Exactly != nil {
			errs = append(errs, checkNotNegative(r.Exactly.Count, at.Child("exactly", "count"))...)
		}
	}
	return errs
}

func validateSlice(s *resourcev1.ResourceSlice) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateNodeSelector(s.Spec.NodeSelector, spec.Child("nodeSelector"))
	if s.Spec.Driver == "" {
		errs = append(errs, field.Required(spec.Child("driver"), ""))
	}
	for i, d := range s.Spec.Devices {
		at := spec.Child("devices").Index(i)
		errs = append(errs, validateNodeSelector(d.NodeSelector, at.Child("nodeSelector"))...)
		for j := range d.Taints {
			errs = append(errs, checkTime(d.Taints[j].TimeAdded, at.Child("taints").Index(j).Child("timeAdded"))...)
		}
	}
	return errs
}
