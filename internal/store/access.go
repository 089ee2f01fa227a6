package store

import (
	"context"
	"time"
)

// Asked is who asked for what a record holds. It is no part of the answer, and so of no digest.
// Empty fields are stored as NULL, as in records of schemas before 14.
type Asked struct {
	By        string // kind:name, such as token:ci
	Peer      string // the address that the request came from
	RequestID string
}

// AskedKey is the key of a context's *Asked.
type AskedKey struct{}

// WithAsked returns a context whose writes name who asked.
func WithAsked(ctx context.Context, a Asked) context.Context {
	return context.WithValue(ctx, AskedKey{}, &a)
}

// AskedOf returns who asked, as the context has it.
func AskedOf(ctx context.Context) Asked {
	if a, ok := ctx.Value(AskedKey{}).(*Asked); ok {
		return *a
	}
	return Asked{}
}

// Token is an API token as stored: the secret itself is not.
type Token struct {
	ID     string // UUIDv7
	Name   string
	Hash   []byte // SHA-256 of the whole token
	Grants []byte // JSON
	// ExpiresAt and RevokedAt are zero where there is no such time, UsedAt where it was not used.
	CreatedAt, ExpiresAt, RevokedAt, UsedAt time.Time
}

// Validate returns why a token cannot be stored by every backend alike.
func (t *Token) Validate() error {
	switch {
	case t.ID == "":
		return invalid("token.id", "is empty")
	case t.Name == "":
		return invalid("token.name", "is empty")
	case len(t.Hash) != 32:
		return invalid("token.hash", "is no SHA-256")
	case !validJSON(t.Grants):
		return invalid("token.grants", "is not JSON")
	}
	if err := validateTimes("token", t.CreatedAt); err != nil {
		return err
	}
	if err := validateKeys("token", t.ID, t.Name); err != nil {
		return err
	}
	return validateText("token", t.ID, t.Name)
}

// AccessChange is a record of what was changed about access, or of a setting at a start.
type AccessChange struct {
	ID        string // UUIDv7
	CreatedAt time.Time
	Action    string // such as token.create
	Object    string // what was changed
	Detail    []byte // JSON
	Asked     Asked
}

// Validate returns why a change cannot be stored by every backend alike.
func (c *AccessChange) Validate() error {
	switch {
	case c.ID == "":
		return invalid("accessChange.id", "is empty")
	case c.Action == "":
		return invalid("accessChange.action", "is empty")
	case !validJSON(c.Detail):
		return invalid("accessChange.detail", "is not JSON")
	}
	if err := validateTimes("accessChange", c.CreatedAt); err != nil {
		return err
	}
	return validateText("accessChange", c.ID, c.Action, c.Object, c.Asked.By, c.Asked.Peer, c.Asked.RequestID)
}

// Access keeps tokens, and the log of changes of access.
type Access interface {
	// Tokens lists all tokens by ID.
	Tokens(ctx context.Context) ([]*Token, error)
	// PutToken writes a token together with the record of that. Of a token that is stored, only
	// ExpiresAt and RevokedAt change. What is stored already stays, so that a retry is safe.
	PutToken(ctx context.Context, t *Token, c *AccessChange) error
	// UseTokens writes when tokens were last used, by ID; earlier times than the stored ones and
	// unknown tokens are passed over.
	UseTokens(ctx context.Context, used map[string]time.Time) error
	// PutAccessChange writes a record alone.
	PutAccessChange(ctx context.Context, c *AccessChange) error
	// AccessChanges lists the newest first, those with an ID below before ("": all), up to limit.
	AccessChanges(ctx context.Context, before string, limit int) ([]*AccessChange, error)
}
