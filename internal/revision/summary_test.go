package revision

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Someone who posts what the command prints must not be warned that a kind is
// missing only because the command did not ask for it.
func TestCollectAsksForEveryKindThatIsMissed(t *testing.T) {
	names := map[string]string{
		"Node": "nodes", "Pod": "pods", "Namespace": "ns", "Service": "svc",
		"ReplicationController": "rc", "ReplicaSet": "rs", "StatefulSet": "sts", "PriorityClass": "pc",
		"PodDisruptionBudget": "pdb", "PersistentVolumeClaim": "pvc", "PersistentVolume": "pv",
		"StorageClass": "sc", "CSINode": "csinodes",
	}
	list := strings.Split(strings.Fields(Collect)[2], ",")
	for _, c := range consequences {
		if !slices.Contains(list, names[c.Kind]) {
			t.Errorf("%q does not ask for %s, whose absence means: %s", Collect, c.Kind, c.Consequence)
		}
	}
	if kept := list[len(consequences):]; strings.Join(kept, ",") != "deploy,ds,jobs,cj,limits,quota,runtimeclasses" {
		t.Errorf("%q asks for %v beside the kinds that are missed", Collect, kept)
	}
}

// TestOneCommandForADump: documents give the command of the constant, and no page has its own.
func TestOneCommandForADump(t *testing.T) {
	for _, file := range []string{"README.md", "docs/cli.md", "docs/api.md"} {
		if text, err := os.ReadFile("../../" + file); err != nil || !strings.Contains(string(text), Collect) {
			t.Errorf("%s has not %q: %v", file, Collect, err)
		}
	}
	own := regexp.MustCompile(`kubectl get nodes,pods,[a-z]`)
	pages, err := filepath.Glob("../handlers/web/templates/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, file := range pages {
		if text, err := os.ReadFile(file); err != nil || own.Match(text) {
			t.Errorf("%s has a list of kinds of its own: %v", file, err)
		}
	}
}
