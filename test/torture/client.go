//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// client makes one call after the other, each chosen by its own random numbers.
type client struct {
	w        *world
	n        int // its number
	random   *rand.Rand
	http     *http.Client
	pause    time.Duration // between the starts of calls
	retries  bool          // a call that broke goes to another replica, once
	calls    int
	book     *ledger
	newestBy map[string]shown // newest revision seen, by what showed it
	waiting  []pendingPod     // put into a cluster, to be bound
	bound    []pendingPod     // bound, to be deleted some day
}

type pendingPod struct {
	cluster, name, node string
	manifest            object
}

// shown is a revision, and by which answer it was shown.
type shown struct {
	revision int64
	by       string
}

// crew is all clients.
type crew struct {
	list []*client
	end  context.CancelFunc
	done sync.WaitGroup
}

func startClients(ctx context.Context, w *world, o options, seed uint64) *crew {
	ctx, cancel := context.WithCancel(ctx)
	c := &crew{end: cancel}
	for i := range o.Clients {
		one := newClient(w, o, seed, i)
		if o.Rate > 0 {
			one.pause = time.Duration(float64(o.Clients) / o.Rate * float64(time.Second))
		}
		c.list = append(c.list, one)
		c.done.Go(func() { one.run(ctx, one.once) })
	}
	for i := range o.Platforms {
		one := &platform{client: newClient(w, o, seed, o.Clients+i)}
		one.pause = 60 * time.Millisecond
		c.list = append(c.list, one.client)
		c.done.Go(func() { one.run(ctx, one.once) })
	}
	return c
}

func newClient(w *world, o options, seed uint64, n int) *client {
	return &client{
		w: w, n: n, random: rand.New(rand.NewPCG(seed, uint64(n)+1)),
		http: &http.Client{Timeout: 12 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 4}},
		book: &ledger{sent: map[sentKey]int{}}, newestBy: map[string]shown{},
		retries: o.Scenario == "rolling",
	}
}

// stop lets calls on their way end, and returns what was answered.
func (c *crew) stop() *ledger {
	c.end()
	c.done.Wait()
	books := make([]*ledger, len(c.list))
	for i, one := range c.list {
		books[i] = one.book
		one.http.CloseIdleConnections()
	}
	return merge(books)
}

// run calls until ctx ends. The call on its way is not cut off.
func (c *client) run(ctx context.Context, once func()) {
	next := time.Now()
	for ctx.Err() == nil {
		c.calls++
		once()
		next = next.Add(c.pause)
		if wait := time.Until(next); wait > 0 {
			pause(ctx, wait)
		} else {
			next = time.Now() // what is late is not made up for
		}
	}
}

// once makes one call, or a few that belong together.
func (c *client) once() {
	cluster := clusterNames[c.random.IntN(len(clusterNames))]
	switch n := c.random.IntN(1000); {
	case n < 280:
		c.decide(cluster, false)
	case n < 400:
		c.decide(cluster, true)
	case n < 560:
		c.extend(cluster, "filter")
	case n < 680:
		c.extend(cluster, "prioritize")
	case n < 760:
		c.place(cluster)
	case n < 840:
		c.bind()
	case n < 870:
		c.changeNode(cluster)
	case n < 890:
		c.changeNewest(cluster)
	case n < 905:
		c.remove()
	case n < 907:
		c.reset(cluster)
	case n < 920:
		c.applyAgain()
	case n < 950:
		c.readNewest(cluster)
	case n < 970:
		c.readDecision()
	case n < 990:
		c.replayDecision()
	default:
		c.readOther(cluster)
	}
}

// name is a pod's name that no other caller uses.
func (c *client) name() string { return fmt.Sprintf("p-%d-%d", c.n, c.calls) }

// result is an answer as far as there was one.
type result struct {
	replica string
	status  int // 0: none
	body    []byte
	head    http.Header
	phase   string
	began   time.Time
}

// ask makes a call to a replica chosen at random and files how it ended.
func (c *client) ask(class, method, path string, body any) result {
	first := c.random.IntN(len(c.w.place.replicas))
	res := c.askAt(first, class, method, path, body)
	if c.retries && (res.status == 0 || res.status == http.StatusServiceUnavailable) {
		res = c.askAt((first+1)%len(c.w.place.replicas), class, method, path, body)
		if res.status == 0 || res.status == http.StatusServiceUnavailable {
			c.wrong("%s %s failed at one replica and at another: %d", method, path, res.status)
		}
	}
	return res
}

func (c *client) askAt(i int, class, method, path string, body any) result {
	res := c.send(context.Background(), i, class, method, path, "", body)
	switch res.status {
	case 0, http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusConflict:
	case http.StatusOK, http.StatusCreated, http.StatusNotFound, http.StatusNoContent:
	default:
		c.wrong("%s %s at %s: status %d: %s", method, path, res.replica, res.status, res.body)
	}
	return res
}

// send makes a call, and has the meter count it.
func (c *client) send(ctx context.Context, i int, class, method, path, key string, body any) result {
	r := c.w.place.replicas[i]
	res := result{replica: r.name, began: time.Now()}
	phase := c.w.meter.begin()
	if at := r.address(); at != "" { // else it is down: as good as a connection refused
		status, out, head, err := sendKeyed(ctx, c.http, at, method, path, key, body)
		if err == nil {
			res.status, res.body, res.head = status, out, head
		}
	}
	end := endRefused
	switch res.status {
	case 0:
		end = endBroken
	case http.StatusConflict:
		end = endLost
	case http.StatusOK, http.StatusCreated, http.StatusNotFound, http.StatusNoContent:
		end = endOK
	}
	res.phase = c.w.meter.end(phase, class, end, i, res.began)
	return res
}

func (c *client) wrong(format string, args ...any) {
	c.book.wrong = append(c.book.wrong, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}
