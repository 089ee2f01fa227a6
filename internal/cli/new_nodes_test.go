package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewNodes asks about nodes that the cluster does not have, by file and by flags.
func TestNewNodes(t *testing.T) {
	at := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const node = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"NAME","labels":{"zone":"x"}},"status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"50"}}}`
	big, other := strings.ReplaceAll(node, "NAME", "big"), strings.ReplaceAll(node, "NAME", "n1")
	list := at("list.json", `{"kind":"NodeList","apiVersion":"v1","items":[`+big+","+other+`]}`)
	cluster := at("cluster.json", owned)
	pod := at("pod.yaml", "metadata: {name: p}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}\n")
	gpu := at("gpu.yaml", "metadata: {name: p}\nspec: {tolerations: [{operator: Exists}], nodeSelector: {disk: ssd, topology.kubernetes.io/zone: zb}, containers: [{name: c, image: i, resources: {limits: {example.com/gpu: 2}}}]}\n")
	rack := at("rack.yaml", "metadata: {name: p}\nspec: {nodeSelector: {topology.example.com/rack: r2}, containers: [{name: c, image: i}]}\n")
	ask := func(args ...string) result {
		return call{env: map[string]string{"BERTH_SNAPSHOT": cluster}}.run(t, args...)
	}
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"pools", "-f", pod, "--count", "4", "--template", at("node.yaml", "kind: Node\napiVersion: v1\nmetadata: {name: big}\nstatus: {allocatable: {cpu: 8, memory: 32Gi, pods: 50}}\n")}, exitYes, []string{"2 NODES", "big "}},
		{[]string{"pools", "-f", pod, "--count", "4", "--template", list + ",max=9"}, exitYes, []string{"2 NODES", "big ", "n1 "}},
		{[]string{"pools", "-f", pod, "--count", "4", "--template", "cpu=4,memory=8Gi,name=small,cost=2"}, exitYes, []string{"4 NODES", "cost 8", "small "}},
		{[]string{"pools", "-f", pod, "--count", "4", "--like", "n1,cpu=6,zone=zb", "--template", "cpu=12,cost=1.5"}, exitYes, []string{"1 NODE ", "cost 1.5", "n1 in zb", "pool-2 "}},
		{[]string{"pools", "-f", gpu, "--count", "3", "--like", "n1,zone=zb,label=disk=ssd,taint=gpu=yes:NoSchedule,example.com/gpu=4"}, exitYes, []string{"2 NODES"}},
		{[]string{"pools", "-f", gpu, "--like", "n1,label=disk=ssd,example.com/gpu=4"}, exitNo, []string{"NOT ALL FIT"}},
		{[]string{"pools", "-f", rack, "--like", "n1,topology.example.com/rack=r2"}, exitYes, []string{"1 NODE "}},
		{[]string{"pools", "-f", rack, "--like", "n1,label=topology.example.com/rack=r2"}, exitYes, []string{"1 NODE "}},
		{[]string{"pools", "-f", rack, "--like", "n1,topology.example.com/rack=r1"}, exitNo, []string{"NOT ALL FIT"}},
		{[]string{"fit", "-f", pod, "--template", "cpu=8", "--add", "2"}, exitYes, []string{"4 FIT"}},
		{[]string{"fit", "-f", pod, "--template", list}, exitYes, []string{"4 FIT"}},
		{[]string{"fit", "-f", gpu, "--like", "n1,zone=zb,label=disk=ssd,example.com/gpu=4", "--like", "n1,zone=zc,label=disk=ssd,example.com/gpu=4"}, exitYes, []string{"2 FIT"}},
	} {
		r := ask(c.args...)
		if r.code != c.code {
			t.Errorf("%q: %+v", c.args, r)
		}
		for _, s := range c.says {
			if !strings.Contains(r.out, s) {
				t.Errorf("%q: nothing said of %q:\n%s", c.args, s, r.out)
			}
		}
	}
	for want, args := range map[string][]string{
		`"zon=zb"`:                                     {"pools", "--like", "n1,zon=zb"},
		"want zone=VALUE":                              {"pools", "--like", "n1,zone="},
		"want taint=KEY=VALUE:EFFECT":                  {"pools", "--like", "n1,taint=gpu"},
		"want label=KEY=VALUE":                         {"pools", "--like", "n1,label=ssd"},
		"cpu: quantities must match":                   {"pools", "--template", "cpu=much"},
		"want max=NUMBER":                              {"pools", "--like", "n1,max=few"},
		"pools[0]: want like, a template or resources": {"pools", "--template", "zone=zb"},
		"pools[0].taints[0].effect":                    {"pools", "--like", "n1,taint=gpu:Never"},
		"pools[1].labels":                              {"pools", "--like", "n1", "--template", "cpu=1,label=a=b c"},
		"want Nodes, not a Pod":                        {"pools", "--template", at("pod.json", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{}}`)},
		"there is no Node in it":                       {"pools", "--template", at("none.json", `{"kind":"NodeList","apiVersion":"v1","items":[]}`)},
		"there is no file":                             {"pools", "--template", "nothing.yaml"},
		"pools[0].template.status.allocatable":         {"pools", "--template", at("bad.json", strings.Replace(big, `"8"`, `"-8"`, 1))},
		"which pools?":                                 {"pools"},
		"name, cost and max are of pools":              {"fit", "-f", pod, "--like", "n1,cost=2"},
		"edits.addNodes[0].zone":                       {"fit", "-f", pod, "--like", "n1,zone=a b"},
		`there is no node n7`:                          {"fit", "-f", pod, "--like", "n7"},
	} {
		if r := ask(args...); r.code != exitBroken || !strings.Contains(strings.ReplaceAll(r.err, "\n", " "), want) {
			t.Errorf("%q: want %s, got %+v", args, want, r)
		}
	}
}

// TestEqualPodsShareARow has pods that are equal but for their names, gated ones among them.
func TestEqualPodsShareARow(t *testing.T) {
	pod := func(name, spec string) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"shop","creationTimestamp":"2026-11-21T09:00:00Z"},"spec":{` + spec + `}}`
	}
	const gate, big = `"schedulingGates":[{"name":"a.b/quota"}],"containers":[{"name":"c"}]`, `"containers":[{"name":"c","resources":{"requests":{"cpu":"99"}}}]`
	var items []string
	for _, n := range []string{"1", "2", "3"} {
		items = append(items, pod("gated-"+n, gate), pod("big-"+n, big))
	}
	items = append(items, pod("other", `"schedulingGates":[{"name":"a.b/data"}],"containers":[{"name":"c"}]`))
	file := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(file, []byte(strings.TrimSuffix(owned, "]}")+","+strings.Join(items, ",")+"]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := call{env: map[string]string{"BERTH_SNAPSHOT": file}}
	r := asked.run(t, "pending", "-n", "shop")
	rows := map[string]string{}
	for line := range strings.Lines(r.out) {
		if cells := strings.Fields(line); len(cells) > 2 {
			rows[cells[0]] = cells[1]
		}
	}
	if rows["gated-1"] != "3" || rows["big-1"] != "3" || rows["other"] != "1" || strings.Contains(r.out, "gated-2") || strings.Contains(r.out, "big-3") {
		t.Errorf("%s", r.out)
	}
	if r := asked.run(t, "pending", "-n", "shop", "-o", "wide"); !strings.Contains(r.out, "gated-2") || !strings.Contains(r.out, "big-3") {
		t.Errorf("%s", r.out)
	}
}
