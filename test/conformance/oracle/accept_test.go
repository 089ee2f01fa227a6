package oracle

import (
	"context"
	"strings"
	"testing"
)

// TestAcceptElects: a configuration with which no leader elector can be made is
// refused, as by the command, which makes one after everything else.
func TestAcceptElects(t *testing.T) {
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: "
	for doc, refused := range map[string]bool{
		"{renewDeadline: 10s, retryPeriod: 9s}":         true,
		"{renewDeadline: 12s, retryPeriod: 10s}":        true,
		"{retryPeriod: 8s}":                             false,
		"{leaderElect: false, retryPeriod: 9s}":         false,
		"{leaderElect: true, resourceLock: endpoints}":  true,
		"{leaderElect: false, resourceLock: endpoints}": false,
	} {
		err := Accept(context.Background(), []byte(head+doc)).Refused
		if (err != nil) != refused {
			t.Errorf("%s: %v", doc, err)
		}
		if strings.Contains(doc, "retryPeriod") && refused && !strings.Contains(err.Error(), "JitterFactor") {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// TestAcceptPanics: a configuration at which a plugin panics is refused as by a validation:
// NodeResourcesFit does so until v1.35 for a score without its shape. With the plugin off nothing
// finds it there, and it counts as overlooked.
func TestAcceptPanics(t *testing.T) {
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: [{name: NodeResourcesFit, " +
		"args: {scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu}]"
	if a := Accept(context.Background(), []byte(head+"}}}]}]")); a.Refused == nil {
		t.Error("a score without its shape is accepted")
	}
	if a := Accept(context.Background(), []byte(head+"}}}], plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}}]")); a.Overlooked == nil {
		t.Errorf("refused %v, and nothing is overlooked", a.Refused)
	}
	if a := Accept(context.Background(), []byte(head+", requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}}}]}]")); a.Refused != nil || a.Overlooked != nil {
		t.Errorf("%v, %v", a.Refused, a.Overlooked)
	}
}
