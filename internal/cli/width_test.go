package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No line of any command is longer than 80 columns, whatever a cluster is like.
func TestNothingIsWider(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(8) {
		g := &maker{rand.New(rand.NewPCG(seed, 7))}
		cluster, pods := g.cluster()
		file := filepath.Join(dir, fmt.Sprintf("%d.json", seed))
		if err := os.WriteFile(file, cluster, 0o600); err != nil {
			t.Fatal(err)
		}
		c := call{columns: standardWidth, env: map[string]string{"NO_COLOR": "1"}}
		for _, pod := range pods {
			for _, args := range [][]string{
				{"explain", pod, "--snapshot", file},
				{"explain", pod, "--snapshot", file, "--all"},
				{"explain", pod, "--snapshot", file, "--node", g.nodes(cluster)[0]},
				{"victims", pod, "--snapshot", file},
				{"spread", pod, "--snapshot", file},
				{"fit", pod, "--by", "node", "--snapshot", file},
				{"pools", pod, "--count", "3", "--like", g.nodes(cluster)[0], "--snapshot", file},
				{"lifecycle", pod, "--snapshot", file},
				{"termination", pod, "--snapshot", file, "--force"},
			} {
				r := c.run(t, args...)
				if r.code == exitBroken && r.out == "" {
					if strings.Contains(r.err, "gated") || strings.Contains(r.err, "not looked at") {
						continue
					}
					t.Fatalf("seed %d %v: %s", seed, args, r.err)
				}
				within(t, standardWidth, r.out)
				if t.Failed() {
					t.Fatalf("seed %d %v\n%s", seed, args, r.out)
				}
			}
		}
		for _, args := range [][]string{{"pending", "-A"}, {"queue"}, {"garbage"}, {"classes"}, {"capacity", "--by", "zone"}, {"upgrade", "--to", "v1.35"}, {"drain", g.nodes(cluster)[0], "--force"}, {"drain", "--find", "1"}, {"lose", g.nodes(cluster)[0]}, {"lose", "--each", "node"}, {"drain", "--each", "node"}, {"compare", "--config", filepath.Join("..", "..", "examples", "packed.yaml")}, {"evictions", g.nodes(cluster)[0]}, {"diff", file, fixture}} {
			r := c.run(t, append(args, "--snapshot", file)...)
			within(t, standardWidth, r.out)
			if r.out == "" {
				t.Errorf("seed %d %v: %s", seed, args, r.err)
			}
		}
		r := c.run(t, "lifecycle", "-f", file)
		within(t, standardWidth, r.out)
		if r.out == "" {
			t.Errorf("seed %d: %s", seed, r.err)
		}
	}
}

type jsonObject = map[string]any

// maker makes clusters with names, labels and messages of all lengths.
type maker struct{ *rand.Rand }

func (g *maker) word(most int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	n := 1 + g.IntN(8)
	if g.IntN(3) == 0 {
		n = 1 + g.IntN(most)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[g.IntN(len(letters))]
	}
	b[0] = 'n'
	return string(b)
}

// prose is what a container may say of itself: anything.
func (g *maker) prose() string {
	parts := []string{"back-off", "世界の終わり", "\x1b[31mred", "e\u0301\u0301\u0301", "👩‍👩‍👧‍👦", "\u202eright", "a\nb", strings.Repeat("x", g.IntN(120)), "\t"}
	var b strings.Builder
	for range g.IntN(12) {
		b.WriteString(parts[g.IntN(len(parts))] + " ")
	}
	return b.String()
}

func (g *maker) nodes(cluster []byte) (names []string) {
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct{ Name string }
		}
	}
	if err := json.Unmarshal(cluster, &list); err != nil {
		panic(err)
	}
	for _, o := range list.Items {
		if o.Kind == "Node" {
			names = append(names, o.Metadata.Name)
		}
	}
	return names
}

func (g *maker) cluster() (list []byte, pending []string) {
	var items []any
	var nodes []string
	zones := []string{g.word(60), g.word(60), g.word(60)}
	for i := range 1 + g.IntN(30) {
		name := fmt.Sprintf("%s-%d", g.word(240), i)
		nodes = append(nodes, name)
		node := jsonObject{
			"apiVersion": "v1", "kind": "Node",
			"metadata": jsonObject{"name": name, "labels": jsonObject{"topology.kubernetes.io/zone": zones[g.IntN(3)], "kubernetes.io/hostname": fmt.Sprint("h", i), "disk": "ssd"}},
			"status":   jsonObject{"allocatable": jsonObject{"cpu": fmt.Sprint(1 + g.IntN(8)), "memory": "8Gi", "pods": "9", "example.com/" + g.word(60): "1"}},
		}
		if g.IntN(3) == 0 {
			node["spec"] = jsonObject{"taints": []any{jsonObject{"key": g.word(60), "value": g.word(60), "effect": "NoSchedule"}}}
		}
		items = append(items, node)
	}
	app := g.word(60)
	items = append(items,
		jsonObject{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": jsonObject{"name": "high"}, "value": 1000},
		jsonObject{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": jsonObject{"name": g.word(250), "namespace": "default"}, "spec": jsonObject{"selector": jsonObject{"matchLabels": jsonObject{"app": app}}}, "status": jsonObject{"disruptionsAllowed": g.IntN(2)}})
	for i := range g.IntN(60) {
		items = append(items, g.pod(fmt.Sprintf("%s-%d", g.word(240), i), app, nodes[g.IntN(len(nodes))]))
	}
	for i := range 3 {
		name := fmt.Sprintf("%s-wait%d", g.word(240), i)
		pending = append(pending, name)
		items = append(items, g.pod(name, app, ""))
	}
	list, err := json.Marshal(jsonObject{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		panic(err)
	}
	return list, pending
}

func (g *maker) pod(name, app, node string) jsonObject {
	container := g.word(60)
	spec := jsonObject{"containers": []any{jsonObject{"name": container, "image": "i", "resources": jsonObject{"requests": jsonObject{"cpu": fmt.Sprint(1 + g.IntN(6))}}}}, "restartPolicy": "Always"}
	if node != "" {
		spec["nodeName"] = node
	} else {
		switch g.IntN(5) {
		case 0:
			spec["priorityClassName"] = "high"
		case 1:
			spec["nodeSelector"] = jsonObject{g.word(60): g.word(60)}
		case 2:
			spec["schedulingGates"] = []any{jsonObject{"name": g.word(60)}, jsonObject{"name": "x" + g.word(60)}}
		case 3:
			spec["topologySpreadConstraints"] = []any{
				jsonObject{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": jsonObject{"matchLabels": jsonObject{"app": app}}},
				jsonObject{"maxSkew": 1, "minDomains": 40, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": jsonObject{"matchLabels": jsonObject{"app": app}}},
			}
		}
	}
	status := jsonObject{"phase": "Running", "message": g.prose(), "reason": g.word(80)}
	if g.IntN(2) == 0 {
		status["conditions"] = []any{jsonObject{"type": "Ready", "status": "False", "reason": g.word(100), "message": g.prose()}}
		status["containerStatuses"] = []any{jsonObject{"name": container, "restartCount": g.IntN(100000), "state": jsonObject{"waiting": jsonObject{"reason": g.word(100), "message": g.prose()}}, "lastState": jsonObject{"terminated": jsonObject{"exitCode": 1, "finishedAt": "2026-11-21T09:29:59Z"}}}}
	}
	return jsonObject{"apiVersion": "v1", "kind": "Pod", "metadata": jsonObject{"name": name, "namespace": "default", "labels": jsonObject{"app": app}}, "spec": spec, "status": status}
}
