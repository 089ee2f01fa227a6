package kubeobj

import (
	"errors"
	"fmt"
	"testing"
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
