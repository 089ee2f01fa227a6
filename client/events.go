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
			err := c.Stream(ctx, cluster, after, func(id, event string, data json.RawMessage) error {
				if after = id; event == bookmark {
					return nil
				}
				e := Event{ID: id, Event: event}
				if err := json.Unmarshal(data, &e.Data); err != nil {
					return fmt.Errorf("read event %s: %w", id, err)
				}
				if !yield(e, nil) {
					return errEnough
				}
				return nil
			})
			if errors.Is(err, errEnough) {
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

// errEnough is that the caller has enough of a stream.
var errEnough = errors.New("enough")

// bookmark is the kind of an event of nothing but its id.
const bookmark = "bookmark"

// open gets an answer that need not end by itself, once. A status other than 2xx is an *Error.
func (c *Client) open(ctx context.Context, header http.Header, path ...string) (io.ReadCloser, error) {
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

// Stream reads one stream of the events behind the id after, from now on if that is empty, and calls
// each with every event as it came, of the kind bookmark too, until that returns an error. It never
// returns nil: a stream that ends is an error, and so is one that is silent for a minute.
func (c *Client) Stream(
	ctx context.Context, cluster, after string, each func(id, event string, data json.RawMessage) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}}
	if after != "" {
		header.Set("Last-Event-ID", after)
	}
	body, err := c.open(ctx, header, "v1", "clusters", cluster, "events")
	if err != nil {
		return fmt.Errorf("follow events: %w", err)
	}
	defer func() { _ = body.Close() }()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	var id, event, data string
	for lines := bufio.NewScanner(body); lines.Scan(); {
		dead.Reset(silence)
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data = value
		case "": // it is whole
			if id == "" {
				continue
			}
			dead.Stop() // the time is the caller's
			if err := each(id, event, json.RawMessage(data)); err != nil {
				return err
			}
			dead.Reset(silence)
			id, event, data = "", "", ""
		}
	}
	return errors.New("the stream ended")
}
