package cli

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const oneNode = `apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: weird}
spec: {containers: []}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: too-high}
value: 2000000000
`

func besideFiles(t *testing.T, files map[string]string) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

// A dump that is compressed is read, and what is invalid in it is left out by name; before, neither
// was read at all.
func TestDumpIsCompressedAndPartlyInvalid(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(oneNode))
	_ = z.Close()
	at := besideFiles(t, map[string]string{"dump.yaml.gz": packed.String(), "pod.yaml": "metadata: {name: web}\nspec: {containers: [{name: c}]}\n"})
	code, out, errs := runOn(t, "explain", "-f", at("pod.yaml"), "--snapshot", at("dump.yaml.gz"))
	if code != exitYes || !strings.Contains(out, "n1") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	for _, want := range []string{
		"Pod default/weird is left out: spec.containers: Required value",
		"PriorityClass too-high is left out: value: Forbidden",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("stderr lacks %q:\n%s", want, errs)
		}
	}
}

// The class in the same file as the pod counts, a misspelt field is named, and a Deployment is
// decided as one of its pods.
func TestFileOfAPodAndMore(t *testing.T) {
	const class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high-priority}\nvalue: 1000000\n---\n"
	at := besideFiles(t, map[string]string{
		"dump.yaml": oneNode,
		"both.yaml": class + "apiVersion: v1\nkind: Pod\nmetadata: {name: nginx}\nspec: {priorityClassName: high-priority, nodeSelectr: {a: b}, containers: [{name: c}]}\n",
		"dep.yaml":  class + "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3, template: {spec: {priorityClassName: high-priority, containers: [{name: c, image: i}]}}}\n",
	})
	code, out, errs := runOn(t, "explain", "nginx", "-f", at("both.yaml"), "--snapshot", at("dump.yaml"), "-o", "json")
	if code != exitYes || !strings.Contains(strings.ReplaceAll(out, " ", ""), `"priority":1000000`) || !strings.Contains(errs, "note: "+at("both.yaml")+": spec.nodeSelectr: unknown field: did you mean nodeSelector?") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	code, out, errs = runOn(t, "explain", "-f", at("dep.yaml"), "--snapshot", at("dump.yaml"))
	if code != exitYes || !strings.Contains(out, "shop/web-") || !strings.Contains(errs, "Deployment: the answer is for one of 3 replicas") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	if code, out, errs = runOn(t, "fit", "-f", at("dep.yaml"), "--snapshot", at("dump.yaml")); code != exitYes || strings.Contains(errs, "replicas") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	if code, out, errs = runOn(t, "queue", "-A", "--snapshot", at("dump.yaml")); code != exitYes {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	if code, out, errs = runOn(t, "termination", "-f", at("dep.yaml")); code != exitYes || !strings.Contains(out, "shop/web-") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
}

func runOn(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	r := call{}.run(t, args...)
	return r.code, r.out, r.err
}
