package admin

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestLogIsBounded: the newest lines are kept in order, and long texts are cut.
func TestLogIsBounded(t *testing.T) {
	var l Log
	log := slog.New(l.Handler(slog.DiscardHandler))
	log.Info("not kept: the handler behind takes nothing")
	log = slog.New(l.Handler(slog.NewTextHandler(&strings.Builder{}, nil))).With(slog.String("a", "x")).WithGroup("g")
	for i := range mostLines + 10 {
		log.Info("line", slog.Int("n", i), slog.String("long", strings.Repeat("ä", mostText)), slog.Any("error", longError{}))
	}
	var out strings.Builder
	l.write(&out, false)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != mostLines || !strings.Contains(lines[0], `"g.n":10,`) || !strings.Contains(lines[mostLines-1], `"g.n":1009,`) || !strings.Contains(lines[0], `"a":"x"`) {
		t.Fatalf("%d lines, the first is %s", len(lines), lines[0])
	}
	if n := len(lines[0]); n > 3*mostText {
		t.Errorf("a line has %d bytes", n)
	}
}

type longError struct{}

func (longError) Error() string { return strings.Repeat("e", 10*mostText) }

// TestHiddenLog: only berth's own words and numbers are left where names are hidden.
func TestHiddenLog(t *testing.T) {
	var l Log
	log := slog.New(l.Handler(slog.NewTextHandler(&strings.Builder{}, nil)))
	log.Info("decided", slog.String("verb", "filter"), slog.String("pod", "canary"), slog.Any("error", longError{}), slog.Int("nodes", 3), slog.Group("g", slog.String("a", "canary")))
	var out strings.Builder
	l.write(&out, true)
	got := out.String()
	if strings.Contains(got, "canary") || strings.Contains(got, "eee") || !strings.Contains(got, `"verb":"filter"`) || !strings.Contains(got, `"nodes":3`) || !strings.Contains(got, `"pod":"hidden"`) {
		t.Error(got)
	}
}

// TestHiddenMetrics: labels that may be names get aliases that keep series apart.
func TestHiddenMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	c := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g"}, []string{"cluster", "verb"})
	r.MustRegister(c)
	for _, name := range []string{"canary-a", "canary-b"} {
		c.WithLabelValues(name, "filter").Set(1)
	}
	var a aliases
	for range 2 { // the registry keeps its own labels
		families, err := a.gatherer(r).Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := families[0].String()
		for _, want := range []string{"cluster-1", "cluster-2", "filter"} {
			if !strings.Contains(got, want) {
				t.Errorf("want %s in %s", want, got)
			}
		}
		if strings.Contains(got, "canary") {
			t.Errorf("a name is in %s", got)
		}
	}
	if again, err := r.Gather(); err != nil || !strings.Contains(again[0].String(), "canary-a") {
		t.Errorf("the registry's own labels have changed: %v %v", again, err)
	}
}
