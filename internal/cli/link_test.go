package cli

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// A person at a terminal is shown the page of the server, where it has pages; a program is not.
func TestLinkToThePage(t *testing.T) {
	base, online := uploaded(t)
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	paged := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/settings" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			return
		}
		httputil.NewSingleHostReverseProxy(at).ServeHTTP(w, r)
	}))
	defer paged.Close()
	for _, c := range []struct {
		server, want string
		watched      bool
		args         []string
	}{
		{paged.URL, "page: " + paged.URL + "/pods/shop/huge?cluster=prod\n", true, []string{"explain", "shop/huge"}},
		{paged.URL, "page: " + paged.URL + "/?cluster=prod\n", true, []string{"pending", "-A"}},
		{paged.URL, "", false, []string{"explain", "shop/huge"}},
		{paged.URL, "", true, []string{"explain", "shop/huge", "-o", "json"}},
		{base, "", true, []string{"explain", "shop/huge"}},
	} {
		online.env["BERTH_SERVER"], online.watched = c.server, c.watched
		got := online.run(t, c.args...)
		if _, link, _ := strings.Cut(got.err, "page: "); got.err != c.want && "page: "+link != c.want {
			t.Errorf("%v: stderr has %q, want %q", c.args, got.err, c.want)
		}
	}
}
