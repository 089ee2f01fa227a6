package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// link names the server's page about what was shown, to a person at a terminal. The parts are path
// elements; a server that has no pages is not linked to.
func (a *app) link(ctx context.Context, s *source, parts ...string) {
	if s.dump != nil || !a.Watched || a.o.output == formJSON || a.o.output == formHTML {
		return
	}
	query := url.Values{"cluster": {s.cluster}}
	if s.older() {
		query = url.Values{"snapshot": {s.snapshot}}
	}
	page := s.client.Base.JoinPath(parts...)
	page.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.client.Base.JoinPath("settings").String(), http.NoBody)
	if err != nil {
		return
	}
	resp, err := s.client.HTTP.Do(req)
	if err != nil {
		return
	}
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		fmt.Fprintf(a.Err, "page: %s\n", page)
	}
}
