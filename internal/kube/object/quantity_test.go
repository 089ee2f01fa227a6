package object

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A dozen bytes must not cost a billion digits.
func TestQuantityBombs(t *testing.T) {
	for _, q := range []string{`"1e999999999"`, `"1e-999999999"`, `1E-99999999`, `"1\u0065-999999999"`, `"123456789012345678901234567890123456789012345678901234567890123456789012345"`} {
		_, _, err := readAll(fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"example.com/x":%s}}}`, q), JSON, Limits{})
		var invalid *InvalidError
		if !errors.As(err, &invalid) || invalid.Errors[0].Field != "status.capacity[example.com/x]" {
			t.Errorf("%s: %v", q, err)
		}
	}
	for _, q := range []string{`"1e3"`, `"12E"`, `"0.0000000001"`, `"1e300"`, `"123456789012345678901234567890"`, `"-0"`, `"1.5Gi"`, `0.5`} {
		objs := mustRead(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":%s}}}`, q), JSON)
		checkFixedPoint(t, objs)
	}
}

// TestNoQuantityInWord: what the quick look passes behind a letter or digit is no quantity, and
// parsing ends before its exponent. UIDs have such halves.
func TestNoQuantityInWord(t *testing.T) {
	const bomb = "1e999999999"
	for _, before := range []string{"", "-", "+", " ", "\u00a0"} {
		if !mayBomb([]byte(`{"x":"` + before + bomb + `"}`)) {
			t.Errorf("%q is passed", before+bomb)
		}
	}
	for c := byte('0'); c <= 'z'; c++ {
		for _, before := range []string{string(c), string(c) + "-", "1" + string(c), "1" + string(c) + "-"} {
			if mayBomb([]byte(`{"x":"` + before + bomb + `"}`)) {
				continue
			}
			if q, err := resource.ParseQuantity(before + bomb); err == nil {
				t.Errorf("%q is %v", before+bomb, q.AsDec())
			}
		}
	}
	if mayBomb([]byte(`{"uid":"8c061b25-709d-45ea-3e21-405afae750c2"}`)) {
		t.Error("a UID is looked at closely")
	}
}
