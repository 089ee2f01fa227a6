package object

import (
	"bytes"
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What a quantity may be at most before it is parsed. Parsing 1e-999999999
// computes a number of a billion digits, which is a bomb of twelve bytes; no
// resource needs an exponent of four digits.
const (
	maxQuantityBytes  = 64
	maxExponentDigits = 3
)

var quantityType = reflect.TypeFor[resource.Quantity]()

// unmarshal decodes a pruned document, but for quantities that would cost too
// much: these are errs.
func unmarshal(doc []byte, v any) (errs field.ErrorList, err error) {
	if mayBomb(doc) {
		if errs := locateIn(doc, reflect.TypeOf(v).Elem(), nil, boundQuantity); len(errs) > 0 {
			return errs, nil
		}
	}
	return nil, json.Unmarshal(doc, v)
}

// mayBomb is a quick look for anything that could be an oversized quantity. It
// is wrong about some UIDs and never about quantities.
func mayBomb(doc []byte) bool {
	digits := 0
	for i, c := range doc {
		switch {
		case isDigit(c) || c == '.':
			if digits++; digits > maxQuantityBytes-8 {
				return true
			}
			continue
		case (c == 'e' || c == 'E') && digits > 0 && longExponent(doc[i+1:]) && !inWord(doc[:i-digits]):
			return true
		case c == '\\':
			return true // an escape may hide any of this
		}
		digits = 0
	}
	return false
}

// inWord reports whether what follows a text is no quantity, which begins with a sign or a digit,
// but goes on with a word, as in the second half of most UIDs.
func inWord(before []byte) bool {
	before = bytes.TrimSuffix(before, []byte{'-'})
	if len(before) == 0 {
		return false
	}
	c := before[len(before)-1]
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// longExponent reports whether an exponent has more digits than is allowed.
func longExponent(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n > maxExponentDigits
}

// boundQuantity refuses a quantity by its text alone, and passes everything
// else.
func boundQuantity(raw json.RawMessage, t reflect.Type, path *field.Path) field.ErrorList {
	if t != quantityType {
		return nil
	}
	text := string(raw)
	var s string
	if json.Unmarshal(raw, &s) == nil {
		text = s
	}
	e := bytes.IndexAny([]byte(text), "eE")
	if len(text) <= maxQuantityBytes && (e < 0 || !longExponent([]byte(text[e+1:]))) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, "", "quantity is out of range")}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
