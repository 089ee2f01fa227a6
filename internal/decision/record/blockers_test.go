package record_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/kube/object"
	"berth/test/logtest"
)

// TestRecordsNameBlockers: a decision that places nothing has the objects in the way, questions and
// the extender's calls likewise, one that places the pod has none, and a replay does not read them.
func TestRecordsNameBlockers(t *testing.T) {
	node := logtest.Node(t, "n1", 4)
	holds := logtest.Held(t, logtest.Pod(t, "holds", `"nodeName":"n1",`))
	const held, claim = `[0,["NodeResourcesFit","Pod","d","holds"]]`, `[0,["VolumeRestrictions","PersistentVolumeClaim","d","none"]]`
	for _, c := range []struct{ name, verb, cpu, spec, want string }{
		{"placed", decision.VerbDecide, "3", "", ""},
		{"a question", decision.VerbDecide, "4", "", held},
		{"filter", decision.VerbFilter, "4", "", held},
		{"larger than the node", decision.VerbDecide, "5", "", ""},
		{"before any node", decision.VerbDecide, "1", `"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"none"}}],`, claim},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := logtest.Open(t, t.TempDir())
			logtest.Upload(t, h, []object.Object{node, holds}...)
			pod := logtest.Pod(t, "p", c.spec)
			pod.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse(c.cpu)
			ans, err := h.Decide(t.Context(), decision.Question{Pod: pod, Verb: c.verb})
			if err != nil {
				t.Fatal(err)
			}
			d, err := h.Record(t.Context(), ans.ID)
			if err != nil {
				t.Fatal(err)
			}
			if d.Blockers != c.want {
				t.Errorf("%s of %s: %s, want %s", ans.Outcome, ans.Message, d.Blockers, c.want)
			}
			if r, err := h.Replay(t.Context(), ans.ID, record.Overrides{}); err != nil || !r.Identical {
				t.Errorf("replay: %+v, %v", r, err)
			}
		})
	}
}

// TestStorageNotes: what kube-scheduler does not look at is noted of the node that it takes.
func TestStorageNotes(t *testing.T) {
	const class = `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"local"},"provisioner":"csi.example.com","volumeBindingMode":"WaitForFirstConsumer"}`
	const driver = `{"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"csi.example.com"},"spec":{"storageCapacity":true}}`
	pool := func(size string) string {
		return `{"apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity","metadata":{"namespace":"kube-system","name":"pool"},"storageClassName":"local","capacity":"` + size + `","nodeTopology":{}}`
	}
	csi := func(drivers string) string {
		return `{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n1"},"spec":{"drivers":[` + drivers + `]}}`
	}
	const listed = `{"name":"csi.example.com","nodeID":"n1","topologyKeys":[]}`
	claim := func(name, size string) string {
		return `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"d","name":"` + name + `"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"local","resources":{"requests":{"storage":"` + size + `"}}}}`
	}
	for _, c := range []struct{ name, csi, pool, want string }{
		{"all is well", csi(listed), pool("44Gi"), ""},
		{"no CSINode is known", "", pool("44Gi"), ""},
		{"the driver is gone", csi(""), pool("44Gi"), "CSINode n1 does not list driver csi.example.com"},
		{"both claims are too much", csi(listed), pool("43Gi"), "claims small and big request 44Gi of class local together, and its storage pools on node n1 have 43Gi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := logtest.Open(t, t.TempDir())
			objects := []object.Object{logtest.Node(t, "n1", 4)}
			for _, js := range []string{class, driver, c.csi, c.pool, claim("small", "1Gi"), claim("big", "43Gi")} {
				if js != "" {
					objects = append(objects, logtest.Object(t, js))
				}
			}
			logtest.Upload(t, h, objects...)
			ans, err := h.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "p",
				`"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"small"}},{"name":"b","persistentVolumeClaim":{"claimName":"big"}}],`)})
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(ans.Notes, "\n"); ans.Node != "n1" || !strings.HasPrefix(text, c.want) || c.want == "" && text != "" || strings.Count(text, "\n") > 0 {
				t.Errorf("%s on %q: %s", ans.Outcome, ans.Node, text)
			}
		})
	}
}
