package handlers

import (
	"net/http"
	"testing"

	"berth/internal/decision"
	"berth/internal/engine"
)

// A PostFilter plugin whose PreFilter did not run ends the phase where it stands, and not before:
// a plugin listed first may nominate a node (pkg/scheduler/framework/runtime
// RunPostFilterPlugins).
func TestPostFilterEndsWhereAPluginFails(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "2"), pod("low", "2", `,"nodeName":"n1"`)))
	const head = `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"plugins":{`
	// Of the plugins that are enabled at their phase, those that multiPoint has as well come first.
	first := head + `"multiPoint":{"disabled":[{"name":"DynamicResources"}]},"postFilter":{"enabled":[{"name":"DynamicResources"},{"name":"DefaultPreemption"}]}}}]}`
	second := head + `"multiPoint":{"disabled":[{"name":"DynamicResources"},{"name":"DefaultPreemption"}]},"postFilter":{"enabled":[{"name":"DynamicResources"},{"name":"DefaultPreemption"}]}}}]}`
	for _, c := range []struct {
		name, config, priority string
		want                   engine.Outcome
		reason                 string
	}{
		{"preemption first", first, `,"priority":10`, engine.Preempting, ""},
		{"the plugin that fails first", second, `,"priority":10`, engine.UnschedulableOK, "DynamicResources failed before it: not found"},
		{"preemption first, in vain", first, `,"priority":0`, engine.UnschedulableOK, "DynamicResources failed after it, which ends the phase: not found"},
	} {
		var got decision.Answer
		h.want(http.StatusOK, &got, "POST", "/v1/decisions", `{"snapshot":"prod@latest","dryRun":true,"config":`+c.config+`,"pod":`+pod("high", "2", c.priority)+`}`)
		if got.Outcome != c.want || c.reason != "" && (got.Preemption == nil || got.Preemption.Reason != c.reason) {
			t.Errorf("%s: %s, %+v", c.name, got.Outcome, got.Preemption)
		}
	}
}
