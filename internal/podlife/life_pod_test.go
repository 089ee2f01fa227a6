package podlife

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lifeNow is when the pods of these tests are judged.
var lifeNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// drawn makes a bound pod of lines such as
//
//	init i exit:0
//	sidecar s run
//	main a crash:1 restarts=3 ended=20 ran=5 own=Never rule=In:42:Restart
//
// States: none (no status), blank, wait:REASON, run (started and ready), unready,
// unstarted, exit:CODE or exit:CODE:REASON, crash:CODE (waits after a run).
func drawn(t *testing.T, policy string, lines ...string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	p.Name, p.Spec.NodeName, p.Spec.RestartPolicy = "p", "n1", corev1.RestartPolicy(policy)
	p.Status.Phase = corev1.PodRunning
	for _, line := range lines {
		words := strings.Fields(line)
		c, st := corev1.Container{Name: words[1]}, corev1.ContainerStatus{Name: words[1]}
		has := setState(t, &st, words[0], words[2])
		for _, option := range words[3:] {
			setOption(t, &c, &st, option)
		}
		switch words[0] {
		case "sidecar":
			always := corev1.ContainerRestartPolicyAlways
			c.RestartPolicy = &always
			fallthrough
		case "init":
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
			if has {
				p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, st)
			}
		case "main":
			p.Spec.Containers = append(p.Spec.Containers, c)
			if has {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, st)
			}
		case "ephemeral":
			p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon(c)})
			if has {
				p.Status.EphemeralContainerStatuses = append(p.Status.EphemeralContainerStatuses, st)
			}
		default:
			t.Fatalf("%s: no such kind", line)
		}
	}
	return p
}

func setState(t *testing.T, st *corev1.ContainerStatus, kind, state string) (has bool) {
	t.Helper()
	yes, no := true, false
	what, rest, _ := strings.Cut(state, ":")
	end := func() *corev1.ContainerStateTerminated {
		code, reason, named := strings.Cut(rest, ":")
		n, err := strconv.ParseInt(code, 10, 32)
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if !named {
			reason = map[bool]string{true: "Completed", false: "Error"}[n == 0]
		}
		return &corev1.ContainerStateTerminated{ExitCode: int32(n), Reason: reason, StartedAt: before(60), FinishedAt: before(50)}
	}
	switch what {
	case "none":
		return false
	case "blank":
	case "wait":
		st.State.Waiting = &corev1.ContainerStateWaiting{Reason: rest}
	case "run", "unready", "unstarted":
		st.State.Running = &corev1.ContainerStateRunning{StartedAt: before(100)}
		st.Started, st.Ready = &yes, what == "run" && kind != "init"
		if what == "unstarted" {
			st.Started = &no
		}
	case "exit":
		st.State.Terminated = end()
		st.Ready = kind == "init" && st.State.Terminated.ExitCode == 0
	case "crash":
		st.State.Waiting, st.LastTerminationState.Terminated = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}, end()
	default:
		t.Fatalf("%s: no such state", state)
	}
	return true
}

func setOption(t *testing.T, c *corev1.Container, st *corev1.ContainerStatus, option string) {
	t.Helper()
	key, value, _ := strings.Cut(option, "=")
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("%s: %v", option, err)
		}
		return n
	}
	end := st.State.Terminated
	if end == nil {
		end = st.LastTerminationState.Terminated
	}
	switch key {
	case "last":
		st.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(number(value)), Reason: "Error", StartedAt: before(60), FinishedAt: before(50)}
	case "restarts":
		st.RestartCount = int32(number(value))
	case "ended":
		end.FinishedAt = before(number(value))
		end.StartedAt = before(number(value) + 5)
	case "ran":
		end.StartedAt = metav1.NewTime(end.FinishedAt.Add(-time.Duration(number(value)) * time.Second))
	case "signal":
		end.Signal = int32(number(value))
	case "own":
		policy := corev1.ContainerRestartPolicy(value)
		c.RestartPolicy = &policy
	case "rule":
		parts := strings.Split(value, ":")
		c.RestartPolicyRules = append(c.RestartPolicyRules, corev1.ContainerRestartRule{
			Action: corev1.ContainerRestartRuleAction(parts[2]),
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: corev1.ContainerRestartRuleOnExitCodesOperator(parts[0]), Values: []int32{int32(number(parts[1]))},
			},
		})
	default:
		t.Fatalf("%s: no such option", option)
	}
}

func before(seconds int) metav1.Time {
	return metav1.NewTime(lifeNow.Add(-time.Duration(seconds) * time.Second))
}

// says writes a condition in one line.
func says(c LifeCondition) string {
	return strings.TrimSpace(fmt.Sprintf("%s=%s %s %s", c.Type, c.Status, c.Reason, c.Message))
}

// said finds a condition of a life, in one line; "" without one.
func said(l Life, kind corev1.PodConditionType) string {
	for _, c := range l.Conditions {
		if c.Type == kind {
			return strings.TrimPrefix(says(c), string(kind)+"=")
		}
	}
	return ""
}

// planned writes what happens next to each container in one line.
func planned(l Life) string {
	var out []string
	for _, c := range l.Containers {
		text := c.Name + ":" + string(c.Next.Action)
		if c.Next.At != nil {
			text += fmt.Sprintf("+%d/%d", c.Next.RemainingSeconds, c.Next.BackoffSeconds)
		}
		if len(c.Next.For) > 0 {
			text += "(" + strings.Join(c.Next.For, ",") + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}
