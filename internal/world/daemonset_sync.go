package world

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// touch has a DaemonSet know its nodes and its pods from now on.
func (c *daemonSets) touch(s *daemonSet) error {
	if s.places != nil {
		return nil
	}
	names, err := c.w.podsOf(s.key)
	if err != nil {
		return err
	}
	s.places = map[string]*daemonPlace{}
	nodes := c.w.State().Nodes()
	if err := c.w.steps.Take(nodes.Count() + readSteps*len(names)); err != nil {
		return err
	}
	for row := range nodes.Alive().All() {
		c.judge(s, nodes.Node(row).Name)
	}
	for _, n := range names {
		pod, err := c.w.Pod(n.Namespace, n.Name)
		if err == nil {
			c.join(s, pod)
		}
		if pod, err = c.w.base.Pod(n.Namespace, n.Name); s.like == nil && s.hash == "" && err == nil && Active(pod) {
			s.like = pod
		}
	}
	for _, pod := range c.w.put { // join puts them in order
		if pod != nil && IsDaemon(pod) && keyOf(pod) == s.key {
			c.join(s, pod)
		}
	}
	for _, e := range c.w.queue.waiting {
		if e.place == waits && IsDaemon(e.Pod) && keyOf(e.Pod) == s.key {
			c.join(s, e.Pod)
		}
	}
	if held := c.w.quotas.held[s.key]; held != nil {
		for _, h := range held.pods {
			c.join(s, h.pod)
		}
	}
	return nil
}

// join notes a pod of a DaemonSet at its node.
func (c *daemonSets) join(s *daemonSet, pod *corev1.Pod) {
	node := TargetOf(pod)
	if node == "" || c.at[NameOf(pod)] != nil {
		return
	}
	p := s.place(node)
	p.pods = append(p.pods, pod)
	slices.SortFunc(p.pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	if c.at == nil {
		c.at = map[PodName]*daemonPlace{}
	}
	c.at[NameOf(pod)] = p
}

func (s *daemonSet) place(node string) *daemonPlace {
	p := s.places[node]
	if p == nil {
		p = &daemonPlace{of: s, node: node}
		s.places[node] = p
		i, _ := slices.BinarySearch(s.order, node)
		s.order = slices.Insert(s.order, i, node)
	}
	return p
}

// judge works out anew whether a node should have a pod.
func (c *daemonSets) judge(s *daemonSet, node string) *daemonPlace {
	p := s.place(node)
	nodes := c.w.State().Nodes()
	if row := nodes.Row(node); row >= 0 {
		p.run, p.stay = s.should(nodes.Node(row))
		p.there = true
	} else {
		p.run, p.stay, p.there = false, false, false
	}
	return p
}

// forget has the DaemonSets be read anew once changes are taken back.
func (c *daemonSets) forget() {
	c.at, c.changed = nil, nil
	for _, s := range c.all {
		s.places, s.order, s.due, s.next, s.like = nil, nil, -1, -1, nil
	}
}

// created hears of a pod that a controller has made.
func (c *daemonSets) created(pod *corev1.Pod) error {
	s, err := c.of(pod)
	if err != nil || s == nil || s.places == nil {
		return err
	}
	c.join(s, pod)
	c.later(s)
	return nil
}

// saw hears of a pod that is stored; nil: it is gone.
func (c *daemonSets) saw(n PodName, pod *corev1.Pod) {
	p := c.at[n]
	if p == nil {
		return
	}
	i := slices.IndexFunc(p.pods, func(of *corev1.Pod) bool { return NameOf(of) == n })
	if pod != nil {
		if !IsReady(p.pods[i]) && IsReady(pod) && p.of.set.MinReadySeconds > 0 { // a second more, as updatePod adds it
			c.after(p.of, time.Duration(p.of.set.MinReadySeconds+1)*time.Second)
		}
		p.pods[i] = pod
	} else {
		p.pods = slices.Delete(p.pods, i, i+1)
		delete(c.at, n)
	}
	c.later(p.of)
}

// nodeChanged hears of a node that was added, is gone, or has other labels or taints
// (daemon_controller.go shouldIgnoreNodeUpdate).
func (c *daemonSets) nodeChanged(before, after *corev1.Node) {
	if after == nil {
		for _, s := range c.all {
			if p := s.places[before.Name]; p != nil {
				p.run, p.stay, p.there = false, false, false
			}
		}
		return
	}
	if before != nil && maps.Equal(before.Labels, after.Labels) && slices.EqualFunc(before.Spec.Taints, after.Spec.Taints, func(a, b corev1.Taint) bool {
		return a.MatchTaint(&b) && a.Value == b.Value
	}) {
		return
	}
	if list, err := c.sets(); err == nil && len(list) == 0 {
		return // an error is found again where it is told
	}
	if c.changed == nil {
		c.changed = map[string]bool{}
		c.w.due.schedule(c.w.now, syncs, "DaemonSet", c.syncNodes)
	}
	c.changed[after.Name] = true
}

// syncNodes looks at the nodes that have changed, and has those DaemonSets act that lack a pod
// there, or have one that may not stay (syncNodeUpdate).
func (c *daemonSets) syncNodes() error {
	names := slices.Sorted(maps.Keys(c.changed))
	c.changed = nil
	list, err := c.sets()
	if err != nil {
		return err
	}
	nodes := c.w.State().Nodes()
	for _, s := range list {
		for _, name := range names {
			row := nodes.Row(name)
			if row < 0 {
				continue // removed meanwhile
			}
			run, stay := s.should(nodes.Node(row))
			here, err := c.here(s, name, row)
			if err != nil {
				return err
			}
			if s.places != nil {
				c.judge(s, name)
			}
			if run && !here || here && (!stay || s.misplaced > 0) {
				if err := c.touch(s); err != nil {
					return err
				}
				c.later(s)
			}
		}
	}
	return nil
}

// here reports whether a pod of a DaemonSet is bound to a node, also one that has ended.
func (c *daemonSets) here(s *daemonSet, name string, row int) (bool, error) {
	if s.places != nil {
		return slices.ContainsFunc(s.place(name).pods, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }), nil
	}
	for p := range c.w.State().PodsOn(row).All() {
		if p.Daemon && p.Namespace == s.key.namespace && p.Owner.Value() == s.key.Owner {
			return true, nil
		}
	}
	if c.ended == nil && c.w.base.Summary.Hygiene.TerminalPods > 0 {
		c.ended = map[string][]*state.Pod{}
		pods := 0
		c.w.base.State.EachPod(func(p *state.Pod) {
			if pods++; p.Daemon && p.Terminal {
				c.ended[p.NodeName] = append(c.ended[p.NodeName], p)
			}
		})
		if err := c.w.steps.Take(pods); err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(c.ended[name], func(p *state.Pod) bool {
		return p.Namespace == s.key.namespace && p.Owner.Value() == s.key.Owner && c.w.State().Pod(p.Namespace, p.Name) != nil
	}), nil
}

// later has the controller of a DaemonSet act at this instant.
func (c *daemonSets) later(s *daemonSet) {
	if s.due == c.w.now {
		return
	}
	s.due = c.w.now
	c.w.due.schedule(s.due, syncs, "DaemonSet/"+s.key.namespace+"/"+s.key.Name, func() error { return c.sync(s) })
}

// after has the controller of a DaemonSet act again some time later, unless it does before: its
// queue keeps the earliest time (client-go/util/workqueue/delaying_queue.go insert).
func (c *daemonSets) after(s *daemonSet, wait time.Duration) {
	at := c.w.now + wait
	if s.next >= c.w.now && s.next <= at {
		return
	}
	s.next = at
	c.w.due.schedule(at, syncs, "DaemonSet/"+s.key.namespace+"/"+s.key.Name, func() error {
		if s.next != at {
			return nil
		}
		s.next = -1
		return c.sync(s)
	})
}

// sync makes and deletes the pods of a DaemonSet, and goes on with its update once none of them is
// missing or too much (updateDaemonSet).
func (c *daemonSets) sync(s *daemonSet) error {
	if s.busy || s.places == nil {
		return nil
	}
	if s.busy = true; s.due == c.w.now {
		s.due = -1
	}
	defer func() { s.busy = false }()
	if err := c.w.steps.Take(len(s.order)); err != nil {
		return err
	}
	for name := range c.changed { // at this instant
		c.judge(s, name)
	}
	changed, err := c.manage(s)
	if err == nil && !changed {
		err = c.roll(s)
	}
	c.observe(s)
	return err
}

// manage makes the pods that nodes lack, and deletes those that may not be there (manage,
// podsShouldBeOnNode). Upstream does 250 of each at a time, in the same instant.
func (c *daemonSets) manage(s *daemonSet) (changed bool, err error) {
	var doomed []*corev1.Pod
	var lacking []*daemonPlace
	for _, name := range s.order {
		p := s.places[name]
		there := p.counted()
		switch {
		case !p.there: // getUnscheduledPodsWithoutNode
			for _, pod := range there {
				if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
					doomed = append(doomed, pod)
				}
			}
		case p.gaveUp:
		case p.run && len(there) == 0:
			lacking = append(lacking, p)
		case p.stay:
			over, running := c.doneOn(p, there)
			doomed = append(doomed, over...)
			slices.SortFunc(running, olderDaemon)
			if !s.surges() {
				doomed = append(doomed, running[min(1, len(running)):]...)
			} else if len(running) == 0 && p.run {
				lacking = append(lacking, p)
			} else {
				doomed = append(doomed, c.tooMany(s, running)...)
			}
		default:
			for _, pod := range there {
				if pod.DeletionTimestamp == nil {
					doomed = append(doomed, pod)
				}
			}
		}
	}
	before := len(c.w.log)
	for _, p := range lacking {
		made, err := c.create(s, p)
		if err != nil {
			return false, err
		}
		changed = changed || made
	}
	for _, pod := range doomed {
		cause := CauseScaleDown
		switch p := c.at[NameOf(pod)]; {
		case hasEnded(pod):
			cause = CauseDeletion
		case p != nil && p.stay && !s.isNew(pod):
			cause = CauseUpdate
		}
		if err := c.w.remove(pod, &Left{Cause: cause}); err != nil {
			return false, err
		}
	}
	return changed || len(c.w.log) > before, nil
}

// counted returns the pods of a node without those that have ended and are being deleted
// (getNodesToDaemonPods).
func (p *daemonPlace) counted() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(p.pods), func(pod *corev1.Pod) bool { return hasEnded(pod) && pod.DeletionTimestamp != nil })
}

// doneOn returns the pods of a node that have ended and are to be deleted, and those that run. One
// that failed waits for the back-off.
func (c *daemonSets) doneOn(p *daemonPlace, there []*corev1.Pod) (over, running []*corev1.Pod) {
	now := c.w.now
	for _, pod := range there {
		switch {
		case pod.DeletionTimestamp != nil:
		case pod.Status.Phase == corev1.PodSucceeded:
			over = append(over, pod)
		case pod.Status.Phase != corev1.PodFailed:
			running = append(running, pod)
		default:
			if now-p.failed > 2*mostDaemonBackoff {
				p.backoff = 0
			}
			if p.backoff > 0 && now-p.failed < p.backoff {
				c.after(p.of, p.backoff)
				continue
			}
			p.backoff, p.failed = max(daemonBackoff, min(2*p.backoff, mostDaemonBackoff)), now
			over = append(over, pod)
		}
	}
	return over, running
}

// olderDaemon orders the pods of a node: one that is bound first, then the oldest
// (podByCreationTimestampAndPhase).
func olderDaemon(a, b *corev1.Pod) int {
	unbound := func(p *corev1.Pod) int {
		if p.Spec.NodeName == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(unbound(a)-unbound(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}
