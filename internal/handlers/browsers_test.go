package handlers

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/rest"
)

// TestPagesOfOtherSites sends what a page of another site can make a browser send.
func TestPagesOfOtherSites(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Hosts = []string{"Berth.example"} })
	h.upload("demo", small())
	_, port, _ := strings.Cut(strings.TrimPrefix(h.url, "http://"), ":")
	cross := map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}
	for _, c := range []struct {
		name, method, path, body string
		headers                  map[string]string
		status                   int
	}{
		{"an upload", "POST", "/v1/snapshots?cluster=demo", `{"apiVersion":"v1","kind":"List","items":[]}`, cross, 403},
		{"a change", "POST", "/v1/snapshots/demo@latest/changes", `{"delete":[{"kind":"Node","name":"n1"}]}`, cross, 403},
		{"a decision", "POST", "/v1/decisions", webRef + `}`, cross, 403},
		{"filter", "POST", "/clusters/demo/filter", `{}`, cross, 403},
		{"bind", "POST", "/clusters/demo/bind", `{}`, cross, 403},
		{"a deletion", "DELETE", "/v1/clusters/demo", "", cross, 403},
		{"a picture's address", "GET", "/v1/clusters/demo/pending", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403},
		{"a script of a neighbour", "GET", "/v1/clusters", "", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403},
		{"a link that is followed", "GET", "/v1/clusters", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
		{"an address that is typed", "GET", "/v1/clusters", "", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200},
		{"an origin alone", "POST", "/clusters/demo/bind", `{}`, map[string]string{"Origin": "https://evil.example"}, 403},
		{"an opaque origin", "POST", "/clusters/demo/bind", `{}`, map[string]string{"Origin": "null"}, 403},
		{"a rebound name reads", "GET", "/v1/clusters", "", map[string]string{"Host": "evil.example:8080"}, 421},
		{"a rebound name deletes", "DELETE", "/v1/clusters/demo", "", map[string]string{"Host": "evil.example:8080"}, 421},
		{"a rebound name of loopback's form", "GET", "/v1/clusters", "", map[string]string{"Host": "127.0.0.1.evil.example"}, 421},
		{"plain text", "POST", "/v1/decisions", webRef + `,"snapshot":"demo@latest"}`, map[string]string{"Content-Type": "text/plain"}, 415},
		{"a picture", "POST", "/v1/decisions", webRef + `,"snapshot":"demo@latest"}`, map[string]string{"Content-Type": "image/png"}, 415},
		{"a form with files", "POST", "/clusters/demo/bind", `{}`, map[string]string{"Content-Type": "multipart/form-data; boundary=x"}, 415},
		{"the server's own page", "POST", "/v1/decisions", webRef + `,"snapshot":"demo@latest","dryRun":true}`, map[string]string{"Origin": h.url, "Sec-Fetch-Site": "same-origin"}, 200},
		{"curl's default", "POST", "/v1/decisions", webRef + `,"snapshot":"demo@latest","dryRun":true}`, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 200},
		{"no type", "POST", "/v1/decisions", webRef + `,"snapshot":"demo@latest","dryRun":true}`, map[string]string{"Content-Type": ""}, 200},
		{"localhost", "GET", "/v1/clusters", "", map[string]string{"Host": "localhost:" + port}, 200},
		{"IPv6 loopback", "GET", "/v1/clusters", "", map[string]string{"Host": "[::1]:" + port}, 200},
		{"a name that is allowed", "GET", "/v1/clusters", "", map[string]string{"Host": "berth.EXAMPLE"}, 200},
	} {
		req, err := http.NewRequest(c.method, h.url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range c.headers {
			if k == "Host" {
				req.Host = v
			} else if v != "" {
				req.Header.Set(k, v)
			}
		}
		resp, err := h.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d, want %d: %.300s", c.name, resp.StatusCode, c.status, text)
		}
		if got := resp.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", c.name, got)
		}
	}
	var s rest.Snapshot
	if h.want(200, &s, "GET", "/v1/snapshots/demo@latest", ""); s.Revision != 1 {
		t.Errorf("the cluster is at revision %d", s.Revision)
	}
}
