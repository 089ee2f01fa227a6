package handlers

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/handlers/rest"
)

// A preview answers as a dry run does after an upload of the same objects, and keeps nothing.
func TestPreview(t *testing.T) {
	h := start(t, nil)
	objects := listOf(node("n1", "4"), node("n2", "2"), pod("old", "3", `,"nodeName":"n1"`))
	h.upload("prod", objects)
	now := `"now":"2026-11-22T12:00:00Z"`
	for _, p := range []string{pod("web", "2", ""), pod("huge", "9", ""), pod("gated", "1", `,"schedulingGates":[{"name":"a.example/b"}]`)} {
		var want, got decision.Answer
		h.want(http.StatusOK, &want, "POST", "/v1/decisions", `{"dryRun":true,"suggest":true,"explain":"groups","snapshot":"prod@1",`+now+`,"pod":`+p+`}`)
		h.want(http.StatusOK, &got, "POST", "/v1/previews", `{"suggest":true,"explain":"groups",`+now+`,"objects":`+objects+`,"pod":`+p+`}`)
		for _, a := range []*decision.Answer{&want, &got} {
			a.Cluster, a.Snapshot, a.CreatedAt, a.DurationMicros = "", "", time.Time{}, 0
		}
		if a, b := mustJSON(t, want), mustJSON(t, got); a != b {
			t.Errorf("a preview answers\n%s\na dry run\n%s", b, a)
		}
	}
	var list rest.ClusterList
	h.want(http.StatusOK, &list, "GET", "/v1/clusters", "")
	var log rest.DecisionList
	h.want(http.StatusOK, &log, "GET", "/v1/decisions", "")
	if len(list.Items) != 1 || len(log.Items) != 0 {
		t.Errorf("previews left %d clusters and %d records", len(list.Items), len(log.Items))
	}
}

func TestPreviewOfYAML(t *testing.T) {
	h := start(t, nil)
	cluster, err := os.ReadFile(filepath.Join("..", "..", "examples", "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(objects, pod, more string) string {
		return `{"objects":` + mustJSON(t, objects) + `,"pod":` + mustJSON(t, pod) + more + `}`
	}
	const one = "metadata: {name: one, namespace: shop}\nspec: {nodeSelector: {disk: ssd}, containers: [{name: c, resources: {requests: {cpu: 500m}}}]}"
	var got decision.Answer
	h.want(http.StatusOK, &got, "POST", "/v1/previews", ask(string(cluster), one, ""))
	if got.Node == "" || got.Snapshot != "preview@1" || got.ID != "" {
		t.Errorf("%+v", got)
	}
	h.want(http.StatusOK, &got, "POST", "/v1/previews", ask(string(cluster), one, `,"config":`+mostAllocated))
	if got.Node == "" {
		t.Errorf("%+v", got)
	}
	for want, c := range map[string]struct {
		status int
		body   string
	}{
		"objects: want a v1 List":        {400, `{"pod":` + pod("x", "1", "") + `}`},
		"pod: want a pod":                {400, `{"objects":{"kind":"List","apiVersion":"v1","items":[]}}`},
		"pod: ":                          {400, ask(string(cluster), "a: [", "")},
		"objects":                        {400, ask("a: [", one, "")},
		"unknown field":                  {400, ask(string(cluster), one, `,"bind":true`)},
		`default/A_B`:                    {422, ask("kind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: A_B}}]", one, "")},
		`pod.spec.containers[0].resourc`: {422, ask(string(cluster), strings.Replace(one, "500m", "-1", 1), "")},
	} {
		if a := h.want(c.status, nil, "POST", "/v1/previews", c.body); !strings.Contains(string(a.body), want) {
			t.Errorf("%s\nwant %s", a.body, want)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	js, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}
