package object

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/jsonscan"
	"berth/internal/kube/object/stored"
	"berth/internal/words"
)

// Decode makes an Object from one JSON object of any kept kind. A kind that
// isn't kept is an InvalidError that names it.
func Decode(raw []byte, lim Limits) (Object, error) {
	if err := checkObject(raw, lim); err != nil {
		return Object{}, err
	}
	h, err := readHeader(raw)
	if err != nil {
		return Object{}, err
	}
	k, err := h.resolve("")
	if err != nil {
		return Object{}, err
	}
	if k == nil {
		return Object{}, &InvalidError{
			Key:    Key{Kind: h.Kind, Namespace: h.Metadata.Namespace, Name: h.Metadata.Name},
			Errors: field.ErrorList{field.NotSupported(field.NewPath("kind"), h.Kind, kindNames())},
		}
	}
	var scratch []byte
	return build(k, raw, nowhere, &scratch, lim.Counts)
}

// DecodePod makes a pod from a request's JSON, in which kind and apiVersion may
// be absent. The name must be there: a decision is about a pod that exists or
// is to exist under that name.
func DecodePod(raw []byte, lim Limits) (*corev1.Pod, error) {
	return decodeValue[*corev1.Pod](raw, lim, kinds["Pod"])
}

// DecodeScheduledPod is DecodePod for a pod that a scheduler asks about, which may
// have no containers: who speaks the extender's protocol without an apiserver behind
// it, such as tests and simulators, sends "containers": null.
func DecodeScheduledPod(raw []byte, lim Limits) (*corev1.Pod, error) {
	return decodeValue[*corev1.Pod](raw, lim, podOfScheduler)
}

// podOfScheduler is the kind Pod that needs no containers.
var podOfScheduler = func() *kind {
	k := *kinds["Pod"]
	k.validate = func(o runtime.Object) field.ErrorList {
		return slices.DeleteFunc(stored.Validate(o), func(e *field.Error) bool {
			return e.Type == field.ErrorTypeRequired && e.Field == "spec.containers"
		})
	}
	return &k
}()

// DecodeNode makes a node from a request's JSON, in which kind and apiVersion
// may be absent.
func DecodeNode(raw []byte, lim Limits) (*corev1.Node, error) {
	return decodeValue[*corev1.Node](raw, lim, kinds["Node"])
}

func decodeValue[T any](raw []byte, lim Limits, k *kind) (none T, err error) {
	o, err := decodeAs(raw, lim, k)
	if err != nil {
		return none, err
	}
	return o.Value.(T), nil
}

// decodeAs reads an object that is judged and not stored, so that one without a name may have a
// generateName (apiserver pkg/registry/rest/create.go, before validation).
func decodeAs(raw []byte, lim Limits, k *kind) (Object, error) {
	if err := checkObject(raw, lim); err != nil {
		return Object{}, err
	}
	return decodeChecked(raw, lim, k)
}

func decodeChecked(raw []byte, lim Limits, k *kind) (Object, error) {
	h, err := readHeader(raw)
	if err != nil {
		return Object{}, err
	}
	var errs field.ErrorList
	if h.Kind != "" && h.Kind != k.name {
		supported := []string{k.name}
		if k == kinds["Pod"] {
			supported = PodKinds()
		}
		wrong := field.NotSupported(field.NewPath("kind"), h.Kind, supported)
		if near, ok := words.Nearest(h.Kind, supported); ok && kinds[h.Kind] == nil {
			wrong.Detail = "did you mean " + near + "? " + wrong.Detail
		}
		errs = append(errs, wrong)
	}
	if h.APIVersion != "" && h.APIVersion != k.apiVersion {
		errs = append(errs, field.NotSupported(field.NewPath("apiVersion"), h.APIVersion, []string{k.apiVersion}))
	}
	if len(errs) > 0 {
		h.Kind = k.name
		return Object{}, &InvalidError{Key: h.key(k), Errors: errs}
	}
	if prefix := h.Metadata.GenerateName; prefix != "" && h.Metadata.Name == "" && k.name == "Pod" {
		named := *k
		named.prefix = prefix
		k = &named
	}
	var scratch []byte
	return build(k, raw, nowhere, &scratch, lim.Counts)
}

// nowhere is the place of an object that is the whole body.
func nowhere() string { return "" }

// checkObject checks that raw is one JSON object within the limits.
func checkObject(raw []byte, lim Limits) error {
	lim = lim.withDefaults()
	if len(raw) > lim.MaxObjectBytes {
		return &LimitError{Limit: limitObjectBytes, Max: int64(lim.MaxObjectBytes), What: "the size of the object"}
	}
	var s jsonscan.Scanner
	s.Reset(raw, lim.scan())
	var err error
	if s.Peek() == '{' {
		err = s.Skip()
	} else {
		err = s.Fail(wantObject)
	}
	if err == nil && !s.Ended() {
		err = s.Fail("data follows the end")
	}
	return lim.scanError(err, func() string { return "the object" })
}

// FromCanonical takes back an object that Encode or Read wrote. It trusts the
// bytes: nothing is checked or defaulted, and JSON is js itself, which the
// caller must not change afterwards.
func FromCanonical(kindName string, js []byte) (Object, error) {
	k := kinds[kindName]
	if k != nil && len(k.older) > 0 {
		h, _ := peekKind(js)
		k = k.at(h.APIVersion)
	}
	if k == nil {
		return Object{}, fmt.Errorf("decode canonical object: kind %q isn't kept", kindName)
	}
	v := k.alloc()
	errs, err := unmarshal(js, v)
	if err == nil && len(errs) > 0 {
		err = errs.ToAggregate()
	}
	if err != nil {
		return Object{}, fmt.Errorf("decode canonical %s: %w", kindName, err)
	}
	key := Key{Kind: kindName, Namespace: v.GetNamespace(), Name: v.GetName()}
	return Object{Key: key, Value: v, JSON: js}, nil
}
