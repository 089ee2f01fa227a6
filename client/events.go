package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// Event is something that happened in a cluster.
type Event struct {
	// ID is opaque; those of later events are greater texts.
	ID string `json:"id"`
	// Event is revision, decision, placement or wake. There may be others in later releases.
	Event string    `json:"event"`
	Data  EventData `json:"data"`
}

// EventData is what an event is about.
type EventData struct {
	Cluster       string    `json:"cluster"`
	Revision      int64     `json:"revision"`
	CreatedAt     time.Time `json:"createdAt"`
	Cause         string    `json:"cause"`
	AskedBy       string    `json:"askedBy"`
	Changes       int       `json:"changes"`
	Decision      string    `json:"decision"`
	Verb          string    `json:"verb"`
	Outcome       string    `json:"outcome"`
	Node          string    `json:"node"`
	BoundRevision int64     `json:"boundRevision"`
	Placement     string    `json:"placement"`
	Placed        int       `json:"placed"`
	Failed        int       `json:"failed"`
	Plugin        string    `json:"plugin"`
	Hint          string    `json:"hint"`
	Object        string    `json:"object"`
	Pods          []PodName `json:"pods"`
}

// Events yields what happens in a cluster behind the event of the id after, or all that is left
// with "0", in the order of the store's commits and each once. A stream that breaks goes on behind
// the last event, on any server. It ends with the context, or with an error that is not passing,
// such as 410, whose Error has the Newest id.
func (c *Client) Events(ctx context.Context, cluster, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for failed := 0; ; failed++ {
			before := after
			stopped, err := c.stream(ctx, cluster, &after, func(e Event) bool { return yield(e, nil) })
			if stopped {
				return
			}
			if after != before {
				failed = 0
			}
			var refused *Error
			wait := min(firstWait<<min(failed, 10), mostWait)
			if errors.As(err, &refused) {
				if !refused.passing() {
					yield(Event{}, err)
					return
				}
				wait = max(wait, refused.RetryAfter)
			}
			if err := pause(ctx, wait); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// Open gets an answer that need not end by itself, once. The caller closes it. A status other than
// 2xx is an *Error.
func (c *Client) Open(ctx context.Context, header http.Header, path ...string) (io.ReadCloser, error) {
	req, err := c.request(ctx, http.MethodGet, nil, nil, path)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp.Body, nil
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return nil, refusal(resp, answer)
}

// silence is how long a stream may be without an event: the server sends a bookmark every 15 s.
const silence = time.Minute

// stream reads one stream, and moves after behind each event. stopped: the caller has enough.
func (c *Client) stream(ctx context.Context, cluster string, after *string, yield func(Event) bool) (stopped bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}}
	if *after != "" {
		header.Set("Last-Event-ID", *after)
	}
	body, err := c.Open(ctx, header, "v1", "clusters", cluster, "events")
	if err != nil {
		return false, fmt.Errorf("follow events: %w", err)
	}
	defer func() { _ = body.Close() }()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	var e Event
	var data string
	for lines := bufio.NewScanner(body); lines.Scan(); {
		dead.Reset(silence)
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "id":
			e.ID = value
		case "event":
			e.Event = value
		case "data":
			data = value
		case "": // it is whole
			if e.ID == "" {
				continue
			}
			*after = e.ID
			if e.Event != "bookmark" {
				if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
					return false, fmt.Errorf("read event %s: %w", e.ID, err)
				}
				dead.Stop() // the time is the caller's
				if !yield(e) {
					return true, nil
				}
				dead.Reset(silence)
			}
			e, data = Event{}, ""
		}
	}
	return false, errors.New("the stream ended")
}
