package cluster

import (
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
	if len(list) != len(consequences) {
		t.Errorf("%q asks for %d kinds, %d are missed", Collect, len(list), len(consequences))
	}
}
