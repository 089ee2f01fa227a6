package observe

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func decided(snapshot, pod string) Decided {
	return Decided{"decide", snapshot, "shop", pod, "Scheduled", "n1", time.Millisecond}
}

func TestDecisionsAreSampledInTheLog(t *testing.T) {
	var out bytes.Buffer
	a := &Observer{Log: slog.New(slog.NewJSONHandler(&out, nil)), sample: newDecisionSample()}
	a.sample.sometimes.Interval = time.Hour
	for range 50 {
		a.LogDecision(t.Context(), decided("prod@7", "web"))
	}
	if n := strings.Count(out.String(), `"msg":"decided","verb":"decide","snapshot":"prod@7","pod":"shop/web","outcome":"Scheduled"`); n != 10 {
		t.Errorf("%d of 50 decisions are in the log, want 10:\n%s", n, out.String())
	}
	a.sample.sometimes.Interval = time.Nanosecond
	a.LogDecision(t.Context(), decided("prod@8", "web"))
	if strings.Contains(out.String(), `"page"`) {
		t.Errorf("a line links to a page of a server that has none:\n%s", out.String())
	}
	a.pages = true
	a.LogDecision(t.Context(), decided("prod@9", "a b"))
	if !strings.Contains(out.String(), `"page":"/pods/shop/a%20b?cluster=prod"`) {
		t.Errorf("no line links to the pod's page:\n%s", out.String())
	}
	if !strings.Contains(out.String(), `"othersNotLogged":40`) {
		t.Errorf("the last line does not count the 40 that were left out:\n%s", out.String())
	}
}
