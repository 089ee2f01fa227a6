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
