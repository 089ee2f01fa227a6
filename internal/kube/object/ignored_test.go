package object

import (
	"fmt"
	"strings"
	"testing"
)

func TestIgnoredKindsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}},{"apiVersion":"x/v1","kind":"` + strings.Repeat("K", 5000) + `"}`)
	const kinds = 5000
	for i := range kinds {
		fmt.Fprintf(&b, `,{"apiVersion":"x/v1","kind":"K%d"}`, i)
	}
	b.WriteString(`]}`)
	ignored, err := Read(strings.NewReader(b.String()), JSON, Limits{}, func(Object) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	total, long := 0, 0
	for name, n := range ignored {
		total += n
		long = max(long, len(name))
	}
	if total != kinds+1 || len(ignored) > maxIgnoredKinds+1 || long > maxKindName {
		t.Errorf("%d objects of %d kinds, the longest name has %d bytes", total, len(ignored), long)
	}
}
