package apiserver

import (
	"bytes"
	"regexp"
	_ "time/tzdata" // CronJobs name time zones, and the image has no files of them

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"berth/internal/kube/object"
	"berth/internal/kube/object/stored"
)

// Validate returns what an API server refuses in an object of a kind other than Pod that is to be
// created, read of its manifest, beyond what every object is held to when it is read. Kinds of
// which API servers of v1.37 know no version by default pass.
func Validate(o object.Object, manifest []byte) field.ErrorList {
	k := kinds[o.Key.Kind]
	if k == nil {
		return nil
	}
	x, errs := k.read(o, manifest)
	if len(errs) == 0 {
		errs = k.validate(x)
	}
	return inOrder(errs)
}

// ValidateUpdate returns what an API server refuses in an object of a kind other than Pod that is
// to replace another of its kind and name. The other has only the fields that are kept, and may be
// of a snapshot, which is taken as it is: faults that both have do not count, and what changed is
// judged by the kept fields of both.
func ValidateUpdate(now object.Object, manifest []byte, old object.Object) field.ErrorList {
	k := kinds[now.Key.Kind]
	if k == nil {
		return nil
	}
	whole, errs := k.read(now, manifest)
	if len(errs) > 0 {
		return errs
	}
	kept, errs := k.read(now, now.JSON)
	if len(errs) > 0 {
		return errs
	}
	was, errs := k.read(old, old.JSON)
	if len(errs) > 0 { // it has more of something than is judged
		return inOrder(k.validate(whole))
	}
	if errs = k.validate(whole); len(errs) > 0 {
		errs = without(errs, k.validate(was))
	}
	switch {
	case bytes.Equal(now.JSON, old.JSON):
	case showsChange[now.Key.Kind] && len(now.JSON)+len(old.JSON) > stored.LargestDiff:
		errs = append(errs, field.TooLong(field.NewPath("spec"), "", stored.LargestDiff))
	default:
		if changed := k.validateUpdate(kept, was); len(changed) > 0 {
			errs = append(errs, without(changed, k.validateUpdate(kept, kept))...)
		}
	}
	return inOrder(errs)
}

// showsChange has the kinds of which upstream's message shows how the specs differ.
var showsChange = map[string]bool{"PersistentVolume": true, "PersistentVolumeClaim": true}

// inList matches the places in lists that a path has.
var inList = regexp.MustCompile(`\[\d+\]`)

// without returns the errors that others do not hold, whatever the values and the places in lists:
// where an element is put in, the rest of its list moves.
func without(errs, others field.ErrorList) (left field.ErrorList) {
	type fault struct {
		is            field.ErrorType
		field, detail string
	}
	of := func(e *field.Error) fault {
		return fault{e.Type, inList.ReplaceAllString(e.Field, ""), e.Detail}
	}
	known := make(map[fault]bool, len(others))
	for _, e := range others {
		known[of(e)] = true
	}
	for _, e := range errs {
		if !known[of(e)] {
			left = append(left, e)
		}
	}
	return left
}

// judge is what an API server does with the objects of one kind. What read returns is of upstream's
// internal type, which the rest takes.
type judge interface {
	read(o object.Object, js []byte) (any, field.ErrorList)
	validate(x any) field.ErrorList
	validateUpdate(now, old any) field.ErrorList
}

// kind is the judge of a kind by the functions of upstream.
type kind[V, I any] struct {
	setDefaults func(*V) // nil: there are none
	convert     func(*V, *I, conversion.Scope) error
	prepare     func(*I) field.ErrorList // sets what rules need, and bounds amounts; may be nil
	create      func(*I) field.ErrorList
	update      func(now, old *I) field.ErrorList
}

// of returns the judge of a kind with nothing to prepare.
func of[V, I any](setDefaults func(*V), convert func(*V, *I, conversion.Scope) error,
	create func(*I) field.ErrorList, update func(now, old *I) field.ErrorList,
) judge {
	return prepared(setDefaults, convert, nil, create, update)
}

func prepared[V, I any](setDefaults func(*V), convert func(*V, *I, conversion.Scope) error,
	prepare, create func(*I) field.ErrorList, update func(now, old *I) field.ErrorList,
) judge {
	return &kind[V, I]{setDefaults, convert, prepare, create, update}
}

// read decodes an object's manifest, or its kept fields, sets defaults and converts it. The
// manifest may lack what reading an object sets: its namespace and a UID.
func (k *kind[V, I]) read(o object.Object, js []byte) (any, field.ErrorList) {
	v, in := new(V), new(I)
	if errs := object.BoundQuantities(js, v); len(errs) > 0 {
		return nil, errs
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(js, v); err != nil {
		if errs := object.Misshapen(js, v); len(errs) > 0 {
			return nil, errs
		}
		return nil, unreadable(err)
	}
	meta := any(v).(metav1.Object)
	meta.SetNamespace(o.Key.Namespace)
	meta.SetUID(o.Value.(metav1.Object).GetUID())
	meta.SetResourceVersion("0") // which a ledger has not, and an update needs
	if k.setDefaults != nil {
		k.setDefaults(v)
	}
	if err := k.convert(v, in, nil); err != nil { // such as an annotation that is a number elsewhere
		return nil, unreadable(err)
	}
	if k.prepare == nil {
		return in, nil
	}
	return in, k.prepare(in)
}

func unreadable(err error) field.ErrorList {
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), field.OmitValueType{}, err.Error())}
}

func (k *kind[V, I]) validate(x any) field.ErrorList { return k.create(x.(*I)) }

// validateUpdate leaves aside that an object begins to end, for which a ledger has no other call.
func (k *kind[V, I]) validateUpdate(now, old any) field.ErrorList {
	from, to := old.(metav1.Object), now.(metav1.Object)
	from.SetDeletionTimestamp(to.GetDeletionTimestamp())
	from.SetDeletionGracePeriodSeconds(to.GetDeletionGracePeriodSeconds())
	return k.update(now.(*I), old.(*I))
}
