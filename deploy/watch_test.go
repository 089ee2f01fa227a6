package deploy

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestWatchPage: the queries of docs/watch.md are of metrics that are measured, and each alert is
// linked from the signal that it is made of.
func TestWatchPage(t *testing.T) {
	raw, err := os.ReadFile("../docs/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	known := metrics(t)
	queries := regexp.MustCompile("(?s)```promql\n(.*?)\n```").FindAllStringSubmatch(string(raw), -1)
	if len(queries) < 8 {
		t.Errorf("%d queries", len(queries))
	}
	for _, q := range queries {
		checkQuery(t, "docs/watch.md", q[1], known, map[string]bool{})
	}
	rules, err := os.ReadFile("monitoring/prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if link := "[" + m[1] + "](runbooks.md#" + strings.ToLower(m[1]) + ")"; !strings.Contains(string(raw), link) {
			t.Errorf("docs/watch.md lacks %s", link)
		}
	}
}
