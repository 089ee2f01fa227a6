package stored

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// highestUserPriority is the highest value of a class that is not built in (upstream
	// pkg/apis/scheduling, HighestUserDefinablePriority).
	highestUserPriority int32 = 1_000_000_000
	// systemPrefix begins the names of the built-in classes, and of no other.
	systemPrefix = "system-"
)

// SystemClasses returns the built-in classes of every cluster, sorted by name. The caller owns them
// (upstream pkg/apis/scheduling/v1/helpers.go, SystemPriorityClasses).
func SystemClasses() []*schedulingv1.PriorityClass {
	list := []*schedulingv1.PriorityClass{
		{Value: 2_000_000_000, Description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."},
		{Value: 2_000_001_000, Description: "Used for system critical pods that must not be moved from their current node."},
	}
	for i, name := range []string{"system-cluster-critical", "system-node-critical"} {
		list[i].Name, list[i].Generation = name, 1
		DefaultClass(list[i])
	}
	return list
}

// SystemClass returns the built-in class of a name; nil for any other name.
func SystemClass(name string) *schedulingv1.PriorityClass {
	if !strings.HasPrefix(name, systemPrefix) {
		return nil
	}
	for _, c := range SystemClasses() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// DefaultClass sets what an API server sets in a class that it reads (upstream
// pkg/apis/scheduling/v1/defaults.go, SetDefaults_PriorityClass).
func DefaultClass(c *schedulingv1.PriorityClass) {
	c.Kind, c.APIVersion = "PriorityClass", schedulingv1.SchemeGroupVersion.String()
	if c.PreemptionPolicy == nil {
		p := corev1.PreemptLowerPriority
		c.PreemptionPolicy = &p
	}
}

// validateClassFields judges a class as stored (upstream pkg/apis/scheduling/validation,
// ValidatePriorityClass).
func validateClassFields(c *schedulingv1.PriorityClass) (errs field.ErrorList) {
	switch {
	case strings.HasPrefix(c.Name, systemPrefix):
		if why := notSystem(c); why != "" {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
				"priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+why))
		}
	case c.Value > highestUserPriority:
		errs = append(errs, field.Forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %d", highestUserPriority)))
	}
	if c.PreemptionPolicy != nil {
		errs = append(errs, checkPreemptionPolicy(c.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
	}
	return errs
}

// notSystem returns how a class with a reserved name differs from the built-in class of that name,
// "" if it does not (upstream pkg/apis/scheduling/v1/helpers.go, IsKnownSystemPriorityClass).
func notSystem(c *schedulingv1.PriorityClass) string {
	built := SystemClass(c.Name)
	switch {
	case built == nil:
		return c.Name + " is not a known system priority class"
	case c.Value != built.Value:
		return fmt.Sprintf("value of %s PriorityClass must be %d", built.Name, built.Value)
	case c.GlobalDefault != built.GlobalDefault:
		return fmt.Sprintf("globalDefault of %s PriorityClass must be %t", built.Name, built.GlobalDefault)
	}
	return ""
}

func checkPreemptionPolicy(p *corev1.PreemptionPolicy, path *field.Path) field.ErrorList {
	switch *p {
	case corev1.PreemptLowerPriority, corev1.PreemptNever:
		return nil
	case "":
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, p, []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever})}
}
