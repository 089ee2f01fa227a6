package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A page stays a page with 5,000 nodes, be they all different.
func TestLargeClusterFitsAPage(t *testing.T) {
	const nodes, page = 5000, 100
	items := []any{jsonObject{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": jsonObject{"name": "high"}, "value": 1000}}
	for i := range nodes {
		name := fmt.Sprintf("n-%04d", i)
		node := jsonObject{
			"apiVersion": "v1", "kind": "Node",
			"metadata": jsonObject{"name": name, "labels": jsonObject{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprint("zone-", i%3)}},
			"status":   jsonObject{"allocatable": jsonObject{"cpu": fmt.Sprintf("%dm", 1000+i), "memory": "8Gi", "pods": "110"}},
		}
		if i%2 == 0 {
			node["spec"] = jsonObject{"taints": []any{jsonObject{"key": fmt.Sprintf("team-%d", i), "effect": "NoSchedule"}}}
		}
		items = append(items, node)
	}
	workload := func(name, node string, cpu string) jsonObject {
		spec := jsonObject{
			"containers":                []any{jsonObject{"name": "c", "image": "i", "resources": jsonObject{"requests": jsonObject{"cpu": cpu}}}},
			"topologySpreadConstraints": []any{jsonObject{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": jsonObject{"matchLabels": jsonObject{"app": "a"}}}},
		}
		if node != "" {
			spec["nodeName"] = node
		} else {
			spec["priorityClassName"] = "high"
		}
		return jsonObject{"apiVersion": "v1", "kind": "Pod", "metadata": jsonObject{"name": name, "namespace": "default", "labels": jsonObject{"app": "a"}}, "spec": spec, "status": jsonObject{"phase": "Running"}}
	}
	for i := range 500 {
		items = append(items, workload(fmt.Sprintf("p-%d", i), fmt.Sprintf("n-%04d", i*2+1), "900m"))
	}
	items = append(items, workload("fits", "", "100m"), workload("full", "", "6"), workload("evicts", "", "5500m"))
	raw, err := json.Marshal(jsonObject{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	from := call{env: map[string]string{"BERTH_SNAPSHOT": file}}
	for _, pod := range []string{"full", "evicts"} {
		for _, command := range []string{"explain", "victims", "spread"} {
			r := from.run(t, command, pod)
			if n := strings.Count(r.out, "\n"); r.code == exitBroken || n > page || n < 2 {
				t.Errorf("%s %s: code %d, %d lines: %s", command, pod, r.code, n, r.err)
			}
			within(t, standardWidth, r.out)
		}
	}
	r := from.run(t, "lifecycle", "-o", "wide")
	if n := strings.Count(r.out, "\n"); n != 503+2 {
		t.Errorf("%d lines of 503 pods", n)
	}
	r = from.run(t, "explain", "full", "--all")
	if n := strings.Count(r.out, "\n"); n < nodes {
		t.Errorf("--all shows %d lines", n)
	}
	if r = from.run(t, "explain", "full"); !strings.Contains(r.out, "5,000") {
		t.Errorf("%s", r.out)
	}
}
