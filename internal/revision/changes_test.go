package revision

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// written returns what the newest revision of a cluster changed, a line an object.
func (h *fixture) written(t *testing.T, cluster string) string {
	t.Helper()
	got, err := h.st.Query(t.Context(), &store.Query{
		SQL: `SELECT action, kind, namespace, name, uid, node, changed, cause, asked_by, objects FROM revision_objects o WHERE cluster = @cluster
AND revision = (SELECT max(number) FROM revision_log WHERE cluster = @cluster) ORDER BY place`,
		Args: map[string]any{"cluster": cluster}, MaxBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, row := range got.Rows {
		line := fmt.Sprint(row...)
		for i, v := range row {
			if i == 0 {
				line = fmt.Sprint(v)
			} else if v == nil {
				line += " -"
			} else {
				line += fmt.Sprint(" ", v)
			}
		}
		lines = append(lines, line)
	}
	return made.ReplaceAllString(strings.Join(lines, "\n"), "-")
}

// made are the UIDs that an upload gives to objects without one.
var made = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

func (h *fixture) classLog(t *testing.T, cluster string) (lines []string) {
	t.Helper()
	got, err := h.st.Query(t.Context(), &store.Query{
		SQL:  `SELECT seq, action, name, old_value, new_value, new_policy, source, revision, asked_by FROM priority_class_log WHERE cluster = @cluster ORDER BY seq`,
		Args: map[string]any{"cluster": cluster}, MaxBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range got.Rows {
		lines = append(lines, strings.Trim(fmt.Sprint(row), "[]"))
	}
	return lines
}

func classObject(t testing.TB, name string, value int) object.Object {
	return decoded(t, fmt.Sprintf(`{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":%q},"value":%d}`, name, value))
}

func named(t testing.TB, name, uid, on string) object.Object {
	return decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"d","uid":%q},
		"spec":{"nodeName":%q,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`, name, uid, on))
}

// TestWhatARevisionChanged: uploads by what differs, changes, and binds with their node; who asked,
// and the paths that differ.
func TestWhatARevisionChanged(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	ctx := store.WithAsked(t.Context(), store.Asked{By: "token:sre"})
	upload := func(list ...object.Object) {
		t.Helper()
		if _, _, err := h.Upload(ctx, "prod", reader(list...)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(lines ...string) {
		t.Helper()
		if got := h.written(t, "prod"); got != strings.Join(lines, "\n") {
			t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(lines, "\n"))
		}
	}
	upload(node(t, "n1", 4), classObject(t, "rush", 5), named(t, "a", "u1", "n1"))
	if got := strings.Count(h.written(t, "prod"), "apply"); got != 3 || !strings.HasPrefix(h.written(t, "prod"), "apply PriorityClass - rush - - - upload token:sre 3") {
		t.Errorf("first upload: %s", h.written(t, "prod"))
	}
	// Only what differs, the deleted and the classes first.
	upload(node(t, "n1", 8), classObject(t, "rush", 7), named(t, "b", "u2", ""))
	got := h.written(t, "prod")
	for _, line := range []string{
		`apply PriorityClass - rush - - ["value"] upload token:sre 4`, `delete Pod d a u1 - - upload token:sre 4`,
		`apply Node - n1 - - ["status.allocatable.cpu"] upload token:sre 4`, `apply Pod d b u2 - - upload token:sre 4`,
	} {
		if !strings.Contains(got, line) {
			t.Errorf("second upload lacks %s:\n%s", line, got)
		}
	}
	if lines := strings.Split(got, "\n"); len(lines) != 4 || strings.Contains(lines[0]+lines[1], "Node") || strings.Contains(lines[0]+lines[1], "Pod d b") {
		t.Errorf("second upload:\n%s", got)
	}
	bind := func(o object.Object, on string) {
		t.Helper()
		_, _, err := h.Update(ctx, "prod", 0, func(*View) (*Step, error) {
			return &Step{Bind: &Bind{Pod: o.Value.(*corev1.Pod), Node: on}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	bind(named(t, "b", "u2", ""), "n1")
	want(`apply Pod d b u2 n1 ["metadata.labels","spec.nodeName"] bind token:sre 1`) // of the node's zone
	bind(named(t, "new", "u3", ""), "n1")
	want(`apply Pod d new u3 n1 - bind token:sre 1`)
	// Its record has a pod that a decision bound: the revision has what the bind changed beside it.
	x := difference{bind: &Bind{Pod: named(t, "new", "u4", "").Value.(*corev1.Pod), Node: "n1"}, recorded: true, apply: []object.Object{node(t, "n1", 3)}}
	c, r := changesOf(new(inventory), &x, named(t, "new", "u4", "n1"), nil), new(store.Revision)
	if c.into(r); r.Changes != 2 || len(r.Objects) != 1 || r.Objects[0].Kind != "Node" {
		t.Errorf("a recorded bind: %d changes, %+v", r.Changes, r.Objects)
	}
	if _, err := h.Change(ctx, "prod", 0, []object.Object{classObject(t, "rush", 7), node(t, "n1", 2)}, []object.Key{{Kind: "Pod", Namespace: "d", Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	want(`delete Pod d b u2 - - change token:sre 2`, `apply Node - n1 - - ["status.allocatable.cpu"] change token:sre 2`)
	if _, err := h.Change(ctx, "prod", 0, nil, []object.Key{{Kind: "PriorityClass", Name: "rush"}}); err != nil {
		t.Fatal(err)
	}
	log := []string{
		"1 create rush <nil> 5 PreemptLowerPriority snapshot 1 token:sre", "2 update rush 5 7 PreemptLowerPriority snapshot 2 token:sre",
		"3 delete rush 7 <nil> <nil> snapshot 6 token:sre",
	}
	if got := h.classLog(t, "prod"); strings.Join(got, "\n") != strings.Join(log, "\n") {
		t.Errorf("classes:\n%s", strings.Join(got, "\n"))
	}
}

// TestMoreThanIsKept: of an upload of thousands of objects 1,000 are kept, the deleted ones first,
// and the count is of all.
func TestMoreThanIsKept(t *testing.T) {
	h := open(t, t.TempDir(), Options{})
	var first, second []object.Object
	for i := range 1500 {
		first = append(first, pod(t, fmt.Sprint("a", i), ""))
		second = append(second, pod(t, fmt.Sprint("b", i), ""))
	}
	second = append(second, first[:1400]...)
	for _, list := range [][]object.Object{first, second} {
		if _, _, err := h.Upload(context.Background(), "prod", reader(list...)); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(h.written(t, "prod"), "\n")
	deleted := 0
	for i, line := range lines {
		if strings.HasPrefix(line, "delete") {
			if deleted++; deleted != i+1 {
				t.Errorf("line %d is deleted behind others", i)
			}
		}
	}
	if len(lines) != maxObjects || deleted != 100 || !strings.HasSuffix(lines[0], " 1600") {
		t.Errorf("%d lines, %d deleted, first %s", len(lines), deleted, lines[0])
	}
}

// TestDifferingPaths compares two texts in canonical form.
func TestDifferingPaths(t *testing.T) {
	many := func(v string) string {
		parts := make([]string, 30)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"k%02d":%s`, i, v)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for _, tt := range []struct{ a, b, want string }{
		{`{"a":1}`, `{"a":1}`, ``},
		{`{"a":1,"b":{"c":"x"}}`, `{"a":1,"b":{"c":"y"}}`, `b.c`},
		{`{"a":1}`, `{"a":1,"b":{"c":1}}`, `b`},
		{`{"a":1,"z":2}`, `{"z":2}`, `a`},
		{`{"labels":{"app.kubernetes.io/name":"x"}}`, `{"labels":{"app.kubernetes.io/name":"y"}}`, `labels[app.kubernetes.io/name]`},
		{`{"c":[{"name":"web","image":"a"},{"name":"log"}]}`, `{"c":[{"name":"log"},{"name":"web","image":"b"}]}`, `c[web].image`},
		{`{"args":["a","b"]}`, `{"args":["a","c","d"]}`, `args[1] args[2]`},
		{`{"a":[]}`, `{"a":[1]}`, `a`},
		{`{"a":{}}`, `{"a":null}`, `a`},
		{many("1"), many("2"), `k00 k01 k02 k03 k04 k05 k06 k07 k08 k09`},
	} {
		if got := strings.Join(differing(nil, "", []byte(tt.a), []byte(tt.b)), " "); got != tt.want {
			t.Errorf("%.60s and %.60s: %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
	if got := string(encodePaths([]string{"a\"b\x00", strings.Repeat("x", 500)})); got != `["a\"b`+"\uFFFD"+`","`+strings.Repeat("x", maxPath)+`"]` {
		t.Errorf("encoded %s", got)
	}
}
