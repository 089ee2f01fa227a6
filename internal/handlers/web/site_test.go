package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// addresses of pages about the sample; ID stands for a decision's.
var addresses = []string{
	"/", "/?namespace=shop", "/pods/shop/web-4", "/pods/shop/checkout", "/pods/shop/import", "/pods/shop/report", "/pods/shop/web-1",
	"/queue", "/decisions", "/decisions?outcome=Gated", "/decisions/ID", "/decisions/ID/nodes/node-a1", "/decisions/ID/replay", "/decisions/ID/replay?with=sample@latest&config=" + url.QueryEscape(packed), "/compare", "/snapshots", "/snapshots/sample@1",
	"/compare?a=sample@1&b=sample@2", "/settings", "/play", "/play?example=spread", "/capacity", "/map", "/map?resource=memory&in=zone-a/", "/map?pod=shop/import&in=zone-a/", "/fit", "/drain", "/lose", "/pools", "/simulate",
	"/fit?ask=1&by=zone&pod=" + url.QueryEscape(examplePod), "/drain?ask=1&nodes=node-a1&force=on", "/drain?ask=1&find=1&force=on", "/lose?ask=1&zone=zone-a",
	"/pools?ask=1&like=node-a1", "/pools?ask=1&like=node-a1&zone=zone-c&labels=disk%3Dssd&taints=team%3Ddb:NoSchedule&size=cpu%3D8", "/sql", "/sql?query=revisions", "/sql?query=history-of-a-pod", "/sql?query=history-of-a-pod&namespace=shop&pod=import", "/sql?query=top-reasons&limit=1", "/simulate?ask=1", "/simulate?ask=1&count=5&config=" + url.QueryEscape(packed) + "&pod=" + url.QueryEscape(strings.ReplaceAll(examplePod, "name: web, ", "name: extra, ")),
}

// packed is a configuration that fills nodes one after the other.
const packed = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeResourcesFitArgs, scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
`

// inline is what the policy of the pages forbids.
var inline = regexp.MustCompile(`(?i)\sstyle=|<script>|<style|\son[a-z]+=|javascript:`)

func TestPagesAnswer(t *testing.T) {
	empty, base := serve(t), sampled(t)
	id := decided(t, base, "import")
	apply(t, base, `{"apply":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-d1"},"status":{"allocatable":{"cpu":"8","memory":"8Gi","pods":"9"}}}]}`)
	for _, at := range addresses {
		t.Run(at, func(t *testing.T) {
			body, resp := get(t, base+strings.ReplaceAll(at, "ID", id))
			if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
				t.Fatalf("%d %s\n%s", resp.StatusCode, resp.Header.Get("Content-Type"), body)
			}
			if !strings.HasSuffix(body, "</html>\n") || strings.Count(body, "<h1>") != 1 {
				t.Errorf("the page is not whole:\n%s", body)
			}
			if found := inline.FindString(body); found != "" {
				t.Errorf("the policy forbids %q", found)
			}
			if i := strings.Index(body, "%!"); i >= 0 {
				t.Errorf("a format without its value: %s", body[i:min(len(body), i+60)])
			}
			if strings.Contains(at, "/pods/") || strings.Contains(at, "ID") || strings.Contains(at, "@") {
				return
			}
			if body, resp := get(t, empty+at); resp.StatusCode != http.StatusOK || !strings.Contains(body, "<h1>") {
				t.Errorf("without a cluster: %d\n%s", resp.StatusCode, body)
			}
		})
	}
}

// A page's address answers with the API's object to callers that accept JSON.
func TestPagesAnswerJSON(t *testing.T) {
	base := sampled(t)
	id := decided(t, base, "import")
	for page, api := range map[string]string{
		"/?cluster=sample&suggest=false":              "/v1/clusters/sample/pending?suggest=false",
		"/pods/shop/import?cluster=sample":            "/v1/clusters/sample/pods/shop/import",
		"/queue?cluster=sample":                       "/v1/clusters/sample/queue",
		"/decisions?cluster=sample":                   "/v1/decisions?cluster=sample",
		"/decisions/" + id:                            "/v1/decisions/" + id,
		"/capacity?cluster=sample":                    "/v1/clusters/sample/capacity",
		"/snapshots?cluster=sample":                   "/v1/snapshots?cluster=sample",
		"/snapshots/sample@1":                         "/v1/snapshots/sample@1",
		"/map?cluster=sample":                         "/v1/clusters/sample/nodes",
		"/sql?cluster=sample":                         "/v1/queries",
		"/sql?cluster=sample&query=revisions&limit=1": "/v1/queries/revisions?cluster=sample&limit=1",
	} {
		got, resp := get(t, base+page, "Accept", "application/json")
		want, _ := get(t, base+api)
		if resp.Header.Get("Content-Type") != "application/json" || timeless(t, got) != timeless(t, want) {
			t.Errorf("%s answers %s\n%s\nwant\n%s", page, resp.Header.Get("Content-Type"), got, want)
		}
	}
	if body, _ := get(t, base+"/queue", "Accept", "text/html,application/json;q=0.9"); !strings.HasPrefix(body, "<!doctype html>") {
		t.Errorf("a browser gets\n%s", body)
	}
}

// timeless is an object without the times at which it was made.
func timeless(t *testing.T, js string) string {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(js), &o); err != nil {
		t.Fatalf("%v in %s", err, js)
	}
	delete(o, "at")
	delete(o, "now")
	out, err := json.Marshal(o)
	check(t, err)
	return string(out)
}

func TestPagesShowWhatIsWrong(t *testing.T) {
	base := sampled(t)
	for at, want := range map[string]struct {
		status int
		text   string
	}{
		"/pods/shop/none":                                 {http.StatusNotFound, "pod shop/none is not in sample@1"},
		"/?cluster=none":                                  {http.StatusNotFound, "none"},
		"/decisions/none":                                 {http.StatusBadRequest, "which is a UUID"},
		"/decisions?since=yesterday":                      {http.StatusBadRequest, "“yesterday” is no time"},
		"/find?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E":     {http.StatusNotFound, "&lt;script&gt;"},
		"/pods/shop/%3Cimg%20src=x%20onerror=alert(1)%3E": {http.StatusNotFound, "&lt;img"},
	} {
		body, resp := get(t, base+at)
		if resp.StatusCode != want.status || !strings.Contains(body, want.text) || strings.Contains(body, "<script>alert") || strings.Contains(body, "<img") {
			t.Errorf("%s: %d, want %d with %q\n%s", at, resp.StatusCode, want.status, want.text, body)
		}
	}
}

func TestFindLeadsToPages(t *testing.T) {
	base := sampled(t)
	id := decided(t, base, "web-4")
	for text, want := range map[string]string{
		"shop/web-4": "/pods/shop/web-4?cluster=sample", "pod/shop/web-4": "/pods/shop/web-4?cluster=sample", "import": "/pods/shop/import?cluster=sample",
		id: "/decisions/" + id + "?cluster=sample", "": "/?cluster=sample",
	} {
		_, resp := get(t, base+"/find?q="+url.QueryEscape(text))
		if got := strings.TrimPrefix(resp.URL, base); got != want {
			t.Errorf("%q leads to %s, want %s", text, got, want)
		}
	}
}

// Read-only pages offer no form that changes something, and no route for one.
func TestPagesAreReadOnly(t *testing.T) {
	site, err := New(Options{API: http.NotFoundHandler()})
	check(t, err)
	if site.writable {
		t.Fatal("pages are writable unless told otherwise")
	}
	base := serve(t)
	body, _ := get(t, base+"/")
	if !strings.Contains(body, `action="/sample"`) {
		t.Fatalf("writable pages offer no sample:\n%s", body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/sample", http.NoBody)
	check(t, err)
	req.Header.Set("Origin", "https://elsewhere.example")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	check(t, resp.Body.Close())
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin loads the sample: %d", resp.StatusCode)
	}
}

func TestAssetsAreSmall(t *testing.T) {
	files, err := readAssets()
	check(t, err)
	sizes := map[string]int{}
	for name, f := range files {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, err := w.Write(f.body)
		check(t, err)
		check(t, w.Close())
		sizes[name[strings.LastIndex(name, ".")+1:]] += out.Len()
	}
	if sizes["js"] > 60_000 || sizes["css"] > 20_000 {
		t.Errorf("gzipped bytes by kind: %v", sizes)
	}
	base := serve(t)
	_, first := get(t, base+"/assets/berth.css")
	_, again := get(t, base+"/assets/berth.css", "If-None-Match", first.Header.Get("ETag"))
	if first.StatusCode != http.StatusOK || again.StatusCode != http.StatusNotModified {
		t.Errorf("%d, then %d", first.StatusCode, again.StatusCode)
	}
}

// Every example of the page to play with has an answer, the one that its title names.
func TestPlay(t *testing.T) {
	base := serve(t)
	examples, err := readPlay()
	check(t, err)
	want := map[string]string{"pending": "Unschedulable", "gates": "Gated", "spread": "Unschedulable", "preemption": "Preempting", "never": "Unschedulable"}
	if len(examples) != len(want) {
		t.Errorf("%d examples, want %d", len(examples), len(want))
	}
	for _, e := range examples {
		resp, err := http.PostForm(base+"/play", url.Values{"objects": {e.Objects}, "pod": {e.Pod}}) //nolint:noctx // a test
		check(t, err)
		body, err := io.ReadAll(resp.Body)
		check(t, err)
		check(t, resp.Body.Close())
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), ">"+want[e.Name]+"<") {
			t.Errorf("%s: %d, want %s\n%s", e.Name, resp.StatusCode, want[e.Name], body)
		}
	}
	resp, err := http.PostForm(base+"/play", url.Values{"objects": {"kind: ["}, "pod": {"x"}}) //nolint:noctx // a test
	check(t, err)
	check(t, resp.Body.Close())
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("YAML that ends too soon: %d", resp.StatusCode)
	}
}

// Pods that differ in name and age alone are one line, and the line has the age of the oldest.
func TestBoardFoldsEqualPods(t *testing.T) {
	base := sampled(t)
	var pods []string
	for i := range 30 {
		pods = append(pods, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"copy-%d","namespace":"shop","creationTimestamp":"2026-01-%02dT00:00:00Z"},`+
			`"spec":{"nodeSelector":{"disk":"none"},"containers":[{"name":"c"}]}}`, i, i%28+1))
		pods = append(pods, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"own-%d","namespace":"shop"},"spec":{"nodeSelector":{"disk":"none-%d"},"containers":[{"name":"c"}]}}`, i, i))
	}
	apply(t, base, `{"apply":[`+strings.Join(pods, ",")+`]}`)
	body, _ := get(t, base+"/?cluster=sample")
	for _, want := range []string{"64 pods wait for a node", "60 pods find no node: nodes do not match its nodeSelector", "and 29 equal pods", "11 workloads more"} {
		if !strings.Contains(body, want) {
			t.Errorf("the board lacks %q", want)
		}
	}
	if strings.Count(body, ">shop/copy-") != 1 || strings.Count(body, ">shop/own-") != 19 {
		t.Errorf("%d and %d rows", strings.Count(body, ">shop/copy-"), strings.Count(body, ">shop/own-"))
	}
	body, _ = get(t, base+"/?cluster=sample&cause=SelectorNotMatched")
	if n := strings.Count(body, ">shop/own-"); n != 30 {
		t.Errorf("the whole cause lists %d of 30", n)
	}
}

// A ready query is a page: its form, its rows with links, and its file.
func TestReadyQueryPage(t *testing.T) {
	base := sampled(t)
	post(t, base+"/v1/decisions", `{"snapshot":"sample@latest","podRef":{"namespace":"shop","name":"import"},"bind":true}`)
	body, _ := get(t, base+"/sql?cluster=sample&query=history-of-a-pod&namespace=shop")
	if !strings.Contains(body, "It needs pod.") || !strings.Contains(body, `name="namespace" value="shop"`) {
		t.Errorf("without a pod:\n%s", body)
	}
	body, _ = get(t, base+"/sql?cluster=sample&query=unschedulable-pods")
	for _, want := range []string{"1 row.", `href="/pods/shop/import?cluster=sample"`, `href="/v1/queries/unschedulable-pods?cluster=sample&amp;format=csv"`, "WHERE cluster = @cluster"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	file, resp := get(t, base+"/v1/queries/unschedulable-pods?cluster=sample&format=csv")
	if resp.Header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.HasPrefix(file, "last,namespace,pod,tries,message\n") {
		t.Errorf("%v\n%s", resp.Header, file)
	}
	body, _ = get(t, base+"/sql?cluster=sample&query=unschedulable-pods&since=yesterday")
	if !strings.Contains(body, `name="since" value="yesterday"`) || !strings.Contains(body, "“yesterday” is no time") {
		t.Errorf("of a bad time:\n%s", body)
	}
	body, resp = get(t, base+"/sql?cluster=sample&query=unschedulable-pod")
	if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "did you mean unschedulable-pods?") {
		t.Errorf("%d\n%s", resp.StatusCode, body)
	}
}

// The page of decisions gives its rows as a query and as a file, under its own filters.
func TestDecisionsAsSQLAndCSV(t *testing.T) {
	base := sampled(t)
	id := decided(t, base, "import")
	decided(t, base, "checkout")
	body, _ := get(t, base+"/decisions?cluster=sample&pod=import&limit=50")
	found := regexp.MustCompile(`<a href="([^"]*)"[^>]*>(As SQL|CSV)</a>`).FindAllStringSubmatch(body, -1)
	if len(found) != 2 {
		t.Fatalf("found %q", found)
	}
	page, _ := get(t, base+html.UnescapeString(found[0][1]))
	if !strings.Contains(page, "1 row.") || !strings.Contains(page, `href="/decisions/`+id+`?cluster=sample"`) || !strings.Contains(page, "FROM decision_log") {
		t.Errorf("%s:\n%s", found[0][1], page)
	}
	file, resp := get(t, base+html.UnescapeString(found[1][1]))
	if lines := strings.Split(strings.TrimSpace(file), "\n"); len(lines) != 2 || !strings.Contains(lines[1], id+",shop,import,Unschedulable,") {
		t.Errorf("%s: %d\n%s", found[1][1], resp.StatusCode, file)
	}
}

// A long text is folded, and nothing of it is lost.
func TestLongTextsAreFolded(t *testing.T) {
	base := sampled(t)
	long := strings.Repeat("ש<b>", 5000)
	apply(t, base, fmt.Sprintf(`{"apply":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"long","namespace":"shop"},"spec":{"nodeSelector":{"disk":"none"},"containers":[{"name":"c"}]},`+
		`"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":%q}]}}]}`, long))
	body, _ := get(t, base+"/pods/shop/long?cluster=sample")
	if n := strings.Count(body, "ש&lt;b&gt;"); n != 5000 || !strings.Contains(body, strings.Repeat("ש&lt;b&gt;", 100)+"<details><summary>") {
		t.Errorf("%d of 5000 parts are shown:\n%.3000s", n, body)
	}
}
