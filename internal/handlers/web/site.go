package web

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"berth/internal/handlers/exchange"
	"berth/internal/semantics"
)

// Options are what a Site is made of. API is needed; the rest has defaults.
type Options struct {
	// API answers the requests that pages make: the REST routes.
	API http.Handler
	// Writable lets pages change something: load the sample.
	Writable bool
	// Settings are those in force, for the page that shows them.
	Settings []Setting
	// Version is the program's own, as people see it.
	Version string
	// Semantics is the release that the API decides as; the default one if empty.
	Semantics string
	// Wait is how long a form waits for its answer before its page follows a job; 2 s if 0.
	Wait time.Duration
	// Clock is the time that ages are counted to; time.Now if nil.
	Clock func() time.Time
}

// Site serves the pages.
type Site struct {
	api       http.Handler
	writable  bool
	version   string
	semantics string
	settings  []Setting
	clock     func() time.Time
	wait      time.Duration
	examples  []playExample
	templates map[string]*template.Template
	assets    map[string]asset
}

// New returns a site. The error is of its own templates.
func New(o Options) (*Site, error) {
	s := &Site{api: o.API, writable: o.Writable, version: o.Version, semantics: cmp.Or(o.Semantics, semantics.Default().Name), settings: o.Settings, clock: o.Clock, wait: cmp.Or(o.Wait, 2*time.Second)}
	if s.clock == nil {
		s.clock = time.Now
	}
	var err error
	if s.templates, err = parseTemplates(); err != nil {
		return nil, err
	}
	if s.examples, err = readPlay(); err != nil {
		return nil, err
	}
	s.assets, err = readAssets()
	return s, err
}

// page is one address of the explorer.
type page struct {
	path     string // chi's pattern
	template string // the file below templates/, without its ending
	nav      string // the entry of the menu that is marked
	// data is the address of the API's object for the same question, for callers who accept JSON.
	data func(v *visit) string
	// load requests what the page shows. The title stands in the browser's tab. With an error
	// beside a view the page is its form, which marks what is wrong with it.
	load func(v *visit) (title string, view any, err error)
	// still pages are not fetched again when the cluster has something new.
	still bool
	// list is which news change the page beside those of the cluster (frame.List).
	list string
	// judges is set for pages whose answers depend on what the snapshot holds.
	judges bool
}

// Routes adds the pages to a router.
func (s *Site) Routes(r chi.Router) {
	for i := range pages {
		r.Get(pages[i].path, s.serve(&pages[i]))
	}
	r.Get("/assets/{file}", s.asset)
	r.Post("/play", s.play)
	r.Post("/jobs/{id}/cancel", s.cancelJob)
	if s.writable {
		r.Post("/sample", s.loadSample)
	}
}

func (s *Site) serve(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := s.visit(r)
		w.Header().Add("Vary", "Accept")
		f, err := frame{page: p, Nav: p.nav, Still: p.still, visit: v}, v.chooseCluster()
		if err == nil && p.data != nil && wantsJSON(r) {
			if v.times() != nil { // the API refuses the time in its own words
				v.query = r.URL.Query()
			}
			v.forward(w, p.data(v))
			return
		}
		if err == nil {
			f.Title, f.View, err = p.load(v)
		}
		if err == nil && p.judges && v.cluster != "" {
			f.missing(v)
		}
		var to *elsewhere
		if errors.As(err, &to) {
			http.Redirect(w, r, to.address, http.StatusSeeOther)
			return
		}
		status := http.StatusOK
		if f.Problem = mistaken(f.View, err, v.typed); f.Problem != nil {
			f.Title, status = cmp.Or(f.Title, wrongTitle), f.Problem.Status
		} else if err != nil {
			s.fail(w, v, err)
			return
		}
		s.write(w, status, p.template, &f)
	}
}

// wantsJSON reports whether a caller wants the API's object: it names JSON, and no page.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// fail writes an error as a page, with the API's status.
func (s *Site) fail(w http.ResponseWriter, v *visit, err error) {
	p := &problem{Status: http.StatusInternalServerError, Title: "The page could not be made"}
	if !errors.As(err, &p) {
		p.Detail = err.Error()
	}
	s.write(w, p.Status, "error", &frame{Title: p.Title, View: p, visit: v})
}

// policy lets a page load what this server serves, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// write renders a page. It is rendered whole first, so that an error never ends half a page.
func (s *Site) write(w http.ResponseWriter, status int, name string, f *frame) {
	var out bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&out, "layout", f); err != nil {
		http.Error(w, fmt.Sprintf("the page could not be written: %v", err), http.StatusInternalServerError)
		return
	}
	page := plain(out.Bytes())
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	_, _ = w.Write(page)
}

// problem is an error of the API as a page shows it.
type problem exchange.Problem

// Error implements error.
func (p *problem) Error() string { return p.Title + ": " + p.Detail }
