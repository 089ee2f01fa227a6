package apiserver

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/storage"
)

// An API server bounds these by the size of a request alone.
const (
	// mostCompared is how many entries a list may have of which upstream compares each with all
	// others: the spread constraints of a pod, the uses of claims of a container, the topologies
	// of a StorageClass, the drivers of a CSINode.
	mostCompared = 1000
	// mostExpressions is how many bytes the CEL expressions of an object may have together.
	// Upstream compiles each, at 5 us a byte.
	mostExpressions = 64 << 10
)

// checkCompared bounds a list whose entries upstream compares.
func checkCompared(n int, at *field.Path) field.ErrorList {
	if n <= mostCompared {
		return nil
	}
	return field.ErrorList{field.TooMany(at, n, mostCompared)}
}

// checkAmounts bounds a pod, or a template of pods.
func checkAmounts(s *core.PodSpec, spec *field.Path) field.ErrorList {
	errs := checkCompared(len(s.TopologySpreadConstraints), spec.Child("topologySpreadConstraints"))
	claims := func(list []core.Container, at *field.Path) {
		for i := range list {
			errs = append(errs, checkCompared(len(list[i].Resources.Claims),
				at.Index(i).Child("resources", "claims"))...)
		}
	}
	claims(s.Containers, spec.Child("containers"))
	claims(s.InitContainers, spec.Child("initContainers"))
	return inOrder(errs)
}

// checkTemplate is checkAmounts of a template; nil passes.
func checkTemplate(t *core.PodTemplateSpec, spec *field.Path) field.ErrorList {
	if t == nil {
		return nil
	}
	return checkAmounts(&t.Spec, spec.Child("template", "spec"))
}

func checkTopologies(c *storage.StorageClass) field.ErrorList {
	return checkCompared(len(c.AllowedTopologies), field.NewPath("allowedTopologies"))
}

func checkDrivers(n *storage.CSINode) field.ErrorList {
	return checkCompared(len(n.Spec.Drivers), field.NewPath("spec", "drivers"))
}

func checkClaim(c *resource.ResourceClaim) field.ErrorList {
	return checkRequests(&c.Spec, field.NewPath("spec", "devices", "requests"))
}

func checkClaimTemplate(t *resource.ResourceClaimTemplate) field.ErrorList {
	return checkRequests(&t.Spec.Spec, field.NewPath("spec", "spec", "devices", "requests"))
}

func checkRequests(s *resource.ResourceClaimSpec, at *field.Path) field.ErrorList {
	n := 0
	for _, r := range s.Devices.Requests {
		if r.Exactly != nil {
			n += expressions(r.Exactly.Selectors)
		}
		for _, sub := range r.FirstAvailable {
			n += expressions(sub.Selectors)
		}
	}
	return tooLong(n, at)
}

func checkDeviceClass(c *resource.DeviceClass) field.ErrorList {
	return tooLong(expressions(c.Spec.Selectors), field.NewPath("spec", "selectors"))
}

// expressions returns the bytes of the expressions of selectors.
func expressions(list []resource.DeviceSelector) (n int) {
	for _, s := range list {
		if s.CEL != nil {
			n += len(s.CEL.Expression)
		}
	}
	return n
}

func tooLong(n int, at *field.Path) field.ErrorList {
	if n <= mostExpressions {
		return nil
	}
	return field.ErrorList{field.TooLong(at, "", mostExpressions)}
}
