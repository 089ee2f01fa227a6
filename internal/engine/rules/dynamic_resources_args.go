package rules

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine/devices"
	"berth/internal/semantics"
)

// DynamicResourcesArgs is kubescheduler.config.k8s.io/v1 DynamicResourcesArgs without
// filterTimeout: the engine has no clock.
type DynamicResourcesArgs struct {
	// BindingTimeout is how long devices may take to become ready after they were
	// allocated, in nanoseconds.
	BindingTimeout time.Duration `json:"bindingTimeout"`
}

// readDynamicResourcesArgs keeps the time that devices have to become ready. The one that a search
// may take is accepted, and there is no clock to measure it by.
func readDynamicResourcesArgs(in *argsInput, a *configv1.DynamicResourcesArgs, out *Args) {
	if t := a.FilterTimeout; t != nil && t.Duration < 0 {
		in.refuse(field.Invalid(in.at.Child("filterTimeout"), t.Duration.String(), "must not be negative"))
	}
	switch t := a.BindingTimeout; {
	case t != nil && !in.under.DRADeviceBindingConditions:
		in.refuse(field.Forbidden(in.at.Child("bindingTimeout"), "needs the feature gate DRADeviceBindingConditions, which is off"))
	case t != nil && t.Duration.Seconds() < 1:
		in.refuse(field.Invalid(in.at.Child("bindingTimeout"), t.Duration.String(), "must be at least 1s"))
	}
	if t := a.BindingTimeout; t != nil {
		out.DynamicResources = &DynamicResourcesArgs{BindingTimeout: t.Duration}
	}
	if a.FilterTimeout != nil {
		in.ignore(in.at.Child("filterTimeout"), "berth has no clock to measure a search for devices by and bounds it by steps")
	}
}

// defaultBindingTimeout is upstream's
// (pkg/scheduler/apis/config DynamicResourcesBindingTimeoutDefault).
const defaultBindingTimeout = 600 * time.Second

func newDynamicResources(args *DynamicResourcesArgs, r *semantics.Release) *DynamicResources {
	d := &DynamicResources{bindingTimeout: defaultBindingTimeout, expressions: devices.NewExpressions(r.ListAttributes)}
	if args != nil {
		d.bindingTimeout = args.BindingTimeout
	}
	return d
}
