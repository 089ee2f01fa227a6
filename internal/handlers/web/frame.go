package web

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/engine/explain/suggest"
	"berth/internal/handlers/rest"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/words"
)

//go:embed templates/*.html
var templateFiles embed.FS

// frame is what every template has: the page's own view, and what stands around it.
type frame struct {
	Title string
	Nav   string
	page  *page // nil for an error's page
	View  any
	// Still reports whether the page stays as it is when the cluster has something new.
	Still bool
	// Missing says of which kinds the snapshot has no object, and which it has that are not
	// applied.
	Missing []string
	// absent are those that it has no object of, source names it and says so.
	absent []string
	source string
	// Problem is why there is no answer, where the page's form is shown with what was typed.
	Problem *problem
	// lists are what the fields offer.
	lists []string
	// Outside is there where the page is a file.
	Outside *fileView
	*visit
}

// Menu is the list of pages that every page links to, by room.
func (f *frame) Menu() []menuRoom { return menu }

type menuRoom struct {
	Name    string
	Entries []menuEntry
}

type menuEntry struct{ Name, Path string } // Path is one element, empty for the first page

// OtherCluster is where the choice of another cluster leads: to this page, or to the list above a
// page about one thing, which another cluster does not have.
func (f *frame) OtherCluster() string {
	if f.page != nil && !strings.Contains(f.page.path, "{") {
		return f.page.path
	}
	for _, room := range menu {
		for _, e := range room.Entries {
			if e.Name == f.Nav {
				return "/" + e.Path
			}
		}
	}
	return "/"
}

// List is which news change the page beside those of the cluster: decisions for a list of them,
// which offers the new ones, both for a page that shows some.
func (f *frame) List() string {
	if f.page == nil || f.query.Has("cursor") {
		return ""
	}
	return f.page.list
}

// OfPod reports whether the page is about one pod.
func (f *frame) OfPod() bool { return f.page != nil && f.page.template == "pod" }

// Revision is the one that the page is about; nil where there is none, or the caller may not see
// it.
func (f *frame) Revision() *rest.Snapshot {
	if of := f.Snapshot(); of != "" {
		return f.revision(of)
	}
	if c := f.of(); c != nil {
		return &rest.Snapshot{ID: c.Latest, CreatedAt: c.CreatedAt}
	}
	return nil
}

// of is the page's cluster.
func (f *frame) of() *rest.Cluster {
	for i := range f.clusters {
		if f.clusters[i].Name == f.cluster {
			return &f.clusters[i]
		}
	}
	return nil
}

// Recorded is how many decisions about the cluster were on record, as the page was made.
func (f *frame) Recorded() int64 {
	if c := f.of(); c != nil {
		return c.Decisions
	}
	return 0
}

// Cluster is the name of the page's cluster.
func (f *frame) Cluster() string { return f.cluster }

// Clusters are the names of all clusters.
func (f *frame) Clusters() []string {
	names := make([]string, 0, len(f.clusters))
	for _, c := range f.clusters {
		names = append(names, c.Name)
	}
	return names
}

// Snapshot is the revision that the URL names; empty for the newest.
func (f *frame) Snapshot() string { return f.query.Get("snapshot") }

// Newest is the cluster's newest revision, as the page was made.
func (f *frame) Newest() string {
	if c := f.of(); c != nil {
		return c.Latest
	}
	return ""
}

// Version is the server's.
func (f *frame) Version() string { return f.site.version }

// Collect is the command that prints what an upload needs.
func (f *frame) Collect() string { return revision.Collect }

// missing notes of which kinds the page's snapshot has no object, and which it has that are not
// applied, in sentences as the command line has them; none for callers who may not see the
// snapshot.
func (f *frame) missing(v *visit) {
	of := v.query.Get("snapshot")
	if of == "" {
		of = v.cluster + "@latest"
	}
	s := v.revision(of)
	if s == nil {
		return
	}
	if gaps := report.GapsOf(&s.Hygiene); len(gaps) > 0 && !s.Followed {
		for _, g := range gaps {
			f.absent = append(f.absent, g.Kind)
		}
		f.source = s.ID + " has no "
		f.Missing = append(f.Missing, f.source+report.Listed(gaps)+": answers about these are guesses. Uploaded with all kinds it would have them.")
	}
	if text := report.UnappliedText(s.ID, report.UnappliedIn(s.Objects)); text != "" {
		f.Missing = append(f.Missing, text+".")
	}
}

// Unknown returns what could not be known, where it is why every node was rejected; empty for other
// decisions.
func (f *frame) Unknown(v *verdictView) string {
	if v == nil {
		return ""
	}
	kind := report.AllUnknown(v.Answer, func(kind string) bool { return slices.Contains(f.absent, kind) })
	if kind == "" {
		return ""
	}
	return "Could not know: " + f.source + report.WordsFor(kind) + "."
}

// Writable reports whether pages may change something.
func (f *frame) Writable() bool { return f.site.writable }

// Path is the page's own, for forms that lead back to it.
func (f *frame) Path() string { return f.r.URL.Path }

// Base is the address that the caller reached the server under, for commands.
func (v *visit) Base() string {
	if v.r.TLS != nil {
		return "https://" + v.r.Host
	}
	return "http://" + v.r.Host
}

// Now is when the page was made.
func (f *frame) Now() time.Time { return f.now }

// Semantics is the Kubernetes release whose behaviour decisions follow.
func (f *frame) Semantics() string { return f.site.semantics }

// Param is a parameter of the page's URL.
func (f *frame) Param(name string) string { return f.query.Get(name) }

// Has reports whether the page's URL has a parameter.
func (f *frame) Has(name string) bool { return f.query.Has(name) }

// Self is the page's own address.
func (f *frame) Self() string { return f.r.URL.RequestURI() }

// Questions are the pages about what comes next.
func (f *frame) Questions() []menuEntry { return questionPages }

// Domains are the words for node labels that a count may go by.
func (f *frame) Domains() []string { return []string{"zone", "region", "node", "pool"} }

// Tenths are the fills of a map by use.
func (f *frame) Tenths() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9} }

// ExamplePod is the pod that an empty form begins with.
func (f *frame) ExamplePod() string { return examplePod }

// To returns the address of another page about the same cluster and revision. The words are path
// elements up to an empty one, then names and values of parameters.
func (f *frame) To(parts ...string) string {
	address, query := "", url.Values{}
	at := 0
	for ; at < len(parts) && parts[at] != ""; at++ {
		address += "/" + url.PathEscape(parts[at])
	}
	for at++; at+1 < len(parts); at += 2 {
		if parts[at+1] != "" {
			query.Set(parts[at], parts[at+1])
		}
	}
	if f.cluster != "" {
		query.Set("cluster", f.cluster)
	}
	if s := f.Snapshot(); s != "" {
		query.Set("snapshot", s)
	}
	if address == "" {
		address = "/"
	}
	if len(query) == 0 {
		return address
	}
	return address + "?" + query.Encode()
}

// With returns the page's own address with one parameter changed; an empty value takes it away.
func (f *frame) With(name, value string) string {
	query := f.r.URL.Query()
	query.Del("cursor")
	if query.Del(name); value != "" {
		query.Set(name, value)
	}
	if len(query) == 0 {
		return f.r.URL.Path
	}
	return f.r.URL.Path + "?" + query.Encode()
}

// Age writes how long ago a time is, so that the script can go on counting.
func (f *frame) Age(t *time.Time) template.HTML {
	if t == nil || t.IsZero() {
		return "unknown" // the object does not say when it was made
	}
	text := words.Span(int64(f.now.Sub(*t).Seconds()))
	if f.Outside != nil {
		return template.HTML(text) //nolint:gosec // a number and its unit
	}
	return template.HTML(`<time class="age" datetime="` + t.UTC().Format(time.RFC3339) + `">` + text + "</time>") //nolint:gosec // the same
}

// Ago writes how long ago a time is, as part of a sentence.
func (f *frame) Ago(t time.Time) template.HTML { return f.Age(&t) + " ago" }

// Until writes how far off a time is.
func (f *frame) Until(t time.Time) string {
	if d := t.Sub(f.now); d > 0 {
		return "in " + words.Span(int64((d+time.Second-1)/time.Second))
	}
	return words.Span(int64(f.now.Sub(t).Seconds())) + " ago"
}

var functions = template.FuncMap{
	"count": words.Count, "plural": words.Plural, "size": words.Size,
	"action":     suggest.Action.Words,
	"instant":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":      func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"rank":       func(n int32) string { return thousands(strconv.Itoa(int(n))) },
	"amount":     func(of string, n int64) string { return amounts(of, []int64{n})[0] },
	"iconColour": func(icon string) string { return cmp.Or(iconColours[icon], icon) },
	"join":       strings.Join,
	"fold":       foldText,
	"short":      shortID,
	"agree":      agree,
	"tenths":     func(f *float64) string { return strconv.FormatFloat(*f, 'f', 1, 64) },
	"pair":       func(a, b any) [2]any { return [2]any{a, b} },
}

// iconColours are the status colours of shapes that are not named for one.
var iconColours = map[string]string{"down": "bad", "cordon": "off", "drain": "go", "near": "bad"}

// shownText is how much of a text a page shows, in characters; the rest is folded.
const shownText = 400

// folded is a text in two parts, the second of which is shown on demand.
type folded struct{ Head, Rest string }

func foldText(text string) folded {
	if r := []rune(text); len(r) > shownText {
		return folded{string(r[:shownText]), string(r[shownText:])}
	}
	return folded{Head: text}
}

// agree returns the word for one or for several.
func agree(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// shortID is the part of a decision's id that people tell decisions apart by: the end, since ids of
// one time begin alike.
func shortID(id string) string { return id[max(0, len(id)-8):] }

// parseTemplates returns each page's template with the layout and the parts.
func parseTemplates() (map[string]*template.Template, error) {
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("read the pages' templates: %w", err)
	}
	out := map[string]*template.Template{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
		if name == "layout" || strings.HasPrefix(name, "part_") {
			continue
		}
		t, err := template.New(name).Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/part_*.html", "templates/"+f.Name())
		if err != nil {
			return nil, fmt.Errorf("template of the page %s: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

const examplePod = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app: web}}
spec:
  containers:
  - name: web
    resources: {requests: {cpu: 500m, memory: 512Mi}}
`
