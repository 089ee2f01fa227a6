package object

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

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

// units are the suffixes of quantities by what people write in their place, in
// lower case (apimachinery pkg/api/resource: m, k, M, Mi and so on, no B for bytes).
var units = map[string]string{
	"": "", "b": "", "byte": "", "bytes": "", "core": "", "cores": "", "cpu": "", "cpus": "",
	"k": "k or %Ki", "kb": "k or %Ki", "kib": "Ki", "ki": "Ki",
	"mb": "M or %Mi", "mib": "Mi", "mi": "Mi",
	"g": "G or %Gi", "gb": "G or %Gi", "gib": "Gi", "gi": "Gi",
	"t": "T or %Ti", "tb": "T or %Ti", "tib": "Ti", "ti": "Ti",
	"p": "P or %Pi", "pb": "P or %Pi", "pib": "Pi", "pi": "Pi",
	"millicpu": "m", "millicore": "m", "millicores": "m",
}

// quantityHint returns what a text that is no quantity most likely stands for, such as
// "did you mean 4G or 4Gi?" for 4GB; empty where nothing is near.
func quantityHint(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxQuantityBytes {
		return ""
	}
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, known := units[strings.ToLower(strings.TrimSpace(text[len(number):]))]
	number = strings.Replace(strings.TrimSpace(number), ",", ".", 1)
	if _, err := resource.ParseQuantity(number); err != nil || !known || !strings.ContainsAny(number, "0123456789") {
		return ""
	}
	return "did you mean " + number + strings.ReplaceAll(unit, "%", number) + "?"
}
