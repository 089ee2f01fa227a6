package handlers

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
	"berth/internal/handlers/rest"
)

func zipped(t *testing.T, encoding, body string) string {
	t.Helper()
	var b bytes.Buffer
	if encoding == "gzip" {
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(body))
		if err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(body)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUpload(t *testing.T) {
	h := start(t, nil)
	s := h.upload("prod", small())
	if s.ID != "prod@1" || s.Objects["Node"] != 3 || s.Objects["Pod"] != 2 || !strings.HasPrefix(s.Digest, "sha256:") || s.Cause != "upload" {
		t.Fatalf("%+v", s)
	}
	if s.Hygiene.PendingPods != 1 || len(s.Hygiene.MissingKinds) == 0 {
		t.Errorf("%+v", s.Hygiene)
	}
	yaml := "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	for name, c := range map[string]struct {
		body, media, encoding string
	}{
		"gzip": {zipped(t, "gzip", small()), "application/json", "gzip"}, "zstd": {zipped(t, "zstd", small()), "application/json", "zstd"},
		"as curl sends it": {" \n" + small(), "application/x-www-form-urlencoded", ""}, "no type": {small(), "", ""},
	} {
		var again rest.Snapshot
		h.want(200, &again, "POST", "/v1/snapshots?cluster=prod", c.body, "Content-Type", c.media, "Content-Encoding", c.encoding)
		if again.ID != s.ID || again.Digest != s.Digest {
			t.Errorf("%s: the same state is %s", name, again.ID)
		}
	}
	for i, media := range []string{"application/yaml", "text/yaml", "application/x-www-form-urlencoded"} {
		var y rest.Snapshot
		h.want(201, &y, "POST", fmt.Sprintf("/v1/snapshots?cluster=yaml%d", i), yaml, "Content-Type", media)
		if d := cmp.Diff(map[string]int{"ConfigMap": 1}, y.Ignored); d != "" || y.Objects["Node"] != 1 {
			t.Errorf("%s: %s %v", media, d, y.Objects)
		}
	}
	h.want(200, nil, "POST", "/v1/snapshots?cluster=prod", small())
}

func TestSnapshotsAreListedReadAndDeleted(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	for i := range 4 {
		var s rest.Snapshot
		h.want(201, &s, "POST", "/v1/snapshots/prod@latest/changes", `{"apply":[`+node(fmt.Sprintf("x%d", i), "1")+`]}`)
		if s.Revision != int64(i+2) || s.Cause != "change" || s.Objects["Node"] != 4+i {
			t.Fatalf("%+v", s)
		}
	}
	var ids []string
	cursor := ""
	for pages := 1; ; pages++ {
		var l rest.SnapshotList
		h.want(200, &l, "GET", "/v1/snapshots?cluster=prod&limit=2&cursor="+url.QueryEscape(cursor), "")
		for _, s := range l.Items {
			ids = append(ids, s.ID)
		}
		if cursor = l.Cursor; cursor == "" {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
	}
	if d := cmp.Diff([]string{"prod@5", "prod@4", "prod@3", "prod@2", "prod@1"}, ids); d != "" {
		t.Error(d)
	}
	var one, escaped, latest rest.Snapshot
	h.want(200, &one, "GET", "/v1/snapshots/prod@5", "")
	h.want(200, &escaped, "GET", "/v1/snapshots/prod%405", "")
	h.want(200, &latest, "GET", "/v1/snapshots/prod@latest", "")
	if one.ID != "prod@5" || escaped.ID != one.ID || latest.ID != one.ID {
		t.Error(one.ID, escaped.ID, latest.ID)
	}
	h.want(404, nil, "GET", "/v1/snapshots/prod@9", "")
	h.want(404, nil, "GET", "/v1/snapshots/none@latest", "")
	h.want(404, nil, "GET", "/v1/snapshots?cluster=none", "")
	h.want(204, nil, "DELETE", "/v1/snapshots/prod@3", "")
	h.want(404, nil, "GET", "/v1/snapshots/prod@3", "")
	h.want(404, nil, "DELETE", "/v1/snapshots/prod@3", "")
	var newest exchange.Problem
	if h.want(409, &newest, "DELETE", "/v1/snapshots/prod@5", ""); !strings.Contains(newest.Detail, "DELETE /v1/clusters/prod") || strings.Contains(newest.Detail, "not the newest") {
		t.Errorf("%+v", newest)
	}
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"prod@2","podRef":{"namespace":"shop","name":"web"}}`)
	var p exchange.Problem
	h.want(409, &p, "DELETE", "/v1/snapshots/prod@2", "")
	if p.Type != "urn:berth:problem:in-use" {
		t.Errorf("%+v", p)
	}
}

func TestStaleParentIsAConflict(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	change := `{"apply":[` + node("n9", "1") + `]}`
	h.want(201, nil, "POST", "/v1/snapshots/prod@1/changes", change)
	h.want(409, nil, "POST", "/v1/snapshots/prod@1/changes", `{"delete":[{"kind":"Node","name":"n9"}]}`)
	h.want(201, nil, "POST", "/v1/snapshots/prod@latest/changes", `{"delete":[{"kind":"Node","name":"n9"}]}`)
	h.want(404, nil, "POST", "/v1/snapshots/none@latest/changes", change)
}

func TestObjectsPageByPage(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	var all []string
	cursor := ""
	for {
		var l struct {
			Items []struct {
				Kind     string
				Metadata struct{ Name string }
			}
			Cursor string
		}
		h.want(200, &l, "GET", "/v1/snapshots/prod@1/objects?limit=2&cursor="+url.QueryEscape(cursor), "")
		for _, o := range l.Items {
			all = append(all, o.Kind+"/"+o.Metadata.Name)
		}
		if cursor = l.Cursor; cursor == "" {
			break
		}
	}
	if d := cmp.Diff([]string{"Node/n1", "Node/n2", "Node/n3", "Pod/busy", "Pod/web"}, all); d != "" {
		t.Error(d)
	}
	var l rest.ObjectList
	h.want(200, &l, "GET", "/v1/snapshots/prod@1/objects?kind=Pod&limit=500", "")
	if len(l.Items) != 2 || l.Cursor != "" {
		t.Errorf("%d items, cursor %q", len(l.Items), l.Cursor)
	}
	h.want(200, &l, "GET", "/v1/snapshots/prod@1/objects?kind=Service", "")
	if len(l.Items) != 0 {
		t.Error("services from nowhere")
	}
}

// Clusters come in pages, and no more of them than the limit. A question about one that is not
// there makes none.
func TestPagesAndNumberOfClusters(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.MaxClusters, o.Limits.MaxPage = 5, 3 })
	for _, name := range []string{"c", "a", "e", "b", "d"} {
		h.upload(name, small())
	}
	var names []string
	path, pages := "/v1/clusters", 0
	for more := true; more; pages++ {
		var l rest.ClusterList
		h.want(200, &l, "GET", path, "")
		for _, c := range l.Items {
			names = append(names, c.Name)
		}
		path, more = "/v1/clusters?limit=2&cursor="+l.Cursor, l.Cursor != ""
	}
	if got := strings.Join(names, ""); got != "abcde" || pages != 2 {
		t.Errorf("%s in %d pages", got, pages)
	}
	for _, q := range []string{"limit=0", "limit=4", "cursor=!", "cursor=" + base64.RawURLEncoding.EncodeToString([]byte("a b"))} {
		h.want(400, nil, "GET", "/v1/clusters?"+q, "")
	}
	h.do("POST", "/clusters/nobody/filter", `{"Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c"}]}},"NodeNames":["n"]}`)
	h.want(404, nil, "POST", "/v1/decisions", `{"snapshot":"nobody@latest","podRef":{"namespace":"shop","name":"web"}}`)
	var p exchange.Problem
	h.want(413, &p, "POST", "/v1/snapshots?cluster=f", small())
	if p.Limit != "max-clusters" || !strings.Contains(p.Detail, "max-clusters=5") {
		t.Errorf("%+v", p)
	}
	h.want(200, nil, "POST", "/v1/snapshots?cluster=a", small())
	h.want(204, nil, "DELETE", "/v1/clusters/b", "")
	h.want(201, nil, "POST", "/v1/snapshots?cluster=f", small())
}

func TestClusters(t *testing.T) {
	h := start(t, nil)
	var l rest.ClusterList
	h.want(200, &l, "GET", "/v1/clusters", "")
	if l.Items == nil || len(l.Items) != 0 {
		t.Errorf("%+v", l)
	}
	h.upload("b", small())
	h.upload("a", small())
	h.want(201, nil, "POST", "/v1/decisions", `{"snapshot":"a@1","podRef":{"namespace":"shop","name":"web"}}`)
	h.want(200, &l, "GET", "/v1/clusters", "")
	if len(l.Items) != 2 || l.Items[0].Name != "a" || l.Items[0].Latest != "a@1" || l.Items[0].Decisions != 1 {
		t.Errorf("%+v", l)
	}
	var c rest.Cluster
	h.want(200, &c, "GET", "/v1/clusters/b", "")
	if c.Revisions != 1 {
		t.Errorf("%+v", c)
	}
	h.want(204, nil, "DELETE", "/v1/clusters/a", "")
	for _, path := range []string{"/v1/clusters/a", "/v1/snapshots/a@1"} {
		h.want(404, nil, "GET", path, "")
	}
	h.want(404, nil, "DELETE", "/v1/clusters/a", "")
	h.want(404, nil, "GET", "/v1/clusters/never", "")
	h.want(400, nil, "GET", "/v1/clusters/No_Name", "")
}

func TestLimitsOfUploads(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		l := &o.Limits
		l.SnapshotMaxBytes, l.SnapshotMaxInflated, l.SnapshotMaxRatio, l.MaxNodes, l.MaxPods, l.MaxObjectBytes = 1<<20, 2<<20, 10, 3, 2, 64<<10
		l.MaxDepth, l.ChangesMaxBytes, l.MaxTokens = 20, 64<<10, 5000
	})
	huge := `{"kind":"List","apiVersion":"v1","items":[{"kind":"ConfigMap","apiVersion":"v1","data":{"x":"` + strings.Repeat("y", 50<<10) + `"}}`
	many := huge
	for range 40 {
		many += `,{"kind":"ConfigMap","apiVersion":"v1","data":{"x":"` + strings.Repeat("abcdefgh", 6<<10) + `"}}`
	}
	many += `]}`
	var noise strings.Builder
	noise.WriteString(`{"kind":"List","apiVersion":"v1","items":[{"kind":"ConfigMap","apiVersion":"v1","data":{"x":"`)
	x := uint64(1)
	for range 1300 << 10 {
		x = x*6364136223846793005 + 1442695040888963407
		noise.WriteByte(byte('a' + x>>60))
		if noise.Len()%(40<<10) == 0 {
			noise.WriteString(`"}},{"kind":"ConfigMap","apiVersion":"v1","data":{"x":"`)
		}
	}
	noise.WriteString(`"}}]}`)
	for _, c := range []struct{ name, body, encoding, limit string }{
		{"raw", many, "", "snapshot-max-bytes"},
		{"ratio", zipped(t, "gzip", many), "gzip", "snapshot-max-ratio"},
		{"ratio of zstd", zipped(t, "zstd", many), "zstd", "snapshot-max-ratio"},
		{"nodes", listOf(node("a", "1"), node("b", "1"), node("c", "1"), node("d", "1")), "", "max-nodes"},
		{"pods", listOf(pod("a", "1", ""), pod("b", "1", ""), pod("c", "1", "")), "", "max-pods"},
		{"an object", listOf(strings.Replace(node("a", "1"), `"labels"`, `"annotations":{"a":"`+strings.Repeat("x", 70<<10)+`"},"labels"`, 1)), "", "max-object-bytes"},
		{"depth", `{"kind":"List","apiVersion":"v1","items":[` + strings.Repeat(`{"a":`, 30) + `1` + strings.Repeat("}", 30) + `]}`, "", "max-json-depth"},
		{"tokens", `{"kind":"List","apiVersion":"v1","items":[{"kind":"ConfigMap","apiVersion":"v1","data":[` + strings.Repeat("1,", 6000) + `1]}]}`, "", "max-json-tokens"},
	} {
		var p exchange.Problem
		h.want(413, &p, "POST", "/v1/snapshots?cluster=c", c.body, "Content-Encoding", c.encoding)
		if p.Limit != c.limit {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	h.want(404, nil, "GET", "/v1/clusters/c", "") // nothing was stored
	h.upload("c", listOf(node("a", "1")))
	var p exchange.Problem
	h.want(413, &p, "POST", "/v1/snapshots/c@latest/changes", `{"apply":[`+strings.Repeat(" ", 70<<10)+`]}`)
	if p.Limit != "changes-max-bytes" {
		t.Errorf("%+v", p)
	}
	inflated := start(t, func(o *admit.Options) {
		o.Limits.SnapshotMaxBytes, o.Limits.SnapshotMaxInflated, o.Limits.MaxObjectBytes, o.Limits.ChangesMaxBytes = 1<<20, 1<<20, 64<<10, 64<<10
	})
	inflated.want(413, &p, "POST", "/v1/snapshots?cluster=c", zipped(t, "zstd", noise.String()), "Content-Encoding", "zstd")
	if p.Limit != "snapshot-max-inflated" {
		t.Errorf("%+v", p)
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]limits.Bytes{"0": 0, "1000": 1000, "16KiB": 16 << 10, "3MiB": 3 << 20, "4 GiB": 4 << 30} {
		var b limits.Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: %d %v", text, b, err)
		}
		js, err := json.Marshal(b)
		var again limits.Bytes
		if err != nil || json.Unmarshal(js, &again) != nil || again != b {
			t.Errorf("%s: %s", text, js)
		}
	}
	for _, text := range []string{"", "-1", "1MB", "x", "9999999999999GiB", "1.5MiB"} {
		var b limits.Bytes
		if b.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is taken for %d", text, b)
		}
	}
}

// One object is requested by its name.
func TestObjectByName(t *testing.T) {
	h := start(t, nil)
	h.want(201, nil, "POST", "/v1/snapshots?cluster=c", `{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}},{"kind":"Node","apiVersion":"v1","metadata":{"name":"n2"}}]}`)
	for query, want := range map[string]int{"kind=Node&name=n2": 1, "kind=Node&name=n3": 0, "kind=Pod&name=n2&namespace=d": 0, "kind=Node": 2} {
		var list rest.ObjectList
		h.want(200, &list, "GET", "/v1/snapshots/c@latest/objects?"+query, "")
		if len(list.Items) != want || want == 1 && !strings.Contains(string(list.Items[0]), `"n2"`) {
			t.Errorf("%s: %s", query, list.Items)
		}
	}
	for _, query := range []string{"name=n2", "kind=Node&namespace=d", "labelSelector=a%3D%3D%3Db", "labelSelector=a%00"} {
		h.want(400, nil, "GET", "/v1/snapshots/c@latest/objects?"+query, "")
	}
}
