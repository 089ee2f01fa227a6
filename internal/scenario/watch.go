package scenario

import "berth/internal/engine"

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

func (w *Watch) progress(part string, done, total int) {
	if w != nil && w.Progress != nil {
		w.Progress(part, done, total)
	}
}

// keptRun is a run under one configuration as a Watch keeps it: the first one with the trace that
// further ones are compared with, each other one with its difference to the first.
type keptRun struct {
	Run        *ProfileRun
	Difference *RunDifference `json:",omitempty"`
	Steps      [][4]string    `json:",omitempty"` // namespace, name, outcome, node
	At         [][3]string    `json:",omitempty"` // namespace, name, node
}

// partOf is the name of what is kept of a configuration.
func partOf(name string) string { return "profile/" + name }

// load returns what is kept of a configuration; nil for nothing.
func (w *Watch) load(c configured) (*traced, *RunDifference, error) {
	if w == nil || w.Load == nil {
		return nil, nil, nil
	}
	var k keptRun
	if there, err := w.Load(partOf(c.name), &k); err != nil || !there {
		return nil, nil, err
	}
	t := &traced{config: c, run: k.Run, at: make(map[podName]string, len(k.At)), steps: make([]step, len(k.Steps))}
	for i, s := range k.Steps {
		t.steps[i] = step{podName{s[0], s[1]}, engine.Outcome(s[2]), s[3]}
	}
	for _, s := range k.At {
		t.at[podName{s[0], s[1]}] = s[2]
	}
	return t, k.Difference, nil
}

// save keeps a run.
func (w *Watch) save(t *traced, diff *RunDifference) error {
	if w == nil || w.Save == nil {
		return nil
	}
	k := keptRun{Run: t.run, Difference: diff}
	if diff == nil {
		for _, s := range t.steps {
			k.Steps = append(k.Steps, [4]string{s.pod.namespace, s.pod.name, string(s.outcome), s.node})
		}
		for n, node := range t.at {
			k.At = append(k.At, [3]string{n.namespace, n.name, node})
		}
	}
	return w.Save(partOf(t.config.name), &k)
}
