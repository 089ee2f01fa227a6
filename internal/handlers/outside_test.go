package handlers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

// A body that says nothing about a cluster must not empty it: an empty body is what curl sends of a
// file that is not there, a Status what an apiserver answers to a user who may not list.
func TestUploadOfNothingKeepsTheState(t *testing.T) {
	h := start(t, nil)
	was := h.upload("prod", small())
	for name, c := range map[string]struct {
		body, media string
		status      int
		field       string
	}{
		"empty":           {"", "application/json", 400, ""},
		"blank":           {" \n\t ", "", 400, ""},
		"empty YAML":      {"---\n# nothing\n---\n", "application/yaml", 400, ""},
		"a Status":        {`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`, "application/json", 422, "kind"},
		"a List of those": {listOf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}`), "application/json", 422, "kind"},
		"a wrong kind":    {`{"kind":"Foo","apiVersion":"v1","items":[]}`, "", 422, "kind"},
	} {
		var p exchange.Problem
		h.want(c.status, &p, "POST", "/v1/snapshots?cluster=prod", c.body, "Content-Type", c.media)
		if c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	var now rest.Snapshot
	if h.want(200, &now, "GET", "/v1/snapshots/prod@latest", ""); now.ID != was.ID {
		t.Fatalf("the state is %s, and was %s", now.ID, was.ID)
	}
	for _, body := range []string{`{"kind":"List","apiVersion":"v1","items":[]}`, `{"kind":"List","apiVersion":"v1","items":null}`} {
		var p exchange.Problem
		h.want(409, &p, "POST", "/v1/snapshots?cluster=prod", body)
		if p.Errors[0].Field != "allow-empty" || !strings.Contains(p.Detail, "?allow-empty=true") {
			t.Errorf("%+v", p)
		}
		h.want(201, &now, "POST", "/v1/snapshots?cluster=prod&allow-empty=true", body)
		h.want(200, &now, "POST", "/v1/snapshots?cluster=prod", body) // it was empty before
		h.upload("prod", small())
	}
}

// A misspelt parameter is refused by name; ?clutser= would have replaced the default cluster's
// state.
func TestUnknownParameters(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	for _, c := range []struct{ method, path, body, field string }{
		{"POST", "/v1/snapshots?clutser=prod", listOf(node("other", "1")), "clutser"},
		{"POST", "/v1/snapshots?cluster=default&cluster=prod", listOf(node("other", "1")), "cluster"},
		{"GET", "/v1/snapshots?Cluster=default", "", "Cluster"},
		{"GET", "/v1/snapshots/default@1?x=", "", "x"},
		{"GET", "/v1/snapshots/default@1/objects?kinds=Pod", "", "kinds"},
		{"GET", "/v1/decisions?names=p", "", "names"},
		{"GET", "/v1/decisions?pod=a&pod=b", "", "pod"},
		{"DELETE", "/v1/snapshots/default@1?force=true", "", "force"},
		{"POST", "/v1/decisions?dryRun=true", `{"pod":` + pod("new", "1", "") + `}`, "dryRun"},
	} {
		var p exchange.Problem
		h.want(400, &p, c.method, c.path, c.body)
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field {
			t.Errorf("%s %s: %+v", c.method, c.path, p)
		}
	}
	var s rest.Snapshot
	if h.want(200, &s, "GET", "/v1/snapshots/default@latest", ""); s.Revision != 1 {
		t.Errorf("a refused call made %s", s.ID)
	}
}

// Probes and load balancers ask by HEAD.
func TestHead(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/v1/snapshots/default@1": 200, "/v1/snapshots/default@9": 404, "/filter": 405} {
		resp, err := h.client.Head(h.url + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want || resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("HEAD %s: %d %v", path, resp.StatusCode, resp.Header)
		}
	}
}

// A client that sends all of its body before it reads gets the limit's name, not a broken
// connection.
func TestTooLargeIsSaidToThoseWhoSendFirst(t *testing.T) {
	h := start(t, nil)
	body := strings.Repeat("x", 12<<20)
	for _, sent := range []string{
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body,
		"Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(body)), 16) + "\r\n" + body + "\r\n0\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := conn.SetDeadline(time.Now().Add(60 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\n" + sent)); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		var p exchange.Problem
		if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || resp.StatusCode != 413 || p.Limit != "decision-max-bytes" {
			t.Errorf("%d %+v %v", resp.StatusCode, p, err)
		}
	}
}

// A replay shows when the question was asked, as the record does.
func TestReplayKeepsTheTime(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	type timed struct {
		ID, CreatedAt string
	}
	var made, got timed
	var replayed struct{ Decision timed }
	h.want(201, &made, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`}`)
	h.want(200, &got, "GET", "/v1/decisions/"+made.ID, "")
	h.want(200, &replayed, "POST", "/v1/decisions/"+made.ID+"/replay", "")
	if got != made || replayed.Decision != made {
		t.Errorf("decided %v, on record %v, replayed %v", made, got, replayed.Decision)
	}
}

// explain=failures promises the best ten nodes, the chosen one among them wherever it stands among
// its equals.
func TestFailuresListTheBestTen(t *testing.T) {
	h := start(t, nil)
	var items []string
	for i := range 25 {
		items = append(items, node(fmt.Sprintf("n%02d", i), "8"))
	}
	h.upload("default", listOf(items...))
	late := 0
	for i := range 12 {
		var d struct {
			Node         string
			NodesOmitted int
			Nodes        []struct{ Name string }
		}
		h.want(200, &d, "POST", "/v1/decisions", fmt.Sprintf(`{"dryRun":true,"pod":%s}`, pod(fmt.Sprintf("p%d", i), "1", "")))
		chosen := false
		for _, n := range d.Nodes {
			chosen = chosen || n.Name == d.Node
		}
		if len(d.Nodes) != 10 || d.NodesOmitted != 15 || !chosen {
			t.Errorf("%d nodes and %d omitted, %s among them: %v", len(d.Nodes), d.NodesOmitted, d.Node, chosen)
		}
		if d.Node >= "n10" {
			late++
		}
	}
	if late == 0 {
		t.Error("no pod was put on a node behind the tenth: this showed nothing")
	}
}

// A field is named once, by the name that the caller knows.
func TestFieldsAreNamedOnce(t *testing.T) {
	h := start(t, nil)
	for path, prefix := range map[string]string{
		"/v1/snapshots/prod":       `id: "prod" is not`,
		"/v1/snapshots/prod@0":     `id: revision "0" is`,
		"/v1/snapshots?cluster=A_": `cluster: "A_" is not`,
		"/v1/decisions?cluster=A_": `cluster: "A_" is not`,
		"/v1/clusters/A_":          `cluster: "A_" is not`,
	} {
		var p exchange.Problem
		if h.want(400, &p, "GET", path, ""); !strings.HasPrefix(p.Detail, prefix) {
			t.Errorf("%s: %s", path, p.Detail)
		}
	}
}
