package cli

import (
	"strings"
	"testing"
)

// How pods end, by every cause.
func TestGoldenEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"termination-delete", exitYes, []string{"shop/well"}},
		{"termination-period", exitYes, []string{"shop/well", "--grace-period", "5"}},
		{"termination-force", exitNo, []string{"shop/well", "--force"}},
		{"termination-evict-soft", exitYes, []string{"shop/crash", "--cause", "evict-soft", "--eviction-max-pod-grace-period", "60"}},
		{"termination-evict-hard", exitYes, []string{"shop/crash", "--cause", "evict-hard"}},
		{"termination-preempt", exitYes, []string{"shop/crash", "--cause", "preempt"}},
		{"termination-zero", exitYes, []string{"shop/well", "--grace-period", "0"}},
		{"termination-node-gone", exitNo, []string{"shop/well", "--node-gone"}},
		{"termination-lost", exitNo, []string{"shop/well", "--cause", "taint", "--node-lost-since", "2026-11-21T09:00:00Z", "--now", "2026-11-21T09:00:10Z"}},
		{"termination-exits", exitYes, []string{"shop/well", "--exit", "web=3", "--then", "evict-soft@1s,grace-period=3"}},
		{"termination-then", exitYes, []string{"shop/crash", "--cause", "evict-soft", "--eviction-max-pod-grace-period", "60", "--then", "delete@10s,grace-period=5"}},
		{"termination-api-eviction", exitYes, []string{"shop/well", "--cause", "api-eviction"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := call{}.run(t, append([]string{"termination", "-f", podsFile}, c.args...)...)
			if r.code != c.code || r.err != "" {
				t.Errorf("code %d, stderr %q", r.code, r.err)
			}
			golden(t, c.name, r.out)
			within(t, standardWidth, r.out)
		})
	}
}

func TestTerminationRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"shop/well", "--cause", "boredom"}, "--cause boredom: want one of delete, evict-soft"},
		{nil, "there are 5 pods in it"},
		{[]string{"shop/well", "--cause", "liveness"}, "shop/well"},
		{[]string{"shop/well", "--pre-stop", "nobody=5"}, "nobody"},
		{[]string{"shop/well", "--then", "delete"}, "want a cause and when"},
		{[]string{"shop/well", "--then", "delete@5s,slowly"}, "want a cause and when"},
		{[]string{"shop/well", "--node-lost-since", "noon"}, "--node-lost-since"},
	} {
		r := call{}.run(t, append([]string{"termination", "-f", podsFile}, c.args...)...)
		if r.code != exitBroken || r.out != "" || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
}
