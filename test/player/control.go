package player

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubelet has the kubelet of a pod's node start it.
func (g *game) kubelet(p *pod) {
	on := g.nodes[p.Spec.NodeName]
	if on == nil || on.dead {
		return
	}
	life := on.lives
	g.at(g.now+p.took, byKubelet, p.full(), func() {
		if g.pods[p.Name] != p || p.DeletionTimestamp != nil || on.dead || on.lives != life || g.nodes[on.Name] != on {
			return
		}
		began, now := metav1.NewTime(g.time().Add(-time.Duration(p.took)*time.Second)), metav1.NewTime(g.time())
		p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &began
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
		g.changed = true
		g.tell(Moment{What: "ready", Node: on.Name}, p)
		if p.runs > 0 {
			g.at(g.now+p.runs, byKubelet, p.full(), func() { g.succeed(p) })
		}
		g.syncOf(p)
	})
}

// succeed ends a pod that has done its work.
func (g *game) succeed(p *pod) {
	if on := g.nodes[p.Spec.NodeName]; g.pods[p.Name] != p || p.DeletionTimestamp != nil || on == nil || on.dead {
		return
	}
	p.Status.Phase, p.Status.Conditions, g.changed = corev1.PodSucceeded, nil, true
	g.hear(heard{left: p.Pod})
	g.tell(Moment{What: "succeeded", Node: p.Spec.NodeName}, p)
}

// leave begins a pod's deletion with its own grace period. One without a node and one that is over
// go at once.
func (g *game) leave(p *pod, why string) {
	if p.DeletionTimestamp != nil {
		return
	}
	grace := *p.Spec.TerminationGracePeriodSeconds
	if p.waits() || p.over() || why == "orphaned" {
		grace = 0
	}
	p.why = why
	g.tell(Moment{What: "leaves", Node: p.Spec.NodeName, Why: why}, p)
	end := metav1.NewTime(g.time().Add(time.Duration(grace) * time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds, g.changed = &end, &grace, true
	g.hear(heard{ends: p.Pod})
	stays := grace > 0 && !g.answers(p.Spec.NodeName)
	switch kind, _ := p.owner(); {
	case p.over():
	case kind == "ReplicaSet" && why != "scale-down":
		g.replace(p, why)
	case kind == "Job":
		g.jobLost(p)
	}
	switch {
	case grace == 0:
		g.gone(p)
	case !stays:
		g.ends(p, grace)
	}
}

// answers reports whether pods of a node that are deleted go.
func (g *game) answers(name string) bool {
	n := g.nodes[name]
	return n != nil && !n.dead
}

// ends has a pod's kubelet end it some seconds from now.
func (g *game) ends(p *pod, in int64) {
	if in <= 0 && p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds > 0 {
		return // something that is not known holds it
	}
	p.ends++
	nth := p.ends
	p.endsAt = g.now + in
	g.at(g.now+in, byKubelet, p.full(), func() {
		if g.pods[p.Name] == p && p.ends == nth && g.answers(p.Spec.NodeName) {
			g.gone(p)
		}
	})
}

// gone takes a pod away for good.
func (g *game) gone(p *pod) {
	g.tell(Moment{What: "gone", Node: p.Spec.NodeName}, p)
	delete(g.pods, p.Name)
	g.changed = true
	switch {
	case p.over():
	case p.Spec.NodeName != "":
		g.hear(heard{left: p.Pod})
	case p.Status.NominatedNodeName != "":
		g.hear(heard{left: p.Pod, upTo: p.Spec.Priority})
	}
	g.syncOf(p)
}

// replace has a ReplicaSet or a Job make another pod. A place that was preempted over and over is
// given up.
func (g *game) replace(p *pod, why string) {
	times := p.preempted
	if strings.HasPrefix(why, "preemption") {
		times++
	}
	if times > 5 {
		return
	}
	next := anew(p, g.free(p.Name))
	next.preempted = times
	g.create(next)
}

// scaleSet changes the number of a ReplicaSet's pods.
func (g *game) scaleSet(name string, to int) (refused string) {
	var list []*pod
	for _, p := range sorted(g.pods) {
		if kind, of := p.owner(); kind != "ReplicaSet" || of != name || p.over() {
			continue
		}
		if g.likes[name] == nil {
			g.likes[name] = p
		}
		if p.DeletionTimestamp == nil {
			list = append(list, p)
		}
	}
	like := g.likes[name]
	if like == nil {
		return "no pod of ReplicaSet/" + name + " shows what its pods are like"
	}
	if len(list) > 0 {
		like = list[0]
	}
	for range to - len(list) {
		g.create(anew(like, g.free(like.Name)))
	}
	if to >= len(list) {
		return ""
	}
	slices.SortStableFunc(list, func(a, b *pod) int { return g.goesFirst(a, b) })
	for _, p := range list[:len(list)-to] {
		g.leave(p, "scale-down")
	}
	return ""
}

// goesFirst orders pods by which a ReplicaSet deletes first (pkg/controller/controller_utils.go
// ActivePodsWithRanks). No pod of a ReplicaSet without a Deployment has a rank
// (getReplicaSetsWithSameController).
func (g *game) goesFirst(a, b *pod) int {
	no := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	c := cmp.Or(
		no(!a.waits())-no(!b.waits()),
		no(a.Status.Phase != corev1.PodPending)-no(b.Status.Phase != corev1.PodPending),
		no(a.isReady())-no(b.isReady()),
	)
	if c != 0 {
		return c
	}
	younger := func(s, t metav1.Time) int {
		rank := func(t metav1.Time) int64 {
			if age := g.time().Sub(t.Time); age > 0 {
				return int64(math.Log2(float64(age)))
			}
			return -1
		}
		return cmp.Or(cmp.Compare(rank(s), rank(t)), strings.Compare(string(a.UID), string(b.UID)))
	}
	if a.isReady() && b.isReady() && !a.ready().LastTransitionTime.Equal(&b.ready().LastTransitionTime) {
		return younger(a.ready().LastTransitionTime, b.ready().LastTransitionTime)
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return younger(a.CreationTimestamp, b.CreationTimestamp)
	}
	return 0
}
