package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"berth/internal/apiclient"
)

// Bounds of the random pause before a stream that broke is opened again.
const (
	leastPause = 250 * time.Millisecond
	mostPause  = 5 * time.Second
)

// event is a server-sent event.
type event struct {
	ID    string          `json:"id"`
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// Watch prints the events of a cluster, a line each, until ctx ends: those after an id, or from now
// on. A connection that breaks is opened again behind the last event, so that none is missed or
// comes twice.
func (c *Cluster) Watch(ctx context.Context, after string) error {
	opened := false
	for pause := leastPause; ; pause = min(2*pause, mostPause) {
		last, err := c.follow(ctx, after)
		if ctx.Err() != nil {
			return nil
		}
		var r *apiclient.RefusedError
		refused := errors.As(err, &r)
		var out *writeError
		switch {
		case errors.As(err, &out):
			return out.err
		case refused && r.Status == http.StatusGone:
			return &RefusalError{r.Error(), "What came in between is not kept any more: read the cluster's state, and watch from now on."}
		case refused && r.Status < 500 && r.Status != http.StatusTooManyRequests, !opened && after == last && err != nil && !refused:
			return c.problem(err)
		}
		if opened = opened || last != after; last != after {
			after, pause = last, leastPause
		}
		if c.Broken != nil {
			c.Broken(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// writeError is that what was read cannot be printed.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }

// follow prints the events of one connection, and returns the id of the last one.
func (c *Cluster) follow(ctx context.Context, after string) (last string, err error) {
	last = after
	err = c.Client.Stream(ctx, c.Name, after, func(id, kind string, data json.RawMessage) error {
		if kind != "bookmark" {
			if err := c.show(&event{id, kind, data}); err != nil {
				return &writeError{err}
			}
		}
		last = id
		return nil
	})
	return last, err
}

// show prints an event as one line.
func (c *Cluster) show(e *event) error {
	if c.JSON {
		raw, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "%s\n", raw)
		}
		return err
	}
	var d struct {
		Revision             int64
		CreatedAt            time.Time
		Cause, AskedBy       string
		Changes              int
		Outcome, Node        string
		Placement            string
		Placed, Failed       int
		Hint, Object, Plugin string
		Pods                 []json.RawMessage
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return fmt.Errorf("read event %s: %w", e.ID, err)
	}
	parts := []string{d.CreatedAt.UTC().Format(time.RFC3339), e.Event, fmt.Sprintf("%s@%d", c.Name, d.Revision)}
	if d.CreatedAt.IsZero() {
		parts = parts[1:]
	}
	add := func(format string, v any) {
		if text := fmt.Sprint(v); text != "" && text != "0" {
			parts = append(parts, fmt.Sprintf(format, text))
		}
	}
	for _, p := range d.Pods {
		add("%s", podName(p))
	}
	add("%s", d.Outcome)
	add("on %s", d.Node)
	add("%s", d.Cause)
	add("%s changed", d.Changes)
	add("placed %s", d.Placed)
	add("failed %s", d.Failed)
	add("by %s", d.Hint)
	add("of %s", d.Object)
	add("(%s)", d.AskedBy)
	_, err := fmt.Fprintln(c.Out, strings.Join(parts, " "))
	return err
}

// podName returns a pod of an event: namespace/name.
func podName(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var p struct{ Namespace, Name string }
	_ = json.Unmarshal(raw, &p)
	return p.Namespace + "/" + p.Name
}
