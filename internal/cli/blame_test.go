package cli

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"berth/internal/blame"
)

// TestBlameOfAServer walks a history in which a pod's room is taken, given back and taken.
func TestBlameOfAServer(t *testing.T) {
	url, asked := uploaded(t)
	change := func(body string) { post(t, url+"/v1/snapshots/prod@latest/changes", []byte(body)) }
	taker := `{"apply":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a-job-with-a-rather-long-name-7d9f8b6c5-x2x4q","namespace":"batch"},"spec":{"nodeName":"n-x1","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"7900m"}}}]}}]}`
	change(taker)
	change(`{"delete":[{"kind":"Pod","namespace":"batch","name":"a-job-with-a-rather-long-name-7d9f8b6c5-x2x4q"}]}`)
	change(taker)
	r := asked.run(t, "blame", "shop/small", "--node", "n-x1")
	within(t, standardWidth, r.out)
	times := regexp.MustCompile(`(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d`)
	golden(t, "blame-server", times.ReplaceAllStringFunc(r.out, func(at string) string {
		return "2026-01-02 03:04:05"[19-len(at):]
	}))
	if r.code != exitNo || r.err != "" {
		t.Errorf("%+v", r)
	}
	var b blame.Blame
	r = asked.run(t, "blame", "small", "-n", "shop", "--node", "n-x1", "--since", "prod@2", "--until", "prod@3", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &b); err != nil || r.code != exitYes || b.Revisions != 2 || len(b.Turns) != 1 || b.Turns[0].To != blame.Fits {
		t.Errorf("%v %+v", err, r)
	}
	old := call{env: map[string]string{"BERTH_SERVER": url, "BERTH_CLUSTER": "prod@1"}}
	if r := old.run(t, "blame", "shop/small", "--node", "n-x1", "--since", "1h"); r.code != exitYes || !strings.Contains(r.out, "1 revision\n") {
		t.Errorf("of an older state: %+v", r)
	}
	for _, c := range []struct {
		from call
		args []string
		want string
	}{
		{asked, []string{"blame", "shop/none"}, "name: no revision from prod@1 to prod@4 has a pod shop/none"},
		{asked, []string{"blame", "shop/smal"}, "Did you mean small?"},
		{asked, []string{"blame", "shop/small", "--count", "0", "--since", "soon"}, "--since"},
		{asked, []string{"blame", "shop/small", "--count", "-1"}, "count: want a number"},
		{asked, []string{"blame", "shop/small", "shop/huge"}, "one pod, not 2"},
		{asked, []string{"blame"}, "which pod?"},
		{asked, []string{"blame", "shop/small", "--profile", "x"}, "under its own configuration"},
		{snapshot(), []string{"blame", "shop/small"}, "one dump has no history"},
		{snapshot(), []string{"blame", "shop/small", "--between", fixture}, "--between needs two dumps"},
		{snapshot(), []string{"blame", "shop/small", "--between", fixture, filepath.Join("testdata", "none.yaml")}, "none.yaml"},
	} {
		if r := c.from.run(t, c.args...); r.code != exitBroken || r.out != "" || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
}
