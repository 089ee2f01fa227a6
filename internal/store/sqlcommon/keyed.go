package sqlcommon

import (
	"context"
	"fmt"
	"time"

	"berth/internal/store"
)

// Calls implements store.KeyedCalls.
type Calls struct {
	db DB
	d  *Dialect
}

// NewCalls returns the keyed calls in a database.
func NewCalls(db DB, d *Dialect) Calls { return Calls{db, d} }

const (
	// What was written is never claimed anew, however old the lease is.
	sqlBeginCall = `INSERT INTO keyed_calls AS k (caller, key, token, route, state, begun_at, lease_until, about)
VALUES ($1, $2, $3, $4, 'begun', {now}, {now} + $5{us}, '')
ON CONFLICT (caller, key) DO UPDATE SET token = excluded.token, route = excluded.route, state = 'begun', begun_at = excluded.begun_at,
  lease_until = excluded.lease_until, about = '', body = NULL, answer = NULL
WHERE k.begun_at < {now} - $6{us} OR (k.state = 'begun' AND k.lease_until < {now} AND k.route = excluded.route)`
	sqlKeyedCall  = `SELECT token, route, state, begun_at, lease_until < {now}, about, body, answer FROM keyed_calls WHERE caller = $1 AND key = $2`
	sqlRenewCall  = `UPDATE keyed_calls SET lease_until = {now} + $4{us} WHERE caller = $1 AND key = $2 AND token = $3`
	sqlDropCall   = `DELETE FROM keyed_calls WHERE caller = $1 AND key = $2 AND token = $3 AND state = 'begun'`
	sqlPruneCalls = `DELETE FROM keyed_calls WHERE begun_at < $1`
	sqlFreeCalls  = `UPDATE keyed_calls SET lease_until = begun_at WHERE state <> 'answered'`
	// About stays where the write has set it. Nothing more comes of who has ended the call.
	sqlEndCall = `UPDATE keyed_calls SET state = $4, about = CASE WHEN $5 = '' THEN about ELSE $5 END, body = $6, answer = $7, lease_until = begun_at
WHERE caller = $1 AND key = $2 AND token = $3`
)

// SQLMarkCall is the statement by which a transaction stores the claim of what it writes, with the
// arguments of MarkCall. It changes no row where the claim is lost.
const SQLMarkCall = `UPDATE keyed_calls SET state = $4, about = $5, body = $6, answer = $7 WHERE caller = $1 AND key = $2 AND token = $3`

// MarkCall returns the arguments of SQLMarkCall.
func MarkCall(c *store.KeyedCall) []any {
	return []any{c.Caller, c.Key, c.Token, c.State, c.About, bytesOrNull(c.Body), bytesOrNull(c.Answer)}
}

// bytesOrNull keeps nil apart from empty: a nil []byte inside an any is not a nil any.
func bytesOrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// BeginCall implements store.KeyedCalls.
func (s Calls) BeginCall(ctx context.Context, c *store.KeyedCall, lease time.Duration) (*store.KeyedCall, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var out *store.KeyedCall
	err := s.db.Write(ctx, func(x Tx) error {
		if _, err := x.Exec(s.d.Text(sqlBeginCall), c.Caller, c.Key, c.Token, c.Route, lease.Microseconds(), store.KeyStays.Microseconds()); err != nil {
			return err
		}
		out = &store.KeyedCall{Caller: c.Caller, Key: c.Key}
		return x.Row(s.d.Text(sqlKeyedCall), []any{c.Caller, c.Key},
			&out.Token, &out.Route, &out.State, Time{&out.BegunAt}, &out.Lapsed, &out.About, &out.Body, &out.Answer)
	})
	return found(out, err)
}

// RenewCall implements store.KeyedCalls.
func (s Calls) RenewCall(ctx context.Context, c *store.KeyedCall, lease time.Duration) error {
	_, err := s.change(ctx, sqlRenewCall, c.Caller, c.Key, c.Token, lease.Microseconds())
	return err
}

// EndCall implements store.KeyedCalls.
func (s Calls) EndCall(ctx context.Context, c *store.KeyedCall) error {
	ended := *c
	if ended.State = store.CallAnswered; c.Answer == nil {
		ended.State = store.CallWritten
	}
	n, err := s.change(ctx, sqlEndCall, MarkCall(&ended)...)
	if err == nil && n == 0 {
		err = lostCall(c)
	}
	return err
}

// DropCall implements store.KeyedCalls.
func (s Calls) DropCall(ctx context.Context, c *store.KeyedCall) error {
	_, err := s.change(ctx, sqlDropCall, c.Caller, c.Key, c.Token)
	return err
}

// PruneCalls implements store.KeyedCalls.
func (s Calls) PruneCalls(ctx context.Context, before time.Time) (int64, error) {
	return s.change(ctx, sqlPruneCalls, ceil(before))
}

// FreeCalls ends the leases of all calls that are not answered, for a store whose processes before
// this one have ended.
func (s Calls) FreeCalls(ctx context.Context) error {
	_, err := s.change(ctx, sqlFreeCalls)
	return err
}

func (s Calls) change(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = s.db.Write(ctx, func(x Tx) error {
		var err error
		n, err = x.Exec(s.d.Text(text), args...)
		return err
	})
	return n, err
}

// mark stores the claim of a context's keyed call, if it has one, in the transaction that writes
// what it is about.
func mark(ctx context.Context, x Tx, d *Dialect, about string) error {
	c := store.KeyedOf(ctx).Claim(about)
	if c == nil {
		return nil
	}
	n, err := x.Exec(d.Text(SQLMarkCall), MarkCall(c)...)
	if err == nil && n == 0 {
		err = lostCall(c)
	}
	return err
}

func lostCall(c *store.KeyedCall) error {
	return fmt.Errorf("key %q: %w", c.Key, store.ErrTakenOver)
}
