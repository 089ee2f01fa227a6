package rules

import (
	"berth/internal/engine"
)

// detailKinds are the kinds of details that rules return, by name.
var detailKinds = func() map[string]*engine.DetailKind {
	all := map[string]*engine.DetailKind{}
	for _, d := range registry {
		for _, k := range d.Details {
			all[k.Name] = k
		}
	}
	return all
}()

// CauseOf returns what a detail means to programs.
func CauseOf(d *engine.Detail) engine.Cause {
	if k := detailKinds[d.Kind]; k != nil {
		return k.Cause(d)
	}
	return engine.Cause{Code: engine.CauseRejected, About: d.Name} // of a newer berth
}

// DetailWords writes a detail in a line for people. amounts writes amounts of a resource.
func DetailWords(d *engine.Detail, amounts engine.AmountsFunc) string {
	if k := detailKinds[d.Kind]; k != nil && k.Words != nil {
		if words := k.Words(d, amounts); words != "" {
			return words
		}
	}
	for _, s := range []string{d.Term, d.Name, d.Domain, d.Key} {
		if s != "" {
			if d.TopologyKey != "" {
				return d.TopologyKey + ": " + s
			}
			return s
		}
	}
	return d.Kind
}

// named makes a kind with one cause, about the detail's name.
func named(kind, fields, cause string) *engine.DetailKind {
	return &engine.DetailKind{Name: kind, Fields: fields, Cause: func(d *engine.Detail) engine.Cause { return engine.Cause{Code: cause, About: d.Name} }}
}

// termed makes a kind with one cause, about the detail's term.
func termed(kind, fields, cause string) *engine.DetailKind {
	return &engine.DetailKind{Name: kind, Fields: fields, Cause: func(d *engine.Detail) engine.Cause { return engine.Cause{Code: cause, About: d.Term} }}
}

// fixed makes a kind with one cause, about the detail's name, and one sentence for people.
func fixed(kind, fields, cause, words string) *engine.DetailKind {
	k := named(kind, fields, cause)
	k.Words = func(*engine.Detail, engine.AmountsFunc) string { return words }
	return k
}
