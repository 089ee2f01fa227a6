package world

import (
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
)

// surges reports whether a node may have two pods amid an update (daemonset_util.go AllowsSurge).
func (s *daemonSet) surges() bool { return s.surge(1) > 0 }

func (s *daemonSet) surge(nodes int) int {
	r := s.rolling()
	if r == nil || r.MaxSurge == nil {
		return 0
	}
	return scaled(r.MaxSurge, nodes, true)
}

// rolling returns the numbers of a rolling update; nil where it has another strategy.
func (s *daemonSet) rolling() *appsv1.RollingUpdateDaemonSet {
	if s.set.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return nil
	}
	if s.set.UpdateStrategy.RollingUpdate == nil {
		return &appsv1.RollingUpdateDaemonSet{}
	}
	return s.set.UpdateStrategy.RollingUpdate
}

// isNew reports whether a pod is of the template as it is now.
func (s *daemonSet) isNew(pod *corev1.Pod) bool {
	return s.hash == "" || pod.Labels[appsv1.ControllerRevisionHashLabelKey] == s.hash
}

func (c *daemonSets) available(s *daemonSet, pod *corev1.Pod) bool {
	at, ready := c.w.readySince(pod)
	return ready && at+int64(s.set.MinReadySeconds) <= c.w.Seconds()
}

// tooMany returns the pods of a node that go where two may be there: the oldest one of the new
// template and, until that is available, the oldest one of the old template as long as it is ready
// stay (podsShouldBeOnNode).
func (c *daemonSets) tooMany(s *daemonSet, running []*corev1.Pod) (doomed []*corev1.Pod) {
	var fresh, old *corev1.Pod
	for _, pod := range running {
		switch is := s.isNew(pod); {
		case is && fresh == nil:
			fresh = pod
		case !is && old == nil:
			old = pod
		default:
			doomed = append(doomed, pod)
		}
	}
	if fresh != nil && old != nil {
		if _, ready := c.w.readySince(old); !ready || c.available(s, fresh) {
			doomed = append(doomed, old)
		}
	}
	return doomed
}

// roll deletes pods of the old template, or makes those of the new one beside them (update.go
// rollingUpdate). Which of several nodes comes first is chance upstream, and here by name.
func (c *daemonSets) roll(s *daemonSet) error {
	r := s.rolling()
	if s.update == nil || r == nil {
		return nil
	}
	desired, surge, unavailable := s.limits(r)
	if surge == 0 {
		return c.rollDown(s, unavailable)
	}
	return c.rollUp(s, surge, desired)
}

// limits returns on how many nodes pods should be, how many of them may have two, and how many none
// (daemonset_util.go SurgeCount, UnavailableCount; update.go updatedDesiredNodeCounts).
func (s *daemonSet) limits(r *appsv1.RollingUpdateDaemonSet) (desired, surge, unavailable int) {
	for _, p := range s.places {
		if p.run {
			desired++
		}
	}
	surge, unavailable = s.surge(desired), 1
	if r.MaxUnavailable != nil {
		unavailable = scaled(r.MaxUnavailable, desired, true)
	}
	if surge == 0 && unavailable == 0 && desired > 0 {
		unavailable = 1
	}
	return desired, surge, unavailable
}

// twoOf returns the pods of a node by their templates; false where there are several of one
// (findUpdatedPodsOnNode).
func (s *daemonSet) twoOf(p *daemonPlace) (fresh, old *corev1.Pod, ok bool) {
	for _, pod := range p.counted() {
		if pod.DeletionTimestamp != nil {
			continue
		}
		of := &old
		if s.isNew(pod) {
			of = &fresh
		}
		if *of != nil {
			return nil, nil, false
		}
		*of = pod
	}
	return fresh, old, true
}

// rollDown deletes old pods: those that are not available, and others as long as no more than a
// number of nodes lacks an available pod.
func (c *daemonSets) rollDown(s *daemonSet, most int) error {
	n := 0
	var doomed, may []*corev1.Pod
	for _, name := range s.order {
		p := s.places[name]
		fresh, old, ok := s.twoOf(p)
		switch {
		case !p.run && len(p.counted()) == 0:
		case !ok, (fresh == nil) == (old == nil):
			n++
		case fresh != nil:
			if !c.available(s, fresh) {
				n++
			}
		case !c.available(s, old):
			doomed = append(doomed, old)
			n++
		default:
			may = append(may, old)
		}
	}
	Shuffle(c.w.o.Chance, may, func(p *corev1.Pod) string { return p.Spec.NodeName })
	taken := max(0, min(most-n, len(may)))
	c.w.Choice(ChosenUpdate, "DaemonSet "+s.key.namespace+"/"+s.key.Name, "nodes", taken, len(may))
	return c.update(append(doomed, may[:taken]...))
}

// rollUp makes new pods beside old ones: beside those that are not available, and beside a number
// of others at a time. Old ones go once the new ones are available.
func (c *daemonSets) rollUp(s *daemonSet, most, desired int) error {
	n, available := 0, 0
	var doomed, stray []*corev1.Pod
	var need, may []*daemonPlace
	for _, name := range s.order {
		p := s.places[name]
		fresh, old, ok := s.twoOf(p)
		if !ok {
			n++
			continue
		}
		well := old
		if well == nil {
			well = fresh
		}
		is := well != nil && c.available(s, well)
		if is {
			available++
		}
		switch {
		case old == nil:
		case fresh != nil && !c.available(s, fresh):
			n++
		case fresh != nil, !p.run && !is:
			doomed = append(doomed, old)
		case !p.run:
			stray = append(stray, old)
		case !is:
			need = append(need, p)
		default:
			may = append(may, p)
		}
	}
	doomed = append(doomed, stray[:max(0, min(available-desired, len(stray)))]...)
	Shuffle(c.w.o.Chance, may, func(p *daemonPlace) string { return p.node })
	taken := max(0, min(most-n, len(may)))
	c.w.Choice(ChosenUpdate, "DaemonSet "+s.key.namespace+"/"+s.key.Name, "nodes", taken, len(may))
	for _, p := range append(need, may[:taken]...) {
		if _, err := c.create(s, p); err != nil {
			return err
		}
	}
	return c.update(doomed)
}

// update deletes pods of the old template.
func (c *daemonSets) update(doomed []*corev1.Pod) error {
	for _, pod := range doomed {
		if err := c.w.remove(pod, &Left{Cause: CauseUpdate}); err != nil {
			return err
		}
	}
	return nil
}

// observe counts the pods of a DaemonSet, and has its controller act again where a pod is not
// available yet (updateDaemonSetStatus).
func (c *daemonSets) observe(s *daemonSet) {
	s.misplaced = 0
	all, desired, updated, ready, available := 0, 0, 0, 0, 0
	for _, name := range s.order {
		p := s.places[name]
		all += len(p.pods)
		there := p.counted()
		switch {
		case !p.there:
		case p.run:
			desired++
		case len(there) > 0:
			s.misplaced++
		}
		if !p.run || len(there) == 0 {
			continue
		}
		first := there[0]
		for _, pod := range there[1:] {
			if olderDaemon(pod, first) < 0 {
				first = pod
			}
		}
		if s.isNew(first) {
			updated++
		}
		if _, is := c.w.readySince(first); is {
			ready++
		}
		if c.available(s, first) {
			available++
		}
	}
	if least := time.Duration(s.set.MinReadySeconds) * time.Second; least > 0 && ready != available {
		c.after(s, least)
	}
	if s.update != nil {
		c.w.seen(s.update, all, available, updated == desired && available == desired)
	}
}

// standing returns how far a DaemonSet's update is, with the nodes that lack an available pod.
func (c *daemonSets) standing(s *daemonSet) (out Standing) {
	if r := s.rolling(); r != nil {
		out.Wanted, out.Surge, out.Unavailable = s.limits(r)
	} else {
		out.Wanted, _, _ = s.limits(&appsv1.RollingUpdateDaemonSet{})
	}
	for _, name := range s.order {
		p := s.places[name]
		there := p.counted()
		held, well, updated := Held{Node: name, Why: "it has no pod"}, !p.run && len(there) == 0, false
		for _, pod := range there {
			why, _ := c.w.unwell(pod, time.Duration(s.set.MinReadySeconds)*time.Second)
			updated = updated || s.isNew(pod) && pod.DeletionTimestamp == nil
			if well = well || why == ""; why != "" && (held.Pod == "" || s.isNew(pod)) {
				held.Pod, held.Why = pod.Name, why
			}
		}
		if p.run && updated {
			out.Updated++
		}
		if !well {
			out.Held = append(out.Held, held)
		}
	}
	return out
}

// UpdateDaemons has a DaemonSet take another template, of which like is the pod, pinned to no node.
// One that is not there comes with made; otherwise it is refused. With same the template is the one
// that it has, and only its strategy is another one.
func (w *World) UpdateDaemons(o object.Object, like *corev1.Pod, made, same bool) (_ *Update, refused string, err error) {
	c := w.daemons
	spec, err := daemonSpecOf(o.Key, o.JSON)
	if err != nil {
		return nil, "", err
	}
	s, err := c.named(spec.key)
	if err != nil {
		return nil, "", err
	}
	if s == nil {
		names, err := w.podsOf(spec.key)
		if err != nil || !made && len(names) == 0 {
			return nil, fmt.Sprintf("daemonsets.apps %q not found", o.Key.Name), err
		}
		s, made = c.add(spec), len(names) == 0
	} else {
		made = false
	}
	if err := c.touch(s); err != nil {
		return nil, "", err
	}
	w.keep(o)
	s.daemonSpec = spec
	for _, name := range s.order {
		c.judge(s, name)
	}
	if made || same {
		c.later(s)
		return nil, "", nil
	}
	p := *like
	s.updates++
	s.hash = fmt.Sprintf("%s-new-%d", s.key.Name, s.updates)
	p.Labels = Without(p.Labels)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[appsv1.ControllerRevisionHashLabelKey] = s.hash
	if s.like != nil {
		p.Status = s.like.Status // its pods take as long to start as the old ones
	}
	s.like = &p
	s.update = &Update{Kind: "DaemonSet", Namespace: s.key.namespace, Name: s.key.Name, Began: w.Seconds(), LeastAvailable: math.MaxInt}
	how := appsv1.RollingUpdateDaemonSetStrategyType
	if s.rolling() == nil {
		how = appsv1.OnDeleteDaemonSetStrategyType
	}
	w.tell(Moment{What: RolloutBegins, Owner: s.update.owner(), Why: string(how)})
	c.observe(s)
	c.later(s)
	return s.update, "", nil
}

// Admits has the world know what pods controllers make by a workload that no pod is there of.
func (w *World) Admits(pod func(workload []byte) (*corev1.Pod, error)) { w.admit = pod }
