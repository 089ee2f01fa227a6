package object

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// BoundQuantities finds quantities in a JSON document of the type that v points
// to which would cost too much to parse: for decoders other than this package's
// own, which calls it itself.
func BoundQuantities(doc []byte, v any) field.ErrorList {
	if !mayBomb(doc) {
		return nil
	}
	return locateIn(doc, reflect.TypeOf(v).Elem(), nil, boundQuantity)
}

// QuantityHints finds the quantities that keep a JSON document from being decoded
// into the type that v points to, and describes what they most likely stand for.
func QuantityHints(doc []byte, v any) field.ErrorList {
	return locateIn(doc, reflect.TypeOf(v).Elem(), nil, func(raw json.RawMessage, t reflect.Type, path *field.Path) field.ErrorList {
		if t != quantityType {
			return nil
		}
		return attempt(raw, t, path)
	})
}
