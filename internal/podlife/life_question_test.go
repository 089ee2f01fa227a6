package podlife

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func live(t *testing.T, q LifeQuestion) *Life {
	t.Helper()
	if q.Now.IsZero() {
		q.Now = lifeNow
	}
	l, errs := Live(q)
	if len(errs) > 0 {
		t.Fatal(lines(errs))
	}
	return l
}

// TestMaxContainerRestartPeriod: crashLoopBackOff.maxContainerRestartPeriod shortens
// the longest delay.
func TestMaxContainerRestartPeriod(t *testing.T) {
	p := drawn(t, "Always", "main a crash:1 restarts=5 ended=10")
	for period, want := range map[string]string{"": "a:backoff+150/160", "300s": "a:backoff+150/160", "60s": "a:backoff+50/60", "1m5s": "a:backoff+55/65", "7s": "a:restart"} {
		if got := planned(*live(t, LifeQuestion{Pod: p, MaxContainerRestartPeriod: period})); got != want {
			t.Errorf("%q: %s, want %s", period, got, want)
		}
	}
	for _, period := range []string{"0s", "999ms", "301s", "60", "soon", "-5s"} {
		if l, errs := Live(LifeQuestion{Pod: p, MaxContainerRestartPeriod: period}); l != nil || len(errs) != 1 || errs[0].Field != "maxContainerRestartPeriod" {
			t.Errorf("%q: %v", period, errs)
		}
	}
}

// TestLostNode: a node that is lost since a time, or tainted at one, determines
// when its pods are deleted.
func TestLostNode(t *testing.T) {
	at := func(minutes int) *time.Time { v := lifeNow.Add(time.Duration(minutes) * time.Minute); return &v }
	p := drawn(t, "Always", "main a run")
	unreachable := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "node.kubernetes.io/unreachable", Effect: "NoExecute", TimeAdded: new(metav1.NewTime(*at(-3)))}}}}
	for _, c := range []struct {
		what string
		q    LifeQuestion
		want *time.Time
		rule string
		node string
	}{
		{"tainted", LifeQuestion{NodeGiven: true, Node: unreachable}, at(2), "node-deletion/toleration-seconds", "phase/node-lost"},
		{"lost, and nothing else is known", LifeQuestion{NodeLostSince: at(-5)}, new(at(0).Add(40 * time.Second)), "node-deletion/toleration-seconds", "phase/node-lost"},
		{"lost later", LifeQuestion{NodeLostSince: at(5)}, new(at(10).Add(40 * time.Second)), "node-deletion/toleration-seconds", "phase/running"},
		{"gone", LifeQuestion{NodeGiven: true, NodeLostSince: at(-1)}, new(at(-1).Add(40 * time.Second)), "node-deletion/orphaned", "phase/node-gone"},
		{"well", LifeQuestion{NodeGiven: true, Node: &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: "Ready", Status: "True"}}}}}, nil, "node-deletion/none", "phase/running"},
	} {
		c.q.Pod = p
		l := live(t, c.q)
		if l.NodeDeletion.Rule.ID != c.rule || l.PhaseRule.ID != c.node || (l.NodeDeletion.At == nil) != (c.want == nil) || c.want != nil && !l.NodeDeletion.At.Equal(*c.want) {
			t.Errorf("%s: deleted at %v, want %v; %+v, %s", c.what, l.NodeDeletion.At, c.want, l.NodeDeletion, l.PhaseRule.ID)
		}
	}
	if l := live(t, LifeQuestion{Pod: p}); l.NodeDeletion != nil {
		t.Errorf("nothing was said of the node: %+v", l.NodeDeletion)
	}
}

// TestBackoffReset: after 10 minutes without a problem the delay is reset. The
// answer has that time, and the delay after an end now.
func TestBackoffReset(t *testing.T) {
	run := func(restarts int32, since time.Duration, policy corev1.RestartPolicy) *Life {
		p := drawn(t, string(policy), "main a run")
		s := &p.Status.ContainerStatuses[0]
		s.RestartCount, s.State.Running.StartedAt = restarts, metav1.NewTime(lifeNow.Add(-since))
		return live(t, LifeQuestion{Pod: p})
	}
	for _, c := range []struct {
		what     string
		life     *Life
		restarts bool
		seconds  int64
		reset    time.Duration
		rule     string
	}{
		{"reset", run(5, 11*time.Minute, "Always"), true, 0, -time.Minute, "crash/reset"},
		{"not yet", run(5, 9*time.Minute, "Always"), true, 160, time.Minute, "crash/backoff"},
		{"never restarted", run(0, 11*time.Minute, "Always"), true, 0, 0, "crash/first"},
		{"not restarted", run(0, time.Minute, "Never"), false, 0, 0, "crash/not-restarted"},
	} {
		e := c.life.Containers[0].IfItEnds
		if e == nil || e.Restarts != c.restarts || e.BackoffSeconds != c.seconds || e.Rule.ID != c.rule || (e.ResetAt != nil) != (c.reset != 0) || c.reset != 0 && !e.ResetAt.Equal(lifeNow.Add(c.reset)) {
			t.Errorf("%s: %+v", c.what, e)
		}
	}
	if e := live(t, LifeQuestion{Pod: drawn(t, "Always", "main a exit:1")}).Containers[0].IfItEnds; e != nil {
		t.Errorf("it does not run: %+v", e)
	}
}

// TestContainerTimes: a container that runs has the time it started, one that ended
// both times.
func TestContainerTimes(t *testing.T) {
	l := live(t, LifeQuestion{Pod: drawn(t, "Always", "main a run", "main b exit:1 ended=5 ran=20", "main c crash:1 restarts=3 ended=10 ran=2", "main d wait:ContainerCreating")})
	for i, want := range [][2]string{{"-", ""}, {"-25s", "-5s"}, {"-12s", "-10s"}, {"", ""}} {
		c := l.Containers[i]
		began, ended := "", ""
		if c.StartedAt != nil {
			began = c.StartedAt.Sub(lifeNow).String()
		}
		if c.FinishedAt != nil {
			ended = c.FinishedAt.Sub(lifeNow).String()
		}
		if want[0] == "-" && began != "" {
			want[0] = began
		}
		if began != want[0] || ended != want[1] {
			t.Errorf("%s: %q to %q, want %q", c.Name, began, ended, want)
		}
	}
}
