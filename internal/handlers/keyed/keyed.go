// Package keyed answers calls with an Idempotency-Key: the first call with a key is done, and later
// ones get its answer.
package keyed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"berth/internal/decision"
	"berth/internal/handlers/exchange"
	"berth/internal/store"
)

// The headers of a call that can be repeated, and of an answer that is that of an earlier call.
const (
	Header         = "Idempotency-Key"
	ReplayedHeader = "Idempotency-Replayed"
)

const (
	// maxKey is the longest key, in characters.
	maxKey = 255
	// lease is for how long a process that has claimed a call may be silent until another takes the
	// call over. It renews the claim each third of it.
	lease = 15 * time.Second
	// firstLook and longestLook are the intervals at which a call looks whether the first one with
	// its key has ended.
	firstLook, longestLook = 10 * time.Millisecond, 300 * time.Millisecond
	// ending bounds the writes that end a call, whose own context may be over.
	ending = 5 * time.Second
)

// Calls answers keyed calls. It is safe for concurrent use.
type Calls struct {
	st    store.KeyedCalls
	log   *slog.Logger
	lease time.Duration
}

// New returns the keyed calls of a store.
func New(st store.KeyedCalls, log *slog.Logger) *Calls {
	return &Calls{st: st, log: log, lease: lease}
}

// keyOf returns the key of a call; empty without one.
func keyOf(r *http.Request) (string, error) {
	all := r.Header.Values(Header)
	if len(all) == 0 {
		return "", nil
	}
	good := len(all) == 1 && all[0] != "" && len(all[0]) <= maxKey
	for i := 0; good && i < len(all[0]); i++ {
		good = all[0][i] > ' ' && all[0][i] <= '~'
	}
	if !good {
		return "", exchange.BadField(http.StatusBadRequest, Header, fmt.Sprintf("want it once, with 1 to %d visible characters of ASCII", maxKey))
	}
	return all[0], nil
}

// Kind is how the answers of an endpoint are kept.
type Kind int

const (
	// None is of endpoints that write nothing: a key has no effect.
	None Kind = iota
	// Kept answers are repeated.
	Kept
	// Secret answers are not stored: a call that is repeated learns what the first one made.
	Secret
)

// Handler answers a call, or returns why it cannot; then it has written nothing.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Serve has a call answered by a handler, or by what an earlier call with its key was answered.
// fail writes an error.
func (c *Calls) Serve(w http.ResponseWriter, r *http.Request, kind Kind, serve Handler, fail func(http.ResponseWriter, *http.Request, error)) error {
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	if key == "" || kind == None || c == nil {
		return serve(w, r)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return exchange.Internal(err)
	}
	call := &store.KeyedCall{
		Caller: store.AskedOf(r.Context()).By, Key: key, Token: id.String(), Route: r.Method + " " + r.URL.RequestURI(),
	}
	have, err := c.claim(r.Context(), call)
	switch {
	case err != nil:
		return err
	case have.Token == call.Token:
		return c.first(w, r, call, kind, serve, fail)
	}
	return again(w, r, have)
}

// claim claims a call, or returns the first one with its key once that is over.
func (c *Calls) claim(ctx context.Context, call *store.KeyedCall) (*store.KeyedCall, error) {
	for wait := firstLook; ; wait = min(2*wait, longestLook) {
		have, err := c.st.BeginCall(ctx, call, c.lease)
		switch {
		case err != nil:
			return nil, fmt.Errorf("claim a call: %w", err)
		case have.Token == call.Token, have.State == store.CallAnswered, have.State == store.CallWritten && have.Lapsed:
			return have, nil
		case have.Route != call.Route:
			return nil, reused("for " + have.Route)
		}
		// Who waits leaves its place to others. One that takes a call over goes on without.
		decision.ReleaseSlot(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// reused refuses a key that another request had.
func reused(how string) error {
	const detail = "the key was used before " // with what it was used for behind it
	e := exchange.BadField(http.StatusUnprocessableEntity, Header, detail+how+"; a key is for one request and its repetitions, for "+store.KeyStays.String())
	e.Kind = "key-reused"
	return e
}

// first does a call that was claimed, and keeps its answer. The answer is sent once it is kept.
func (c *Calls) first(w http.ResponseWriter, r *http.Request, call *store.KeyedCall, kind Kind, serve Handler, fail func(http.ResponseWriter, *http.Request, error)) error {
	x := exchange.Of(r.Context())
	held := &capture{x: x, out: x.ResponseWriter}
	body := newPrinted(r.Body)
	k := &store.Keyed{KeyedCall: *call, Print: body.print}
	ctx := context.WithValue(context.WithValue(r.Context(), store.KeyedKey{}, k), captureKey{}, held)
	on := r.WithContext(ctx)
	on.Body = body
	x.ResponseWriter = held
	renewed := c.renew(ctx, call)
	ended := false
	defer func() { // also where the handler panics
		renewed()
		x.ResponseWriter = held.out
		if !ended {
			held.reset()
			c.drop(ctx, call)
		}
	}()
	if err := serve(w, on); err != nil {
		held.reset()
		k.Answer = nil
		fail(w, on, err)
	}
	renewed()
	c.keep(ctx, k, held, body, kind)
	ended = true
	x.ResponseWriter = held.out
	held.send()
	return nil
}

// keep ends a claim by what was answered.
func (c *Calls) keep(ctx context.Context, k *store.Keyed, held *capture, body *printed, kind Kind) {
	status := held.code()
	failed := status >= http.StatusBadRequest
	switch {
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == exchange.StatusClientGone:
		c.drop(ctx, &k.KeyedCall)
		return
	case k.Answer != nil: // kept with what was written
		return
	case failed && !body.drain():
		c.drop(ctx, &k.KeyedCall) // another body could not be told from this one
		return
	}
	end := k.KeyedCall
	end.Body, end.About = body.print(), held.Header().Get("Location")
	if kind != Secret || failed {
		var err error
		if end.Answer, err = held.encode(); err != nil {
			c.tell(ctx, "the answer of a call with a key is not kept", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	if err := c.st.EndCall(ctx, &end); err != nil {
		c.tell(ctx, "the answer of a call with a key is not kept", err)
	}
}

// drop forgets a claim of which nothing is written.
func (c *Calls) drop(ctx context.Context, call *store.KeyedCall) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	if err := c.st.DropCall(ctx, call); err != nil {
		c.tell(ctx, "a key stays claimed until its claim lapses", err)
	}
}

func (c *Calls) tell(ctx context.Context, what string, err error) {
	c.log.LogAttrs(ctx, slog.LevelWarn, "the key of a call is in doubt", slog.String("what", what), slog.String("error", err.Error()))
}

// renew renews a claim until the function that it returns is called.
func (c *Calls) renew(ctx context.Context, call *store.KeyedCall) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(c.lease / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				// One that fails is tried again, and a claim that is lost stays so.
				_ = c.st.RenewCall(ctx, call, c.lease)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// again answers a call by the first one with its key.
func again(w http.ResponseWriter, r *http.Request, have *store.KeyedCall) error {
	if have.Route != r.Method+" "+r.URL.RequestURI() {
		return reused("for " + have.Route)
	}
	if have.Body != nil {
		same, err := samePrint(have.Body, r.Body)
		if err != nil {
			return err
		}
		if !same {
			return reused("with another body")
		}
	}
	if have.Answer == nil {
		return written(have)
	}
	a, err := decode(have.Answer)
	if err != nil {
		return exchange.Internal(err)
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.Header().Set(ReplayedHeader, "true")
	a.write(w)
	return nil
}

// written reports that the first call wrote, and that what it was answered is not known.
func written(have *store.KeyedCall) error {
	e := &exchange.Error{
		Status: http.StatusConflict, Kind: "written", Location: have.About,
		Detail: "the first call with this key has written, and its answer is not kept",
	}
	if have.About != "" {
		e.Detail += "; what it wrote is at " + have.About
	}
	return e
}

// Answering returns the function that writes a handler's answer. In a call with a key, finish
// writes it before what it is about is written, and the answer is kept by the same commit.
func Answering[T any](ctx context.Context, finish func(T) error) func(T) error {
	k := store.KeyedOf(ctx)
	held, ok := ctx.Value(captureKey{}).(*capture)
	if k == nil || !ok {
		return finish
	}
	k.Render = func(answer any) ([]byte, error) {
		held.reset()
		if err := finish(answer.(T)); err != nil {
			return nil, err
		}
		kept, err := held.encode()
		if errors.Is(err, errTooLong) {
			return nil, nil
		}
		return kept, err
	}
	return func(v T) error {
		if k.Answer != nil {
			return nil // it is written
		}
		held.reset()
		return finish(v)
	}
}

// errTooLong is the error of an answer that is too long to be kept.
var errTooLong = errors.New("the answer is too long")
