//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"berth/internal/revision"
)

// books are what is stored, read by SQL and not by the server.
type books struct {
	records   []record
	revisions map[string][]chainRow // by cluster, ascending

	placements []placement
	attempts   []tried
	evictions  int64
}

// record is a row of the decision log.
type record struct {
	ID, Cluster, Verb, Outcome, Node, Pod, Digest, SnapshotDigest string
	Revision, Bound, Feasible                                     int64
	Purpose                                                       string
}

// chainRow is a row of a cluster's chain.
type chainRow struct {
	Number              int64
	Token, Parent       string
	Digest, Cause       string
	whole               bool     // it replaced the state
	puts                []string // objects that it put there, kind/name; nodes also mark/…
	deletes             []string // kind/name
	boundPod, boundNode string
	nodes               map[string]string // of the pods among puts that have one
}

func readBooks(ctx context.Context, url string) (*books, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	b := &books{revisions: map[string][]chainRow{}}
	rows, err := conn.Query(ctx, `SELECT id, cluster, verb, outcome, node, pod, 'sha256:' || encode(answer_digest, 'hex'), 'sha256:' || encode(snapshot_digest, 'hex'),
		revision, bound_revision, nodes_feasible, coalesce(purpose, '') FROM decisions`)
	if err != nil {
		return nil, err
	}
	if b.records, err = pgx.CollectRows(rows, pgx.RowToStructByPos[record]); err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	if err := b.readTables(ctx, conn); err != nil {
		return nil, err
	}
	rows, err = conn.Query(ctx, `SELECT cluster, number, token, parent_token, digest, cause, change FROM revisions ORDER BY cluster, number`)
	if err != nil {
		return nil, err
	}
	var name string
	var r chainRow
	var change []byte
	_, err = pgx.ForEachRow(rows, []any{&name, &r.Number, &r.Token, &r.Parent, &r.Digest, &r.Cause, &change}, func() error {
		next := r
		if err := next.read(change); err != nil {
			return fmt.Errorf("%s: %w", idOf(name, r.Number), err)
		}
		b.revisions[name] = append(b.revisions[name], next)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read revisions: %w", err)
	}
	return b, nil
}

// read takes a stored change apart.
func (r *chainRow) read(payload []byte) error {
	if payload == nil {
		r.whole = true
		return nil
	}
	js, err := revision.Unpack(payload)
	if err != nil {
		return err
	}
	type named struct {
		Kind     string
		Name     string
		Metadata struct {
			Name   string
			Labels map[string]string
		}
		Spec struct{ NodeName string }
	}
	var c struct {
		Apply  []named
		Delete []named
		Bind   *struct{ Name, Node string }
	}
	if err := json.Unmarshal(js, &c); err != nil {
		return errors.Join(errors.New("a change that is not JSON"), err)
	}
	for _, o := range c.Apply {
		if r.Cause == "bind" && o.Kind == "Pod" && o.Spec.NodeName != "" { // it was not there before
			r.boundPod, r.boundNode = o.Metadata.Name, o.Spec.NodeName
			continue
		}
		r.puts = append(r.puts, o.Kind+"/"+o.Metadata.Name)
		if o.Kind == "Pod" && o.Spec.NodeName != "" {
			if r.nodes == nil {
				r.nodes = map[string]string{}
			}
			r.nodes[o.Metadata.Name] = o.Spec.NodeName
		}
		if m := o.Metadata.Labels["mark"]; m != "" {
			r.puts = append(r.puts, "mark/"+m)
		}
	}
	for _, o := range c.Delete {
		r.deletes = append(r.deletes, o.Kind+"/"+o.Name)
	}
	if c.Bind != nil {
		r.boundPod, r.boundNode = c.Bind.Name, c.Bind.Node
	}
	return nil
}
