package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// server asks a running berth over its REST API.
type server struct {
	base     *url.URL
	snapshot string // cluster@revision
	cluster  string
	config   json.RawMessage // a string of YAML; nil: the server's own
	profile  string
	client   *http.Client
	name     string // of the program
	token    string // empty: none
	now      func() time.Time
}

// patience is how long an answer may take. A server answers a decision in
// milliseconds, and may have to load a large cluster before the first.
const patience = 2 * time.Minute

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 30

func newServer(a *app) (*server, error) {
	base, err := url.Parse(a.o.server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &problem{what: fmt.Sprintf("--server %q is no URL", a.o.server), next: "Expected a URL such as http://127.0.0.1:8080."}
	}
	s := &server{base: base, snapshot: a.o.cluster, profile: a.o.profile, name: a.name, now: a.Now, client: &http.Client{Timeout: patience}}
	s.cluster, _, _ = strings.Cut(a.o.cluster, "@")
	if s.cluster == a.o.cluster {
		s.snapshot += "@latest"
	}
	token, err := a.token()
	if err != nil {
		return nil, err
	}
	if err := s.authorize(token); err != nil {
		return nil, err
	}
	if err := s.trust(a.o.ca); err != nil {
		return nil, err
	}
	for _, o := range a.beside {
		a.note("%s is not used: the server decides on its own objects", o.Key)
	}
	if a.o.config != "" {
		raw, err := os.ReadFile(a.o.config)
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		if s.config, err = json.Marshal(string(raw)); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	}
	return s, nil
}

func (s *server) decide(ctx context.Context, q question) (*answer, error) {
	if q.snapshot == "" {
		q.snapshot = s.snapshot
	}
	body := map[string]any{"snapshot": q.snapshot, "explain": q.explain, "suggest": q.suggest, "dryRun": true}
	whole := q.pod.whole
	if q.ungated && whole == nil {
		o, err := s.object(ctx, "Pod", q.pod.namespace, q.pod.name)
		if err != nil {
			return nil, err
		}
		if o != nil {
			whole = o.raw
		}
	}
	switch {
	case whole != nil && q.ungated:
		pod, err := ungated(whole)
		if err != nil {
			return nil, err
		}
		body["pod"] = pod
	case q.pod.whole != nil:
		body["pod"] = q.pod.whole
	default:
		body["podRef"] = map[string]string{"namespace": q.pod.namespace, "name": q.pod.name}
	}
	if s.config != nil {
		body["config"] = s.config
	}
	if s.profile != "" {
		body["profile"] = s.profile
	}
	// What of the pod is not known was said when its file was read.
	query := url.Values{"fieldValidation": {"Ignore"}}
	raw, err := s.callWith(ctx, http.MethodPost, query, body, "v1", "decisions")
	if err != nil {
		return nil, s.hint(ctx, err, q.pod)
	}
	return readAnswer(raw)
}

// story is of the newest revision, under the server's own configuration.
func (s *server) story(ctx context.Context, t target) (*told, error) {
	if t.whole != nil || s.config != nil || s.profile != "" || s.older() {
		return nil, nil
	}
	raw, err := s.call(ctx, http.MethodGet, nil, "v1", "clusters", s.cluster, "pods", t.namespace, t.name)
	var r *refused
	if errors.As(err, &r) && r.Status == http.StatusNotFound {
		return nil, nil // the decision then names what is missing
	}
	if err != nil {
		return nil, err
	}
	st := &told{raw: raw}
	if err := json.Unmarshal(raw, st); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return st, nil
}

// refused is an answer that is an error.
type refused struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Errors []struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Error returns the detail, and the fields at fault.
func (r *refused) Error() string {
	text := strings.TrimPrefix(r.Detail, "podRef: ") // the reader named a pod, not a field
	if text == "" {
		text = fmt.Sprintf("the server answered %d %s", r.Status, http.StatusText(r.Status))
	}
	for _, e := range r.Errors {
		if !strings.Contains(text, e.Message) {
			text += fmt.Sprintf("; %s: %s", e.Field, e.Message)
		}
	}
	return text
}

// call sends a request and returns the answer's body.
func (s *server) call(ctx context.Context, method string, body any, path ...string) (json.RawMessage, error) {
	return s.callWith(ctx, method, nil, body, path...)
}

// callWith is call with a query.
func (s *server) callWith(ctx context.Context, method string, query url.Values, body any, path ...string) (json.RawMessage, error) {
	raw, _, err := s.exchange(ctx, method, query, body, path...)
	return raw, err
}

// exchange is callWith with the answer's status.
func (s *server) exchange(ctx context.Context, method string, query url.Values, body any, path ...string) (json.RawMessage, int, error) {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, 0, fmt.Errorf("write the question: %w", err)
		}
		in = bytes.NewReader(raw)
	}
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	at := s.base.JoinPath(path...)
	if len(query) > 0 {
		at.RawQuery = query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), in)
	if err != nil {
		return nil, 0, fmt.Errorf("--server: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, 0, s.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, 0, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		r := &refused{}
		_ = json.Unmarshal(out, r) // whatever it is, the status is told
		r.Status = resp.StatusCode
		return nil, resp.StatusCode, r
	}
	return out, resp.StatusCode, nil
}

// unreachable returns what to look at when no answer comes.
func (s *server) unreachable(err error) error {
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	p := &problem{what: "ask " + s.base.Redacted(), why: err, next: "Is berth there? curl " + s.base.JoinPath("readyz").String()}
	if errors.As(err, &timeout) && timeout.Timeout() {
		p.next = "It did not answer in time."
	} else if errors.As(err, &op) {
		p.why = op
	}
	return p
}

// hint returns what to do about a refusal.
func (s *server) hint(ctx context.Context, err error, t target) error {
	var r *refused
	if !errors.As(err, &r) || r.Status != http.StatusNotFound {
		return err // also where there is none
	}
	p := &problem{what: r.Error()}
	if t.name != "" && strings.Contains(r.Detail, t.name) {
		p.next = "Pass the full object: kubectl get pod NAME -o json | " + s.name + " explain -"
		return meant(ctx, s, t, p)
	}
	p.next = "List the clusters: curl " + s.base.JoinPath("v1", "clusters").String()
	return p
}
