package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

func TestYAMLBodies(t *testing.T) {
	h := start(t, nil)
	h.upload("default", listOf(node("n1", "4")))
	const class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: high-priority\nvalue: 1000000\nglobalDefault: false\ndescription: \"This priority class should be used for XYZ service pods only.\"\n"
	const nginx = "metadata:\n  name: nginx\nspec:\n  priorityClassName: high-priority\n  containers:\n  - name: c\n    resources: {requests: {cpu: 1, memory: 1Gi}}\n"
	within := func(at, doc string) string {
		return at + ":\n  " + strings.TrimSuffix(strings.ReplaceAll(doc, "\n", "\n  "), "  ")
	}
	for _, media := range []string{"application/yaml", "text/yaml; charset=utf-8", "application/x-yaml"} {
		name := strings.NewReplacer("/", "-", "; ", "-", "=", "-").Replace(media)
		h.want(http.StatusCreated, nil, "POST", "/v1/priorityclasses", strings.Replace(class, "high-priority", name, 1), "Content-Type", media)
	}
	h.want(http.StatusCreated, nil, "POST", "/v1/priorityclasses", class, "Content-Type", "application/yaml")
	h.want(http.StatusOK, nil, "PUT", "/v1/priorityclasses/high-priority", strings.Replace(class, "XYZ", "our", 1), "Content-Type", "application/yaml")
	var inYAML, inJSON decision.Answer
	h.want(http.StatusCreated, &inYAML, "POST", "/v1/decisions", within("pod", nginx)+"bind: false\n", "Content-Type", "application/yaml")
	h.want(http.StatusCreated, &inJSON, "POST", "/v1/decisions", `{"pod":{"metadata":{"name":"nginx"},"spec":{"priorityClassName":"high-priority","containers":[{"name":"c","resources":{"requests":{"cpu":1,"memory":"1Gi"}}}]}},"bind":false}`)
	if inYAML.Digest != inJSON.Digest || inYAML.PodDigest != inJSON.PodDigest || inYAML.Priority != 1000000 {
		t.Errorf("%+v\n%+v", inYAML, inJSON)
	}
	for path, body := range map[string]string{
		"/v1/snapshots/default@latest/changes":   "apply:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: shop}\n",
		"/v1/pods/admission":                     "operation: CREATE\n" + within("pod", nginx),
		"/v1/pods/lifecycle":                     within("pod", nginx),
		"/v1/pods/termination":                   "cause: delete\n" + within("pod", nginx),
		"/v1/nodes/eviction-ranking":             "signal: memory\npods:\n- usage: {memory: 1Gi}\n  pod: {metadata: {name: a}, spec: {containers: [{name: c}]}}\n",
		"/v1/nodes/eviction":                     "signals: {memory.available: {available: 1Gi}}\npods:\n- usage: {memory: 1Gi}\n  pod: {metadata: {name: a}, spec: {containers: [{name: c}]}}\n",
		"/v1/clusters/default/garbage":           "# the default\n",
		"/v1/decisions/" + inYAML.ID + "/replay": "profile: default-scheduler\n",
		"/v1/replays":                            "cluster: default\n",
	} {
		if got := h.do("POST", path, body, "Content-Type", "application/yaml"); got.StatusCode/100 != 2 {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
}

func TestYAMLRefusals(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.MaxYAMLTokens = 100 })
	for name, c := range map[string]struct {
		media, body string
		status      int
		want        string
	}{
		"not said to be YAML": {"application/json", "pod:\n  metadata: {}\n", 400, "the body is not a JSON object; for YAML send Content-Type: application/yaml"},
		"with a mark":         {"application/x-www-form-urlencoded", "---\npod: {}\n", 400, "the body is not a JSON object; for YAML send Content-Type: application/yaml"},
		"a byte order mark":   {"application/json", "\xef\xbb\xbf{}", 400, "the body is not a JSON object: it begins with a byte order mark; want UTF-8 without one"},
		"UTF-16":              {"application/json; charset=utf-16", "\xff\xfe{\x00}\x00", 400, "the body is not a JSON object: it is UTF-16; want UTF-8"},
		"no YAML either":      {"application/json", `"a: b"`, 400, "the body is not a JSON object"},
		"bad":                 {"application/yaml", "pod: [", 400, "bad YAML in the body: yaml: line 1: did not find expected node content"},
		"twice":               {"application/yaml", "pod: {}\npod: {}\n", 400, `bad YAML in the body: yaml: unmarshal errors: line 2: key "pod" already set in map`},
		"two documents":       {"application/yaml", "pod: {}\n---\npod: {}\n", 400, "bad YAML in the body: a second document begins in it"},
		"too many nodes":      {"application/yaml", "pod: [" + strings.Repeat("a,", 200) + "]", 413, "the number of keys, values and lines of YAML in the body is over the limit max-yaml-tokens=100"},
		"many aliases":        {"application/yaml", "a: &x [" + strings.Repeat("a,", 40) + "]\nb: [*x,*x,*x]\n", 413, "the number of keys and values with each alias written out in the body is over the limit max-yaml-tokens=100"},
		"an unknown field":    {"application/yaml", "pods: {}\n", 400, `unknown field "pods": did you mean pod?`},
		"nothing":             {"application/yaml", "# nothing\n", 400, "the body is empty; want a JSON object"},
	} {
		var p exchange.Problem
		h.want(c.status, &p, "POST", "/v1/decisions", c.body, "Content-Type", c.media)
		if strings.Join(strings.Fields(p.Detail), " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, p.Detail, c.want)
		}
	}
	// The extender's protocol is JSON alone.
	h.upload("default", small())
	if got := h.do("POST", "/bind", "podName: a\n", "Content-Type", "application/yaml"); got.StatusCode != http.StatusBadRequest {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
