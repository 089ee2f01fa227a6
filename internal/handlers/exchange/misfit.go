package exchange

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// misfit finds the first value of a body that cannot be decoded into its place in a type, and why.
// Decoders name neither the item of a list nor the field of a type that decodes itself, such as a
// time. at is nil where there is none.
func misfit(at *field.Path, raw []byte, t reflect.Type) (*field.Path, reflect.Type, error) {
	if t.Kind() == reflect.Pointer {
		if IsNull(raw) {
			return nil, nil, nil
		}
		return misfit(at, raw, t.Elem())
	}
	whole := func() (*field.Path, reflect.Type, error) {
		if err := json.Unmarshal(raw, reflect.New(t).Interface()); err != nil {
			return at, t, err
		}
		return nil, nil, nil
	}
	if IsNull(raw) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return whole()
	}
	switch t.Kind() {
	case reflect.Struct:
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return at, t, err
		}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			value, there := members[name]
			into := at.Child(name)
			switch {
			case name == "" && f.Anonymous:
				value, there, into = raw, true, at
			case name == "" || name == "-":
				continue
			}
			if !there {
				continue
			}
			if bad, of, err := misfit(into, value, f.Type); err != nil {
				return bad, of, err
			}
		}
		return nil, nil, nil
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return whole()
		}
		for i, item := range items {
			if bad, of, err := misfit(at.Index(i), item, t.Elem()); err != nil {
				return bad, of, err
			}
		}
		return nil, nil, nil
	case reflect.Map:
		var entries map[string]json.RawMessage
		if json.Unmarshal(raw, &entries) != nil {
			return whole()
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if bad, of, err := misfit(at.Key(key), entries[key], t.Elem()); err != nil {
				return bad, of, err
			}
		}
		return nil, nil, nil
	}
	return whole()
}

// MisfitError words why a body cannot be decoded into what v points to, with the field at fault;
// err is what the decoder returned. at is the place of v in the body, nil for all of it.
func MisfitError(at *field.Path, raw []byte, v any, err error) error {
	bad, t, cause := misfit(at, raw, reflect.TypeOf(v))
	if cause == nil || bad == nil {
		return decodeError(err)
	}
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return BadField(http.StatusBadRequest, bad.String(), "want a time as RFC 3339 has it, such as 2026-01-31T12:00:00Z")
	}
	e, _ := errors.AsType[*Error](decodeError(cause))
	message := strings.TrimPrefix(e.Detail, "body: ")
	e.Detail = bad.String() + ": " + message
	e.Fields = []FieldError{{bad.String(), string(field.ErrorTypeTypeInvalid), message}}
	return e
}
