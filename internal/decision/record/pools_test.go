package record_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/kube/object"
	"berth/internal/store"
	"berth/test/logtest"
)

const poolLabel = "node.kubernetes.io/instance-type"

// poolNode is a node with so many CPUs whose label for pools is as given, JSON; empty: it has none.
func poolNode(t *testing.T, name string, cpu int, pool string) object.Object {
	labels := ""
	if pool != "" {
		labels = fmt.Sprintf(`"labels":{%q:%s},`, poolLabel, pool)
	}
	return logtest.Object(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node",
		"metadata":{%s"name":%q},"status":{"allocatable":{"cpu":"%d","memory":"64Gi","pods":"110"}}}`, labels, name, cpu))
}

// TestFailuresCountPools wants records to count rejected nodes by pool, few pools and many, and all
// nodes where the pod was rejected before any was judged. Neither the answer nor its digest says
// so, and a replay is identical with whatever label.
func TestFailuresCountPools(t *testing.T) {
	few := []object.Object{
		poolNode(t, "n1", 1, `"small"`), poolNode(t, "n2", 1, `"small"`), poolNode(t, "n3", 1, `"medium"`),
		poolNode(t, "n4", 1, ``), poolNode(t, "n5", 1, `""`), poolNode(t, "n6", 16, `"large"`),
	}
	var many []object.Object
	var most []store.PoolCount
	for i := range 30 {
		many = append(many, poolNode(t, fmt.Sprintf("m%02d", i), 1, fmt.Sprintf(`"p%02d"`, i)))
		if i >= 25 {
			many = append(many, poolNode(t, fmt.Sprintf("m%02d-b", i), 1, fmt.Sprintf(`"p%02d"`, i)))
			most = append(most, store.PoolCount{Pool: fmt.Sprintf("p%02d", i), Nodes: 2})
		}
	}
	for i := range 15 {
		most = append(most, store.PoolCount{Pool: fmt.Sprintf("p%02d", i), Nodes: 1})
	}
	most = append(most, store.PoolCount{Pool: "(others)", Nodes: 10})
	claim := `"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"none"}}],`
	tests := []struct {
		name, spec string
		nodes      []object.Object
		label      string
		want       string
		named      int
	}{
		{"few", "", few, poolLabel, `[{ 2} {small 2} {medium 1}]`, 5},
		{"many", "", many, poolLabel, fmt.Sprint(most), 0},
		{"before nodes", claim, few, poolLabel, `[{ 2} {small 2} {large 1} {medium 1}]`, 0},
		{"nobody's label", "", few, "example.com/pool", `[{ 5}]`, 5},
		{"no label", "", few, "", `[]`, 5},
	}
	digests := map[string]string{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := logtest.Open(t, t.TempDir())
			h.LogOptions.PoolLabel = tt.label
			h.Rebuild()
			logtest.Upload(t, h, tt.nodes...)
			pod := logtest.Pod(t, "p", tt.spec)
			pod.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2")
			ans, err := h.Decide(t.Context(), decision.Question{Pod: pod})
			if err != nil {
				t.Fatal(err)
			}
			d, err := h.Record(t.Context(), ans.ID)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Failures) != 1 || d.Failures[0].Nodes != ans.Failures[0].Nodes {
				t.Fatalf("failures %+v, answered %+v", d.Failures, ans.Failures)
			}
			if got := fmt.Sprint(d.Failures[0].Pools); got != tt.want {
				t.Errorf("pools %s, want %s", got, tt.want)
			}
			if len(d.Failures[0].Names) != tt.named {
				t.Errorf("names %q, want %d", d.Failures[0].Names, tt.named)
			}
			key := fmt.Sprint(len(tt.nodes), tt.spec)
			if had, ok := digests[key]; ok && had != ans.Digest {
				t.Errorf("digest %s under this label, %s under another", ans.Digest, had)
			}
			digests[key] = ans.Digest
			h.LogOptions.PoolLabel = "kubernetes.io/hostname"
			h.Rebuild()
			if r, err := h.Replay(t.Context(), ans.ID, record.Overrides{}); err != nil || !r.Identical {
				t.Errorf("replay: %+v, %v", r, err)
			}
		})
	}
}
