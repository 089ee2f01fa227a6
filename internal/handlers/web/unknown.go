package web

import (
	"net/http"
	"path"
	"strings"

	"berth/internal/words"
)

// Unknown answers a browser about an address that nothing is at. One with a slash at its end leads
// to the page without.
func (s *Site) Unknown(w http.ResponseWriter, r *http.Request) {
	v := s.visit(r)
	if at := path.Clean(r.URL.Path); at != r.URL.Path && strings.HasSuffix(r.URL.Path, "/") && isPage(at) {
		if r.URL.RawQuery != "" {
			at += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, at, http.StatusPermanentRedirect)
		return
	}
	v.cluster = v.query.Get("cluster") // callers may have no identity
	view := &unknownView{Path: r.URL.Path}
	var names []string
	for i := range pages {
		if !strings.Contains(pages[i].path, "{") {
			names = append(names, pages[i].path)
		}
	}
	if near, ok := words.Nearest(r.URL.Path, names); ok {
		view.Near = strings.TrimPrefix(near, "/")
	}
	s.write(w, http.StatusNotFound, "unknown", &frame{Title: "No such page", View: view, Still: true, visit: v})
}

// unknownView is an address that nothing is at, and the page whose address is like it.
type unknownView struct{ Path, Near string }

// isPage reports whether a path is that of a page.
func isPage(at string) bool {
	for i := range pages {
		if ok, err := path.Match(wild.Replace(pages[i].path), at); ok && err == nil {
			return true
		}
	}
	return false
}

var wild = strings.NewReplacer("{id}", "*", "{name}", "*", "{namespace}", "*", "{node}", "*")
