package audit

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/engine"
	"berth/internal/objects"
)

// TestDocumentedQueries runs each query of docs/sql.md on the log that the
// example cluster leaves behind. A query that finds nothing there would show a
// reader nothing.
func TestDocumentedQueries(t *testing.T) {
	guide, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	queries := strings.Split(string(guide), "```sql\n")[1:]
	if len(queries) < 10 {
		t.Fatalf("%d queries in the guide", len(queries))
	}
	dir := t.TempDir()
	fillLikeTheGuide(t, dir)
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.Join(dir, "berth.db")}).EscapedPath()+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, q := range queries {
		q, _, ended := strings.Cut(q, "```")
		if !ended {
			t.Fatalf("the block does not end:\n%s", q)
		}
		rows, err := db.QueryContext(t.Context(), q)
		if err != nil {
			t.Errorf("%v\n%s", err, q)
			continue
		}
		columns, err := rows.Columns()
		if err != nil || len(columns) == 0 {
			t.Errorf("columns %v, %v\n%s", columns, err, q)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil || n == 0 {
			t.Errorf("%d rows, %v\n%s", n, err, q)
		}
		_ = rows.Close()
	}
}

// fillLikeTheGuide uploads the example cluster and has pods placed, not placed
// and bound.
func fillLikeTheGuide(t *testing.T, dir string) {
	t.Helper()
	h := open(t, dir)
	raw, err := os.ReadFile("../../examples/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.m.Upload(t.Context(), "demo", func(yield func(objects.Object) error) (map[string]int, error) {
		return objects.Read(bytes.NewReader(raw), objects.YAML, objects.Limits{}, yield)
	}); err != nil {
		t.Fatal(err)
	}
	api := examplePod(t)
	api.Name, api.UID, api.Labels, api.Spec.TopologySpreadConstraints, api.Spec.Affinity = "api", "uid-api", nil, nil, nil
	api.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("512Mi"),
	}
	big := api.DeepCopy()
	big.Name, big.UID = "big", "uid-big"
	big.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("100")
	for _, q := range []Question{
		{Pod: examplePod(t)}, {Pod: big}, {Pod: api, Profile: "packed"}, {Pod: api}, {Pod: api, Bind: true},
	} {
		q.Cluster = "demo"
		decide(t, h, q)
	}
	evictAgain(t, h, api)
}

// evictAgain has a pod evict another that comes back, and wait for a node that
// it is never bound to.
func evictAgain(t *testing.T, h *house, like *corev1.Pod) {
	t.Helper()
	urgent, victim := like.DeepCopy(), like.DeepCopy()
	urgent.Name, urgent.UID, urgent.Spec.Priority = "urgent", "uid-urgent", new(int32(10_000))
	urgent.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "node-c1"}
	urgent.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
	victim.Name, victim.Spec.NodeName, victim.Spec.Priority = "victim", "node-c1", new(int32(1))
	for _, uid := range []types.UID{"uid-first", "uid-second"} {
		victim.UID = uid
		if _, err := h.m.Change(t.Context(), "demo", 0, []objects.Object{held(t, withKind(victim))}, nil); err != nil {
			t.Fatal(err)
		}
		if a := decide(t, h, Question{Cluster: "demo", Pod: urgent, Bind: true}); a.Outcome != engine.Preempting {
			t.Fatalf("%s", text(t, a))
		}
		if _, err := h.m.Change(t.Context(), "demo", 0, nil, []objects.Key{podKey(victim.Namespace, victim.Name)}); err != nil {
			t.Fatal(err)
		}
	}
}

// examplePod is the pod of examples/decision.json.
func examplePod(t *testing.T) *corev1.Pod {
	t.Helper()
	raw, err := os.ReadFile("../../examples/decision.json")
	if err != nil {
		t.Fatal(err)
	}
	var q struct {
		Pod json.RawMessage `json:"pod"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		t.Fatal(err)
	}
	p, err := objects.DecodePod(q.Pod, objects.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
