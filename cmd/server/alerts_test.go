package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAlertsFindTheirCounters: each counter that an alert reads is on /metrics of a server to which
// nothing has happened yet, so that the first event is an increase. Those of clusters that are
// followed begin with their clusters.
func TestAlertsFindTheirCounters(t *testing.T) {
	rules, err := os.ReadFile("../../deploy/monitoring/prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\bberth_[a-z_]+_total\b`).FindAllString(string(rules), -1)
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return strings.HasPrefix(n, "berth_cluster_") })
	if len(names) < 6 {
		t.Errorf("alerts read only %v", names)
	}
	r := serve(t, t.TempDir())
	resp, err := http.Get(r.url + "/metrics") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + name + `(\{.*\})? 0$`).Match(text) {
			t.Errorf("%s is not there as 0", name)
		}
	}
	if !regexp.MustCompile(`(?m)^berth_audit_records_total\{.*result="failed".*\} 0$`).Match(text) {
		t.Error("no record that failed is counted as 0")
	}
}
