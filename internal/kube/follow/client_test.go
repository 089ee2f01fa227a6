package follow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/kube/follow"
	"berth/test/kubetest"
)

// TestConfig: a kubeconfig that runs programs or skips the verification of certificates is refused,
// and the error names the field.
func TestConfig(t *testing.T) {
	_, path := kubetest.NewTLS(t)
	if _, err := follow.Config(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(string) string{
		"insecure-skip-tls-verify": func(c string) string {
			at := strings.Index(c, "certificate-authority-data:")
			end := at + strings.Index(c[at:], "\n")
			return c[:at] + "insecure-skip-tls-verify: true" + c[end:]
		},
		"exec": func(c string) string {
			return strings.Replace(c, "token: token", "exec: {apiVersion: client.authentication.k8s.io/v1, command: curl, interactiveMode: Never}", 1)
		},
		"https":           func(c string) string { return strings.Replace(c, "https://", "http://", 1) },
		"current-context": func(c string) string { return strings.Replace(c, "current-context: x", "current-context: nowhere", 1) },
	} {
		bad := filepath.Join(t.TempDir(), "kubeconfig")
		changed := change(string(good))
		if changed == string(good) {
			t.Fatalf("%s: nothing was changed in %s", what, good)
		}
		if err := os.WriteFile(bad, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := follow.Config(bad); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := follow.Config(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there")
	}
	if _, err := follow.Config(follow.InCluster); err == nil || !strings.Contains(err.Error(), "not a pod") {
		t.Errorf("outside of a cluster: %v", err)
	}
}
