package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// client speaks berth's REST API.
type client struct {
	base string
	http *http.Client
}

// decision is what the run reads of an answer.
type decision struct {
	ID        string `json:"id"`
	Outcome   string `json:"outcome"`
	Node      string `json:"node"`
	Nominated string `json:"nominatedNode"`
	Message   string `json:"message"`
	Failures  []struct {
		Plugin string `json:"plugin"`
		Reason string `json:"reason"`
		Nodes  int    `json:"nodes"`
	} `json:"failures"`
	Preemption struct {
		Victims []struct {
			Name string `json:"name"`
		} `json:"victims"`
	} `json:"preemption"`
}

// call sends a JSON body (nil for none) and decodes the answer. Any status but
// the wanted ones is an error that carries the server's own words.
func (c *client) call(ctx context.Context, method, path string, body, out any, want ...int) error {
	status, raw, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	for _, w := range want {
		if status == w {
			return decode(method, path, raw, out)
		}
	}
	return fmt.Errorf("%s %s: status %d: %s", method, path, status, strings.TrimSpace(string(raw)))
}

func decode(method, path string, raw []byte, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s %s: decode answer: %w", method, path, err)
	}
	return nil
}

func (c *client) send(ctx context.Context, method, path string, body any) (status int, raw []byte, err error) {
	var in io.Reader
	if body != nil {
		js, err := json.Marshal(body)
		if err != nil {
			return 0, nil, fmt.Errorf("encode request: %w", err)
		}
		in = bytes.NewReader(js)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, in)
	if err != nil {
		return 0, nil, fmt.Errorf("make request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer res.Body.Close()
	if raw, err = io.ReadAll(res.Body); err != nil {
		return 0, nil, fmt.Errorf("%s %s: read answer: %w", method, path, err)
	}
	return res.StatusCode, raw, nil
}

func (c *client) upload(ctx context.Context, cluster string, machines []machine) (string, error) {
	items := make([]object, 0, len(machines)+1)
	items = append(items, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "openb"}})
	for _, m := range machines {
		items = append(items, m.node())
	}
	var out struct {
		ID string `json:"id"`
	}
	err := c.call(ctx, http.MethodPost, "/v1/snapshots?cluster="+url.QueryEscape(cluster),
		object{"apiVersion": "v1", "kind": "List", "items": items}, &out, http.StatusCreated, http.StatusOK)
	return out.ID, err
}

// decide asks where a pod goes and binds it there. It returns the answer, and its
// bytes.
func (c *client) decide(ctx context.Context, question object) (*decision, []byte, error) {
	var raw json.RawMessage
	if err := c.call(ctx, http.MethodPost, "/v1/decisions", question, &raw, http.StatusCreated); err != nil {
		return nil, nil, err
	}
	var d decision
	return &d, raw, decode(http.MethodPost, "/v1/decisions", raw, &d)
}

func (c *client) remove(ctx context.Context, cluster string, names []string) error {
	gone := make([]object, 0, len(names))
	for _, n := range names {
		gone = append(gone, object{"kind": "Pod", "namespace": "openb", "name": n})
	}
	return c.call(ctx, http.MethodPost, "/v1/snapshots/"+cluster+"@latest/changes", object{"delete": gone}, nil, http.StatusCreated)
}

// batch is a batch replay at the server.
type batch struct {
	ID, State                                 string
	Total, Done, Identical, Different, Errors int64
}

// startReplay has every decision since a time answered again, under a release where one is named.
func (c *client) startReplay(ctx context.Context, cluster string, since time.Time, release string) (*batch, error) {
	var b batch
	question := object{"cluster": cluster, "since": since.UTC().Format(time.RFC3339Nano), "semantics": release}
	err := c.call(ctx, http.MethodPost, "/v1/replays", question, &b, http.StatusCreated)
	return &b, err
}

// replay returns how far a batch replay is.
func (c *client) replay(ctx context.Context, id string) (*batch, error) {
	var b batch
	err := c.call(ctx, http.MethodGet, "/v1/replays/"+id, nil, &b, http.StatusOK)
	return &b, err
}
