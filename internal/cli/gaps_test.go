package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsNotApplied: a dump with limits or quotas, and a pod of a runtime class that the dump
// lacks, are said to be so where a person would count on them.
func TestWhatIsNotApplied(t *testing.T) {
	const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"runtimeClassName":"kata","containers":[{"name":"c","image":"i"}]}}`
	const dump = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"9"}}}` +
		`{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","default":{"cpu":"3"}}]}}` +
		`{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"q"},"spec":{"hard":{"pods":"0"}}}` + pod
	const class = `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"cpu":"3"}}}`
	file := filepath.Join(t.TempDir(), "pod.json")
	if err := os.WriteFile(file, []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"explain", "a"}, {"admit", "-f", file}, {"fit", "-f", file}} {
		args = append(args, "--snapshot", "-")
		for in, want := range map[string][]string{
			dump:         {"has LimitRanges and ResourceQuotas: they are kept and not applied", "no RuntimeClass kata, which the pod names"},
			dump + class: {"has LimitRanges, ResourceQuotas and RuntimeClasses: they are kept and not applied"},
		} {
			r := (call{in: in}).run(t, args...)
			text := strings.Join(strings.Fields(r.out), " ")
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%v: %+v, want %q", args, r, w)
				}
			}
			if len(want) == 1 && strings.Contains(text, "no RuntimeClass") {
				t.Errorf("%v: %+v", args, r)
			}
		}
	}
}
