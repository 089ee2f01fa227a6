package deploy

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dashboard is the part of Grafana's JSON model that the tests read.
type dashboard struct {
	UID           string           `json:"uid"`
	Title         string           `json:"title"`
	SchemaVersion int              `json:"schemaVersion"`
	Panels        []dashboardPanel `json:"panels"`
	Templating    struct {
		List []struct {
			Name  string          `json:"name"`
			Type  string          `json:"type"`
			Query json.RawMessage `json:"query"`
		} `json:"list"`
	} `json:"templating"`
}

type dashboardPanel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct {
		RefID string `json:"refId"`
		Expr  string `json:"expr"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

// exported are the metrics of the runtime and the process, which are not ours.
var exported = []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "go_gc_gomemlimit_bytes"}

var (
	metricName = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)
	selectors  = regexp.MustCompile(`\{[^}]*\}|\bby \([^)]*\)|"[^"]*"`)
	variable   = regexp.MustCompile(`\$([a-z]+)\b`)
)

// The dashboard loads, its panels lie beside each other, and each of its queries is of metrics that
// the server has and of variables that the dashboard has.
func TestDashboardIsOfMetrics(t *testing.T) {
	raw, err := os.ReadFile("monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title != "berth" || d.SchemaVersion < 36 {
		t.Errorf("uid %q, title %q, schema %d", d.UID, d.Title, d.SchemaVersion)
	}
	known, variables := metrics(t), map[string]bool{}
	for _, v := range d.Templating.List {
		variables[v.Name] = true
		if v.Type == "query" {
			checkQuery(t, "variable "+v.Name, string(v.Query), known, nil)
		}
	}
	ids, cells, rows, queries := map[int]bool{}, map[[2]int]string{}, 0, 0
	for i := range d.Panels {
		p := &d.Panels[i]
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q: its id is another's, or it has no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q lies over %q, or out of the grid", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			rows++
			continue
		}
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q lacks a description, a unit or a query", p.Title)
		}
		for _, q := range p.Targets {
			queries++
			checkQuery(t, "panel "+p.Title, q.Expr, known, variables)
		}
	}
	if rows != 4 || queries < 15 {
		t.Errorf("%d rows and %d queries", rows, queries)
	}
}

// checkQuery fails for a query of no metric, of a metric that is not measured, or of a variable
// that is not there.
func checkQuery(t *testing.T, where, query string, known, variables map[string]bool) {
	t.Helper()
	plain := query
	if variables != nil {
		plain = selectors.ReplaceAllString(query, "")
		for _, m := range variable.FindAllStringSubmatch(query, -1) {
			if !variables[m[1]] {
				t.Errorf("%s: there is no variable %s", where, m[1])
			}
		}
	}
	found := 0
	for _, name := range metricName.FindAllString(plain, -1) {
		switch {
		case name == "label_values" || name == "histogram_quantile" || strings.HasPrefix(name, "rate_"):
		case known[name] || slices.Contains(exported, name):
			found++
		default:
			t.Errorf("%s: the server does not measure %s", where, name)
		}
	}
	if found == 0 {
		t.Errorf("%s: %s is of no metric", where, query)
	}
}
