package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"berth/internal/apiclient"
	"berth/internal/handlers/rest"
	"berth/internal/scenario"
)

// visit is one request for a page.
type visit struct {
	site *Site
	r    *http.Request
	// query are the parameters of the page's address, typed those as they stand there: query has
	// times as the API takes them.
	query, typed url.Values
	now          time.Time
	// clusters are those of the API, by name; cluster is the one that the page is about, empty
	// where there is none.
	clusters []rest.Cluster
	cluster  string
	// seen are the revisions that were asked for, nil where the caller may not see one.
	seen map[string]*rest.Snapshot
	// nodes are those of the cluster, once they were asked for.
	nodes *scenario.NodesUse
}

func (s *Site) visit(r *http.Request) *visit {
	return &visit{site: s, r: r, query: r.URL.Query(), typed: r.URL.Query(), now: s.clock().UTC()}
}

// chooseCluster takes the cluster that the URL names, else "default", else the first.
func (v *visit) chooseCluster() error {
	var list rest.ClusterList
	if err := v.get("/v1/clusters", &list); err != nil {
		return err
	}
	v.clusters, v.cluster = list.Items, v.query.Get("cluster")
	if of, _, named := strings.Cut(v.query.Get("snapshot"), "@"); named && v.cluster == "" {
		v.cluster = of
	}
	for _, c := range v.clusters {
		if v.cluster == "" && c.Name == "default" {
			v.cluster = c.Name
		}
	}
	if v.cluster == "" && len(v.clusters) > 0 {
		v.cluster = v.clusters[0].Name
	}
	return nil
}

// param is a part of the path, decoded.
func (v *visit) param(name string) string {
	text := chi.URLParam(v.r, name)
	if plain, err := url.PathUnescape(text); err == nil && v.r.URL.RawPath != "" {
		return plain
	}
	return text
}

// ofCluster is an address below the page's cluster, with the parameters of the page's own URL that
// the API takes there.
func (v *visit) ofCluster(parts []string, params ...string) string {
	address := "/v1/clusters/" + url.PathEscape(v.cluster)
	for _, p := range parts {
		address += "/" + url.PathEscape(p)
	}
	return address + v.params(params...)
}

// params returns those of the page's parameters that are named, as a query.
func (v *visit) params(names ...string) string {
	query := url.Values{}
	for _, name := range names {
		if value := v.query.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// get requests an object of the API.
func (v *visit) get(address string, into any) error {
	return v.ask(http.MethodGet, address, nil, into)
}

// post sends the API a question that has a body.
func (v *visit) post(address string, body, into any) error {
	js, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the question: %w", err)
	}
	return v.ask(http.MethodPost, address, js, into)
}

func (v *visit) ask(method, address string, body []byte, into any) error {
	req, err := v.request(method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	return v.do(req, into)
}

// do sends a request and reads the answer. The error is the API's problem, where it is one.
func (v *visit) do(req *http.Request, into any) error {
	answer := apiclient.NewRecorder()
	v.site.api.ServeHTTP(answer, req)
	if answer.Status >= http.StatusBadRequest {
		p := &problem{}
		if err := json.Unmarshal(answer.Body.Bytes(), p); err != nil || p.Status == 0 {
			return fmt.Errorf("%s %s answered %d: %s", req.Method, req.URL, answer.Status, answer.Body.String())
		}
		return p
	}
	if answer.Status == http.StatusAccepted {
		return &elsewhere{"/jobs/" + path.Base(answer.Header().Get("Location")) + "?" + v.query.Encode()}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", req.URL, err)
	}
	return nil
}

// forbids reports whether the API answered 403: the caller may not do what the page asked for.
func forbids(err error) bool {
	var p *problem
	return errors.As(err, &p) && p.Status == http.StatusForbidden
}

// forward answers with the API's own object.
func (v *visit) forward(w http.ResponseWriter, address string) {
	req, err := v.request(http.MethodGet, address, http.NoBody)
	if err != nil {
		v.site.fail(w, v, err)
		return
	}
	v.site.api.ServeHTTP(w, req)
}

// request makes a request to the API within this one: it ends with it, and comes from the same
// caller. chi finds its route anew.
func (v *visit) request(method, address string, body io.Reader) (*http.Request, error) {
	ctx := context.WithValue(v.r.Context(), chi.RouteCtxKey, nil)
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	req.Host, req.RemoteAddr, req.TLS = v.r.Host, v.r.RemoteAddr, v.r.TLS
	return req, nil
}

// revision requests a revision, once for a page; nil where the caller may not see it.
func (v *visit) revision(of string) *rest.Snapshot {
	if s, known := v.seen[of]; known {
		return s
	}
	s := &rest.Snapshot{}
	if v.get("/v1/snapshots/"+url.PathEscape(of), s) != nil {
		s = nil
	}
	if v.seen == nil {
		v.seen = map[string]*rest.Snapshot{}
	}
	v.seen[of] = s
	return s
}
