package objects

import (
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
