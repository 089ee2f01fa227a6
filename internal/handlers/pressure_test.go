package handlers

import (
	"fmt"
	"testing"

	"berth/internal/handlers/exchange"
)

func TestNodeEviction(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/nodes/eviction"
	used := func(name, usage string) string {
		return fmt.Sprintf(`{"pod":{"metadata":{"name":%q},"spec":{"nodeName":"n","containers":[{"name":"c"}]},"status":{"phase":"Running"}},"usage":{"memory":%q}}`, name, usage)
	}
	body := func(config, signals string) string {
		return `{"now":"2026-03-01T12:00:00Z","config":` + config + `,"signals":` + signals + `,"pods":[` + used("a", "1Gi") + `,` + used("b", "2Gi") + `]}`
	}
	var out struct {
		Thresholds []struct {
			Signal string
			Met    bool
			Since  string
		}
		Evictions []struct {
			Name, At, Message string
			GoneAtSeconds     int64
		}
		Conditions []struct{ Type, From, Until string }
		Available  map[string]string
	}
	h.want(200, &out, "POST", at, body(`{"evictionHard":{"memory.available":"300Mi"}}`, `{"memory.available":{"available":"200Mi"}}`))
	if got := fmt.Sprint(out); got != "{[{memory.available true 2026-03-01T12:00:00Z}] [{b 2026-03-01T12:00:00Z The node was low on resource: memory. Threshold quantity: 300Mi, available: 200Mi.  2}] [{MemoryPressure 2026-03-01T12:00:00Z 2026-03-01T12:05:03Z}] map[memory.available:2248Mi]}" {
		t.Error(got)
	}
	for what, c := range map[string]struct{ body, field string }{
		"no config":       {body(`{"hard":{}}`, `{}`), "config.hard"},
		"no threshold":    {body(`{"evictionHard":{"memory.available":"x"}}`, `{}`), "config.evictionHard[memory.available]"},
		"no signal":       {body(`{}`, `{"memory":{"available":"1"}}`), "signals"},
		"nothing of it":   {body(`{}`, `{"memory.available":{}}`), "signals[memory.available].available"},
		"negative":        {body(`{}`, `{"memory.available":{"available":"1","capacity":"-1"}}`), "signals[memory.available].capacity"},
		"no capacity":     {body(`{}`, `{"nodefs.available":{"available":"1"}}`), "signals[nodefs.available].capacity"},
		"no pod":          {`{"signals":{},"pods":[{}]}`, "pods[0].pod"},
		"a wrong soft":    {body(`{"evictionSoft":{"memory.available":"1Gi"}}`, `{}`), "config.evictionSoft[memory.available]"},
		"a wrong reclaim": {body(`{"evictionMinimumReclaim":{"memory.available":"0%"}}`, `{}`), "config.evictionMinimumReclaim[memory.available]"},
	} {
		var p exchange.Problem
		h.want(400, &p, "POST", at, c.body)
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field {
			t.Errorf("%s: %+v", what, p)
		}
	}
}
