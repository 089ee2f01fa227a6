package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/seal"
	"berth/internal/store/sqlcommon"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// statement is one of a batch.
type statement struct {
	what string // that it does, for errors
	sql  string
	args []any
	want string // its command tag; "": any
	// races is set where another tag means that another writer was first.
	races bool
}

// errOvertaken reports that another writer added to a chain between what was remembered of its end
// and the write. Nothing was written.
var errOvertaken = errors.New("another writer added to the chain")

// oneRow is the tag of an INSERT of one row.
const oneRow = "INSERT 0 1"

// write puts what the judge left of the batch into the tables and commits, in one round trip. Where
// nothing was read it begins the transaction as well.
func (a *appending) write(ctx context.Context, conn *pgx.Conn, s *Store) error {
	list, err := a.putDecisions()
	if err != nil {
		return err
	}
	one := func(what, query string, args ...any) {
		list = append(list, statement{what: what, sql: query, args: args, want: oneRow})
	}
	some := func(what, query string, args ...any) {
		list = append(list, statement{what: what, sql: query, args: args})
	}
	for _, r := range a.Revisions {
		values := []any{
			r.Cluster, r.Number, r.Token, r.ParentToken,
			r.CreatedAt, r.Digest, r.Cause, r.Change, text(r.Summary),
			lists.OrNull(r.Asked.By), lists.OrNull(r.Asked.Peer), lists.OrNull(r.Asked.RequestID),
		}
		one("write revision", sqlPutRevision, append(values, r.Woken)...)
		if err := a.SealRevision(r, values); err != nil {
			return err
		}
	}
	changes, err := a.putChanges()
	if err != nil {
		return err
	}
	list = append(list, changes...)
	for _, c := range a.Checkpoints {
		values := []any{c.Cluster, c.Number, notNull(c.Payload)}
		one("write checkpoint", sqlPutCheckpoint, append(values, c.Woken)...)
		if err := a.SealCheckpoint(c, values); err != nil {
			return err
		}
	}
	for _, o := range a.Origins {
		one("write origin", sqlcommon.PutOrigin, sqlcommon.OriginValues(o)...)
	}
	for _, h := range a.Holds {
		one("write hold", sqlcommon.PutHold, sqlcommon.HoldValues(h)...)
	}
	for _, pr := range a.Profiles {
		if _, ok := s.profiles.Load(pr.Digest); !ok {
			some("write profile", sqlPutProfile, pr.Digest, pr.Name, notNull(pr.Payload))
		}
	}
	for _, g := range a.Gaps {
		values := gapValues(g)
		some("write gap", sqlPutGap, values...)
		if err := a.SealGap(g, values); err != nil {
			return err
		}
	}
	for _, c := range a.Marks {
		list = append(list, statement{what: "mark the call of an entry", sql: sqlMarkCall, args: sqlcommon.MarkCall(c), want: "UPDATE 1"})
	}
	for _, cluster := range slices.Sorted(maps.Keys(a.made)) {
		if !a.Heads[cluster].Changed() {
			// Nothing of it came to be stored.
			list = append(list, statement{what: "drop head of " + cluster, sql: sqlDropHead, args: []any{cluster}, want: "DELETE 1"})
		}
	}
	heads, err := a.putHeads()
	if err != nil {
		return err
	}
	for i := range list {
		if s := &list[i]; len(a.left) > 0 { // the heads may be lost
			var ok bool
			if s.sql, ok = whereWon(s.sql); !ok {
				return fmt.Errorf("%s: the statement cannot depend on the race", s.what)
			}
		}
	}
	list = append(append(heads, list...), statement{what: "commit", sql: "commit", want: "COMMIT"})
	return inBatch(ctx, conn, list)
}

// putChanges writes what the revisions changed, and seals it.
func (a *appending) putChanges() (list []statement, err error) {
	for _, r := range a.Revisions {
		rows := r.ObjectValues(instant)
		if len(rows) == 0 {
			continue
		}
		for _, values := range rows {
			list = append(list, statement{what: "write what a revision changed", sql: sqlPutObject, args: values, want: oneRow})
		}
		if err := a.SealObjects(r, rows); err != nil {
			return nil, err
		}
	}
	for _, c := range a.Classes {
		values := c.Values(instant)
		list = append(list, statement{what: "write the change of a priority class", sql: sqlPutClassLog, args: values, want: oneRow})
		if err := a.SealClass(c, values); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// inBatch runs statements in one round trip: none is run behind one that failed.
func inBatch(ctx context.Context, conn *pgx.Conn, list []statement) error {
	p := &pgx.Batch{}
	for _, s := range list {
		p.Queue(s.sql, s.args...).Exec(func(ct pgconn.CommandTag) error {
			tag := ct.String()
			switch {
			case s.want == "" || s.want == tag:
				return nil
			case s.races:
				return fmt.Errorf("%s: %w", s.what, errOvertaken)
			}
			return fmt.Errorf("%s: the database answered %s, not %s", s.what, tag, s.want)
		})
	}
	if err := conn.SendBatch(ctx, p).Close(); err != nil {
		return fmt.Errorf("write and commit: %w", err)
	}
	return nil
}

// putHeads moves the ends of the chains, before anything else is written. It comes after the rows
// were sealed.
func (a *appending) putHeads() (list []statement, err error) {
	if len(a.left) > 0 {
		list = []statement{{what: "begin", sql: "begin"}}
		if len(a.chain) > 0 {
			list = append(list, statement{what: "look for locked chains", sql: sqlLoseBusy, args: []any{a.chain}})
		}
	}
	for _, cluster := range a.Changed() {
		h := a.Heads[cluster]
		a.from[cluster] = store.SealHead{Cluster: cluster, Number: h.Seal, Hash: notNull(h.SealHash)}
	}
	seals, err := a.Seals()
	alone := len(a.left) == 0 || len(seals) == 1
	if !alone {
		list = append(list, a.allStand(seals))
	}
	for _, x := range seals {
		h, from := a.Heads[x.Cluster], a.from[x.Cluster]
		args := []any{
			x.Cluster, h.Newest, h.Token, h.Revisions, h.Decisions, h.Seal, notNull(h.SealHash), from.Number, from.Hash,
		}
		args = append(append(args, seal.Values(x)[1:]...), alone)
		list = append(list, statement{what: "write head and seal of " + x.Cluster, sql: sqlPutHead, args: args, want: oneRow, races: true})
	}
	return list, err
}

// allStand is the statement that decides whether the batch stands on the ends of all its chains.
func (a *appending) allStand(seals []*store.Seal) statement {
	var names []string
	var numbers []int64
	var hashes [][]byte
	for _, x := range seals {
		from := a.from[x.Cluster]
		names, numbers, hashes = append(names, x.Cluster), append(numbers, from.Number), append(hashes, from.Hash)
	}
	return statement{what: "compare the heads", sql: sqlAllStand, args: []any{names, numbers, hashes}, want: "SELECT 1", races: true}
}

// putDecisions writes the decisions and seals them.
func (a *appending) putDecisions() (list []statement, err error) {
	for _, d := range a.Decisions {
		if d.StampID == 0 {
			if d.StampID = a.Stamps[d.Stamp]; d.StampID == 0 {
				return nil, fmt.Errorf("decision %s: its stamp has no number", d.ID)
			}
		}
		values := decisionValues(d)
		if err := a.SealDecision(d, values); err != nil {
			return nil, err
		}
		list = append(list, statement{what: "write decision", sql: sqlPutDecision, args: values, want: oneRow})
	}
	return list, nil
}

func decisionValues(d *lists.Row) []any { return lists.Stored.Values(d, instant) }

func instant(t time.Time) any { return t }

// text keeps nil apart from empty.
func text(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// abandon closes a connection whose answers were not all read, and ends what the database is at.
func abandon(pc *pgconn.PgConn) {
	if !pc.IsClosed() {
		cancelRequest(pc)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = pc.Close(ctx)
	}
}

func cancelRequest(pc *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = pc.CancelRequest(ctx)
}
