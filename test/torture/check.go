//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
)

// violation is a promise that was broken.
type violation struct{ kind, what string }

// checker compares what clients were told with what is stored.
type checker struct {
	told  *ledger
	kept  *books
	found []violation

	byID map[string]*record
}

// check returns every disagreement between the two.
func check(told *ledger, kept *books) []violation {
	c := &checker{told: told, kept: kept, byID: map[string]*record{}}
	c.records()
	c.answers()
	c.chains()
	c.binds()
	c.states()
	c.tables()
	c.placements()
	c.holds()
	c.once()
	return c.found
}

func (c *checker) violate(kind, format string, args ...any) {
	c.found = append(c.found, violation{kind, fmt.Sprintf(format, args...)})
}

// records: each once, none more than was asked for, each on a revision that is there.
func (c *checker) records() {
	count := map[sentKey]int{}
	for i := range c.kept.records {
		r := &c.kept.records[i]
		if c.byID[r.ID] != nil {
			c.violate("recorded twice", "decision %s (%s of %s/%s)", r.ID, r.Verb, r.Cluster, r.Pod)
		}
		c.byID[r.ID] = r
		count[sentKey{r.Verb, r.Cluster, r.Pod}]++
		on := c.revision(r.Cluster, r.Revision)
		switch {
		case on == nil:
			c.violate("record without its revision", "decision %s was made on %s, which is not there", r.ID, idOf(r.Cluster, r.Revision))
		case on.Digest != r.SnapshotDigest:
			c.violate("record of another revision", "decision %s was made on %s with %s, which has %s", r.ID, idOf(r.Cluster, r.Revision), r.SnapshotDigest, on.Digest)
		}
		if r.Bound == 0 {
			continue
		}
		b := c.revision(r.Cluster, r.Bound)
		if r.Outcome != "Scheduled" { // the pod's status was written
			if b == nil || !slices.Contains(b.puts, "Pod/"+r.Pod) {
				c.violate("attempt without its revision", "decision %s wrote why %s waits in %s, which does not have it", r.ID, r.Pod, idOf(r.Cluster, r.Bound))
			}
			continue
		}
		if !b.bound(r.Pod, r.Node) {
			c.violate("bind without its revision", "decision %s bound %s to %s in %s, which says otherwise", r.ID, r.Pod, r.Node, idOf(r.Cluster, r.Bound))
		}
	}
	for k, n := range count {
		if n > c.told.sent[k] {
			c.violate("recorded and never asked", "%s of %s/%s: %d records of %d calls", k.verb, k.cluster, k.pod, n, c.told.sent[k])
		}
	}
}

// answers: each is on record, once, as it was given.
func (c *checker) answers() {
	given := map[string]bool{}
	for _, a := range c.told.answers {
		if given[a.id] {
			c.violate("answered twice", "decision %s, the second time by %s", a.id, a.replica)
		}
		given[a.id] = true
		r := c.byID[a.id]
		if r == nil {
			c.violate("lost answer", "decision %s (%s of %s/%s, %s at %s) is not on record", a.id, a.verb, a.cluster, a.pod, a.replica, a.at.Format("15:04:05.000"))
			continue
		}
		if r.Verb != a.verb || r.Cluster != a.cluster || r.Pod != a.pod ||
			a.digest != "" && (r.Digest != a.digest || r.Outcome != a.outcome || r.Node != a.node || idOf(r.Cluster, r.Revision) != a.snapshot) ||
			a.feasible >= 0 && int64(a.feasible) != r.Feasible {
			c.violate("another answer", "decision %s was answered %+v and recorded %+v", a.id, a, *r)
		}
		if a.bound != "" && idOf(r.Cluster, r.Bound) != a.bound {
			c.violate("another answer", "decision %s was answered as bound in %s and recorded in %d", a.id, a.bound, r.Bound)
		}
	}
}

// chains: 1 to newest without a gap, each the child of the one before.
func (c *checker) chains() {
	for name, list := range c.kept.revisions {
		for i, r := range list {
			parent := ""
			if i > 0 {
				parent = list[i-1].Token
			}
			if r.Number != int64(i)+1 {
				c.violate("missing revision", "%s is followed by %s", idOf(name, int64(i)), idOf(name, r.Number))
				break
			}
			if r.Parent != parent {
				c.violate("broken chain", "%s is not the child of the one before", idOf(name, r.Number))
			}
		}
	}
}

// binds: a pod is bound once for as long as it is there, and every bind that was
// told of took place.
func (c *checker) binds() {
	type pod struct{ cluster, name string }
	ever := map[pod][]string{}
	for name, list := range c.kept.revisions {
		bound := map[string]string{}
		for _, r := range list {
			if r.whole {
				clear(bound)
			}
			for _, key := range r.deletes {
				delete(bound, strings.TrimPrefix(key, "Pod/"))
			}
			for _, key := range r.puts {
				pod, ok := strings.CutPrefix(key, "Pod/")
				if ok && (r.Cause == causeRelease || r.Cause == causeExpired) { // it waits as before
					delete(bound, pod)
				}
				if was := bound[pod]; ok && was != "" && r.nodes[pod] != was {
					c.violate("moved", "%s has %s on %q, and it was bound to %s", idOf(name, r.Number), pod, r.nodes[pod], was)
				}
			}
			for one, node := range r.binds {
				if was := bound[one]; was != "" {
					c.violate("bound twice", "%s binds %s to %s, and it was on %s", idOf(name, r.Number), one, node, was)
				}
				bound[one] = node
				ever[pod{name, one}] = append(ever[pod{name, one}], node)
			}
		}
	}
	for _, cl := range c.told.claims {
		if !slices.Contains(ever[pod{cl.cluster, cl.pod}], cl.node) {
			c.violate("lost bind", "by %s at %s pod %s/%s is on %s; in the revisions it went to %v", cl.by, cl.replica, cl.cluster, cl.pod, cl.node, ever[pod{cl.cluster, cl.pod}])
		}
	}
	for _, a := range c.told.answers {
		if a.bound == "" {
			continue
		}
		if r := c.revision(a.cluster, revisionOf(a.bound)); !r.bound(a.pod, a.node) {
			c.violate("lost bind", "decision %s bound %s to %s in %s, which is not so", a.id, a.pod, a.node, a.bound)
		}
	}
}

// states: what was shown or made is there, with the content that was told.
func (c *checker) states() {
	made := map[string]bool{}
	for _, s := range c.told.states {
		id := idOf(s.cluster, s.revision)
		r := c.revision(s.cluster, s.revision)
		if r == nil || r.Digest != s.digest {
			c.violate("lost revision", "%s told of %s with %s, and it is not there or another", s.replica, id, s.digest)
			continue
		}
		if !s.made {
			continue
		}
		if made[id] {
			c.violate("lost update", "two changes were told that they made %s", id)
		}
		made[id] = true
		if s.parent > 0 && s.revision != s.parent+1 {
			c.violate("lost update", "a change of %s made %s", idOf(s.cluster, s.parent), id)
		}
		if s.holds != "" && !slices.Contains(r.puts, s.holds) {
			c.violate("lost update", "%s was to put %s there and has %v", id, s.holds, r.puts)
		}
	}
}

// bound reports whether a revision, which may not be there, binds a pod to a node.
func (r *chainRow) bound(pod, node string) bool {
	return r != nil && r.binds[pod] == node && node != ""
}

func (c *checker) revision(cluster string, n int64) *chainRow {
	list := c.kept.revisions[cluster]
	if i := int(n) - 1; i >= 0 && i < len(list) && list[i].Number == n {
		return &list[i]
	}
	for i := range list {
		if list[i].Number == n {
			return &list[i]
		}
	}
	return nil
}
