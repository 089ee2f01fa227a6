package deploy

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	catalogue "berth/internal/queries"
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
		RefID  string `json:"refId"`
		Expr   string `json:"expr"`
		RawSQL string `json:"rawSql"`
	} `json:"targets"`
	Panels      []dashboardPanel `json:"panels"` // those of a row that is closed
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
	readyQuery = regexp.MustCompile(`^Ready query ([a-z0-9-]+): `)
	ofLog      = regexp.MustCompile(`\$\{([a-z_]+):sqlstring\}`)
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
		if v.Type == "query" && v.Name != "cluster_of_log" { // which is of the log
			checkQuery(t, "variable "+v.Name, string(v.Query), known, nil)
		}
	}
	ids, cells, rows, queries := map[int]bool{}, map[[2]int]string{}, 0, 0
	drawn := map[string]bool{} // ready queries
	var all []dashboardPanel
	for _, p := range d.Panels {
		all = append(append(all, p), p.Panels...)
	}
	for i := range all {
		p := &all[i]
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
			if q.RawSQL == "" {
				checkQuery(t, "panel "+p.Title, q.Expr, known, variables)
			} else {
				drawn[checkReady(t, p, q.RawSQL, variables)] = true
			}
		}
	}
	if rows != 5 || queries < 15 {
		t.Errorf("%d rows and %d queries", rows, queries)
	}
	for _, q := range catalogue.All() {
		if q.Chart != nil && !drawn[q.Name] {
			t.Errorf("no panel draws the time series of %s", q.Name)
		}
	}
}

// checkReady fails where a panel's SQL is not that of the ready query that it names, which the
// tests of internal/decision/record run, or is of a variable that is not there. It returns the
// query's name.
func checkReady(t *testing.T, p *dashboardPanel, sql string, variables map[string]bool) string {
	t.Helper()
	name := readyQuery.FindStringSubmatch(p.Description)
	if name == nil {
		t.Errorf("panel %s names no ready query", p.Title)
		return ""
	}
	q, ok := catalogue.Named(name[1])
	if !ok || q.Chart == nil {
		t.Errorf("panel %s: the ready query %s is not there, or no time series", p.Title, name[1])
		return ""
	}
	if sql != q.Chart.Grafana {
		t.Errorf("panel %s has not the text of %s, which is\n%q", p.Title, name[1], q.Chart.Grafana)
	}
	for _, m := range ofLog.FindAllStringSubmatch(sql, -1) {
		if !variables[m[1]] {
			t.Errorf("panel %s: there is no variable %s", p.Title, m[1])
		}
	}
	return name[1]
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
