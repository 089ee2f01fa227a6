package world

import "context"

// Watch follows a run and keeps what is finished of it. It may be nil, and so may its functions.
type Watch struct {
	// Progress is called as a part goes on, with what is done of how much; total is 0 where that is
	// not known.
	Progress func(part string, done, total int)
	// Load reads a part that an earlier run of the same scenario finished into v, and reports
	// whether there is one.
	Load func(part string, v any) (bool, error)
	// Save keeps a part for a later run.
	Save func(part string, v any) error
}

type watching struct{}

// With returns a context whose scenarios are watched.
func (w *Watch) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, watching{}, w)
}

// Watching returns what watches the scenarios of a context; nil: nothing.
func Watching(ctx context.Context) *Watch {
	w, _ := ctx.Value(watching{}).(*Watch)
	return w
}

// Progressed tells who watches that a part went on.
func (w *Watch) Progressed(part string, done, total int) {
	if w != nil && w.Progress != nil {
		w.Progress(part, done, total)
	}
}
