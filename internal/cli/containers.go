package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
)

// condition returns a condition's status; empty without one.
func (l life) condition(name corev1.PodConditionType) corev1.ConditionStatus {
	for i := range l.Conditions {
		if l.Conditions[i].Type == name {
			return l.Conditions[i].Status
		}
	}
	return ""
}

// well reports whether nothing is wrong.
func (l life) well() bool {
	return l.Phase == corev1.PodSucceeded || l.Phase == corev1.PodRunning && l.condition(corev1.PodReady) == corev1.ConditionTrue
}

func (l life) colour() colour {
	switch {
	case l.well():
		return green
	case l.Phase == corev1.PodFailed:
		return red
	}
	return yellow
}

// kubelet prints whose kubelet an answer follows, where it is not the default release's.
func (p *page) kubelet(f podlife.Followed) {
	if text := cmp.Or(f.SemanticsNote, f.Semantics); text != "" {
		p.labelled("KUBELET", text)
	}
}

func (p *page) life(pod target, l life, now time.Time) {
	beside := "phase " + string(l.Phase)
	if l.Ready != "" {
		beside += ", ready " + l.Ready
	}
	word := l.Status
	if word == "" { // kubectl prints nothing either; a verdict is a word
		word = strings.ToUpper(string(l.Phase))
	}
	if l.StatusAfter != "" {
		beside = "after " + l.StatusAfter + ", " + beside
	}
	if since := l.OverdueSince; since != nil {
		p.head(overdueBy(*since, now), red, pod.String(), word+", "+beside, "")
		p.gap()
		p.text(overdueWords(l, now))
		p.labelled("RUN", forceDelete(pod))
	} else {
		p.head(word, l.colour(), pod.String(), beside, "")
	}
	p.gap()
	p.labelled("PHASE", l.PhaseRule.Text)
	p.labelled("STATUS", l.StatusRule.Text)
	p.lastRuns(l, now)
	p.kubelet(l.Followed)
	if at := l.DeadlineAt; at != nil {
		p.labelled("UNTIL", fmt.Sprintf("%s: then its activeDeadlineSeconds fail it, in %s", clock(*at, now), ahead(at.Sub(now))))
	}
	if d := l.NodeDeletion; d != nil && d.Rule.ID != "node-deletion/none" {
		p.labelled("DELETED", deletionText(d, now))
	}
	if len(l.Containers) > 0 {
		p.gap()
		t := newTable(".CONTAINER", "KIND", "STATE", ">RESTARTS", "~NEXT")
		for i := range l.Containers {
			c := &l.Containers[i]
			t.add(c.Name, string(c.Kind), stateOf(c), fmt.Sprint(c.RestartCount), nextFor(c, now))
		}
		p.table(t)
	}
	if len(l.Conditions) > 0 {
		p.gap()
		t := newTable("CONDITION", "STATUS", "REASON", "~MESSAGE")
		for i := range l.Conditions {
			c := &l.Conditions[i]
			t.add(string(c.Type), string(c.Status), c.Reason, c.Message)
		}
		p.table(t)
	}
	p.gap()
	p.reasons(l)
	p.ends(l)
	p.follows(l.Timeline, now)
	if l.Message != "" {
		p.labelled("SAYS", l.Message)
	}
}

// byForce is what speaks against the deletion of a pod that is overdue.
const byForce = "Deleting it by force removes the object; its containers may still run on the node."

// forceDelete is the command that removes the object of a pod at once.
func forceDelete(pod target) string {
	return fmt.Sprintf("kubectl delete pod %s -n %s --grace-period=0 --force", pod.name, pod.namespace)
}

// overdueWords returns why the object of a deleted pod is still there, and what removes it.
func overdueWords(l life, now time.Time) string {
	s := "It was deleted, and was to be gone at " + clock(*l.OverdueSince, now) + "."
	if l.PhaseRule.ID == ruleNodeLost {
		s += " Its node does not answer: the object stays until the node is back, or the Node object is deleted."
	}
	return s + " " + byForce
}

// reasons prints why the next step is what it is, once for containers that are alike.
func (p *page) reasons(l life) {
	names := map[string][]string{}
	var texts []string
	for i := range l.Containers {
		c := &l.Containers[i]
		if c.Next.Rule.Text == "" || c.Next.Rule.ID == "next/running" {
			continue
		}
		if names[c.Next.Rule.Text] == nil {
			texts = append(texts, c.Next.Rule.Text)
		}
		names[c.Next.Rule.Text] = append(names[c.Next.Rule.Text], c.Name)
	}
	for _, text := range texts {
		p.labelled("NEXT", someNames(names[text])+": "+text)
	}
}

func stateOf(c *podlife.LifeContainer) string {
	s := c.State
	if c.Reason != "" {
		s = c.Reason
	}
	if c.ExitCode != nil {
		s += fmt.Sprintf(" (%d)", *c.ExitCode)
	}
	return s
}

// nextFor says in a few words what happens to a container.
func nextFor(c *podlife.LifeContainer, now time.Time) string {
	switch n := &c.Next; n.Action {
	case "backoff":
		if n.At == nil {
			return "tried again later"
		}
		if left := n.At.Sub(now); left > 0 {
			return fmt.Sprintf("restart in %s, at %s", ahead(left), clock(*n.At, now))
		}
		return "restart now"
	case "start", "restart":
		return string(n.Action) + " now"
	case "wait":
		if len(n.For) > 0 {
			return "waits for " + someNames(n.For)
		}
		return "waits"
	case "leave":
		return "-"
	default:
		return string(n.Action)
	}
}

// lives writes a line a pod.
func (p *page) lives(pods []target, lives []life, now time.Time) {
	t := newTable(".POD", ">READY", "~STATUS", ">RESTARTS", "PHASE", "~NEXT")
	well := 0
	for i, l := range lives {
		if l.well() {
			well++
		}
		t.add(pods[i].String(), l.Ready, l.status(p.wide), l.Restarts, string(l.Phase), l.nextOf(now))
	}
	t.colour = func(r, c int) colour {
		if c == 2 {
			return lives[r].colour()
		}
		return ""
	}
	p.table(t)
	p.line("%s, %s ready or succeeded", plural(len(lives), "pod"), count(well))
}

// nextOf names what happens first in a pod.
func (l life) nextOf(now time.Time) string {
	for _, actions := range [][]podlife.Action{{podlife.ActionStart, podlife.ActionRestart}, {podlife.ActionBackoff}, {podlife.ActionWait}} {
		for i := range l.Containers {
			c := &l.Containers[i]
			for _, a := range actions {
				if c.Next.Action == a {
					return c.Name + ": " + strings.Split(nextFor(c, now), ",")[0]
				}
			}
		}
	}
	return "-"
}

// status is the STATUS column; a wide one also has how the last run ended.
func (l life) status(wide bool) string {
	if l.StatusAfter == "" || !wide {
		return l.Status
	}
	return l.Status + ": " + l.StatusAfter
}

// lastRuns prints how the last runs of containers ended, and what their states report: what
// kubectl describe shows as Last State and Message.
func (p *page) lastRuns(l life, now time.Time) {
	for i := range l.Containers {
		c := &l.Containers[i]
		if r := c.LastRun; r != nil && (r.ExitCode != 0 || c.RestartCount > 0) {
			s := c.Name + ": " + r.String()
			if r.FinishedAt != nil {
				s += " at " + clock(*r.FinishedAt, now)
			}
			if r.StartedAt != nil && r.FinishedAt != nil {
				s += ", after a run of " + span(int64(r.FinishedAt.Sub(*r.StartedAt).Seconds()))
			}
			if r.Message != "" {
				s += ": " + p.words(r.Message)
			}
			p.labelled("LAST", s)
		}
		if c.Message != "" && (c.LastRun == nil || c.Message != c.LastRun.Message) {
			p.labelled("SAYS", c.Name+": "+p.words(c.Message))
		}
	}
}

// messageShown is how much of a container's message a page has; its log may be in it.
const messageShown = 400

// words cuts a message that is long.
func (p *page) words(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if p.wide || columns(message) <= messageShown {
		return message
	}
	p.cuts++
	return fit(message, messageShown)
}

// deletionText says when a pod goes because of its node.
func deletionText(d *podlife.NodeDeletion, now time.Time) string {
	switch {
	case d.At == nil:
		return "never: " + d.Rule.Text
	case d.Latest != nil:
		return fmt.Sprintf("%s to %s: %s", clock(*d.At, now), clock(*d.Latest, now), d.Rule.Text)
	}
	return clock(*d.At, now) + ": " + d.Rule.Text
}

// ends prints what an end of a running container would cost, where it is more than
// a start at once.
func (p *page) ends(l life) {
	for i := range l.Containers {
		c := &l.Containers[i]
		if e := c.IfItEnds; e != nil && (e.BackoffSeconds > 0 || e.Rule.ID == "crash/reset") {
			p.labelled("CRASH", c.Name+": "+e.Rule.Text)
		}
	}
}

// follows prints what follows from events.
func (p *page) follows(l *podlife.LifeTimeline, now time.Time) {
	if l == nil {
		return
	}
	head := []string{"AT (UTC)", ">AFTER", "WHO", "~WHAT"}
	if p.wide {
		head = append(head, "WHY")
	}
	t := newTable(head...)
	for i := range l.Entries {
		e := &l.Entries[i]
		what, within := e.Event, ""
		if e.Container != "" {
			what = e.Container + ": " + what
		}
		if e.WithinSeconds > 0 {
			within = "~" // upstream's chance may move it
		}
		t.add(clock(e.At, now), within+offset(int64(e.At.Sub(now).Seconds())), e.Actor, what, e.Rule.Text)
	}
	p.list(t, "entries")
	p.gap()
	p.labelled("ENDS", clock(l.EndsAt, now)+": "+l.EndRule.Text)
	for _, s := range l.Assumes {
		p.labelled("ASSUMED", s)
	}
}
