package podlife

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// moments writes a timeline as "seconds event container" in order.
func moments(l *Life) string {
	var out []string
	for _, m := range l.Timeline.Entries {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", int(m.At.Sub(lifeNow).Seconds()), m.Event, m.Container)))
	}
	return strings.Join(out, ", ")
}

// probedPod has a container with these probes that runs for a minute.
func probedPod(t *testing.T) *corev1.Pod {
	p := drawn(t, "Always", "main a run")
	p.Spec.TerminationGracePeriodSeconds = new(int64(5))
	start := metav1.NewTime(lifeNow.Add(-time.Minute))
	p.Status.StartTime = &start
	p.Status.ContainerStatuses[0].State.Running.StartedAt = start
	p.Spec.Containers[0].LivenessProbe = &corev1.Probe{PeriodSeconds: 10, FailureThreshold: 3}
	p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 5, FailureThreshold: 1}
	return p
}

func failing(after, until int) LifeEvent {
	e := LifeEvent{At: lifeNow.Add(time.Duration(after) * time.Second), Container: "a", Probe: "liveness", Result: "Failure"}
	if until > 0 {
		e.Until = new(lifeNow.Add(time.Duration(until) * time.Second))
	}
	return e
}

// TestTimelineOfAFailedLivenessProbe: a liveness probe that fails three times stops
// and restarts its container.
func TestTimelineOfAFailedLivenessProbe(t *testing.T) {
	l := live(t, LifeQuestion{Pod: probedPod(t), Events: []LifeEvent{failing(0, 30)}})
	is(t, "timeline", moments(l), "0 liveness probe fails a, 20 liveness probe failed a, 20 container stopping a, 25 container stopped a, 25 container restarted a, "+
		"25 condition Ready False, 25 condition ContainersReady False, 25 container ready a, 25 condition Ready True, 25 condition ContainersReady True")
	is(t, "end", l.Timeline.EndRule.ID, "timeline/nothing-more")
}

// TestTimelineOfACrash: the first restart is at once, the second after 10 s, the
// third after 20 s, at most what the kubelet's setting says.
func TestTimelineOfACrash(t *testing.T) {
	p := drawn(t, "Always", "main a run")
	p.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(lifeNow.Add(-time.Minute))
	var events []LifeEvent
	for _, at := range []int{10, 20, 40, 80} {
		events = append(events, LifeEvent{At: lifeNow.Add(time.Duration(at) * time.Second), Container: "a", ExitCode: new(int32(1))})
	}
	restarts := func(period string) (out []int) {
		l := live(t, LifeQuestion{Pod: p, Events: events, MaxContainerRestartPeriod: period})
		for _, m := range l.Timeline.Entries {
			if m.Event == "container restarted" {
				out = append(out, int(m.At.Sub(lifeNow).Seconds()))
			}
		}
		return out
	}
	is(t, "restarts", fmt.Sprint(restarts("")), "[10 30 60 120]")
	is(t, "restarts of a configured kubelet", fmt.Sprint(restarts("15s")), "[10 30 55 95]")
}

// TestTimelineOfKills: a kill for a probe restarts at once as long as the delay
// since the end of the run before is over, and the first one leaves no delay.
func TestTimelineOfKills(t *testing.T) {
	var out []int
	for _, m := range live(t, LifeQuestion{Pod: probedPod(t), Events: []LifeEvent{failing(0, 0)}}).Timeline.Entries {
		if m.Event == "container restarted" && len(out) < 6 {
			out = append(out, int(m.At.Sub(lifeNow).Seconds()))
		}
	}
	is(t, "restarts", fmt.Sprint(out), "[25 55 85 115 185 295]")
}

// TestTimelineForgets: after more than ten minutes the next delays begin anew.
func TestTimelineForgets(t *testing.T) {
	p := drawn(t, "Always", "main a run")
	st := &p.Status.ContainerStatuses[0]
	st.RestartCount, st.State.Running.StartedAt = 6, metav1.NewTime(lifeNow.Add(-time.Minute))
	exit := func(after int) LifeEvent {
		return LifeEvent{At: lifeNow.Add(time.Duration(after) * time.Second), Container: "a", ExitCode: new(int32(0))}
	}
	l := live(t, LifeQuestion{Pod: p, Events: []LifeEvent{exit(560), exit(580)}})
	is(t, "timeline", moments(l), "560 container ended a, 560 container restarted a, 580 container ended a, 580 back-off a, 580 condition Ready False, 580 condition ContainersReady False, "+
		"590 container restarted a, 590 condition Ready True, 590 condition ContainersReady True")
}

// TestTimelineEnds: a probe that fails for good repeats or comes to the bound; a
// lost node and a pod that ends end it.
func TestTimelineEnds(t *testing.T) {
	never := probedPod(t)
	never.Spec.RestartPolicy = "Never"
	exit := LifeEvent{At: lifeNow.Add(time.Second), Container: "a", ExitCode: new(int32(3))}
	day := lifeNow.Add(24 * time.Hour)
	for _, c := range []struct {
		what string
		q    LifeQuestion
		last string
		rule string
	}{
		{"for good", LifeQuestion{Pod: probedPod(t), Events: []LifeEvent{failing(0, 0)}, Until: &day}, "container restarted a", "timeline/repeats"},
		{"for an hour", LifeQuestion{Pod: probedPod(t), Events: []LifeEvent{failing(0, 0)}, Until: new(lifeNow.Add(15 * time.Second))}, "liveness probe fails a", "timeline/until"},
		{"the pod ends", LifeQuestion{Pod: never, Events: []LifeEvent{exit}}, "condition ContainersReady False", "timeline/pod-ended"},
		{"the node is lost", LifeQuestion{Pod: probedPod(t), Events: []LifeEvent{{At: lifeNow, Node: "lost"}}}, "pod deleted", "timeline/node-lost"},
	} {
		l := live(t, c.q)
		list := l.Timeline.Entries
		last := list[len(list)-1]
		if got := strings.TrimSpace(last.Event + " " + last.Container); got != c.last || l.Timeline.EndRule.ID != c.rule || len(list) > timelineEntries+10 {
			t.Errorf("%s: %d entries, the last %q; %+v", c.what, len(list), got, l.Timeline.EndRule)
		}
		if again := live(t, c.q); moments(again) != moments(l) {
			t.Errorf("%s: another timeline the second time", c.what)
		}
		for _, m := range list {
			if m.Rule.ID == "" || m.Rule.Text == "" || m.Actor == "" {
				t.Errorf("%s: %+v", c.what, m)
			}
		}
	}
}

// TestEventsThatAreRefused name their field.
func TestEventsThatAreRefused(t *testing.T) {
	at := lifeNow.Add(time.Second)
	for field, e := range map[string]LifeEvent{
		"events[0].at":        {Container: "a", ExitCode: new(int32(1))},
		"events[0].until":     {At: at, Until: &lifeNow, Container: "a", Probe: "liveness", Result: "Failure"},
		"events[0]":           {At: at},
		"events[0].node":      {At: at, Node: "gone"},
		"events[0].container": {At: at, Container: "x", ExitCode: new(int32(1))},
		"events[0].result":    {At: at, Container: "a", Probe: "liveness"},
		"events[0].probe":     {At: at, Container: "a", Probe: "startup", Result: "Failure"},
	} {
		l, errs := Live(LifeQuestion{Pod: probedPod(t), Events: []LifeEvent{e}, Now: lifeNow})
		if l != nil || len(errs) != 1 || errs[0].Field != field {
			t.Errorf("%s: %v", field, errs)
		}
	}
	q := LifeQuestion{Pod: probedPod(t), PreStopSeconds: map[string]int64{"x": 1}, ExitSeconds: map[string]int64{"a": -1}, Now: lifeNow}
	if _, errs := Live(q); len(errs) != 2 || errs[0].Field != "preStopSeconds[x]" || errs[1].Field != "exitSeconds[a]" {
		t.Errorf("%v", errs)
	}
}
