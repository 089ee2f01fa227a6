// Package ledger has the commands that write into a cluster that berth keeps itself, in the manner
// of kubectl: apply, patch, delete, bind, fork, and watch, which shows what comes of it.
package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"berth/internal/apiclient"
)

// RefusalError is an error for people: what is wrong, and what to do next.
type RefusalError struct{ What, Next string }

// Error returns what is wrong.
func (r *RefusalError) Error() string { return r.What }

// Cluster is a cluster of a server, and where the answers go.
type Cluster struct {
	Client *apiclient.Client
	// Name is the cluster's, and Namespace that of objects without one.
	Name, Namespace string
	// Key is the Idempotency-Key of the write; empty: a new one is made.
	Key string
	// JSON has answers printed as the API gives them.
	JSON bool
	In   io.Reader
	Out  io.Writer
	// Broken is called when a stream of events ends by itself, with the reason.
	Broken func(error)
}

// problem words an error of a call.
func (c *Cluster) problem(err error) error {
	var r *apiclient.RefusedError
	var none *url.Error
	switch {
	case errors.As(err, &r) && r.Status == http.StatusConflict && strings.Contains(r.Detail, "followed through its apiserver"):
		return &RefusalError{
			fmt.Sprintf("cluster %s is followed: its apiserver has the say, and what berth wrote would be gone with its next event", c.Name),
			"Write there: kubectl apply, patch, delete. What it holds now can be copied: berth snapshot fork NAME --from " + c.Name + "@latest",
		}
	case errors.As(err, &r) && r.Status == http.StatusNotFound && strings.Contains(r.Detail, "has no snapshot"):
		return &RefusalError{fmt.Sprintf("there is no cluster %s", c.Name), fmt.Sprintf("A cluster begins with an upload: curl -X POST %s --data-binary @cluster.json", c.Client.Base.JoinPath("v1", "snapshots").String()+"?cluster="+url.QueryEscape(c.Name))}
	case errors.As(err, &none):
		return &RefusalError{"ask " + c.Client.Base.String() + ": " + none.Err.Error(), "Is berth there? curl " + c.Client.Base.JoinPath("readyz").String()}
	}
	return err
}

// write sends a body under the key of the command, so that it takes effect once however often it
// is sent.
func (c *Cluster) write(ctx context.Context, body any, path ...string) (json.RawMessage, int, error) {
	raw, status, err := c.Client.Write(ctx, c.Key, body, path...)
	if err != nil {
		return nil, status, c.problem(err)
	}
	return raw, status, nil
}

// change makes the next revision; changed is false where nothing was to do.
func (c *Cluster) change(ctx context.Context, body any) (s *snapshot, changed bool, err error) {
	raw, status, err := c.write(ctx, body, "v1", "snapshots", c.Name+"@latest", "changes")
	if err != nil {
		return nil, false, err
	}
	s = &snapshot{raw: raw}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, false, fmt.Errorf("read the answer: %w", err)
	}
	return s, status == http.StatusCreated, nil
}

// snapshot is what of an answer about a revision is shown.
type snapshot struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
	Deleted  []Ref  `json:"deleted"`
	Ending   []Ref  `json:"ending"`
	NotFound []Ref  `json:"notFound"`

	raw json.RawMessage
}

// object reads an object of a revision; nil without one.
func (c *Cluster) object(ctx context.Context, id string, r Ref) (json.RawMessage, error) {
	query := url.Values{"kind": {r.Kind}, "name": {r.Name}}
	if r.Namespace != "" {
		query.Set("namespace", r.Namespace)
	}
	raw, _, err := c.Client.Call(ctx, http.MethodGet, query, nil, "v1", "snapshots", id, "objects")
	if err != nil {
		return nil, c.problem(err)
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return list.Items[0], nil
}

// became returns what a change made of an object, in kubectl's words, by the revision before and
// the one that it made.
func (c *Cluster) became(ctx context.Context, s *snapshot, changed bool, r Ref) (string, error) {
	if !changed {
		return "unchanged", nil
	}
	before, err := c.object(ctx, c.Name+"@"+strconv.FormatInt(s.Revision-1, 10), r)
	if err != nil {
		return "", err
	}
	after, err := c.object(ctx, s.ID, r)
	switch {
	case err != nil:
		return "", err
	case before == nil:
		return "created", nil
	case bytes.Equal(before, after):
		return "unchanged", nil
	}
	return "configured", nil
}

// say prints a line, or with JSON nothing: the answer stands for it.
func (c *Cluster) say(format string, args ...any) error {
	if c.JSON {
		return nil
	}
	_, err := fmt.Fprintf(c.Out, format+"\n", args...)
	return err
}

// answer prints the answer of the API as it is, where JSON is wanted.
func (c *Cluster) answer(raw json.RawMessage) error {
	if !c.JSON {
		return nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	_, err := fmt.Fprintln(c.Out, out.String())
	return err
}

// Apply creates or updates the objects of a file, - for stdin. With dryRun nothing is sent but
// questions: it names what is there and what is not.
func (c *Cluster) Apply(ctx context.Context, file string, dryRun bool) error {
	list, err := c.read(file)
	if err != nil {
		return err
	}
	if dryRun {
		for _, o := range list {
			have, err := c.object(ctx, c.Name+"@latest", o.Ref)
			if err != nil {
				return err
			}
			word := "created"
			if have != nil {
				word = "configured"
			}
			if err := c.say("%s %s (dry run)", o.Ref, word); err != nil {
				return err
			}
		}
		return nil
	}
	raws := make([]json.RawMessage, len(list))
	for i := range list {
		raws[i] = list[i].json
	}
	s, changed, err := c.change(ctx, map[string]any{"apply": raws})
	if err != nil {
		return err
	}
	for _, o := range list {
		if c.JSON {
			break
		}
		word, err := c.became(ctx, s, changed, o.Ref)
		if err != nil {
			return err
		}
		if err := c.say("%s %s", o.Ref, word); err != nil {
			return err
		}
	}
	return c.answer(s.raw)
}

// Patch changes fields of an object.
func (c *Cluster) Patch(ctx context.Context, r Ref, kind string, patch json.RawMessage) error {
	s, changed, err := c.change(ctx, map[string]any{"patch": []any{map[string]any{
		"kind": r.Kind, "namespace": r.Namespace, "name": r.Name, "type": kind, "patch": patch,
	}}})
	if err != nil {
		return err
	}
	word := "patched"
	if !changed {
		word += " (no change)"
	}
	if err := c.say("%s %s", r, word); err != nil {
		return err
	}
	return c.answer(s.raw)
}

// Delete removes objects. One that is not there is an error, unless missing may be.
func (c *Cluster) Delete(ctx context.Context, list []Ref, grace *int64, missing bool) error {
	entries := make([]any, len(list))
	for i, r := range list {
		e := map[string]any{"kind": r.Kind, "namespace": r.Namespace, "name": r.Name}
		if grace != nil && r.Kind == "Pod" {
			e["gracePeriodSeconds"] = *grace
		}
		entries[i] = e
	}
	s, _, err := c.change(ctx, map[string]any{"delete": entries})
	if err != nil {
		return err
	}
	for _, part := range []struct {
		list []Ref
		word string
	}{{s.Deleted, "deleted"}, {s.Ending, "is ending"}} {
		for _, r := range part.list {
			if err := c.say("%s %s", r, part.word); err != nil {
				return err
			}
		}
	}
	if err := c.answer(s.raw); err != nil || len(s.NotFound) == 0 || missing {
		return err
	}
	var names []string
	for _, r := range s.NotFound {
		names = append(names, r.String())
	}
	return &RefusalError{"not found: " + strings.Join(names, ", "), "With --ignore-not-found that is no error."}
}

// Bind puts a pod on a node, as a Binding does, without a look at whether it fits.
func (c *Cluster) Bind(ctx context.Context, r Ref, node string) error {
	js, err := c.object(ctx, c.Name+"@latest", r)
	if err != nil {
		return err
	}
	if js == nil {
		return &RefusalError{fmt.Sprintf("cluster %s has no %s", c.Name, r), "Create it first: berth apply -f FILE. Or decide and bind in one call: berth place -f FILE"}
	}
	var pod struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(js, &pod) // it is the API's
	raw, _, err := c.write(ctx, map[string]any{
		"PodName": r.Name, "PodNamespace": r.Namespace, "PodUID": pod.Metadata.UID, "Node": node,
	}, "clusters", c.Name, "bind")
	if err != nil {
		return err
	}
	var out struct{ Error string }
	if err := json.Unmarshal(raw, &out); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if out.Error != "" { // which the protocol of extenders has in an answer of 200
		return &RefusalError{fmt.Sprintf("%s is not bound: %s", r, out.Error), ""}
	}
	if err := c.say("%s bound to %s", r, node); err != nil {
		return err
	}
	return c.answer(raw)
}

// Fork begins another cluster as a copy of a revision.
func (c *Cluster) Fork(ctx context.Context, copied, from string) error {
	raw, _, err := c.write(ctx, map[string]any{"from": from}, "v1", "clusters", copied, "fork")
	if err != nil {
		return err
	}
	var s snapshot
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if err := c.say("%s forked from %s", s.ID, from); err != nil {
		return err
	}
	return c.answer(raw)
}
