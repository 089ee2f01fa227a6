package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// Upload makes a dump the whole state of a cluster: a List of objects, or its JSON in bytes.
func (c *Client) Upload(ctx context.Context, cluster string, dump Object) (*Snapshot, error) {
	return call[Snapshot](ctx, c, http.MethodPost, url.Values{"cluster": {cluster}}, dump, "v1", "snapshots")
}

// Snapshot reads the head of a revision.
func (c *Client) Snapshot(ctx context.Context, snapshot string) (*Snapshot, error) {
	return call[Snapshot](ctx, c, http.MethodGet, nil, nil, "v1", "snapshots", snapshot)
}

// Change changes a snapshot. One that is pinned has to be the newest, or the status is 409.
func (c *Client) Change(ctx context.Context, snapshot string, r *ChangeRequest) (*Snapshot, error) {
	return call[Snapshot](ctx, c, http.MethodPost, nil, r, "v1", "snapshots", snapshot, "changes")
}

// Decide decides about one pod.
func (c *Client) Decide(ctx context.Context, r *DecisionRequest) (*Decision, error) {
	return call[Decision](ctx, c, http.MethodPost, nil, r, "v1", "decisions")
}

// Decision reads a decision from the log, computed again from what is recorded.
func (c *Client) Decision(ctx context.Context, id string) (*Decision, error) {
	return call[Decision](ctx, c, http.MethodGet, nil, nil, "v1", "decisions", id)
}

// Decisions yields the log's records, newest first. The query filters as GET /v1/decisions does:
// cluster, namespace, pod, node, outcome, verb, placement, since and until.
func (c *Client) Decisions(ctx context.Context, query url.Values) iter.Seq2[DecisionRow, error] {
	return pages[DecisionRow](ctx, c, query, "v1", "decisions")
}

// Place places many pods.
func (c *Client) Place(ctx context.Context, r *PlacementRequest) (*Placement, error) {
	return call[Placement](ctx, c, http.MethodPost, nil, r, "v1", "placements")
}

// Holds yields the holds of a cluster, newest first.
func (c *Client) Holds(ctx context.Context, cluster string) iter.Seq2[Hold, error] {
	return pages[Hold](ctx, c, url.Values{"cluster": {cluster}}, "v1", "holds")
}

// Hold reads a hold with its pods.
func (c *Client) Hold(ctx context.Context, id string) (*Hold, error) {
	return call[Hold](ctx, c, http.MethodGet, nil, nil, "v1", "holds", id)
}

// Commit makes the pods of a hold stay. A hold that has ended otherwise is 409, with Conflict.State.
func (c *Client) Commit(ctx context.Context, hold string) (*Hold, error) {
	return call[Hold](ctx, c, http.MethodPost, nil, nil, "v1", "holds", hold, "commit")
}

// Release takes the pods of a hold away. A hold that was committed is 409.
func (c *Client) Release(ctx context.Context, hold string) (*Hold, error) {
	return call[Hold](ctx, c, http.MethodPost, nil, nil, "v1", "holds", hold, "release")
}

// Queue reads what waits in a cluster, a page at a time; an empty cursor begins.
func (c *Client) Queue(ctx context.Context, cluster, cursor string) (*Queue, error) {
	query := url.Values{}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return call[Queue](ctx, c, http.MethodGet, query, nil, "v1", "clusters", cluster, "queue")
}

// Audit checks the log of a cluster from its beginning.
func (c *Client) Audit(ctx context.Context, cluster string) (*AuditReport, error) {
	return call[AuditReport](ctx, c, http.MethodGet, nil, nil, "v1", "clusters", cluster, "audit")
}

// CreatePriorityClass stores a class beside a cluster's snapshots.
func (c *Client) CreatePriorityClass(ctx context.Context, cluster string, class *PriorityClass) (*PriorityClass, error) {
	return call[PriorityClass](ctx, c, http.MethodPost, url.Values{"cluster": {cluster}}, class, "v1", "priorityclasses")
}

// PriorityClasses yields the classes of a cluster.
func (c *Client) PriorityClasses(ctx context.Context, cluster string) iter.Seq2[PriorityClass, error] {
	return pages[PriorityClass](ctx, c, url.Values{"cluster": {cluster}}, "v1", "priorityclasses")
}

// call decodes an answer of type T.
func call[T any](ctx context.Context, c *Client, method string, query url.Values, body any, path ...string) (*T, error) {
	out := new(T)
	if err := c.Call(ctx, method, query, body, out, path...); err != nil {
		return nil, err
	}
	return out, nil
}

// pages yields the items of a list that comes in pages.
func pages[T any](ctx context.Context, c *Client, query url.Values, path ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		of := url.Values{}
		for name, values := range query {
			of[name] = values
		}
		for {
			var page struct {
				Items  []T    `json:"items"`
				Cursor string `json:"cursor"`
			}
			if err := c.Call(ctx, http.MethodGet, of, nil, &page, path...); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Cursor == "" {
				return
			}
			of.Set("cursor", page.Cursor)
		}
	}
}
