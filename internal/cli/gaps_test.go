package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestWhatIsNotApplied: a dump with limits or quotas, and a pod of a runtime class that the dump
// lacks, are said to be so where a person would count on them.
func TestWhatIsNotApplied(t *testing.T) {
	const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"runtimeClassName":"kata","containers":[{"name":"c","image":"i"}]}}`
	const dump = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"9"}}}` +
		`{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","default":{"cpu":"3"}}]}}` +
		`{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"q"},"spec":{"hard":{"pods":"0"}}}` + pod
	const class = `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"cpu":"3"}}}`
	file := filepath.Join(t.TempDir(), "pod.json")
	if err := os.WriteFile(file, []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"explain", "a"}, {"fit", "-f", file}} {
		args = append(args, "--snapshot", "-")
		for in, want := range map[string][]string{
			dump: {"has LimitRanges and ResourceQuotas: admission and changes apply them, other answers do not", "no RuntimeClass kata, which the pod names"},
			dump + class: {
				"has LimitRanges, ResourceQuotas and RuntimeClasses: admission and changes apply them, other answers do not", "RuntimeClass kata has overhead of its own, which an API server writes into the pod and berth does not",
			},
		} {
			r := (call{in: in}).run(t, args...)
			text := strings.Join(strings.Fields(r.out), " ")
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%v: %+v, want %q", args, r, w)
				}
			}
			if strings.HasSuffix(in, class) && strings.Contains(text, "no RuntimeClass") {
				t.Errorf("%v: %+v", args, r)
			}
		}
	}
}

// TestClusterOfLimits: of a cluster of a kubeconfig what admission applies is listed as well, and
// what it does not list is said of a pod that is not there yet.
func TestClusterOfLimits(t *testing.T) {
	s, _, live := liveFixture(t)
	refuse := func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/limitranges") {
			return false
		}
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`, http.StatusForbidden)
		return true
	}
	s.Put(t, "resourcequotas", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"namespace": "shop", "name": "q"}, "spec": map[string]any{"hard": map[string]any{"pods": "0"}},
	}})
	s.Intercept(refuse)
	file := podFile(t, "small")
	for _, c := range []struct {
		args    []string
		refused bool
	}{{[]string{"explain", "shop/small"}, false}, {[]string{"explain", "-f", file}, true}, {[]string{"admit", "-f", file}, true}} {
		r := live.run(t, c.args...)
		text := strings.Join(strings.Fields(r.out), " ")
		if applied := c.args[0] == "admit"; applied != strings.Contains(text, "exceeded quota: q") ||
			applied == strings.Contains(text, "has ResourceQuotas: admission and changes apply them, other answers do not") || strings.Contains(text, "let you list LimitRanges") != c.refused {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
}
