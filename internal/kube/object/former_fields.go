package object

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// formerFields are fields that an earlier release's types have and those of go.mod's k8s.io/api do
// not, by the type that had them. All were alpha. An API server of the other release accepts them,
// so they are no unknown fields, and nothing of them is kept: their gates are off by default, where
// an API server leaves them out as well.
var formerFields = map[reflect.Type][]string{
	reflect.TypeFor[corev1.PodSpec]():                            {"workloadRef"},                     // v1.35
	reflect.TypeFor[corev1.NodeAllocatableResourceClaimStatus](): {"resources"},                       // v1.36
	reflect.TypeFor[resourcev1.Device]():                         {"nodeAllocatableResourceMappings"}, // v1.36
}
