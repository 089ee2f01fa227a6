package rules

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// VolumeBindingArgs is kubescheduler.config.k8s.io/v1 VolumeBindingArgs without bindTimeoutSeconds:
// no decision waits.
type VolumeBindingArgs struct {
	Shape []ShapePoint `json:"shape"`
}

// emptyStorageFirst is the shape by default: the more of a volume or pool the claims take, the
// lower the score (apis/config/v1/defaults.go SetDefaults_VolumeBindingArgs).
var emptyStorageFirst = []ShapePoint{{0, 10}, {100, 0}}

// readVolumeBindingArgs keeps the shape where StorageCapacityScoring is on, and refuses it where
// the gate is off, as upstream does (apis/config/validation/validation_pluginargs.go
// ValidateVolumeBindingArgs).
func readVolumeBindingArgs(in *argsInput, a *configv1.VolumeBindingArgs, out *Args) {
	const why = "says how long kube-scheduler waits for volumes to be bound; berth waits for none"
	timeout, shape := in.at.Child("bindTimeoutSeconds"), in.at.Child("shape")
	if t := a.BindTimeoutSeconds; t != nil && *t < 0 {
		in.refuse(field.Invalid(timeout, *t, "must not be negative"))
	}
	switch {
	case !in.under.StorageCapacityScoring && a.Shape != nil:
		in.refuse(field.Forbidden(shape, "needs the feature gate StorageCapacityScoring, which is off"))
	case len(a.Shape) > 0:
		out.VolumeBinding = &VolumeBindingArgs{Shape: in.shape(shape, a.Shape)}
		if a.BindTimeoutSeconds != nil {
			in.ignore(timeout, why)
		}
		return
	}
	in.ignore(in.at, why)
}
