package sqlcommon

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"berth/internal/memory"
	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/seal"
)

// Backfill implements store.Backfill.
type Backfill struct {
	db DB
	d  *Dialect
}

// NewBackfill returns what fills in a database.
func NewBackfill(db DB, d *Dialect) Backfill { return Backfill{db, d} }

const (
	sqlFillable = `SELECT last_seq, seals FROM clusters WHERE cluster = $1`
	// Seals of added rows list no items that matter here, and may be many.
	sqlFillSeals = `SELECT kind, format, after_seq, seq, CASE WHEN kind = 'rows' THEN NULL ELSE items END
FROM seals WHERE cluster = $1 AND number <= $2
AND (format >= $3 AND seq > after_seq OR kind <> 'rows') ORDER BY number`
	sqlInputs = `SELECT d.id, d.input FROM decisions d
WHERE d.cluster = $1 AND d.id IN ({names 2}) AND d.input IS NOT NULL ORDER BY d.id`
	sqlFillDecision = `UPDATE decisions
SET purpose = coalesce(purpose, nullif($4, '')), attempt = coalesce(attempt, nullif($5, ''))
WHERE cluster = $1 AND created_at = $2 AND id = $3
AND (purpose IS NULL AND $4 <> '' OR attempt IS NULL AND $5 <> '')`
	sqlNewBeginnings = `SELECT count(*) FROM seals
WHERE cluster = $1 AND kind <> 'rows' AND kind = 'beginning' AND number > $2`
	// A decision with a purpose stands for the pod that it bound, as in the view.
	sqlUnchanged = `SELECT r.number, EXISTS (SELECT 1 FROM decisions b
  WHERE b.cluster = r.cluster AND b.bound_revision = r.number AND b.bound_revision > 0
  AND b.verb IN ('decide', 'bind') AND b.outcome = 'Scheduled' AND b.purpose IS NOT NULL)
FROM revisions r WHERE r.cluster = $1 AND r.number > $2 AND r.cause <> '` + store.CauseFork + `'
AND NOT EXISTS (SELECT 1 FROM revision_changes o WHERE o.cluster = r.cluster AND o.revision = r.number)
ORDER BY r.number LIMIT $3`
	sqlUnchangedOne = `SELECT count(*) FROM revisions r
WHERE r.cluster = $1 AND r.number = $2 AND r.token = $3
AND NOT EXISTS (SELECT 1 FROM revision_changes o WHERE o.cluster = r.cluster AND o.revision = r.number)`
	sqlPutObject = `INSERT INTO revision_changes (` + seal.ObjectColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`
	sqlFactsSeen = `SELECT pod_digest, seen_at FROM judged_pods
WHERE cluster = $1 AND pod_digest IN ({names 2})`
)

var (
	backfillSelect = `SELECT ` + lists.Backfilled.Select() + ` FROM `
	sqlByTime      = backfillSelect + `decisions d WHERE d.cluster = $1
AND d.created_at >= $2 AND (d.created_at > $2 OR d.id > $3)
ORDER BY d.created_at, d.id LIMIT $4`
	sqlByRevision = backfillSelect + `{decisions d by revision}
WHERE d.cluster = $1 AND d.revision >= $2
AND (d.revision, d.created_at, d.id) > ($2, $3, $4) ORDER BY d.revision, d.created_at, d.id LIMIT $5`
)

// Fillable implements store.Backfill.
func (b Backfill) Fillable(ctx context.Context, cluster string) (*store.Fillable, error) {
	f := &store.Fillable{Cluster: cluster}
	if err := one(ctx, b.db, b.d.Text(sqlFillable), []any{cluster}, &f.Last, &f.Seal); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cluster, err)
	}
	args := []any{cluster, f.Seal, store.AttributedSince}
	err := b.db.Read(ctx, b.d.Text(sqlFillSeals), args, func(scan func(into ...any) error) error {
		var kind, items string
		var format, after, seq int64
		if err := scan(&kind, &format, &after, &seq, lists.TextOrNull(&items)); err != nil {
			return err
		}
		var parts store.SealItems
		if items != "" {
			if err := json.Unmarshal([]byte(items), &parts); err != nil {
				return fmt.Errorf("items of a seal: %w", err)
			}
		}
		if format >= store.AttributedSince && kind != string(store.SealedEpoch) && seq > after {
			f.Sealed = append(f.Sealed, [2]int64{after + 1, seq})
		}
		if parts.Before != nil && format >= store.AttributedSince {
			f.Sealed = append(f.Sealed, parts.Before.Decisions...)
		}
		if parts.Removed != nil {
			f.Shortened = f.Shortened || len(parts.Removed.Decisions) > 0
			f.Removed = append(f.Removed, parts.Removed.Rows[store.SealObjects]...)
		}
		if len(f.Sealed) > 1<<10 || len(f.Removed) > 1<<10 { // most touch, and so are few
			f.Sealed, f.Removed = store.MergeRanges(f.Sealed), store.MergeRanges(f.Removed)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cluster, err)
	}
	f.Sealed, f.Removed = store.MergeRanges(f.Sealed), store.MergeRanges(f.Removed)
	return f, nil
}

// BackfillRecords implements store.Backfill.
func (b Backfill) BackfillRecords(
	ctx context.Context, cluster string, byRevision bool, after store.ReplayCursor, limit int,
) (list []*store.Decision, err error) {
	query, args := sqlByTime, []any{cluster, ceil(after.CreatedAt), after.ID, most(limit)}
	if byRevision {
		query = sqlByRevision
		args = []any{cluster, after.Revision, ceil(after.CreatedAt), after.ID, most(limit)}
	}
	err = b.db.Read(ctx, b.d.Text(query), args, func(scan func(into ...any) error) error {
		d := &store.Decision{}
		list = append(list, d)
		return scan(lists.Backfilled.Targets(d)...)
	})
	return list, err
}

// Inputs implements store.Backfill.
func (b Backfill) Inputs(
	ctx context.Context, cluster string, ids []string,
) (inputs map[string][]byte, more bool, err error) {
	list, err := names(ids)
	if err != nil {
		return nil, false, err
	}
	inputs = map[string][]byte{}
	size := 0
	args := []any{cluster, list}
	err = b.db.Read(ctx, b.d.Text(sqlInputs), args, func(scan func(into ...any) error) error {
		if more = size > store.PageBytes; more {
			return ErrEnough
		}
		var id string
		var input []byte
		if err := scan(&id, &input); err != nil {
			return err
		}
		inputs[id], size = input, size+len(input)
		return memory.Take(ctx, int64(len(input)))
	})
	return inputs, more, err
}

// FillDecisions implements store.Backfill.
func (b Backfill) FillDecisions(
	ctx context.Context, f *store.Fillable, list []*store.Decision,
) (filled int64, err error) {
	rows := make([][]any, len(list))
	for i, d := range list {
		if !f.Open(d.Seq) {
			return 0, fmt.Errorf("decision %s: %w: it is sealed so", d.ID, store.ErrConflict)
		}
		rows[i] = []any{f.Cluster, d.CreatedAt, d.ID, d.Purpose, d.Attempt}
	}
	err = b.db.Write(ctx, func(x Tx) error {
		// A process that seals rows anew has this lock, or waits for it.
		var newest, begun int64
		if err := x.Row(b.d.Text(sqlLockBooks), []any{f.Cluster}, &newest); err != nil {
			return err
		}
		if err := x.Row(b.d.Text(sqlNewBeginnings), []any{f.Cluster, f.Seal}, &begun); err != nil {
			return err
		}
		if begun > 0 {
			return fmt.Errorf("cluster %s: %w: its chain began anew", f.Cluster, store.ErrConflict)
		}
		filled, err = x.Some(b.d.Text(sqlFillDecision), rows)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("fill in decisions: %w", err)
	}
	return filled, nil
}

// Unchanged implements store.Backfill.
func (b Backfill) Unchanged(
	ctx context.Context, cluster string, after int64, limit int,
) (list []store.UnchangedRevision, err error) {
	args := []any{cluster, after, most(limit)}
	err = b.db.Read(ctx, b.d.Text(sqlUnchanged), args, func(scan func(into ...any) error) error {
		var r store.UnchangedRevision
		err := scan(&r.Number, &r.Recorded)
		list = append(list, r)
		return err
	})
	return list, err
}

// FillObjects implements store.Backfill.
func (b Backfill) FillObjects(
	ctx context.Context, cluster string, list []*store.Revision,
) (filled int64, err error) {
	for _, r := range list {
		if err := r.ValidateChanges(); err != nil {
			return 0, err
		}
	}
	err = b.db.Write(ctx, func(x Tx) error {
		filled = 0
		var newest int64
		if err := x.Row(b.d.Text(sqlLockBooks), []any{cluster}, &newest); err != nil {
			return err
		}
		var sealed seal.Rows
		for _, r := range list {
			var n int64
			args := []any{cluster, r.Number, r.Token}
			if err := x.Row(b.d.Text(sqlUnchangedOne), args, &n); err != nil {
				return err
			}
			if n == 0 || len(r.Objects) == 0 {
				continue
			}
			rows := r.ObjectValues(func(t time.Time) any { return t })
			if err := sealed.Numbered(store.SealObjects, r.Number, rows...); err != nil {
				return err
			}
			if err := x.Many(b.d.Text(sqlPutObject), rows); err != nil {
				return err
			}
			filled++
		}
		if filled == 0 {
			return nil
		}
		return AddSeal(x, b.d, cluster, func(h *store.SealHead) (*store.Seal, error) {
			return sealed.Seal(h, h.Seq, h.Newest)
		})
	})
	if err != nil {
		return 0, fmt.Errorf("fill in what revisions changed: %w", err)
	}
	return filled, nil
}

// FactsSeen implements store.Backfill.
func (b Backfill) FactsSeen(
	ctx context.Context, cluster string, digests []string,
) (map[string]time.Time, error) {
	list, err := names(digests)
	if err != nil {
		return nil, err
	}
	seen := map[string]time.Time{}
	args := []any{cluster, list}
	err = b.db.Read(ctx, b.d.Text(sqlFactsSeen), args, func(scan func(into ...any) error) error {
		var digest string
		var at time.Time
		err := scan(&digest, Time{&at})
		seen[digest] = at
		return err
	})
	return seen, err
}

// FillFacts implements store.Backfill.
func (b Backfill) FillFacts(ctx context.Context, list []*store.Decision) (err error) {
	rows := make([][]any, len(list))
	for i, d := range list {
		if err := d.ValidateFacts(); err != nil {
			return err
		}
		if rows[i], err = lists.FactValues(d); err != nil {
			return err
		}
	}
	return b.db.Write(ctx, func(x Tx) error {
		_, err := x.Some(b.d.Text(lists.PutFacts), rows)
		return err
	})
}
