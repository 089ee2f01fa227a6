package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

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
	return ownWords(d, amounts) + NamedWords(d, engine.MaxBlockers, amounts)
}

// NamedWords lists the objects that a detail names behind its words, at most so many of them. It is
// empty where the words name all.
func NamedWords(d *engine.Detail, most int, amounts engine.AmountsFunc) string {
	list := slices.DeleteFunc(slices.Clone(d.Blockers), func(b engine.Blocker) bool { return ofStorage[b.Kind] }) // in its own words
	if len(list) == 0 {
		return ""
	}
	between := ": "
	if k := detailKinds[d.Kind]; k != nil && k.Named != "" {
		between = k.Named
	}
	unit := make([]int64, 0, 2+len(list)) // amounts are written in the unit of what is short
	for _, n := range []*int64{d.Requested, d.Available} {
		if n != nil {
			unit = append(unit, *n)
		}
	}
	at := len(unit)
	for i := range list {
		unit = append(unit, ptr.Deref(list[i].Amount, 0), ptr.Deref(list[i].Resizing, 0))
	}
	texts := amounts(d.Name, unit)[at:]
	parts := make([]string, 0, most+1)
	for i := range list[:min(most, len(list))] {
		amount, resizing := texts[2*i], texts[2*i+1]
		if list[i].Amount == nil || d.Name == string(corev1.ResourcePods) {
			amount = ""
		}
		parts = append(parts, blockerWords(&list[i], amount, resizing))
	}
	text := between + strings.Join(parts, ", ")
	if n := d.BlockersOmitted + len(list) - len(parts); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// ofStorage are the kinds of objects that the words of a detail have already.
var ofStorage = map[string]bool{kindClaim: true, kindVolume: true, kindStorageClass: true}

// ownWords are a detail's words without the objects that it names.
func ownWords(d *engine.Detail, amounts engine.AmountsFunc) string {
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

// termed makes a kind with one cause, about the detail's term. between stands ahead of its objects.
func termed(kind, fields, cause, between string) *engine.DetailKind {
	return &engine.DetailKind{Name: kind, Fields: fields, Named: between, Cause: func(d *engine.Detail) engine.Cause { return engine.Cause{Code: cause, About: d.Term} }}
}

// ofClaim makes a kind about one of the pod's claims, with one cause and its words.
func ofClaim(kind, fields, cause string, words func(d *engine.Detail) string) *engine.DetailKind {
	of := func(d *engine.Detail) string { return "claim " + d.Claim + ": " + words(d) }
	return &engine.DetailKind{
		Name: kind, Fields: fields, Named: "; ",
		Cause: func(d *engine.Detail) engine.Cause { return engine.Cause{Code: cause, About: of(d)} },
		Words: func(d *engine.Detail, _ engine.AmountsFunc) string { return of(d) },
	}
}

// fixed makes a kind with one cause, about the detail's name, and one sentence for people.
func fixed(kind, fields, cause, words string) *engine.DetailKind {
	k := named(kind, fields, cause)
	k.Words = func(*engine.Detail, engine.AmountsFunc) string { return words }
	return k
}
