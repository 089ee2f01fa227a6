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
	if h.APIVersion != k.apiVersion && k.later {
		return nil, nil
	}
	if h.APIVersion != k.apiVersion {
		return nil, &InvalidError{Key: h.key(k), Path: path, Errors: field.ErrorList{
			field.NotSupported(field.NewPath("apiVersion"), h.APIVersion, []string{k.apiVersion}),
		}}
	}
	return k, nil
}

func kindNames() []string { return slices.Sorted(maps.Keys(kinds)) }

var kindsByType = func() map[reflect.Type]*kind {
	m := make(map[reflect.Type]*kind, len(kinds))
	for _, k := range kinds {
		m[reflect.TypeOf(k.alloc())] = k
	}
	return m
}()

func kindOf(o typed) *kind { return kindsByType[reflect.TypeOf(o)] }
