package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"berth/internal/store"
)

const (
	sqlEpochSeals = `SELECT cluster, number, kind, hash, previous, seq, after_revision, revision, items FROM seals
WHERE cluster = ANY ($1) AND kind <> 'rows' AND kind IN ('epoch', 'deletion') ORDER BY cluster, number`
	sqlNewestOf = `SELECT cluster, newest FROM clusters WHERE cluster = ANY ($1)`
	sqlSealsAt  = `SELECT s.cluster, s.hash FROM seals s
JOIN unnest($1::text[], $2::bigint[]) q (cluster, number) ON s.cluster = q.cluster AND s.number = q.number`
)

// turn is how a cluster's chain went on after what is remembered of it.
type turn struct {
	epoch   *store.Seal // with which it began the first epoch that this server had not met; nil: it did not
	deleted int64       // the seal of its newest deletion; 0: none
}

// at is what is stored at the places that are remembered, by cluster.
type at struct {
	seals  map[string][]byte // hashes
	tokens map[string]string // of the newest revision that is remembered
	newest map[string]int64  // revisions
}

// turns reads how the chains that are remembered went on.
func (x *examination) turns(ctx context.Context) (map[string]*turn, error) {
	rows, err := x.tx.Query(ctx, sqlEpochSeals, x.mem.clusters())
	if err != nil {
		return nil, err
	}
	turns := map[string]*turn{}
	err = each(rows, func() error {
		s := &store.Seal{}
		err := rows.Scan(&s.Cluster, &s.Number, &s.Kind, &s.Hash, &s.Previous, &s.Seq, &s.AfterRevision, &s.Revision, &s.Items)
		if err != nil {
			return err
		}
		t := turns[s.Cluster]
		if t == nil {
			t = &turn{}
			turns[s.Cluster] = t
		}
		if s.Kind == store.SealedDeletion {
			t.deleted = s.Number
			return nil
		}
		var items store.SealItems
		if err := json.Unmarshal(s.Items, &items); err != nil || items.Epoch == nil {
			return fmt.Errorf("seal %d of cluster %s cannot be read: %w", s.Number, s.Cluster, err)
		}
		if t.epoch == nil && items.Epoch.Number > x.have.epoch {
			t.epoch = s
		}
		return nil
	})
	return turns, err
}

// stored reads what is stored at the places that are remembered.
func (x *examination) stored(ctx context.Context) (*at, error) {
	a := &at{seals: map[string][]byte{}, tokens: map[string]string{}, newest: map[string]int64{}}
	var sealed, made []string
	var seals, revisions []int64
	for _, cluster := range x.mem.clusters() {
		if m, ok := x.mem.of[cluster]; ok {
			sealed, seals = append(sealed, cluster), append(seals, m.seal)
		}
		if _, n := x.mem.last(cluster); n > 0 {
			made, revisions = append(made, cluster), append(revisions, n)
		}
	}
	var cluster, token string
	var hash []byte
	var number int64
	p := &pgx.Batch{}
	p.Queue(sqlSealsAt, sealed, seals).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&cluster, &hash}, func() error {
			a.seals[cluster] = bytes.Clone(hash)
			return nil
		})
		return err
	})
	p.Queue(sqlTokens, made, revisions).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&cluster, &number, &token}, func() error {
			a.tokens[cluster] = token
			return nil
		})
		return err
	})
	p.Queue(sqlNewestOf, x.mem.clusters()).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&cluster, &number}, func() error {
			a.newest[cluster] = number
			return nil
		})
		return err
	})
	return a, x.tx.SendBatch(ctx, p).Close()
}

// whole reports whether the database has all ends that are remembered, without another epoch.
func (x *examination) whole(ctx context.Context) (bool, error) {
	if x.mem.empty() {
		return true, nil
	}
	turns, err := x.turns(ctx)
	if err != nil {
		return false, err
	}
	a, err := x.stored(ctx)
	if err != nil {
		return false, err
	}
	for _, cluster := range x.mem.clusters() {
		if _, _, lost := x.lost(cluster, turns[cluster], a); lost {
			return false, nil
		}
	}
	return true, nil
}

// lost reports whether the end that is remembered of a cluster is gone, or another one. Decisions
// of seals behind common may be missing, and the revisions from first on.
func (x *examination) lost(cluster string, t *turn, a *at) (common, first int64, lost bool) {
	m, own := x.mem.of[cluster]
	if t == nil {
		t = &turn{}
	}
	if t.deleted > 0 && (!own || t.deleted > m.seal) {
		return 0, 0, false // deleted since
	}
	if own {
		switch e := t.epoch; {
		case e != nil && m.seal >= e.Number:
			common, lost = e.Number-1, true
		case e != nil && m.seal == e.Number-1:
			lost = !bytes.Equal(m.hash, e.Previous)
		default:
			lost = !bytes.Equal(m.hash, a.seals[cluster])
		}
	}
	_, newest := x.mem.last(cluster)
	if newest == 0 {
		return common, 0, lost
	}
	token, stored := a.tokens[cluster]
	have := x.mem.token(cluster)
	switch e := t.epoch; {
	case e != nil && newest > e.AfterRevision:
		return common, e.AfterRevision + 1, true
	case stored && have != "" && token != have:
		return common, newest, true
	case !stored && a.newest[cluster] < newest:
		return common, a.newest[cluster] + 1, true
	}
	return common, 0, lost
}
