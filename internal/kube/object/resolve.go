package object

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resolve finds the kept kind that a header names; nil reports that the kind
// isn't kept. A kept kind in another version is an error, since its fields
// might mean something else; one that only later releases read isn't kept then.
func (h header) resolve(path string) (*kind, error) {
	if h.Kind == "" {
		return nil, inPath(&SyntaxError{Offset: -1, Msg: "the object has no kind"}, path)
	}
	if h.APIVersion == "" {
		return nil, inPath(&SyntaxError{Offset: -1, Msg: fmt.Sprintf("the %s has no apiVersion", h.Kind)}, path)
	}
	k := kinds[h.Kind]
	if k == nil || foreign(h.APIVersion) {
		return nil, nil
	}
	version := k.at(h.APIVersion)
	if version == nil && !k.later {
		return nil, &InvalidError{Key: h.key(k), Path: path, Errors: field.ErrorList{
			field.NotSupported(field.NewPath("apiVersion"), h.APIVersion, []string{k.apiVersion}),
		}}
	}
	return version, nil
}

func kindNames() []string { return slices.Sorted(maps.Keys(kinds)) }

var kindsByType = func() map[reflect.Type]*kind {
	m := make(map[reflect.Type]*kind, len(kinds))
	for _, k := range kinds {
		for _, o := range k.older {
			m[o.goType] = o
		}
		m[k.goType] = k
	}
	return m
}()

// kindOf returns the kind of an object, in the object's own version where several have its type;
// nil where it is not kept.
func kindOf(o typed) *kind {
	k := kindsByType[reflect.TypeOf(o)]
	if k == nil || len(k.older) == 0 {
		return k
	}
	if version := k.at(o.GetObjectKind().GroupVersionKind().GroupVersion().String()); version != nil && version.goType == k.goType {
		return version
	}
	return k
}
