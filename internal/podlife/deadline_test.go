package podlife

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeadline: a pod with activeDeadlineSeconds, as Jobs make them, has failed
// once it was active for so long, whatever its containers do.
func TestDeadline(t *testing.T) {
	const over = "DeadlineExceeded: Pod was active on the node longer than the specified deadline"
	for _, c := range []struct {
		what   string
		line   string
		phase  corev1.PodPhase // as posted
		began  int             // seconds ago; -1: not known
		node   NodeState
		want   corev1.PodPhase
		reason string
		ahead  bool
	}{
		{"not yet", "main a run", "Running", 59, NodeHealthy, "Running", "", true},
		{"just over", "main a run", "Running", 60, NodeHealthy, "Failed", over, false},
		{"long over", "main a crash:1", "Running", 3600, NodeHealthy, "Failed", over, false},
		{"while it is created", "main a wait:ContainerCreating", "Pending", 61, NodeHealthy, "Failed", over, false},
		{"also after a good end that nobody wrote yet", "main a exit:0", "Running", 61, NodeHealthy, "Failed", over, false},
		{"an end that is written stays", "main a exit:0", "Succeeded", 61, NodeHealthy, "Succeeded", "", false},
		{"the kubelet has not taken it over", "main a none", "Pending", -1, NodeHealthy, "Pending", "", false},
		{"nobody looks", "main a run", "Running", 61, NodeLost, "Running", "", false},
	} {
		p := drawn(t, "OnFailure", c.line)
		p.Spec.ActiveDeadlineSeconds, p.Status.Phase = new(int64(60)), c.phase
		if c.began >= 0 {
			p.Status.StartTime = &metav1.Time{Time: lifeNow.Add(-time.Duration(c.began) * time.Second)}
		}
		l := Lifecycle(p, c.node, lifeNow)
		reason := l.Reason
		if l.Message != "" {
			reason += ": " + l.Message
		}
		if l.Phase != c.want || reason != c.reason || (l.DeadlineAt != nil) != c.ahead {
			t.Errorf("%s: %s %q, deadline %v (%s)", c.what, l.Phase, reason, l.DeadlineAt, l.PhaseRule.ID)
		}
		if c.reason != "" && planned(l) != "a:leave" {
			t.Errorf("%s: %s", c.what, planned(l))
		}
		if c.ahead && !l.DeadlineAt.Equal(lifeNow.Add(time.Second)) {
			t.Errorf("%s: %v", c.what, l.DeadlineAt)
		}
	}
}

// TestReasonsStayWithoutAKubelet: a pod's reason goes with its phase, and only a kubelet writes
// either.
func TestReasonsStayWithoutAKubelet(t *testing.T) {
	for _, c := range []struct {
		what string
		node NodeState
		on   string
		want string
	}{
		{"no node", NodeHealthy, "", "Preempting"},
		{"a lost node", NodeLost, "n1", "Preempting"},
		{"a node that is gone", NodeGone, "n1", "Preempting"},
		{"a kubelet writes another phase", NodeHealthy, "n1", ""},
	} {
		p := drawn(t, "Always", "main a none")
		p.Spec.NodeName, p.Status.Phase, p.Status.Reason = c.on, "", "Preempting"
		if l := Lifecycle(p, c.node, lifeNow); l.Reason != c.want {
			t.Errorf("%s: %q", c.what, l.Reason)
		}
	}
}
