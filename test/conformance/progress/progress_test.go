package progress

import (
	"strings"
	"testing"
	"time"
)

func TestStep(t *testing.T) {
	now := time.Unix(0, 0)
	var out strings.Builder
	m := of(100, "pods", &out, func() time.Time { return now })
	for i := range 25 {
		now = now.Add(time.Second)
		m.Step(i / 15)
	}
	want := "10 of 100 pods, 0 differ, 1.0 a second\n20 of 100 pods, 1 differ, 1.0 a second\n"
	if out.String() != want {
		t.Errorf("said %q, want %q", out.String(), want)
	}
}
