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
	holds      []held
	events     map[string][]event // by cluster, as a fresh server lists them
}

// record is a row of the decision log.
type record struct {
	ID, Cluster, Verb, Outcome, Node, Pod, Digest, SnapshotDigest string
	Revision, Bound, Feasible                                     int64
	Purpose, Placement                                            string
	Seq                                                           int64
}

// chainRow is a row of a cluster's chain.
type chainRow struct {
	Number        int64
	Token, Parent string
	Digest, Cause string
	whole         bool              // it replaced the state
	puts          []string          // objects that it put there, kind/name; nodes also mark/…
	deletes       []string          // kind/name
	binds         map[string]string // pods that were not bound before, with their nodes
	nodes         map[string]string // of the pods among puts that have one
	pods          map[string]podPut // those among puts and binds
}

// podPut is what the books need of a pod that a revision has: whose it is, and its part of the one
// room that is short.
type podPut struct {
	uid   string
	slots int
}

func readBooks(ctx context.Context, url string) (*books, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	b := &books{revisions: map[string][]chainRow{}}
	rows, err := conn.Query(ctx, `SELECT id, cluster, verb, outcome, node, pod, 'sha256:' || encode(answer_digest, 'hex'), 'sha256:' || encode(snapshot_digest, 'hex'),
		revision, bound_revision, nodes_feasible, coalesce(purpose, ''), coalesce(placement, ''), seq FROM decisions`)
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
			Name, UID string
			Labels    map[string]string
		}
		Spec struct {
			NodeName   string
			Containers []struct {
				Resources struct{ Requests map[string]string }
			}
		}
	}
	var c struct {
		Apply  []named
		Delete []named
		Bind   *struct{ Name, Node string }
	}
	if err := json.Unmarshal(js, &c); err != nil {
		return errors.Join(errors.New("a change that is not JSON"), err)
	}
	r.binds, r.nodes, r.pods = map[string]string{}, map[string]string{}, map[string]podPut{}
	for _, o := range c.Apply {
		name := o.Metadata.Name
		if o.Kind == "Pod" {
			put := podPut{uid: o.Metadata.UID}
			for _, each := range o.Spec.Containers {
				if each.Resources.Requests[slot] != "" {
					put.slots++
				}
			}
			r.pods[name] = put
			if r.Cause == "bind" && o.Spec.NodeName != "" { // it was not there before
				r.binds[name] = o.Spec.NodeName
				continue
			}
			if o.Spec.NodeName != "" {
				r.nodes[name] = o.Spec.NodeName
			}
		}
		r.puts = append(r.puts, o.Kind+"/"+name)
		if m := o.Metadata.Labels["mark"]; m != "" {
			r.puts = append(r.puts, "mark/"+m)
		}
	}
	for _, o := range c.Delete {
		r.deletes = append(r.deletes, o.Kind+"/"+o.Name)
	}
	if c.Bind != nil {
		r.binds[c.Bind.Name] = c.Bind.Node
	}
	return nil
}
