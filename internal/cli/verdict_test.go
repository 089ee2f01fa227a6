package cli

import (
	"fmt"
	"strings"
	"testing"
)

// dumpOf is a dump with one node a zone and these pods.
func dumpOf(pods ...string) string {
	items := []string{}
	for _, z := range []string{"a", "b", "c"} {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n-%s","labels":{"kubernetes.io/hostname":"n-%s","topology.kubernetes.io/zone":"%s"}},
			"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"20"}}}`, z, z, z))
	}
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(append(items, pods...), ",") + `]}`
}

func podOf(name, status, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","labels":{"app":"web"},"uid":"u-%s"},"status":%s,"spec":{%s"containers":[{"name":"c","image":"i"}]}}`, name, name, status, spec)
}

// A pod that the cluster could not place and that fits now is not scheduled: it would
// fit.
func TestWouldFit(t *testing.T) {
	pod := podOf("late", `{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","lastTransitionTime":"2026-11-21T07:30:00Z"}]}`, "")
	for _, c := range []struct {
		what string
		from call
		args []string
	}{
		{"by name", call{in: dumpOf(pod)}, []string{"explain", "shop/late", "--snapshot", "-"}},
		{"given whole", call{in: pod, env: map[string]string{"BERTH_SNAPSHOT": "testdata/cluster.yaml"}}, []string{"explain", "-"}},
	} {
		r := c.from.run(t, c.args...)
		text := strings.Join(strings.Fields(r.out), " ")
		if r.code != exitYes || !strings.Contains(text, "WOULD FIT shop/late") || !strings.Contains(text, "It would go to n-") || !strings.Contains(text, "The cluster says Unschedulable since 07:30") {
			t.Errorf("%s: code %d\n%s%s", c.what, r.code, r.out, r.err)
		}
	}
}

// Among many equals the one that was chosen is listed.
func TestTheChosenIsAmongTheBest(t *testing.T) {
	r := call{in: dumpOf(podOf("any", "{}", ""))}.run(t, "explain", "shop/any", "--snapshot", "-")
	_, rest, _ := strings.Cut(r.out, "would go to ")
	chosen, _, _ := strings.Cut(rest, ",")
	_, best, _ := strings.Cut(r.out, "BEST")
	lines := strings.Split(best, "\n")
	if chosen == "" || len(lines) < 2 || !strings.HasPrefix(lines[1], chosen+" ") {
		t.Errorf("%q is not the first of the best:\n%s", chosen, r.out)
	}
}

// A bound pod counts in the domain that it is in; the selector is written once.
func TestSpreadOfABoundPod(t *testing.T) {
	spread := `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}],`
	var pods []string
	for i, node := range []string{"n-a", "n-a", "n-b", "n-b", "n-c"} {
		pods = append(pods, podOf(fmt.Sprintf("web-%d", i), `{"phase":"Running"}`, spread+`"nodeName":"`+node+`",`))
	}
	r := call{in: dumpOf(pods...)}.run(t, "spread", "shop/web-0", "--snapshot", "-")
	text := strings.Join(strings.Fields(r.out), " ")
	for _, w := range []string{"It is on n-a, and PODS has it there", "a 1 2 ", "b 1 2 ", "c 1 1 "} {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s%s", w, r.out, r.err)
		}
	}
}

// Every rule that rejects a node is told, and that evicting pods is in vain where one of
// them rejects it for good.
func TestEveryRuleOfANode(t *testing.T) {
	pod := podOf("picky", "{}", `"nodeSelector":{"topology.kubernetes.io/zone":"b"},"overhead":{"cpu":"9"},"tolerations":[],`)
	full := podOf("full", `{"phase":"Running"}`, `"nodeName":"n-a","hostNetwork":false,`)
	r := call{in: dumpOf(pod, full)}.run(t, "explain", "shop/picky", "--node", "n-a", "--snapshot", "-")
	text := strings.Join(strings.Fields(r.out), " ")
	for _, w := range []string{"NodeAffinity rejects it first", "1 other rule would still reject it", "also NodeResourcesFit cpu: short 1 (needs 9, 8 free of 8)"} {
		if r.code != exitNo || !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s%s", w, r.out, r.err)
		}
	}
	r = call{in: dumpOf(pod, full)}.run(t, "explain", "shop/picky", "--snapshot", "-")
	if !strings.Contains(r.out, "ALSO    NodeAffinity SelectorNotMatched: 2 of 2 fail NodeResourcesFit") {
		t.Errorf("%s%s", r.out, r.err)
	}
}
