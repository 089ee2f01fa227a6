package web

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/words"
)

// field is a field of a form, as the part "field" draws it.
type field struct {
	Name, Label, Value, Placeholder string
	// List is the id of the names that it offers; empty for none.
	List string
	// Wrong is what is wrong with the value; empty where nothing is.
	Wrong string
	// Rows is the height of a text of several lines; 0 for one line.
	Rows int
	// Number fields bring up digits on a phone; Needed ones have to be filled in.
	Number, Needed bool
}

// Field returns a field that a page's address has the value of. list names what it offers (the
// names of offered), and may be empty.
func (f *frame) Field(name, label, placeholder, list string) field {
	out := field{Name: name, Label: label, Placeholder: placeholder, Value: f.typed.Get(name), Wrong: f.wrongWith(name)}
	if list != "" {
		out.List = "list-" + list
		if !slices.Contains(f.lists, list) {
			f.lists = append(f.lists, list)
		}
	}
	return out
}

// Needed is Field, for one that has to be filled in.
func (f *frame) Needed(name, label, placeholder, list string) field {
	out := f.Field(name, label, placeholder, list)
	out.Needed = true
	return out
}

// Number is Field, for a number.
func (f *frame) Number(name, label, placeholder string) field {
	out := f.Field(name, label, placeholder, "")
	out.Number = true
	return out
}

// Area is Field, for a text of several lines that begins with one.
func (f *frame) Area(name, label string, rows int, begin string) field {
	out := f.Field(name, label, "", "")
	if out.Rows = rows; !f.typed.Has(name) {
		out.Value = begin
	}
	return out
}

// wrongWith returns what is wrong with a field of the page's form.
func (f *frame) wrongWith(name string) string {
	var out []string
	if f.Problem != nil {
		for _, e := range f.Problem.Errors {
			if at, rest := formField(e.Field); at == name {
				out = append(out, join(rest, e.Message))
			}
		}
	}
	return strings.Join(out, "; ")
}

// Mistakes are those of a page's problem that no field of its form stands for, and how many fields
// are marked.
func (f *frame) Mistakes() (out mistakes) {
	for _, e := range f.Problem.Errors {
		if at, rest := formField(e.Field); at != "" {
			out.Fields++
		} else {
			out.Others = append(out.Others, join(rest, e.Message))
		}
	}
	if out.Fields == 0 && len(out.Others) == 0 {
		out.Others = []string{f.Problem.Detail}
	}
	return out
}

type mistakes struct {
	Fields int
	Others []string
}

func join(where, what string) string {
	if where == "" {
		return what
	}
	return where + ": " + what
}

// formFields are the fields of forms by what the API calls them: the first part of the path, or
// the first two. What is behind it is of the object that was typed.
var formFields = []struct{ path, field string }{
	{"pools.like", "like"},
	{"edits.addNodes.like", "like"},
	{"edits.addNodes.count", "count"},
	{"pools.zone", "zone"},
	{"edits.addNodes.zone", "zone"},
	{"pools.labels", "labels"},
	{"edits.addNodes.labels", "labels"},
	{"pools.taints", "taints"},
	{"edits.addNodes.taints", "taints"},
	{"pools.resources", "size"},
	{"edits.addNodes.resources", "size"},
	{"pools", "like"},
	{"edits.addNodes", "like"},
	{"arrivals.workloads.pod", "pod"},
	{"arrivals.workloads.count", "count"},
	{"profiles.config", "config"},
	{"profiles", "config"},
	{"id", "a"},
	{"to", "b"},
	{"nodes", "nodes"},
	{"selector", "selector"},
	{"zone", "zone"},
	{"find", "find"},
	{"pod", "pod"},
	{"podRef", "pod"},
	{"max", "max"},
	{"by", "by"},
	{"count", "count"},
	{"config", "config"},
	{"like", "like"},
	{"labels", "labels"},
	{"taints", "taints"},
	{"size", "size"},
	{"group", "group"},
	{"resource", "resource"},
	{"since", "since"},
	{"until", "until"},
	{"namespace", "namespace"},
	{"node", "node"},
	{"outcome", "outcome"},
	{"verb", "verb"},
	{"limit", "limit"},
	{"with", "with"},
	{"a", "a"},
	{"b", "b"},
	{"objects", "objects"},
	{"q", "q"},
}

var indices = regexp.MustCompile(`\[\d+\]`)

// formField returns the field of a form that stands for a path of the API's, and what of the path
// is within its value; no field for another path.
func formField(path string) (name, rest string) {
	plain := indices.ReplaceAllString(path, "")
	for _, f := range formFields {
		if plain != f.path && !strings.HasPrefix(plain, f.path+".") {
			continue
		}
		for range strings.Count(f.path, ".") + 1 {
			_, path, _ = strings.Cut(path, ".")
		}
		return f.field, path
	}
	return "", path
}

// wrong is a mistake in one field of a page's form.
func wrong(name, message string) error {
	return &problem{Status: http.StatusBadRequest, Title: wrongTitle, Detail: message, Errors: []exchange.FieldError{{Field: name, Message: message}}}
}

const wrongTitle = "Nothing was answered yet"

// mistaken returns the problem with which a page's form is shown again; nil where the page has no
// form, or the error is none of what was typed. A problem that names no field is of the one whose
// value it repeats.
func mistaken(view any, err error, typed url.Values) *problem {
	var p *problem
	if view == nil || !errors.As(err, &p) {
		return nil
	}
	switch p.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return nil
	}
	if len(p.Errors) > 0 {
		return p
	}
	longest := ""
	for _, f := range formFields {
		if value := typed.Get(f.field); len(value) > len(typed.Get(longest)) && strings.Contains(p.Detail, value) {
			longest = f.field
		}
	}
	if longest != "" && longest != "q" {
		p.Errors = []exchange.FieldError{{Field: longest, Message: p.Detail}}
	}
	return p
}

// times rewrites times that say how long ago they are as the API takes them.
func (v *visit) times() error {
	for _, name := range []string{"since", "until"} {
		text := v.query.Get(name)
		if text == "" {
			continue
		}
		at, err := words.Since(text, v.now)
		if err != nil {
			return wrong(name, "“"+text+"” is no time: want how long ago it was, such as 90m, 6h or 7d, or a time such as "+v.now.Format(time.RFC3339))
		}
		v.query.Set(name, at.UTC().Format(time.RFC3339Nano))
	}
	return nil
}
