package scenario

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

func (w *Watch) progress(part string, done, total int) {
	if w != nil && w.Progress != nil {
		w.Progress(part, done, total)
	}
}

// keptRun is a run under one configuration as a Watch keeps it.
type keptRun struct {
	Trace      *traced
	Difference *RunDifference `json:",omitempty"`
}

// partOf is the name of what is kept of a configuration.
func partOf(name string) string { return "run/" + name }

// load returns what is kept of a configuration; nil for nothing.
func (w *Watch) load(c configured) (*traced, *RunDifference, error) {
	if w == nil || w.Load == nil {
		return nil, nil, nil
	}
	k := keptRun{Trace: &traced{config: c}}
	if there, err := w.Load(partOf(c.name), &k); err != nil || !there {
		return nil, nil, err
	}
	return k.Trace, k.Difference, nil
}

// save keeps a run: the first one with the trace that further ones are compared with, each other
// one with its difference to the first.
func (w *Watch) save(t *traced, diff *RunDifference) error {
	if w == nil || w.Save == nil {
		return nil
	}
	k := keptRun{Trace: t, Difference: diff}
	if diff != nil {
		k.Trace = &traced{Run: t.Run}
	}
	return w.Save(partOf(t.config.name), &k)
}
