package player

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// set is a StatefulSet and how many pods it wants.
type set struct {
	*appsv1.StatefulSet
	wants int
	last  map[string]*pod // the last one of each name
}

// syncOf has the controller of a pod look at its StatefulSet.
func (g *game) syncOf(p *pod) {
	kind, name := p.owner()
	if s := g.sets[name]; kind == "StatefulSet" && s != nil {
		if s.last == nil {
			s.last = map[string]*pod{}
		}
		s.last[p.Name] = p
		g.syncSet(s)
	}
}

// syncSet makes the pods of a StatefulSet that are missing and deletes those that are too many
// (pkg/controller/statefulset/stateful_set_control.go processReplica, processCondemned).
func (g *game) syncSet(s *set) {
	ordered := s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	for i := range s.wants {
		name := fmt.Sprintf("%s-%d", s.Name, i)
		p := g.pods[name]
		if p == nil {
			if !g.makeOrdinal(s, name) {
				continue
			}
			if p = g.pods[name]; ordered {
				return
			}
		}
		if !ordered {
			continue
		}
		if !g.available(s, p) {
			return
		}
	}
	condemned := g.condemned(s)
	var sick *pod // the lowest that is not available
	for _, p := range condemned {
		if !g.available(s, p) {
			sick = p
		}
	}
	for _, p := range condemned {
		switch {
		case g.pods[p.Name] != p, p.DeletionTimestamp != nil && !ordered:
			continue
		case p.DeletionTimestamp != nil, ordered && !g.available(s, p) && p != sick:
			return
		}
		g.leave(p, "scale-down")
		if ordered {
			return
		}
	}
}

// available reports whether a pod of a set has been ready for long enough. One that will be has the
// set looked at again then.
func (g *game) available(s *set, p *pod) bool {
	if !p.well() {
		return false
	}
	since := g.now - int64(p.ready().LastTransitionTime.Sub(g.begin).Seconds())
	if since >= int64(s.Spec.MinReadySeconds) {
		return true
	}
	g.at(g.now+int64(s.Spec.MinReadySeconds)-since, byController, "default/"+s.Name, func() { g.syncSet(s) })
	return false
}

// condemned are the pods of a StatefulSet above those it wants, the highest first.
func (g *game) condemned(s *set) (list []*pod) {
	for i := 50; i >= s.wants; i-- {
		if p := g.pods[fmt.Sprintf("%s-%d", s.Name, i)]; p != nil {
			list = append(list, p)
		}
	}
	return list
}

// makeOrdinal makes a pod of a StatefulSet like the last one of its name, or like another one.
func (g *game) makeOrdinal(s *set, name string) bool {
	like := s.last[name]
	for i := 0; like == nil && i < 50; i++ {
		other := s.Name + "-" + strconv.Itoa(i)
		if like = g.pods[other]; like == nil {
			like = s.last[other]
		}
	}
	if like == nil {
		return false
	}
	p := anew(like, name)
	if p.preempted = 0; s.last[name] != nil {
		p.preempted = s.last[name].preempted
	}
	g.create(p)
	return true
}

// job is a Job with what its controller has counted.
type job struct {
	*batchv1.Job
	failed  int32
	last    int64 // when a pod failed last
	until   int64
	over    bool
	missing []*pod
}

// jobLost counts a pod as failed whose deletion begins (pkg/controller/job/job_controller.go
// isPodFailed), and makes another one once the back-off is over.
func (g *game) jobLost(p *pod) {
	_, name := p.owner()
	j := g.jobs[name]
	if j.over {
		return
	}
	if j.failed++; j.failed > *j.Spec.BackoffLimit {
		j.over, j.missing = true, nil
		for _, other := range sorted(g.pods) {
			if kind, of := other.owner(); kind == "Job" && of == name && other != p && !other.over() {
				g.leave(other, "job-failed")
			}
		}
		return
	}
	wait := int64(10)
	for range j.failed - 1 {
		wait = min(2*wait, 600)
	}
	// A pod that its kubelet has not ended has failed when it lost its readiness
	// (backoff_utils.go getFinishedTime).
	failed := g.now
	if c := p.ready(); c != nil && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero() {
		failed = min(failed, int64(c.LastTransitionTime.Sub(g.begin)/time.Second))
	}
	j.last = max(j.last, failed)
	j.until = max(g.now, j.last+wait)
	j.missing = append(j.missing, p)
	g.at(j.until, byController, "Job/default/"+name, func() {
		if j.over || g.now < j.until {
			return
		}
		list := j.missing
		j.missing = nil
		for _, of := range list {
			g.replace(of, of.why)
		}
	})
}
