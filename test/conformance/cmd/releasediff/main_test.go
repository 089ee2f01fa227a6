package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeTree writes the modules of a made-up release into a cache: those that are followed, empty
// but for files.
func writeTree(t *testing.T, cache, release string, files map[string]string) {
	t.Helper()
	for _, m := range followed {
		version := release
		if m != "k8s.io/kubernetes" {
			version = "v0." + strings.TrimPrefix(release, "v1.")
		}
		if err := os.MkdirAll(filepath.Join(cache, m+"@"+version, decides), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	one   = "k8s.io/kubernetes@v1.1.0/"
	two   = "k8s.io/kubernetes@v1.2.0/"
	rules = "| | what | where | |\n| --- | --- | --- | --- |\n| A1 | x | y | |\n| B2–B4 | x | y | |\n"
)

// run compares two made-up releases by lines, and returns what is printed and left to do.
func run(t *testing.T, files map[string]string, lines string) (string, int) {
	t.Helper()
	dir := t.TempDir()
	for _, r := range []string{"v1.1.0", "v1.2.0"} {
		writeTree(t, dir, r, nil)
	}
	files["doc"], files["known"] = rules, lines
	writeTree(t, dir, "v1.1.0", files)
	var out strings.Builder
	left, err := compare(&out, options{
		cache: dir, from: "v1.1.0", to: "v1.2.0", known: filepath.Join(dir, "known"), rows: filepath.Join(dir, "doc"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), left
}

// TestWhatDiffers: what can change an answer is listed, and nothing else.
func TestWhatDiffers(t *testing.T) {
	const head = "package scheduler\n\n"
	for name, c := range map[string]struct{ old, now, want string }{
		"a value":             {"func F() int { return 1 }", "func F() int { return 2 }", "changed  pkg/scheduler.F"},
		"a comment":           {"func F() int { return 1 }", "// F is.\nfunc F() int {\n\t// so\n\treturn 1\n}", ""},
		"lines":               {"var x = f(1, 2)", "var x = f(\n\t1,\n\t2,\n)", ""},
		"log lines":           {"func F(c int) { g() }", "func F(c int, logger klog.Logger) { logger.V(4).Info(\"x\", 1); g(); if c > 0 { klog.Infof(\"y\") } }", ""},
		"a condition":         {"func F(c int) { if c > 0 { g() } }", "func F(c int) { if c > 1 { g() } }", "changed  pkg/scheduler.F"},
		"a constant":          {"const a = 1", "const a = 2", "changed  pkg/scheduler.a"},
		"a repeated constant": {"const (\na = iota\nb\n)", "const (\na = iota + 1\nb\n)", "changed  pkg/scheduler.b"},
		"a field":             {"type T struct{ a int }", "type T struct{ a, b int }", ""},
		"a new function":      {"", "func F() {}", ""},
		"a new method":        {"type T struct{}", "type T struct{}\nfunc (t *T) PreFilter() {}", "added    pkg/scheduler.T.PreFilter"},
		"a method gone":       {"type T[X any] struct{}\nfunc (t *T[X]) Less() {}", "type T[X any] struct{}", "removed  pkg/scheduler.T.Less"},
		"a new type":          {"", "type T struct{}\nfunc (t *T) PreFilter() {}", ""},
		"a new init":          {"", "func init() { f() }", "added    pkg/scheduler.init"},
	} {
		t.Run(name, func(t *testing.T) {
			out, left := run(t, map[string]string{one + "pkg/scheduler/a.go": head + c.old, two + "pkg/scheduler/a.go": head + c.now}, "")
			if (left > 0) != (c.want != "") || !strings.Contains(out, c.want) {
				t.Errorf("%d to do, want %q:\n%s", left, c.want, out)
			}
		})
	}
}

// TestWhatIsRead: packages that a decision imports are followed over modules, tests and other
// modules are not; gates count where the code reads them.
func TestWhatIsRead(t *testing.T) {
	files := map[string]string{}
	for i, root := range []string{one, two} {
		v := []string{"1", "2"}[i]
		lib := "k8s.io/component-helpers@v0." + v + ".0/"
		files[root+"pkg/scheduler/a.go"] = "package scheduler\n\nimport (\n\t\"k8s.io/component-helpers/resource\"\n\t\"k8s.io/kubernetes/pkg/features\"\n)\n\nvar _, _ = resource.A, features.Asked\n"
		files[root+"pkg/scheduler/a_test.go"] = "package scheduler\n\nvar test = " + v
		files[root+"pkg/scheduler/testing/a.go"] = "package testing\n\nvar T = " + v
		files[root+"pkg/unread/a.go"] = "package unread\n\nvar U = " + v
		files[root+"pkg/kubelet/kubelet_pods.go"] = "package kubelet\n\nvar P = " + v
		files[root+"pkg/kubelet/kubelet.go"] = "package kubelet\n\nvar K = " + v
		files[lib+"resource/a.go"] = "package resource\n\nimport other \"k8s.io/component-helpers/x" + v + "\"\n\nvar A = other.B\n"
		files[root+"pkg/features/a.go"] = "package features\n\nvar defaultVersionedKubernetesFeatureGates = map[F]S{\n\tAsked: {" + v + "},\n\tpkg.Unasked: {" + v + "},\n}\n"
	}
	out, _ := run(t, files, "")
	for _, want := range []string{"component-helpers/resource.A:", "pkg/kubelet.P:", "Gates[Asked]:"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s:\n%s", want, out)
		}
	}
	for _, not := range []string{"Unasked", "kubelet.K", "unread", "test", "testing"} {
		if strings.Contains(out, not) {
			t.Errorf("%s is there:\n%s", not, out)
		}
	}
}

// TestLines: the first line that fits counts, one that fits nothing is to do, and a row has to be
// in the document.
func TestLines(t *testing.T) {
	files := map[string]string{
		one + "pkg/scheduler/a.go": "package scheduler\n\nvar a, b = 1, 1",
		two + "pkg/scheduler/a.go": "package scheduler\n\nvar a, b = 2, 2",
	}
	for lines, want := range map[string]string{
		"A1 B3 | pkg/scheduler.a | so\nnone | pkg/scheduler.* | no": "by row: A1 B3 1 none 1; to do: 0",
		"none | pkg/scheduler.* | no\nA1 | pkg/scheduler.a | so":    "known:2: nothing that differs is pkg/scheduler.a",
		"# none | pkg/scheduler.* | no":                             "to do: 2",
		"none | pkg/scheduler.a | no":                               "pkg/scheduler.b: no line",
	} {
		if out, _ := run(t, files, lines); !strings.Contains(out, want) {
			t.Errorf("%q: want %q:\n%s", lines, want, out)
		}
	}
	dir := t.TempDir()
	writeTree(t, dir, "v1.1.0", map[string]string{"doc": rules, "row": "B5 | x | y", "fields": "A1 | x"})
	for _, name := range []string{"row", "fields"} {
		if _, err := readKnown(filepath.Join(dir, name), filepath.Join(dir, "doc")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	_, err := compare(&strings.Builder{}, options{cache: dir, from: "v1.1.0", to: "v1.3.0", known: "none", rows: filepath.Join(dir, "doc")})
	if err == nil || !strings.Contains(err.Error(), "go mod download k8s.io/kubernetes@v1.3.0") {
		t.Errorf("a release that the cache lacks: %v", err)
	}
}
