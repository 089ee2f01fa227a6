package words

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"snapshot", "pod", "podRef", "nodeNames", "dryRun"}
	for name, want := range map[string]string{
		"snapsot": "snapshot", "pods": "pod", "podref": "podRef", "nodeName": "nodeNames", "dryrun": "dryRun", "dyrRun": "dryRun", "cluster": "", "x": "",
		strings.Repeat("snapshot", 100): "",
	} {
		if got, _ := Nearest(name, names); got != want {
			t.Errorf("%.20s: got %q, want %q", name, got, want)
		}
	}
}
