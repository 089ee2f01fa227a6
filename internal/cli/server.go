package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"berth/internal/apiclient"
)

// server asks a running berth over its REST API.
type server struct {
	client   *apiclient.Client
	snapshot string // cluster@revision
	cluster  string
	config   json.RawMessage // a string of YAML; nil: the server's own
	profile  string
	name     string // of the program
	now      func() time.Time
}

// patience is how long an answer may take. A server answers a decision in
// milliseconds, and may have to load a large cluster before the first.
const patience = 2 * time.Minute

func newServer(a *app) (*server, error) {
	client, err := apiclient.New(apiclient.Options{
		Server: a.o.server, Token: a.Env("BERTH_TOKEN"), TokenFile: a.o.tokenFile, CA: a.o.ca, Timeout: patience,
	})
	var option *apiclient.OptionError
	if errors.As(err, &option) {
		return nil, &problem{what: option.What, next: option.Remedy}
	}
	if err != nil {
		return nil, err
	}
	s := &server{client: client, snapshot: a.o.cluster, profile: a.o.profile, name: a.name, now: a.Now}
	s.cluster, _, _ = strings.Cut(a.o.cluster, "@")
	if s.cluster == a.o.cluster {
		s.snapshot += "@latest"
	}
	for _, o := range a.beside {
		a.note("%s is not used: the server decides on its own objects", o.Key)
	}
	if a.o.config != "" {
		raw, err := a.configuration(a.o.config)
		if err != nil {
			return nil, err
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
type refused = apiclient.RefusedError

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
	raw, status, err := s.client.Call(ctx, method, query, body, path...)
	var none *url.Error
	if errors.As(err, &none) {
		err = s.unreachable(err)
	}
	return raw, status, err
}

// unreachable returns what to look at when no answer comes.
func (s *server) unreachable(err error) error {
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	p := &problem{what: "ask " + s.client.Base.String(), why: err, next: "Is berth there? curl " + s.client.Base.JoinPath("readyz").String()}
	if errors.As(err, &timeout) && timeout.Timeout() {
		p.next = "It did not answer in time."
	} else if errors.As(err, &op) {
		p.why = op
	}
	return p
}

// hint returns what to do about a refusal.
func (s *server) hint(ctx context.Context, err error, t target) error {
	return s.hintOf(ctx, err, t, "explain")
}

// hintOf is hint for a command that takes pods whole.
func (s *server) hintOf(ctx context.Context, err error, t target, command string) error {
	var r *refused
	if !errors.As(err, &r) || r.Status != http.StatusNotFound {
		return err // also where there is none
	}
	p := &problem{what: r.Error()}
	if t.name != "" && strings.Contains(r.Detail, t.name) {
		p.next = "Pass the full object: kubectl get pod NAME -o json | " + s.name + " " + command + " -"
		return meant(ctx, s, t, p)
	}
	p.next = "List the clusters: curl " + s.client.Base.JoinPath("v1", "clusters").String()
	return p
}
