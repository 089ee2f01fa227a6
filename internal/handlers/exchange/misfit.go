package exchange

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object"
)

// MisfitError words why a body cannot be decoded into what v points to, with the field at fault;
// err is what the decoder returned. at is the place of v in the body, nil for all of it.
func MisfitError(at *field.Path, raw []byte, v any, err error) error {
	bad, t, cause := object.Misfit(raw, reflect.TypeOf(v), at)
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
