package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/store"
)

const (
	// perCaller and inAll bound the calls that wait for events.
	perCaller, inAll = 16, 512
	// bookmarkEvery is how often a stream without events names its place.
	bookmarkEvery = 15 * time.Second
	// mostWait bounds a call that waits for its answer, and defaultWait is how long it does so.
	mostWait, defaultWait = time.Minute, 30 * time.Second
	// mostListed bounds a list.
	mostListed = 500
	// writeWithin is how long a reader may take for what is sent to it. One that is slower is cut
	// off, and goes on from the last id that it has.
	writeWithin = 10 * time.Second
	// again is after how long a client is to connect again.
	again = 2 * time.Second
)

// API answers the calls about events. It is safe for concurrent use.
type API struct {
	*admit.Admission
	log   admit.EventLog
	views Views
	pulse pulse

	mu       sync.Mutex
	open     map[exchange.Caller]int
	all      int
	draining chan struct{}
	once     sync.Once

	bookmarks, writeWithin time.Duration
}

// New makes the API of events over a log; nil: there are none.
func New(a *admit.Admission, log admit.EventLog, views Views) *API {
	return &API{
		Admission: a, log: log, views: views, pulse: pulse{log: log},
		open: map[exchange.Caller]int{}, draining: make(chan struct{}), bookmarks: bookmarkEvery, writeWithin: writeWithin,
	}
}

// Endpoints bound themselves: a stream holds no place of other calls.
func (a *API) Endpoints() []admit.Endpoint {
	return []admit.Endpoint{
		admit.Routed("GET /v1/clusters/{cluster}/events", access.View, exchange.SomeNamespaces, nil, a.listEvents, "after", "wait", "limit"),
	}
}

// Drain ends all streams with their places.
func (a *API) Drain() { a.once.Do(func() { close(a.draining) }) }

// EventList is some events.
type EventList struct {
	// Items are in the order in which they happened.
	Items []Event `json:"items"`
	// Next is the id to go on behind, also where there are no items.
	Next string `json:"next"`
} // @name EventList

// listEvents tells what happens in a cluster.
//
//	@Summary		What happens in a cluster, as it happens
//	@Description	A stream of server-sent events with Accept: text/event-stream, else a list of what has happened after an id, for which the call waits. Events are those of the store, in the order of its commits: every server has the same, and none is left out or comes twice. An id whose events are not stored any more is 410, with the newest id.
//	@Tags			clusters
//	@Produce		json,text/event-stream
//	@Param			cluster			path	string	true	"the cluster"
//	@Param			after			query	string	false	"the id of an event: what came later; 0: all that is left; if absent, what comes from now on"
//	@Param			wait			query	string	false	"how long to wait for the first event, up to 60s; 30s if absent. For a list"
//	@Param			limit			query	int		false	"events of a list, 500 at most and if absent"
//	@Param			Last-Event-ID	header	string	false	"after, as browsers send it; it wins over after"
//	@Success		200	{object}	EventList
//	@Failure		400,401,403,404,410,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/events [get]
func (a *API) listEvents(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	if err := admit.MayIn(r.Context(), name); err != nil {
		return err
	}
	done, err := a.enter(r)
	if err != nil {
		return err
	}
	defer done()
	from, err := a.begin(r, name)
	if err != nil {
		return err
	}
	c := &call{a: a, w: w, r: r, cluster: name, in: &reader{log: a.log, views: a.views, cluster: name, at: from}}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return c.stream()
	}
	return c.list()
}

// enter counts a call that waits for events.
func (a *API) enter(r *http.Request) (done func(), err error) {
	by := exchange.CallerOf(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all >= inAll || a.open[by] >= perCaller {
		return nil, &exchange.Error{
			Status: http.StatusTooManyRequests, Kind: "overload", Limit: "event-streams", RetryAfter: int(again / time.Second),
			Detail: fmt.Sprintf("there are %d calls for events, %d of them of this caller; want at most %d, and %d of a caller", a.all, a.open[by], inAll, perCaller),
		}
	}
	a.all++
	a.open[by]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.all--; a.open[by] == 1 {
			delete(a.open, by)
		} else {
			a.open[by]--
		}
	}, nil
}

// newest returns the end of a cluster's chain.
func (a *API) newest(ctx context.Context, cluster string) (store.SealHead, error) {
	heads, err := a.log.SealHeads(ctx, cluster)
	if err != nil {
		return store.SealHead{}, fmt.Errorf("read the newest event: %w", err)
	}
	if len(heads) == 0 || heads[0].Number == 0 {
		return store.SealHead{}, exchange.NotFound("there is no cluster " + cluster)
	}
	return heads[0], nil
}

// begin returns the place that a call goes on from.
func (a *API) begin(r *http.Request, cluster string) (place, error) {
	if a.log == nil {
		return place{}, exchange.NotFound("this server keeps no events")
	}
	head, err := a.newest(r.Context(), cluster)
	if err != nil {
		return place{}, err
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	if after == "" {
		return behind(head.Number, head.Hash), nil
	}
	return parsePlace(after)
}

// call is a call for events under way.
type call struct {
	a       *API
	w       http.ResponseWriter
	r       *http.Request
	cluster string
	in      *reader
}

// page reads the next events that the caller may see, in the turn of a call that reads.
func (c *call) page(ctx context.Context) (list []Event, more bool, err error) {
	on, end, err := c.a.Admit(c.w, c.r.WithContext(ctx), c.a.ReadCalls, "")
	if err != nil {
		return nil, false, err
	}
	defer func() {
		end()
		// The deadlines are those of a call that reads: this one goes on, and net/http ends a call
		// whose connection cannot be read.
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	}()
	from := c.in.at
	if list, more, err = c.in.next(on.Context()); err == nil {
		list, err = c.in.worthATry(on.Context(), list)
	}
	if err != nil {
		c.in.at = from // what was read behind it is not sent
	}
	if errors.Is(err, errGone) {
		head, headErr := c.a.newest(on.Context(), c.cluster)
		if headErr != nil {
			return nil, false, headErr
		}
		err = gone(head)
	}
	if !admit.Sees(c.r.Context(), c.cluster, "") {
		seen := list[:0]
		for _, e := range list {
			if e.shownTo(func(namespace string) bool { return admit.Sees(c.r.Context(), c.cluster, namespace) }) {
				seen = append(seen, e)
			}
		}
		list = seen
	}
	return list, more, err
}

// bounds reads how long a list is waited for, and how long it may be.
func (c *call) bounds() (wait time.Duration, limit int, err error) {
	wait, limit = defaultWait, mostListed
	q := c.r.URL.Query()
	if text := q.Get("wait"); text != "" {
		if wait, err = time.ParseDuration(text); err != nil || wait < 0 || wait > mostWait {
			return 0, 0, exchange.BadField(http.StatusBadRequest, "wait", "want a duration from 0s to 60s, such as 30s")
		}
	}
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostListed {
			return 0, 0, exchange.BadField(http.StatusBadRequest, "limit", fmt.Sprintf("want a number from 1 to %d", mostListed))
		}
	}
	return wait, limit, nil
}

// list answers with what has happened, or waits for it.
func (c *call) list() error {
	wait, limit, err := c.bounds()
	if err != nil {
		return err
	}
	rc := http.NewResponseController(c.w)
	ctx, cancel := context.WithTimeout(c.r.Context(), wait)
	defer cancel()
	stop := c.untilDrained(cancel)
	defer stop()
	out := EventList{Items: []Event{}}
	for {
		page, more, err := c.page(c.r.Context())
		if err != nil {
			return err
		}
		out.Items = append(out.Items, page...)
		if len(out.Items) >= limit || len(out.Items) > 0 && !more || ctx.Err() != nil {
			break
		}
		if !more {
			if err := rc.SetWriteDeadline(time.Now().Add(mostWait + writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
				return exchange.Internal(err)
			}
			c.a.pulse.wait(ctx, c.cluster, c.in.at.seal)
		}
	}
	if err := rc.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return exchange.Internal(err)
	}
	out.Next = c.in.at.String()
	if len(out.Items) > limit {
		out.Items = out.Items[:limit]
		out.Next = out.Items[limit-1].ID
	}
	return exchange.WriteLong(c.w, c.r, out)
}

// untilDrained calls f when the server ends.
func (c *call) untilDrained(f func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-c.a.draining:
			f()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// stream sends events until the caller goes, is too slow, or the server ends.
func (c *call) stream() error {
	page, more, err := c.page(c.r.Context())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	stop := c.untilDrained(cancel)
	defer stop()
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	_ = c.send(fmt.Appendf(nil, "retry: %d\n\n", again.Milliseconds()))
	sent := time.Time{} // of the last bookmark or event
	for {
		for i := range page {
			if c.write(&page[i]) != nil {
				return nil //nolint:nilerr // it is cut off, and goes on from the last id that it has
			}
			sent = time.Now()
		}
		if ctx.Err() != nil || time.Since(sent) >= c.a.bookmarks {
			if c.bookmark() != nil || ctx.Err() != nil {
				return nil
			}
			sent = time.Now()
		}
		if !more {
			waiting, done := context.WithDeadline(ctx, sent.Add(c.a.bookmarks))
			c.a.pulse.wait(waiting, c.cluster, c.in.at.seal)
			done()
		}
		if ctx.Err() != nil {
			page = nil
			continue
		}
		if page, more, err = c.page(ctx); err != nil {
			_ = c.bookmark()
			return nil
		}
	}
}

// bookmark sends the place that the stream has reached.
func (c *call) bookmark() error {
	e := Event{ID: c.in.at.String(), Event: ofBookmark, Data: Data{Cluster: c.cluster}}
	return c.write(&e)
}

// write sends an event.
func (c *call) write(e *Event) error {
	data, err := json.Marshal(&e.Data)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return c.send(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", e.ID, e.Event, data))
}

func (c *call) send(b []byte) error {
	rc := http.NewResponseController(c.w)
	if err := rc.SetWriteDeadline(time.Now().Add(c.a.writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("send events: %w", err)
	}
	if _, err := c.w.Write(b); err != nil {
		return fmt.Errorf("send events: %w", err)
	}
	if err := rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("send events: %w", err)
	}
	return nil
}
