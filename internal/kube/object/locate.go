package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Misshapen lists the values of a JSON document that the type which v points to cannot hold, each
// with its place.
func Misshapen(doc []byte, v any) field.ErrorList { return locate(doc, v) }

// Misfit finds the first value of a JSON document that cannot be decoded into its place in a type,
// with the type there and the error. at is the document's own place; the path is nil where all fit.
// Decoders name neither the item of a list nor the field of a type that decodes itself.
func Misfit(doc []byte, t reflect.Type, at *field.Path) (path *field.Path, of reflect.Type, err error) {
	locateIn(doc, t, at, func(raw json.RawMessage, t reflect.Type, at *field.Path) field.ErrorList {
		if err == nil {
			if err = json.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
				path, of = at, t
			}
		}
		return nil
	})
	return path, of, err
}

// locate finds which fields of a document that encoding/json refused cannot be
// decoded into v, since its own errors don't say where a malformed quantity
// or time is. It is slow, and runs only where something is wrong.
func locate(doc []byte, v any) field.ErrorList {
	return locateIn(doc, reflect.TypeOf(v).Elem(), nil, attempt)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// leafFunc judges one value of a document by itself.
type leafFunc func(raw json.RawMessage, t reflect.Type, path *field.Path) field.ErrorList

// locateIn walks a document along a type and puts each leaf, and each value of
// the wrong shape, to leaf.
func locateIn(raw json.RawMessage, t reflect.Type, path *field.Path, leaf leafFunc) field.ErrorList {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return leaf(raw, t, path)
	}
	switch t.Kind() {
	case reflect.Struct:
		return locateStruct(raw, t, path, leaf)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return leaf(raw, t, path)
		}
		var errs field.ErrorList
		for i, item := range items {
			errs = append(errs, locateIn(item, t.Elem(), path.Index(i), leaf)...)
		}
		return errs
	case reflect.Map:
		var items map[string]json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return leaf(raw, t, path)
		}
		var errs field.ErrorList
		for _, key := range slices.Sorted(maps.Keys(items)) {
			errs = append(errs, locateIn(items[key], t.Elem(), path.Key(key), leaf)...)
		}
		return errs
	}
	return leaf(raw, t, path)
}

func locateStruct(raw json.RawMessage, t reflect.Type, path *field.Path, leaf leafFunc) field.ErrorList {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return leaf(raw, t, path)
	}
	var errs field.ErrorList
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			errs = append(errs, locateStruct(raw, f.Type, path, leaf)...)
		case name == "" || name == "-":
		default:
			if member, ok := members[name]; ok {
				errs = append(errs, locateIn(member, f.Type, path.Child(name), leaf)...)
			}
		}
	}
	return errs
}

// attempt decodes one value by itself and words what is wrong with it.
func attempt(raw json.RawMessage, t reflect.Type, path *field.Path) field.ErrorList {
	err := json.Unmarshal(raw, reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	var value any = string(raw)
	var s string
	if json.Unmarshal(raw, &s) == nil {
		value = s
	} else if raw[0] == '{' || raw[0] == '[' {
		value = "" // it may be long, and may be confidential
	}
	msg := err.Error()
	if t == quantityType {
		if hint := quantityHint(s); hint != "" {
			msg += "; " + hint
		}
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return field.ErrorList{field.TypeInvalid(path, value, "must be a "+jsonName(t))}
	}
	return field.ErrorList{field.Invalid(path, value, msg)}
}

// jsonName is what a Go type is called in JSON.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("%d-bit integer", t.Bits())
	case reflect.Slice:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	}
	return t.String()
}
