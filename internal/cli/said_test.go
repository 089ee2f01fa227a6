package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoSecretIsSaid: an address with a secret in it is refused, and no error or help repeats it,
// whether it comes as an argument, from the environment or in a kubeconfig.
func TestNoSecretIsSaid(t *testing.T) {
	const planted = "zvk9"
	for _, address := range []string{
		"http://user:" + planted + "@127.0.0.1:1", "http://" + planted + "@127.0.0.1:1", "http://user:x@" + planted + "@127.0.0.1:1", "http://user:x#" + planted + "@127.0.0.1:1",
		"http://user:12/" + planted + "@127.0.0.1:1", "http://user:x%" + planted + "@127.0.0.1:1", "http://127.0.0.1:1?token=" + planted, "http://127.0.0.1:1/#" + planted, "user:" + planted + "@127.0.0.1:1",
	} {
		kubeconfig := filepath.Join(t.TempDir(), "config")
		text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: '" + address + "'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"
		if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"explain", "shop/a"},
			{"pending"},
			{"doctor"},
			{"audit", "head"},
			{"whoami"},
			{"diff", "a@1", "a@2"},
			{"explain", "shop/a", "-o", "html"},
			{"pending", "--snapshot", fixture},
			{"lifecycle", "shop/a"},
			{"simulate", "-f", filepath.Join("testdata", "scenario.yaml")},
			{"pressure", "n1", "--signal", "memory.available=1"},
			{"explain", "--help"},
			{"support"},
		} {
			for _, r := range []result{
				call{env: map[string]string{"BERTH_SERVER": address, "BERTH_TOKEN": "t-" + planted}}.run(t, args...),
				call{}.run(t, append(args, "--server", address)...),
				call{env: map[string]string{"KUBECONFIG": kubeconfig}}.run(t, args...),
			} {
				if text := r.out + r.err; strings.Contains(text, planted) || text == "" {
					t.Errorf("%v of %s: %+v", args, address, r)
				}
			}
		}
	}
	r := call{env: map[string]string{"BERTH_SERVER": "http://127.0.0.1:1", "BERTH_TOKEN": planted}}.run(t, "explain", "shop/a")
	if r.code != exitBroken || strings.Contains(r.err, planted) {
		t.Errorf("%+v", r)
	}
}
