package deploy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// instruments maps the functions that make one, and the short ones that the
// server has for them, to what Prometheus puts behind its name.
var instruments = map[string][]string{
	"Int64Counter": {"_total"}, "Int64ObservableCounter": {"_total"}, "counter": {"_total"},
	"Int64ObservableGauge": {""}, "Float64ObservableGauge": {""}, "gauge": {""},
	"Int64Histogram": {"_bucket", "_sum", "_count"}, "Float64Histogram": {"_bucket", "_sum", "_count"},
}

// metrics finds in the source what the server measures, by the names that
// Prometheus has for it.
func metrics(t *testing.T) map[string]bool {
	t.Helper()
	// Prometheus' own, and those of kube-state-metrics.
	names := map[string]bool{"up": true, "kube_job_status_failed": true, "kube_cronjob_status_last_successful_time": true}
	for _, root := range []string{"../cmd/server", "../internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, name := range measured(call) {
						names[name] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(names) < 40 {
		t.Fatalf("only %d metrics were found", len(names))
	}
	return names
}

// measured returns the names of the instrument that a call makes, if it makes one.
func measured(call *ast.CallExpr) (names []string) {
	function := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		function = f.Name
	case *ast.SelectorExpr:
		function = f.Sel.Name
	}
	ends, ok := instruments[function]
	if !ok || len(call.Args) == 0 {
		return nil
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return nil
	}
	name, err := strconv.Unquote(literal.Value)
	if err != nil {
		return nil
	}
	name = strings.ReplaceAll(name, ".", "_")
	for _, arg := range call.Args[1:] {
		if option, ok := arg.(*ast.CallExpr); ok {
			if f, ok := option.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "WithUnit" && option.Args[0].(*ast.BasicLit).Value == `"s"` {
				name += "_seconds"
			}
		}
	}
	for _, end := range ends {
		names = append(names, name+end)
	}
	return names
}

var (
	inExpr = regexp.MustCompile(`\b(?:berth|http|kube|scheduler|up)[a-z_]*\b`)
	quoted = regexp.MustCompile(`"[^"]*"`)
)

// TestAlertsAreOfMetrics: every metric that an alert speaks of is measured, and
// docs/runbooks.md describes what to do about it.
func TestAlertsAreOfMetrics(t *testing.T) {
	known := metrics(t)
	raw, err := os.ReadFile("../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, text := range strings.Split(string(raw), "\n## ")[1:] {
		name, text, _ := strings.Cut(text, "\n")
		sections[name] = text
	}
	named := map[string]bool{}
	alerts := 0
	each(t, func(t *testing.T, all []metav1.Object) {
		for _, rule := range of[*prometheusRule](all) {
			for _, g := range rule.Spec.Groups {
				for _, a := range g.Rules {
					alerts++
					names := inExpr.FindAllString(quoted.ReplaceAllString(a.Expr, ""), -1)
					if len(names) == 0 {
						t.Errorf("%s speaks of no metric", a.Alert)
					}
					for _, name := range names {
						if !known[name] {
							t.Errorf("%s speaks of %s, which nobody measures", a.Alert, name)
						}
					}
					if s := a.Labels["severity"]; s != "critical" && s != "warning" || a.Annotations["summary"] == "" || a.Annotations["impact"] == "" {
						t.Errorf("%s does not say what it means", a.Alert)
					}
					named[a.Alert] = true
					for _, part := range []string{"**Means.**", "**Look.**", "**Do.**"} {
						if !strings.Contains(sections[a.Alert], part) {
							t.Errorf("docs/runbooks.md has no section %s with %s", a.Alert, part)
						}
					}
					if want := "docs/runbooks.md#" + strings.ToLower(a.Alert); a.Annotations["runbook"] != want {
						t.Errorf("%s names the runbook %s, which is %s", a.Alert, a.Annotations["runbook"], want)
					}
				}
			}
		}
	})
	if alerts < 10 {
		t.Errorf("%d alerts", alerts)
	}
	for name := range sections {
		if !named[name] {
			t.Errorf("docs/runbooks.md has a section %s, and there is no such alert", name)
		}
	}
}

// TestGuideSpeaksOfMetrics holds the guide and the runbooks to what is measured.
func TestGuideSpeaksOfMetrics(t *testing.T) {
	known := metrics(t)
	for _, page := range []string{"../docs/kubernetes.md", "../docs/runbooks.md"} {
		guide, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range regexp.MustCompile("`[^`]*\\b(berth_[a-z_]+)\\b[^`]*`").FindAllStringSubmatch(string(guide), -1) {
			found++
			if name := m[1]; !known[name] && !known[name+"_count"] && name != "berth_reader" && name != "berth_writer" {
				t.Errorf("%s speaks of %s, which is not measured", page, name)
			}
		}
		if found < 10 {
			t.Errorf("%d metrics in %s", found, page)
		}
	}
}
