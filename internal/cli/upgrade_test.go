package cli

import "testing"

// TestReasons: of a pod that fits nowhere its example has why, and of others the whole text.
func TestReasons(t *testing.T) {
	for message, want := range map[string]string{
		"0/23 nodes are available: 1 Insufficient cpu, 22 x. no new claims to deallocate, preemption: 0/23 nodes are available: 23 y.": "1 Insufficient cpu, 22 x",
		"0/2 nodes are available: 2 Insufficient cpu.": "2 Insufficient cpu.",
		"node n1": "node n1", "": "",
	} {
		if got := reasons(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
