package cli

import (
	"strings"
	"testing"
)

// Every command about a pod, with its exit code, over the fixture.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"explain-scheduled", exitYes, []string{"explain", "shop/small"}},
		{"explain-pending", exitNo, []string{"explain", "pod/huge", "-n", "shop"}},
		{"explain-pending-wide", exitNo, []string{"explain", "shop/huge", "-o", "wide"}},
		{"explain-gated", exitNo, []string{"explain", "shop/gated"}},
		{"explain-preempting", exitNo, []string{"explain", "shop/checkout"}},
		{"explain-spread", exitNo, []string{"explain", "shop/web-4"}},
		{"explain-bound", exitYes, []string{"explain", "shop/web-1"}},
		{"explain-node-rejected", exitNo, []string{"explain", "shop/huge", "--node", "n-a1"}},
		{"explain-node-fits", exitYes, []string{"explain", "shop/small", "--node", "n-b3"}},
		{"explain-node-chosen", exitYes, []string{"explain", "shop/small", "--node", "n-c2"}},
		{"explain-all", exitYes, []string{"explain", "shop/small", "--all"}},
		{"pending", exitNo, []string{"pending", "-A"}},
		{"pending-wide", exitNo, []string{"pending", "-n", "shop", "-o", "wide"}},
		{"pending-elsewhere", exitYes, []string{"pending"}},
		{"victims-preempting", exitYes, []string{"victims", "shop/checkout"}},
		{"victims-never", exitNo, []string{"victims", "shop/huge"}},
		{"victims-room", exitYes, []string{"victims", "shop/small"}},
		{"victims-gated", exitNo, []string{"victims", "shop/gated"}},
		{"spread-room", exitYes, []string{"spread", "shop/web-4"}},
		{"spread-blocked", exitNo, []string{"spread", "shop/apart"}},
		{"spread-none", exitYes, []string{"spread", "shop/small"}},
		{"spread-gated", exitYes, []string{"spread", "shop/gated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := snapshot().run(t, c.args...)
			if r.code != c.code || r.err != "" {
				t.Errorf("code %d, stderr %q", r.code, r.err)
			}
			golden(t, c.name, r.out)
			if !strings.HasSuffix(c.name, "-wide") {
				within(t, standardWidth, r.out)
			}
		})
	}
}
