package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// has fails where a page lacks one of the texts.
func has(t *testing.T, about, body string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(body, w) {
			t.Errorf("%s lacks %q:\n%s", about, w, body)
		}
	}
}

// ofAllStates is a cluster with nodes in every state, and pods of three priorities.
func ofAllStates(t *testing.T) string {
	t.Helper()
	base := serve(t)
	node := func(name, zone, pool, spec, conditions string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"topology.kubernetes.io/zone":%q,"pool":%q}},"spec":{%s},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"20"},"conditions":[%s]}}`, name, zone, pool, spec, conditions)
	}
	const ready, lost = `{"type":"Ready","status":"True"}`, `{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-11-21T00:58:00Z"}`
	items := []string{
		node("fine", "za", "general", "", ready), node("lost", "za", "general", `"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoSchedule"}]`, lost), node("tight", "zb", "general", `"taints":[{"key":"node.kubernetes.io/disk-pressure","effect":"NoSchedule"}]`, ready+`,{"type":"DiskPressure","status":"True"}`),
		node("closed", "zb", "spot", `"unschedulable":true`, ready),
	}
	for i, p := range []string{"10", "0"} {
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"shop","uid":"u%d","labels":{"app":"p"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"p","uid":"s","controller":true}]},"spec":{"nodeName":"fine","priority":%s,"containers":[{"name":"c","resources":{"requests":{"cpu":"1500m","memory":"1Gi"}}}]},"status":{"phase":"Running"}}`, i, i, p))
	}
	items = append(items, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"keep","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"p"}}},"status":{"disruptionsAllowed":0}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"big","namespace":"shop","uid":"ub"},"spec":{"priority":5,"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}}`)
	post(t, base+"/v1/snapshots?cluster=prod", `{"kind":"List","apiVersion":"v1","items":[`+strings.Join(items, ",")+`]}`)
	return base
}

// A7: what rejects is never green, a node that fits by eviction is counted and the chosen one
// named, groups drawn as one are summed, and a label that no node has is refused with the form.
func TestMapFigures(t *testing.T) {
	base := ofAllStates(t)
	body, _ := get(t, base+"/map?cluster=prod&pod=shop/big")
	has(t, "the verdicts", body, "shop/big fits on no node as it is, and on 1 of 4 nodes by eviction; fine is chosen", `class="chosen evicts"`, "chosen, by eviction 1")
	if strings.Contains(body, `"key good"`) {
		t.Errorf("a rejection is drawn as what fits:\n%s", body)
	}
	body, _ = get(t, base+"/map?cluster=prod")
	has(t, "the states", body, `notready" x=`, `pressure" x=`, `cordoned" x=`, "not ready 1", "disk pressure 1", "lost: 0 %, not ready")
	body, resp := get(t, base+"/map?cluster=prod&group=nope")
	has(t, "a label that no node has", body, `value="nope"`, `aria-invalid="true"`, "no node has the label &#34;nope&#34;")
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a label that no node has: %d", resp.StatusCode)
	}
	groups := make([]mapGroup, 2)
	for i := range groups {
		groups[i] = mapGroup{Name: fmt.Sprint(i), Merged: 1, Nodes: 1, part: int64(1 + 8*i), whole: 100, cells: []mapCell{{class: "f0"}}, out: map[string]int{}}
	}
	if one := mergeGroups(groups); len(one) != 1 || one[0].part != 10 || one[0].whole != 200 || one[0].Nodes != 2 {
		t.Errorf("two groups as one: %+v", one)
	}
	css := string(mustAssets(t)["berth.css"].body)
	for _, class := range []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"} {
		if of := regexp.MustCompile(`\.` + class + ` \{ --c: var\((--[a-z-]+)\)`).FindStringSubmatch(css); of == nil || of[1] == "--c-fit" || of[1] == "--ok" || of[1] == "--c-evict" {
			t.Errorf("the fill of rule %s is %v", class, of)
		}
	}
}

func mustAssets(t *testing.T) map[string]asset {
	t.Helper()
	all, err := readAssets()
	check(t, err)
	return all
}

// A6, C7: a node is a page, with its state, its room and its pods, and lists lead to it.
func TestNodesHavePages(t *testing.T) {
	base := ofAllStates(t)
	body, _ := get(t, base+"/nodes?cluster=prod")
	has(t, "the list", body, "2 of 4 nodes take pods.", `href="/nodes/lost?cluster=prod"`, "not ready</span>", "disk pressure</span>", "cordoned</span>", "not ready <b>1</b>", "2 of 20")
	if first := regexp.MustCompile(`<tbody><tr><th scope="row"><a href="/nodes/([a-z]+)`).FindStringSubmatch(body); first == nil || first[1] != "lost" {
		t.Errorf("the first row is %v, want what is wrong first", first)
	}
	body, _ = get(t, base+"/nodes?cluster=prod&state=cordoned")
	if strings.Contains(body, `"/nodes/fine`) || !strings.Contains(body, `"/nodes/closed`) {
		t.Errorf("of one state:\n%s", body)
	}
	body, _ = get(t, base+"/nodes?cluster=prod&sort=-cpu&zone=za")
	if fine, lost := strings.Index(body, `"/nodes/fine`), strings.Index(body, `"/nodes/lost`); fine < lost || lost < 0 || strings.Contains(body, `"/nodes/tight`) || !strings.Contains(body, `aria-sort="descending"`) {
		t.Errorf("sorted by free cpu downwards: %d, %d\n%s", fine, lost, body)
	}
	body, _ = get(t, base+"/nodes/fine?cluster=prod")
	has(t, "a node", body, "<h1>fine takes pods</h1>", "1 of 4 cpu is free.", "shop/p0", "StatefulSet/p", "budget keep allows no eviction", `<td class="num">3</td><td class="num">4</td><td class="num"><b>1</b></td>`, "priority 10", "priority 0")
	if strings.Index(body, "shop/p0") > strings.Index(body, "shop/p1") {
		t.Error("the strongest pod is not the first")
	}
	body, _ = get(t, base+"/nodes/lost?cluster=prod")
	has(t, "a node that is lost", body, "<h1>lost is not ready</h1>", "Ready is unknown")
	body, resp := get(t, base+"/nodes/fin?cluster=prod")
	has(t, "a misspelt node", body, "did you mean fine?")
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("a misspelt node: %d", resp.StatusCode)
	}
}

// A6: the page of a node in a decision has the numbers that the API has.
func TestRejectionsHaveNumbers(t *testing.T) {
	base := sampled(t)
	id := decided(t, base, "import")
	for _, path := range []string{"/decisions/" + id, "/decisions/" + id + "/nodes/node-a1"} {
		body, _ := get(t, base+path)
		if !regexp.MustCompile(`(cpu|memory)[^<]*\d`).MatchString(strings.Join(regexp.MustCompile(`<td>[^<]*</td>`).FindAllString(body, -1), "")) {
			t.Errorf("%s has no number of what is short:\n%s", path, body)
		}
	}
}

// A10: what refuses a drain, or blocks it, is its headline.
func TestDrainSaysWhatIsInTheWay(t *testing.T) {
	base := ofAllStates(t)
	body, _ := get(t, base+"/drain?cluster=prod&ask=1&nodes=fine")
	has(t, "a drain that a budget blocks", body, "<h1>Blocked: shop/p0 and 1 other pod: ", "1 of 1 node never empty")
	base = sampled(t)
	body, _ = get(t, base+"/drain?cluster=sample&ask=1&nodes=node-a1")
	has(t, "a drain that is refused", body, "<h1>Refused: shop/")
	body, _ = get(t, base+"/drain?cluster=sample&ask=1&find=6&force=on")
	if !regexp.MustCompile(`<h1>Only \d of the 6 asked for can be emptied`).MatchString(body) {
		t.Errorf("a search for six nodes:\n%s", body)
	}
}

// A12: the choice of a cluster is not what the browser remembers, and stays on the page.
func TestChoiceOfClusterStays(t *testing.T) {
	base := sampled(t)
	for path, want := range map[string]string{"/capacity": "/capacity", "/pods/shop/web-4": "/", "/snapshots/sample@1": "/snapshots", "/drain": "/drain"} {
		body, _ := get(t, base+path)
		has(t, path, body, `<form class="cluster" action="`+want+`">`, `<select id="cluster" name="cluster" autocomplete="off">`)
	}
}

// A11: every page says when its figures were made, and its ages can go on.
func TestPagesSayHowOldTheyAre(t *testing.T) {
	base := sampled(t)
	body, _ := get(t, base+"/?cluster=sample")
	if !regexp.MustCompile(`id="of"><a href="/snapshots/sample@1\?cluster=sample">sample@1</a> made <time class="age" datetime="[^"]+">\d+s</time> ago`).MatchString(body) || !strings.Contains(body, `id="live"`) {
		t.Errorf("the head says not how old the page is:\n%s", body)
	}
	body, _ = get(t, base+"/capacity?cluster=sample&snapshot=sample@1")
	has(t, "a page of a revision", body, "as it was then", "Show the newest revision", "data-fixed")
}

// A13: parts of names, short ids, nodes and pages are found, and a mistake keeps the text.
func TestFindFindsParts(t *testing.T) {
	base := sampled(t)
	id := decided(t, base, "import")
	for text, want := range map[string]string{shortID(id): "/decisions/" + id, "node-a1": "/nodes/node-a1", "capac": "/capacity", "impor": "/pods/shop/import", "shop/impor": "/pods/shop/import", "sample@1": "/snapshots/sample@1"} {
		_, resp := get(t, base+"/find?cluster=sample&q="+url.QueryEscape(text))
		if got := strings.TrimPrefix(resp.URL, base); got != want+"?cluster=sample" {
			t.Errorf("%q leads to %s, want %s", text, got, want)
		}
	}
	body, resp := get(t, base+"/find?cluster=sample&q=node-a")
	has(t, "a part of several", body, "/nodes/node-a1?", `value="node-a"`)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("a part of several: %d", resp.StatusCode)
	}
	body, resp = get(t, base+"/find?cluster=sample&q=imprt")
	has(t, "a typing mistake", body, `Did you mean <a href="/pods/shop/import?cluster=sample">shop/import</a>?`, `value="imprt"`)
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("a typing mistake: %d", resp.StatusCode)
	}
}

// B4: a mistake keeps the form and what was typed, marks the field, and names no path of JSON.
func TestMistakesKeepTheForm(t *testing.T) {
	base := sampled(t)
	for address, want := range map[string]string{
		"/drain?ask=1&nodes=nope":                                     "nodes=nope",
		"/lose?ask=1&zone=nowhere":                                    "zone=nowhere",
		"/pools?ask=1&like=nope":                                      "like=nope",
		"/fit?ask=1&pod=kind%3A+Pod&max=many":                         "max=many",
		"/decisions?since=yesterday&node=node-a1":                     "since=yesterday",
		"/compare?a=sample@1&b=sample@99":                             "b=sample@99",
		"/map?pod=import":                                             "pod=import",
		"/sql?query=unschedulable-pods&since=soon":                    "since=soon",
		"/simulate?ask=1&count=-1&pod=" + url.QueryEscape(examplePod): "count=-1",
	} {
		body, resp := get(t, base+address+"&cluster=sample")
		name, value, _ := strings.Cut(want, "=")
		field := regexp.MustCompile(`<input name="` + name + `" value="` + value + `"[^>]*aria-invalid="true" aria-describedby="wrong-` + name + `">`)
		if resp.StatusCode < 400 || !field.MatchString(body) || !strings.Contains(body, `id="wrong-`+name+`"`) {
			t.Errorf("%s: %d, the field %s is not marked:\n%s", address, resp.StatusCode, name, body)
		}
		_, main, _ := strings.Cut(body, "<main")
		main, _, _ = strings.Cut(main, "</form>")
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(main, " "))
		if found := regexp.MustCompile(`(nodes|pools|arrivals|profiles|edits|workloads)(\[\d+\]|\.)|/v1/`).FindString(text); found != "" {
			t.Errorf("%s speaks of %s:\n%s", address, found, text)
		}
	}
}

// Names are offered where one is to be typed.
func TestFieldsOfferNames(t *testing.T) {
	base := sampled(t)
	for path, want := range map[string][]string{
		"/drain": {`id="list-nodes"><option value="node-a1">`, `id="list-zones"><option value="zone-a">`, `id="list-selectors"`}, "/map": {`id="list-pods"><option value="shop/checkout">`, `id="list-groups"`},
		"/decisions": {`id="list-namespaces"`, `id="list-nodes"`, `id="list-times"`}, "/compare": {`id="list-revisions"><option value="sample@1">`}, "/nodes": {`id="list-pools"`}, "/pools": {`id="list-nodes"`},
	} {
		body, _ := get(t, base+path+"?cluster=sample")
		has(t, path, body, want...)
	}
}

// B12: to a browser an unknown address is a page, a slash at the end leads to the page without, and
// a program has the API's own answer.
func TestUnknownAddressIsAPage(t *testing.T) {
	base := sampled(t)
	body, resp := get(t, base+"/capacty", "Accept", "text/html")
	has(t, "an unknown address", body, "<h1>There is no page here</h1>", `Did you mean <a href="/capacity">`)
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown address: %d", resp.StatusCode)
	}
	if _, resp = get(t, base+"/capacity/?cluster=sample", "Accept", "text/html"); resp.URL != base+"/capacity?cluster=sample" {
		t.Errorf("a slash at the end leads to %s", resp.URL)
	}
	if body, resp = get(t, base+"/capacty", "Accept", "application/json"); resp.StatusCode != http.StatusNotFound || !strings.Contains(body, `"type"`) {
		t.Errorf("a program gets %d %s", resp.StatusCode, body)
	}
	if body, _ = get(t, base+"//elsewhere.example/", "Accept", "text/html"); !strings.Contains(body, "There is no page here") {
		t.Errorf("a path of two slashes:\n%s", body)
	}
}
