package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const owned = `{"kind":"List","apiVersion":"v1","items":[
{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","memory":"4Gi","pods":"10"}}},
{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"web-7d9f","namespace":"shop","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"1","controller":true}]},"spec":{"selector":{"matchLabels":{"app":"web"}}}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-7d9f-11","namespace":"shop","creationTimestamp":"2026-11-21T09:10:00Z","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d9f","uid":"2","controller":true}]},"spec":{"containers":[{"name":"c"}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-7d9f-10","namespace":"shop","creationTimestamp":"2026-11-21T09:00:00Z","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d9f","uid":"2","controller":true}]},"spec":{"containers":[{"name":"c"}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"nightly-29394720-x","namespace":"shop","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"nightly-29394720","uid":"3","controller":true}]},"spec":{"containers":[{"name":"c"}]}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"db-0","namespace":"shop","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db","uid":"4","controller":true}]},"spec":{"nodeName":"n1","containers":[{"name":"c"}]}}]}`

// The owner of pods stands for the one of them that has waited longest, and a name
// that is not whole is answered with those that begin with it.
func TestNames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(file, []byte(owned), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serve(t)
	post(t, url+"/v1/snapshots?cluster=prod", []byte(owned))
	for _, from := range []call{{env: map[string]string{"BERTH_SNAPSHOT": file}}, {env: map[string]string{"BERTH_SERVER": url, "BERTH_CLUSTER": "prod"}}} {
		for _, c := range []struct{ name, pod, err string }{
			{"deploy/web", "shop/web-7d9f-10", "Deployment shop/web: 2 of 2 pods wait; this is about shop/web-7d9f-10\n"},
			{"rs/web-7d9f", "shop/web-7d9f-10", "ReplicaSet shop/web-7d9f: 2 of 2 pods wait; this is about shop/web-7d9f-10\n"},
			{"deployment.apps/web", "shop/web-7d9f-10", "Deployment shop/web: 2 of 2 pods wait; this is about shop/web-7d9f-10\n"},
			{"cronjob/nightly", "shop/nightly-29394720-x", ""},
			{"job/nightly-29394720", "shop/nightly-29394720-x", ""},
			{"pod/web-7d9f-11", "shop/web-7d9f-11", ""},
		} {
			r := from.run(t, "victims", c.name, "-n", "shop")
			if r.code != exitYes || !strings.Contains(r.out, c.pod) || r.err != c.err {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		for name, want := range map[string]string{
			"sts/db":       "StatefulSet shop/db has 1 pod, none of which waits for a node\nName one of them: db-0",
			"deploy/other": "Deployment shop/other has no pods here\nIn another namespace: -n NAMESPACE. The pod that it would make: kubectl get deployment -n shop other -o json | berth explain -",
			"web-7d9f-1":   "Did you mean web-7d9f-10, web-7d9f-11?",
			"default/db-0": "in another namespace: -n shop",
		} {
			if r := from.run(t, "explain", name, "-n", "shop"); r.code != exitBroken || !strings.Contains(r.err, want) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	r := call{env: map[string]string{"BERTH_SNAPSHOT": file}}.run(t, "lifecycle", "web-7d9f-1", "-n", "shop")
	if !strings.Contains(r.err, "Did you mean web-7d9f-11, web-7d9f-10?") {
		t.Errorf("%+v", r)
	}
}

// Names lose their middle, and stay apart; what else has no room goes on in the next line.
func TestNarrowTables(t *testing.T) {
	p := &page{width: standardWidth}
	table := newTable(".POD", "@NODE", "RULE", "~DETAIL", ">COUNT OF PODS")
	const node = ".eu-west-1.compute.internal"
	table.add("kube-system/node-problem-detector-with-a-long-name-x7k2p", "ip-10-0-147-165"+node, "NodeResourcesBalancedAllocation", strings.Repeat("detail of ip-10-0-147-166"+node+", ", 5), "5")
	table.add("kube-system/node-problem-detector-with-a-long-name-x7k2q", "ip-10-0-147-167"+node, "NodeResourcesFit", "", "15")
	p.table(table)
	p.table(table)
	out := p.String()
	if n := strings.Count(out, "Nodes are *"+node); n != 1 || strings.Count(out, node) != 1 {
		t.Errorf("the common end is said %d times:\n%s", n, out)
	}
	if strings.Count(out, "ip-10-0-147-166,") != 10 || strings.Count(out, "ip-10-0-147-165 ") != 2 {
		t.Errorf("texts are cut:\n%s", out)
	}
	if strings.Count(out, "...") != 4 || strings.Count(out, "x7k2p ") != 2 || strings.Count(out, "x7k2q ") != 2 {
		t.Errorf("names are not shortened in their middle:\n%s", out)
	}
	p.wide = true
	if out := p.String(); strings.Contains(out, "...") {
		t.Errorf("%s", out)
	}
	p.wide = false
	within(t, standardWidth, p.String())
}
