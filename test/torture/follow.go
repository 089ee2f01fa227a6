//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	sdk "berth/client"
)

// event is what the books need of one.
type event struct {
	ID, Event string
	Data      struct {
		Revision, BoundRevision int64
		Decision, Placement     string
	}
}

// follower follows one cluster's events from the first on, at whichever replica answers, and goes
// on behind the last id that it has.
type follower struct {
	cluster string
	streams bool // else it reads lists
	random  *rand.Rand
	http    *http.Client
	after   string
	ids     []string
	wrong   []string
}

// followers are two of each cluster.
type followers struct {
	list []*follower
	end  context.CancelFunc
	done sync.WaitGroup
}

func startFollowers(ctx context.Context, w *world, seed uint64) *followers {
	ctx, cancel := context.WithCancel(ctx)
	all := &followers{end: cancel}
	for i, cluster := range clusterNames {
		for k, streams := range []bool{false, true} {
			f := &follower{
				cluster: cluster, streams: streams, after: "0", random: rand.New(rand.NewPCG(seed, uint64(1000+2*i+k))),
				http: &http.Client{Transport: &http.Transport{}},
			}
			all.list = append(all.list, f)
			all.done.Go(func() { f.run(ctx, w.place) })
		}
	}
	return all
}

func (all *followers) stop() []*follower {
	all.end()
	all.done.Wait()
	return all.list
}

func (f *follower) run(ctx context.Context, p *place) {
	defer f.http.CloseIdleConnections()
	for ctx.Err() == nil {
		at := p.replicas[f.random.IntN(len(p.replicas))].address()
		if at == "" {
			pause(ctx, 50*time.Millisecond)
			continue
		}
		if f.streams {
			f.stream(ctx, at)
		} else if f.list(ctx, at, "1s") == 0 {
			pause(ctx, 20*time.Millisecond)
		}
	}
}

// stream follows one stream until it breaks, or is cut off.
func (f *follower) stream(ctx context.Context, at string) {
	c, err := sdk.New(sdk.Options{Server: at, HTTP: f.http})
	if err != nil {
		f.wrong = append(f.wrong, err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(200+f.random.IntN(3000))*time.Millisecond)
	defer cancel()
	err = c.Stream(ctx, f.cluster, f.after, func(id, kind string, _ json.RawMessage) error {
		if f.after = id; kind != "bookmark" {
			f.ids = append(f.ids, id)
		}
		return nil
	})
	if refused := (*sdk.Error)(nil); errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests {
		f.refused(at, refused.Status, refused.Detail, refused.Newest)
	}
	pause(ctx, 20*time.Millisecond)
}

// list reads some events, and returns how many came.
func (f *follower) list(ctx context.Context, at, wait string) int {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	items, next, err := listEvents(ctx, f.http, at, f.cluster, f.after, wait, 1+f.random.IntN(20))
	if refused := (*sdk.Error)(nil); errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests {
		f.refused(at, refused.Status, refused.Detail, refused.Newest)
	}
	if err != nil {
		return 0
	}
	for _, e := range items {
		f.ids = append(f.ids, e.ID)
	}
	f.after = next
	return len(items)
}

// refused notes an answer that is wrong here, where no event is ever deleted, and goes on as
// documented.
func (f *follower) refused(at string, status int, detail, newest string) {
	f.wrong = append(f.wrong, fmt.Sprintf("%s: events of %s behind %s: %d %s", at, f.cluster, f.after, status, detail))
	if newest != "" {
		f.after = newest
	}
}

func listEvents(ctx context.Context, c *http.Client, at, cluster, after, wait string, limit int) (items []event, next string, err error) {
	path := fmt.Sprintf("/v1/clusters/%s/events?after=%s&wait=%s&limit=%d", cluster, after, wait, limit)
	status, body, _, err := send(ctx, c, at, http.MethodGet, path, nil)
	if err != nil {
		return nil, "", err
	}
	if status != http.StatusOK {
		refused := &sdk.Error{}
		_ = json.Unmarshal(body, refused) // whatever it is, the status is told
		refused.Status = status
		return nil, "", refused
	}
	var out struct {
		Items []event
		Next  string
	}
	err = json.Unmarshal(body, &out)
	return out.Items, out.Next, err
}

// events has a fresh server list all events, and the followers go on to the end there.
func (r *report) events(ctx context.Context, one *replica, all []*follower, kept *books) {
	kept.events = map[string][]event{}
	for _, cluster := range clusterNames {
		for after := "0"; ; {
			items, next, err := listEvents(ctx, http.DefaultClient, one.address(), cluster, after, "0s", 500)
			if err != nil {
				r.violate("harness", "list the events of %s: %v", cluster, err)
				return
			}
			if kept.events[cluster] = append(kept.events[cluster], items...); len(items) == 0 || next <= after && after != "0" {
				break // the second is found below
			}
			after = next
		}
	}
	n := 0
	for _, f := range all {
		for len(f.ids) <= len(kept.events[f.cluster]) && f.list(ctx, one.address(), "0s") > 0 {
		}
		n += len(f.ids)
	}
	r.violations = append(r.violations, checkEvents(all, kept)...)
	r.say("events", "%d to %d followers", n, len(all))
}

// checkEvents wants the events of each cluster to be its revisions and records, each once and in
// order, and each follower to have got exactly these.
func checkEvents(all []*follower, kept *books) []violation {
	c := &checker{kept: kept}
	for name, list := range kept.events {
		c.listed(name, list)
	}
	for _, f := range all {
		for _, line := range f.wrong {
			c.violate("wrong answer", "%s", line)
		}
		want := kept.events[f.cluster]
		for i := range max(len(f.ids), len(want)) {
			var got, due string
			if i < len(f.ids) {
				got = f.ids[i]
			}
			if i < len(want) {
				due = want[i].ID
			}
			if got != due {
				kind := "event skipped"
				if due == "" || got != "" && got < due {
					kind = "event repeated"
				}
				c.violate(kind, "a follower of %s (by streams: %v) got %q as its %dth of %d, and %q was due, of %d", f.cluster, f.streams, got, i+1, len(f.ids), due, len(want))
				break
			}
		}
	}
	return c.found
}

// listed compares the events of a cluster with what is stored.
func (c *checker) listed(name string, list []event) {
	newest, last := int64(0), ""
	seq := map[string]*record{}
	members := map[string]int{}
	for i := range c.kept.records {
		if r := &c.kept.records[i]; r.Cluster == name {
			seq[r.ID] = r
			if r.Placement != "" {
				members[r.Placement]++
			}
		}
	}
	at := int64(0)
	for _, e := range list {
		if e.ID <= last {
			c.violate("event out of order", "%s: %s comes behind %s", name, e.ID, last)
		}
		last = e.ID
		switch e.Event {
		case "revision":
			if newest++; e.Data.Revision != newest {
				c.violate("event out of order", "%s: revision %d is told at %d's place", name, e.Data.Revision, newest)
				return
			}
		case "decision":
			r := seq[e.Data.Decision]
			if r == nil || r.Seq <= at || max(r.Revision, r.Bound) > newest {
				c.violate("event out of order", "%s: decision %s is told behind seq %d and revision %d, and it is %+v", name, e.Data.Decision, at, newest, r)
				return
			}
			if at = r.Seq; r.Placement != "" {
				members[r.Placement]--
			}
			delete(seq, e.Data.Decision)
		case "placement":
			if left, known := members[e.Data.Placement]; !known || left != 0 {
				c.violate("event out of order", "%s: placement %s is told with %d of its decisions to come, or twice", name, e.Data.Placement, left)
			}
			delete(members, e.Data.Placement)
		}
	}
	if revisions := c.kept.revisions[name]; len(seq)+len(members) > 0 || newest != int64(len(revisions)) {
		c.violate("event skipped", "%s: of %d revisions %d are told, and %d decisions and %d placements are not", name, len(revisions), newest, len(seq), len(members))
	}
}
