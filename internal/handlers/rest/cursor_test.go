package rest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// FuzzCursors: no cursor but the one of its list is opened, and none ends the server.
func FuzzCursors(f *testing.F) {
	a := &API{cursorKey: []byte("a key of the test")}
	at := func(query string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/v1/decisions", nil)
		r.URL.RawQuery = query
		return r
	}
	r := at("cluster=prod&limit=2")
	f.Add(a.sealCursor(r, "1/abc"), "cluster=prod")
	f.Add("AAAA", "cluster=test&limit=9")
	f.Add("", "")
	f.Add("=%zz;", "%zz;")
	f.Fuzz(func(t *testing.T, cursor, query string) {
		r := at("cursor=" + url.QueryEscape(cursor) + "&" + query)
		plain, err := a.openCursor(r)
		if got := r.URL.Query().Get("cursor"); err == nil && got != "" && a.sealCursor(r, plain) != got {
			t.Errorf("%q is opened as %q, whose cursor is %q", got, plain, a.sealCursor(r, plain))
		}
	})
}
