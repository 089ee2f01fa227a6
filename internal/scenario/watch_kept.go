package scenario

import "berth/internal/world"

// keptRun is a run under one configuration as a Watch keeps it.
type keptRun struct {
	Trace      *traced
	Difference *RunDifference `json:",omitempty"`
}

// partOf is the name of what is kept of a configuration.
func partOf(name string) string { return "run/" + name }

// loadRun returns what is kept of a configuration; nil for nothing.
func loadRun(w *world.Watch, c configured) (*traced, *RunDifference, error) {
	if w == nil || w.Load == nil {
		return nil, nil, nil
	}
	k := keptRun{Trace: &traced{config: c}}
	if there, err := w.Load(partOf(c.name), &k); err != nil || !there {
		return nil, nil, err
	}
	return k.Trace, k.Difference, nil
}

// saveRun keeps a run: the first one with the trace that further ones are compared with, each other
// one with its difference to the first.
func saveRun(w *world.Watch, t *traced, diff *RunDifference) error {
	if w == nil || w.Save == nil {
		return nil
	}
	k := keptRun{Trace: t, Difference: diff}
	if diff != nil {
		k.Trace = &traced{Run: t.Run}
	}
	return w.Save(partOf(t.config.name), &k)
}
