//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The causes of the revisions that end holds, and the states of holds.
const (
	causeCommit, causeRelease, causeExpired                = "commit", "release", "expired"
	stateHeld, stateCommitted, stateReleased, stateExpired = "held", "committed", "released", "expired"
)

// held is a row of holds.
type held struct {
	ID, Cluster, State string
	Expires            time.Time
	Ended              *time.Time
	Revision, EndedIn  int64
	Pods               string
	pods               []heldPod
}

type heldPod struct{ Name, UID, Node string }

func readHolds(ctx context.Context, conn *pgx.Conn) (list []held, err error) {
	rows, err := conn.Query(ctx, `SELECT id, cluster, state, expires_at, ended_at, revision, coalesce(ended_revision, 0), pods FROM placement_holds`)
	if err != nil {
		return nil, err
	}
	var h held
	_, err = pgx.ForEachRow(rows, []any{&h.ID, &h.Cluster, &h.State, &h.Expires, &h.Ended, &h.Revision, &h.EndedIn, &h.Pods}, func() error {
		next := h
		list = append(list, next)
		return json.Unmarshal([]byte(h.Pods), &list[len(list)-1].pods)
	})
	if err != nil {
		return nil, fmt.Errorf("read holds: %w", err)
	}
	return list, nil
}

// states counts holds by how they ended.
func (b *books) states() string {
	n := map[string]int{}
	for i := range b.holds {
		n[b.holds[i].State]++
	}
	return fmt.Sprint(n)
}

// placements: the pods of one are bound by one revision, and those of one that was not committed
// by none: it leaves nothing.
func (c *checker) placements() {
	type pod struct{ cluster, name string }
	put, bound := map[pod]bool{}, map[pod]int64{}
	for name, list := range c.kept.revisions {
		for _, r := range list {
			for one := range r.pods {
				put[pod{name, one}] = true
			}
			for one := range r.binds {
				put[pod{name, one}], bound[pod{name, one}] = true, r.Number
			}
		}
	}
	in := map[string]int64{}
	for _, r := range c.kept.records {
		if was, known := in[r.Placement]; r.Placement != "" && known && was != r.Bound {
			c.violate("placement in parts", "%s of %s has records bound in %d and in %d", r.Placement, r.Cluster, was, r.Bound)
		}
		in[r.Placement] = r.Bound
	}
	for _, a := range c.told.asked {
		by := map[int64]int{}
		for _, name := range a.pods {
			by[bound[pod{a.cluster, name}]]++
			if a.id != "" && !a.committed && put[pod{a.cluster, name}] {
				c.violate("placement left behind", "%s of %s was not committed, and a revision has %s", a.id, a.cluster, name)
			}
		}
		if a.atomic && len(by) > 1 {
			c.violate("placement in parts", "atomic %s of %s: %v are bound by %v", a.id, a.cluster, a.pods, by)
		}
		if a.bound == "" {
			continue
		}
		for name, node := range a.nodes {
			if r := c.revision(a.cluster, revisionOf(a.bound)); !r.bound(name, node) {
				c.violate("lost bind", "placement %s by %s put %s on %s in %s, which is not so", a.id, a.replica, name, node, a.bound)
			}
		}
	}
}

// once: a change that was sent under a key took place once at most.
func (c *checker) once() {
	times := map[sentKey]int{}
	for name, list := range c.kept.revisions {
		for _, r := range list {
			for _, key := range r.puts {
				if mark, ok := strings.CutPrefix(key, "mark/"); ok {
					times[sentKey{"change", name, mark}]++
				}
			}
		}
	}
	for _, k := range c.told.marks {
		if times[k] > 1 {
			c.violate("done twice", "the change %s of %s, sent under one key, is in %d revisions", k.pod, k.cluster, times[k])
		}
	}
}

// holds: each has ended, once, as was said, and its pods are as its end leaves them.
func (c *checker) holds() {
	byID := map[string]*held{}
	begins, ends := map[string][]*held{}, map[string][]*held{} // by revision
	for i := range c.kept.holds {
		h := &c.kept.holds[i]
		byID[h.ID] = h
		begins[idOf(h.Cluster, h.Revision)] = append(begins[idOf(h.Cluster, h.Revision)], h)
		switch {
		case h.State == stateHeld:
			c.violate("hold without an end", "%s of %s was to end at %s", h.ID, h.Cluster, h.Expires.Format("15:04:05.000"))
			continue
		case h.State == stateExpired && h.Ended.Before(h.Expires):
			c.violate("hold ended early", "%s of %s at %s, before %s", h.ID, h.Cluster, h.Ended.Format("15:04:05.000"), h.Expires.Format("15:04:05.000"))
		}
		ends[idOf(h.Cluster, h.EndedIn)] = append(ends[idOf(h.Cluster, h.EndedIn)], h)
	}
	for _, a := range c.told.asked {
		if h := byID[a.id]; a.hold && (h == nil || idOf(h.Cluster, h.Revision) != a.bound || !h.Expires.Equal(a.expires)) {
			c.violate("lost hold", "%s of %s, answered by %s with %s until %s, is %+v", a.id, a.cluster, a.replica, a.bound, a.expires.Format("15:04:05.000"), h)
		}
	}
	for _, e := range c.told.ends {
		h := byID[e.id]
		switch {
		case h == nil || h.State != e.state || e.ended != "" && e.ended != idOf(h.Cluster, h.EndedIn):
			c.violate("hold ended otherwise", "%s of %s at %s was answered %s in %q, and it is %+v", e.how, e.id, e.replica, e.state, e.ended, h)
		case e.how == "commit" && e.state == stateCommitted && e.began.After(e.expires) && h.Ended.After(e.expires):
			c.violate("committed too late", "%s at %s, which began at %s, after %s", e.id, e.replica, e.began.Format("15:04:05.000"), e.expires.Format("15:04:05.000"))
		}
	}
	for name, list := range c.kept.revisions {
		w := &walked{c: c, at: map[string]podAt{}}
		for i := range list {
			r := &list[i]
			id := idOf(name, r.Number)
			w.ended(id, r, ends[id])
			w.step(id, r)
			for _, h := range begins[id] {
				for _, p := range h.pods {
					if !r.bound(p.Name, p.Node) {
						c.violate("hold without its revision", "%s has %s on %s from %s on, which is not so", h.ID, p.Name, p.Node, id)
					}
				}
			}
		}
	}
}

// walked are the pods of a cluster, revision by revision.
type walked struct {
	c  *checker
	at map[string]podAt
}

type podAt struct {
	podPut
	node   string
	waited bool // before it got the node
}

// ended wants a revision to end holds, and to take away their pods and no others, or, by a commit
// and by all other causes, none.
func (w *walked) ended(id string, r *chainRow, ends []*held) {
	state := map[string]string{causeCommit: stateCommitted, causeRelease: stateReleased, causeExpired: stateExpired}[r.Cause]
	for _, h := range ends {
		if h.State != state {
			w.c.violate("hold ended otherwise", "%s is %s by %s, whose cause is %s", h.ID, h.State, id, r.Cause)
		}
	}
	if state == "" {
		return
	}
	if r.Cause != causeExpired && len(ends) != 1 {
		w.c.violate("end of no hold", "%s, %s, ended %d holds", id, r.Cause, len(ends))
	}
	of := map[string]bool{}
	for _, h := range ends {
		for _, p := range h.pods {
			of[p.Name] = true
			is, there := w.at[p.Name]
			same := there && is.uid == p.UID && is.node == p.Node
			gone := slices.Contains(r.deletes, "Pod/"+p.Name) || slices.Contains(r.puts, "Pod/"+p.Name) && r.nodes[p.Name] == ""
			switch {
			case same && !gone && state != stateCommitted, same && is.waited && slices.Contains(r.deletes, "Pod/"+p.Name):
				w.c.violate("pod of an ended hold", "%s is %s in %s, and %s, on %s and before that waiting: %v, is not as before", h.ID, h.State, id, p.Name, p.Node, is.waited)
			case !same && gone:
				w.c.violate("another's pod", "%s ends %s and takes away %s, which is %+v by then", id, h.ID, p.Name, is)
			}
		}
	}
	for _, key := range slices.Concat(r.deletes, r.puts) {
		name, ok := strings.CutPrefix(key, "Pod/")
		if ok && (!of[name] && w.at[name].node != "" || state == stateCommitted) { // one without a node waited for this hold
			w.c.violate("another's pod", "%s, %s, takes away %s", id, r.Cause, name)
		}
	}
}

// step takes a revision's change over, and wants no room to be given twice.
func (w *walked) step(id string, r *chainRow) {
	if r.whole {
		clear(w.at)
	}
	for _, key := range r.deletes {
		delete(w.at, strings.TrimPrefix(key, "Pod/"))
	}
	for name, node := range r.binds {
		was, waited := w.at[name]
		if put, ok := r.pods[name]; ok {
			was.podPut = put
		}
		w.at[name] = podAt{was.podPut, node, waited}
	}
	for name, put := range r.pods {
		if r.binds[name] == "" {
			w.at[name] = podAt{podPut: put, node: r.nodes[name]}
		}
	}
	given := map[string]int{}
	for _, p := range w.at {
		if given[p.node] += p.slots; p.node != "" && given[p.node] > 1 {
			w.c.violate("room given twice", "%s: the pods of %s have %d of 1 %s", id, p.node, given[p.node], slot)
		}
	}
}
