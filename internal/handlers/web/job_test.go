package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A question that takes longer than its form waits leads to the page of its job, which shows how
// far it is, then the answer, and the same answer as the form would have.
func TestFormFollowsItsJob(t *testing.T) {
	base, work := serveSlowly(t, time.Nanosecond)
	loadSample(t, base)
	for form, want := range map[string]string{
		"/fit?ask=1&cluster=sample&by=zone&pod=" + url.QueryEscape(examplePod): "more fit on",
		"/drain?ask=1&cluster=sample&nodes=node-a1&force=on":                   "1 node drained",
		"/lose?ask=1&cluster=sample&zone=zone-a":                               "nodes lost",
		"/pools?ask=1&cluster=sample&like=node-a1":                             "Each pool alone",
		"/simulate?ask=1&cluster=sample":                                       "At the end",
	} {
		body, resp := get(t, base+form)
		if !strings.HasPrefix(resp.URL, base+"/jobs/") || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s leads to %s: %d\n%s", form, resp.URL, resp.StatusCode, body)
		}
		for _, part := range []string{"<h1>The question waits for its turn</h1>", `http-equiv="refresh"`, " data-job>", ">Cancel</button>"} {
			if !strings.Contains(body, part) {
				t.Errorf("%s: a job that waits lacks %s:\n%s", form, part, body)
			}
		}
		work()
		body, _ = get(t, resp.URL)
		if !strings.Contains(body, want) || strings.Contains(body, "Cancel") || strings.Contains(body, " data-job") || strings.Contains(body, `http-equiv="refresh"`) {
			t.Errorf("%s: the page of a job that is done\n%s", form, body)
		}
		asked := strings.Replace(form, "ask=1&", "", 1)
		if back, _, _ := strings.Cut(body[strings.Index(body, `/ <a href="`)+11:], `">the question`); !strings.HasPrefix(back, asked[:strings.Index(asked, "?")]) || !strings.Contains(back, "cluster=sample") || strings.Contains(back, "ask=") {
			t.Errorf("%s: the way back is %s", form, back)
		}
		if js, resp := get(t, resp.URL, "Accept", "application/json"); resp.Header.Get("Content-Type") != "application/json" || !strings.Contains(js, `"state":"done"`) {
			t.Errorf("%s as JSON: %s", form, js)
		}
	}
}

// TestForeignPagesStartNoJob: a link from a page of another site leads to the form, filled in; the
// address of a picture there to nothing.
func TestForeignPagesStartNoJob(t *testing.T) {
	base, _ := serveSlowly(t, time.Nanosecond)
	loadSample(t, base)
	for _, form := range []string{
		"/fit?pod=" + url.QueryEscape(examplePod), "/drain?nodes=node-a1&force=on",
		"/lose?zone=zone-a", "/pools?like=node-a1", "/simulate?count=3",
	} {
		form += "&ask=1&cluster=sample"
		body, resp := get(t, base+form, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
		if resp.StatusCode != http.StatusOK || resp.URL != base+form || !strings.Contains(body, `name="ask" value="1"`) {
			t.Errorf("%s leads to %s: %d\n%.500s", form, resp.URL, resp.StatusCode, body)
		}
		if _, resp := get(t, base+form, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s as a picture: %d", form, resp.StatusCode)
		}
	}
	if js, _ := get(t, base+"/v1/simulations"); strings.Contains(js, `"id"`) {
		t.Errorf("jobs were started: %s", js)
	}
}

func TestJobIsCancelled(t *testing.T) {
	base, _ := serveSlowly(t, time.Nanosecond)
	loadSample(t, base)
	_, resp := get(t, base+"/simulate?ask=1&cluster=sample&count=3")
	job, query, _ := strings.Cut(resp.URL, "?")
	answer, err := http.PostForm(job+"/cancel?"+query, url.Values{}) //nolint:noctx // a test
	check(t, err)
	check(t, answer.Body.Close())
	if answer.Request.URL.String() != resp.URL {
		t.Errorf("cancelling %s leads to %s", resp.URL, answer.Request.URL)
	}
	if body, _ := get(t, resp.URL); !strings.Contains(body, "<h1>The question was cancelled</h1>") {
		t.Errorf("%s", body)
	}
	if body, resp := get(t, base+"/jobs/none"); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "UUID") {
		t.Errorf("%d\n%s", resp.StatusCode, body)
	}
}

// TestNewNodesOfForms: what a form says of new nodes is in the question, and in its command.
func TestNewNodesOfForms(t *testing.T) {
	base := sampled(t)
	big := "apiVersion: v1\nkind: Pod\nmetadata: {name: big, namespace: shop}\nspec: {nodeSelector: {disk: nvme, topology.kubernetes.io/zone: zone-q}, containers: [{name: c, image: i, resources: {requests: {cpu: 30}}}]}\n"
	shape := url.Values{"ask": {"1"}, "cluster": {"sample"}, "zone": {"zone-q"}, "labels": {"disk=nvme"}, "taints": {"team=db:PreferNoSchedule"}, "size": {"cpu=32, memory=64Gi"}}
	with := func(more url.Values) string {
		out := url.Values{}
		for _, of := range []url.Values{shape, more} {
			for name, values := range of {
				out[name] = values
			}
		}
		return out.Encode()
	}
	for at, want := range map[string][]string{
		"/fit?" + with(url.Values{"pod": {big}, "like": {"node-a1"}, "count": {"2"}}): {
			"2 more fit on", "--like node-a1,zone=zone-q,label=disk=nvme,taint=team=db:PreferNoSchedule,cpu=32,memory=64Gi --add 2",
		},
		"/fit?" + with(url.Values{"pod": {big}}): {"1 more fit on", "--template zone=zone-q,label=disk=nvme,taint=team=db:PreferNoSchedule,cpu=32,memory=64Gi"},
		"/pools?" + with(nil):                    {"Each pool alone", "--template zone=zone-q,"},
		"/pools?" + with(url.Values{"size": {"cpus=2"}}): {
			"aria-invalid=\"true\"", "cpus=2: want zone, label, taint, a resource such as cpu",
		},
		"/pools?" + with(url.Values{"size": {"cpu=two"}}): {"aria-invalid=\"true\""},
	} {
		body, _ := get(t, base+at)
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %s:\n%s", at, text, body)
			}
		}
	}
}

// TestPageOfAScenarioWithAClock: its page lists what happens.
func TestPageOfAScenarioWithAClock(t *testing.T) {
	base, work := serveSlowly(t, time.Nanosecond)
	loadSample(t, base)
	question := `{"base":"sample@latest","clock":true,"events":[{"at":"7s","cordon":{"nodes":["node-a1"]}}],"wait":"0s"}`
	job := post(t, base+"/v1/simulations", question).Get("Location")
	work()
	page, _ := get(t, base+"/jobs/"+strings.TrimPrefix(job, "/v1/simulations/"))
	for _, part := range []string{"<h2>What happens</h2>", `<td class="num">7 s</td><td>cordoned</td><td></td><td>node-a1</td>`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s:\n%s", part, page)
		}
	}
}
