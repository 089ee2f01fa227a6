package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"berth/internal/store"
)

// Token is an API token without its secret.
type Token struct {
	ID   string `json:"id"`
	Name string `json:"name" example:"ci"`
	// Grants are what its bearer may.
	Grants    Grants     `json:"grants"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	RevokedAt *time.Time `json:"revokedAt,omitempty"`
	// UsedAt is when it was last used, to the minute.
	UsedAt *time.Time `json:"usedAt,omitempty"`
} // @name Token

// valid reports whether the token may be used at a time.
func (t *Token) valid(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}

// Errors of changes of tokens.
var (
	ErrNoToken = fmt.Errorf("there is no such token: %w", store.ErrNotFound)
	// ErrNameTaken reports that a usable token has the name.
	ErrNameTaken = fmt.Errorf("a token of this name is in use; rotate it, or revoke it first: %w", store.ErrConflict)
	errManyMade  = fmt.Errorf("there are %d tokens in use: %w", maxTokens, store.ErrConflict)
)

const (
	maxTokens = 10_000
	// reload is how old the tokens in memory may be: what another process revokes is refused then.
	reload = 2 * time.Second
	// flush is how often the times of use are written.
	flush = time.Minute
)

// Tokens are the API tokens of a store, in memory, so that a call needs no database. It is safe for
// concurrent use.
type Tokens struct {
	store store.Access
	log   *slog.Logger

	held atomic.Pointer[map[[32]byte]*Token]

	mu   sync.Mutex
	used map[string]time.Time // guarded by mu: by ID, not written yet
}

// OpenTokens reads the tokens of a store.
func OpenTokens(ctx context.Context, st store.Access, log *slog.Logger) (*Tokens, error) {
	t := &Tokens{store: st, log: log, used: map[string]time.Time{}}
	return t, t.load(ctx)
}

func (t *Tokens) load(ctx context.Context) error {
	list, err := t.store.Tokens(ctx)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	held := make(map[[32]byte]*Token, len(list))
	for _, s := range list {
		held[[32]byte(s.Hash)] = tokenOf(s)
	}
	t.held.Store(&held)
	return nil
}

func tokenOf(s *store.Token) *Token {
	out := &Token{ID: s.ID, Name: s.Name, CreatedAt: s.CreatedAt}
	for _, at := range []struct {
		from time.Time
		to   **time.Time
	}{{s.ExpiresAt, &out.ExpiresAt}, {s.RevokedAt, &out.RevokedAt}, {s.UsedAt, &out.UsedAt}} {
		if !at.from.IsZero() {
			*at.to = &at.from
		}
	}
	// Grants that cannot be read, or that this version does not know, grant nothing.
	if json.Unmarshal(s.Grants, &out.Grants) != nil || out.Grants.Validate("grants") != nil {
		out.Grants = nil
	}
	return out
}

// Run keeps the tokens in memory as the store has them, and writes when they were used, until ctx
// ends.
func (t *Tokens) Run(ctx context.Context) {
	tick, write := time.NewTicker(reload), time.NewTicker(flush)
	defer tick.Stop()
	defer write.Stop()
	failed := false
	for {
		var err error
		select {
		case <-ctx.Done():
			t.writeUsed(context.WithoutCancel(ctx))
			return
		case <-write.C:
			t.writeUsed(ctx)
			continue
		case <-tick.C:
			err = t.load(ctx)
		}
		if err != nil && !failed && ctx.Err() == nil {
			t.log.Warn("tokens cannot be read; those known stay in use", slog.Any("error", err))
		}
		failed = err != nil
	}
}

func (t *Tokens) writeUsed(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	t.mu.Lock()
	used := t.used
	t.used = map[string]time.Time{}
	t.mu.Unlock()
	if len(used) > 0 && t.store.UseTokens(ctx, used) != nil {
		t.log.Warn("when tokens were used is not written: the store does not answer")
	}
}

// Identify returns who bears a token; ok is false where it is unknown, revoked or expired.
func (t *Tokens) Identify(text string, now time.Time) (_ *Identity, ok bool) {
	hash, err := hashToken(text)
	if err != nil {
		return nil, false
	}
	token := (*t.held.Load())[[32]byte(hash)]
	if token == nil || !token.valid(now) {
		return nil, false
	}
	t.mu.Lock()
	t.used[token.ID] = now.UTC().Truncate(time.Minute)
	t.mu.Unlock()
	return &Identity{Kind: KindToken, Name: token.Name, Grants: token.Grants}, true
}

// List returns all tokens, the oldest first.
func (t *Tokens) List(ctx context.Context) ([]*Token, error) {
	list, err := t.store.Tokens(ctx)
	out := make([]*Token, len(list))
	for i, s := range list {
		out[i] = tokenOf(s)
	}
	return out, err
}

// Create makes a token and returns its text, which is not stored. Without expires it does not
// expire.
func (t *Tokens) Create(ctx context.Context, name string, grants Grants, expires, now time.Time) (*Token, string, error) {
	if err := checkName(name); err != nil {
		return nil, "", &FieldError{"name", err.Error()}
	}
	if err := grants.Validate("grants"); err != nil {
		return nil, "", err
	}
	list, err := t.store.Tokens(ctx)
	if err != nil {
		return nil, "", err
	}
	inUse := 0
	for _, s := range list {
		if !tokenOf(s).valid(now) {
			continue
		}
		if s.Name == name {
			return nil, "", ErrNameTaken
		}
		inUse++
	}
	if inUse >= maxTokens {
		return nil, "", errManyMade
	}
	return t.put(ctx, name, grants, expires, now, "token.create")
}

func (t *Tokens) put(ctx context.Context, name string, grants Grants, expires, now time.Time, action string) (*Token, string, error) {
	if !expires.IsZero() && !expires.After(now) {
		return nil, "", &FieldError{"expiresAt", "is not in the future"}
	}
	text := NewToken()
	hash, err := hashToken(text)
	if err != nil {
		return nil, "", err
	}
	js, err := json.Marshal(grants)
	if err != nil {
		return nil, "", err
	}
	s := &store.Token{ID: newID(), Name: name, Hash: hash, Grants: js, CreatedAt: micros(now), ExpiresAt: micros(expires)}
	out := tokenOf(s)
	if err := t.write(ctx, s, out, action, now); err != nil {
		return nil, "", err
	}
	return out, text, nil
}

func (t *Tokens) write(ctx context.Context, s *store.Token, shown *Token, action string, now time.Time) error {
	c, err := Change(ctx, action, s.Name, shown, now)
	if err != nil {
		return err
	}
	if err := t.store.PutToken(ctx, s, c); err != nil {
		return err
	}
	t.log.LogAttrs(ctx, slog.LevelInfo, "a token was changed", slog.String("action", action), slog.String("token", s.Name), slog.String("id", s.ID), slog.String("askedBy", c.Asked.By))
	return t.load(ctx)
}

// Revoke ends a token by its ID, or the usable ones of a name.
func (t *Tokens) Revoke(ctx context.Context, idOrName string, now time.Time) ([]*Token, error) {
	return t.end(ctx, idOrName, "token.revoke", now, func(s *store.Token) { s.RevokedAt = micros(now) })
}

// Rotate makes a token with the name, grants and lifetime of an old one, which is valid for the
// overlap from now on at most.
func (t *Tokens) Rotate(ctx context.Context, idOrName string, overlap time.Duration, now time.Time) (*Token, string, error) {
	if overlap < 0 {
		return nil, "", &FieldError{"overlap", "is negative"}
	}
	old, err := t.usable(ctx, idOrName, now)
	if err != nil {
		return nil, "", err
	}
	last := old[len(old)-1]
	var expires time.Time
	if !last.ExpiresAt.IsZero() {
		expires = now.Add(last.ExpiresAt.Sub(last.CreatedAt))
	}
	made, text, err := t.put(ctx, last.Name, tokenOf(last).Grants, expires, now, "token.rotate")
	if err != nil {
		return nil, "", err
	}
	until := micros(now.Add(overlap))
	for _, s := range old {
		if s.ExpiresAt.IsZero() || s.ExpiresAt.After(until) {
			s.ExpiresAt = until
			err = errors.Join(err, t.write(ctx, s, tokenOf(s), "token.expire", now))
		}
	}
	return made, text, err
}

func (t *Tokens) end(ctx context.Context, idOrName, action string, now time.Time, change func(*store.Token)) ([]*Token, error) {
	list, err := t.usable(ctx, idOrName, now)
	var out []*Token
	for _, s := range list {
		change(s)
		shown := tokenOf(s)
		if err := t.write(ctx, s, shown, action, now); err != nil {
			return out, err
		}
		out = append(out, shown)
	}
	return out, err
}

// usable returns the tokens of an ID or name that may be used, the oldest first.
func (t *Tokens) usable(ctx context.Context, idOrName string, now time.Time) (out []*store.Token, err error) {
	list, err := t.store.Tokens(ctx)
	for _, s := range list {
		if (s.ID == idOrName || s.Name == idOrName) && tokenOf(s).valid(now) {
			out = append(out, s)
		}
	}
	if err == nil && len(out) == 0 {
		err = ErrNoToken
	}
	return out, err
}

// Change returns the record of a change of access, made by the caller that ctx has.
func Change(ctx context.Context, action, object string, detail any, now time.Time) (*store.AccessChange, error) {
	js, err := json.Marshal(detail)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", action, err)
	}
	return &store.AccessChange{ID: newID(), CreatedAt: micros(now), Action: action, Object: object, Detail: js, Asked: store.AskedOf(ctx)}, nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
