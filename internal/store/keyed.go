package store

import (
	"context"
	"time"
)

// KeyStays is for how long the key of a call is remembered after the call began.
const KeyStays = 24 * time.Hour

// The states of a keyed call. Begun: nothing of it is written. Written: what it is about is stored,
// and its answer not yet. Answered: its answer is kept.
const (
	CallBegun    = "begun"
	CallWritten  = "written"
	CallAnswered = "answered"
)

// KeyedCall is a call with an Idempotency-Key, as stored. Caller and Key name it.
type KeyedCall struct {
	Caller, Key string
	// Token is of the process that works on the call. It is unique to the claim, and so fences off
	// one whose call was taken over.
	Token string
	// Route is the method, the path and the query of the call.
	Route string
	State string
	// BegunAt is by the database's clock. Lapsed reports that the holder of the token has not
	// renewed it in time. Both are read only.
	BegunAt time.Time
	Lapsed  bool
	// About is the path of what was written; empty until something is.
	About string
	// Body stands for the bytes of the request's body, and Answer is what was answered. Both are
	// opaque; nil until they are known.
	Body, Answer []byte
}

// Validate returns why a call cannot be stored by every backend alike.
func (c *KeyedCall) Validate() error {
	switch {
	case c.Key == "":
		return invalid("keyedCall.key", "is empty")
	case c.Token == "":
		return invalid("keyedCall.token", "is empty")
	}
	if err := validateKeys("keyedCall", c.Caller, c.Key); err != nil {
		return err
	}
	return validateText("keyedCall", c.Caller, c.Key, c.Token, c.Route, c.About)
}

// KeyedCalls are the calls with an Idempotency-Key of the last KeyStays. A call is claimed before
// it begins. The transaction that writes what it is about marks it as written, or as answered where
// the answer is known by then; it is refused with ErrTakenOver where another has the claim.
type KeyedCalls interface {
	// BeginCall claims a call for the lease, where its key is new, or older than KeyStays, or where
	// its holder has written nothing and lapsed with the same route. It returns the call as it is
	// stored then: the claim was made if that has the token of c.
	BeginCall(ctx context.Context, c *KeyedCall, lease time.Duration) (*KeyedCall, error)
	// RenewCall makes the lease of a claim last longer. A claim that is lost stays lost.
	RenewCall(ctx context.Context, c *KeyedCall, lease time.Duration) error
	// EndCall keeps the Body, the About and the Answer of a call; ErrTakenOver where the claim is
	// lost.
	EndCall(ctx context.Context, c *KeyedCall) error
	// DropCall forgets a claim of which nothing is written; nothing happens where something is, or
	// where the claim is lost.
	DropCall(ctx context.Context, c *KeyedCall) error
	// PruneCalls removes calls that began before a time and returns how many.
	PruneCalls(ctx context.Context, before time.Time) (int64, error)
}

// Keyed is a claimed call under way: its context has it, so that what it writes is written together
// with its claim. It is for one goroutine at a time.
type Keyed struct {
	KeyedCall
	// Print returns what stands for the body as far as it was read.
	Print func() []byte
	// Render returns an answer as it is kept; nil: it is kept once the handler has written it.
	Render func(answer any) ([]byte, error)
	// masks are what is done to an answer before it is rendered, the first one last.
	masks []func(answer any)
}

// KeyedKey is the key of a context's *Keyed.
type KeyedKey struct{}

// KeyedOf returns the claimed call of a context; nil without one.
func KeyedOf(ctx context.Context) *Keyed {
	k, _ := ctx.Value(KeyedKey{}).(*Keyed)
	return k
}

// Mask has a function called with the answer before it is rendered.
func (k *Keyed) Mask(f func(answer any)) {
	if k != nil {
		k.masks = append(k.masks, f)
	}
}

// Renders reports whether the answer is to be rendered before it is written.
func (k *Keyed) Renders() bool { return k != nil && k.Render != nil }

// Retry forgets an answer whose write was refused: the write is tried again.
func (k *Keyed) Retry() {
	if k != nil {
		k.Answer = nil
	}
}

// Prepare renders the answer of a write that follows: it is stored with the write.
func (k *Keyed) Prepare(answer any) (err error) {
	if !k.Renders() {
		return nil
	}
	for i := len(k.masks) - 1; i >= 0; i-- {
		k.masks[i](answer)
	}
	k.Answer, err = k.Render(answer)
	return err
}

// Claim returns the call as a write that is about a path stores it; nil without one.
func (k *Keyed) Claim(about string) *KeyedCall {
	if k == nil {
		return nil
	}
	c := k.KeyedCall
	c.About, c.Body, c.State = about, k.Print(), CallWritten
	if c.Answer != nil {
		c.State = CallAnswered
	}
	return &c
}
