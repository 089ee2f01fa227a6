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
	"berth/internal/report"
	"berth/internal/revision"
)

// source is where answers come from: the REST API of a server, or the same API in this process
// over a state in memory.
type source struct {
	client   *apiclient.Client
	snapshot string // cluster@revision
	cluster  string
	config   json.RawMessage // a string of YAML; nil: the API's own
	profile  string
	// semantics is the release that a server is to decide as; empty: its own, or that of the API
	// in this process.
	semantics string
	name      string // of the program
	now       func() time.Time
	dump      *dump // what the API here answers from; nil: it is a server's
}

// names are what a pod's spec names: the node that it is bound to, its scheduler, and its volumes,
// each by its name and its type.
type names struct {
	Node      string `json:"nodeName"`
	Scheduler string `json:"schedulerName"`
	// RuntimeClass is empty in most pods.
	RuntimeClass string `json:"runtimeClassName"`

	Volumes []map[string]json.RawMessage `json:"volumes"`
}

// told is a story, and its JSON as the API gives it.
type told struct {
	report.Story
	raw json.RawMessage
}

// patience is how long an answer may take. A server answers a decision in
// milliseconds, and may have to load a large cluster before the first.
const patience = 2 * time.Minute

// source chooses where to ask.
func (a *app) source(ctx context.Context) (*source, error) {
	switch {
	case a.o.server != "":
		return newServer(a)
	case a.o.snapshot != "":
		return newDump(ctx, a, nil)
	}
	l, err := a.live()
	if err != nil {
		return nil, err
	}
	if l != nil {
		return newDump(ctx, a, l)
	}
	return nil, a.noSource()
}

// noSource returns how to name one.
func (a *app) noSource() error {
	return &problem{
		what: "no data source: pass --server, --snapshot or --kubeconfig",
		next: fmt.Sprintf(`From a dump:      %s > cluster.json
                  %s explain POD --snapshot cluster.json
From a cluster:   --kubeconfig FILE, or KUBECONFIG in the environment
From a server:    --server http://127.0.0.1:8080, or BERTH_SERVER`, revision.Collect, a.name),
	}
}

func newServer(a *app) (*source, error) {
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
	s := &source{client: client, snapshot: a.o.cluster, profile: a.o.profile, semantics: a.o.semantics, name: a.name, now: a.Now}
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

// refused is an answer that is an error.
type refused = apiclient.RefusedError

// call sends a request and returns the answer's body.
func (s *source) call(ctx context.Context, method string, query url.Values, body any, path ...string) (json.RawMessage, error) {
	raw, _, err := s.exchange(ctx, method, query, body, path...)
	return raw, err
}

// write sends what a server writes, under a key, so that it is done once however often it is sent.
func (s *source) write(ctx context.Context, key string, body any, path ...string) (json.RawMessage, error) {
	raw, _, err := s.client.Write(ctx, key, body, path...)
	var none *url.Error
	if errors.As(err, &none) {
		err = s.unreachable(err)
	}
	return raw, err
}

// exchange is call with the answer's status.
func (s *source) exchange(ctx context.Context, method string, query url.Values, body any, path ...string) (json.RawMessage, int, error) {
	raw, status, err := s.client.Call(ctx, method, query, body, path...)
	var none *url.Error
	switch {
	case !errors.As(err, &none):
	case s.dump != nil:
		err = none.Err
	default:
		err = s.unreachable(err)
	}
	return raw, status, err
}

// asOf returns the query of what is told at a time: a server has one of its own.
func (s *source) asOf() url.Values {
	if s.dump == nil {
		return url.Values{}
	}
	return url.Values{"now": {s.now().UTC().Format(time.RFC3339Nano)}}
}

// ofCluster requests a part of the revision that is named, else of the newest.
func (s *source) ofCluster(ctx context.Context, query url.Values, part string) (json.RawMessage, error) {
	if err := s.ownConfig(); err != nil {
		return nil, err
	}
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "clusters", s.cluster, part)
	return raw, s.hint(ctx, err, target{})
}

// asPosted returns the query of a question with objects of files in it. Of a file that this
// process reads by itself, unknown fields are passed over.
func (s *source) asPosted() url.Values {
	if s.dump == nil {
		return nil
	}
	return passedOver()
}

// passedOver is the query of a question whose unknown fields were told when its file was read.
func passedOver() url.Values { return url.Values{"fieldValidation": {"Ignore"}} }

// unreachable returns what to look at when no answer comes.
func (s *source) unreachable(err error) error {
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
func (s *source) hint(ctx context.Context, err error, t target) error {
	return s.hintOf(ctx, err, t, "explain")
}

// hintOf is hint for a command that takes pods whole.
func (s *source) hintOf(ctx context.Context, err error, t target, command string) error {
	var r *refused
	if !errors.As(err, &r) || r.Status != http.StatusNotFound {
		return err // also where there is none
	}
	p := &problem{what: r.Error()}
	switch {
	case t.name != "" && strings.Contains(r.Detail, t.name) && s.dump != nil:
		p.what = fmt.Sprintf("%s has no pod %s", s.dump.file, t)
		p.next = "Pass the full object: kubectl get pod NAME -o json > pod.json, then -f pod.json."
		return meant(ctx, s, t, p)
	case t.name != "" && strings.Contains(r.Detail, t.name):
		p.next = "Pass the full object: kubectl get pod NAME -o json | " + s.name + " " + command + " -"
		return meant(ctx, s, t, p)
	case s.dump != nil:
		return err
	}
	p.next = "List the clusters: curl " + s.client.Base.JoinPath("v1", "clusters").String()
	return p
}

// newest refuses what a server tells only of the newest revision, under its own
// configuration.
func (s *source) newest() error {
	if s.older() {
		return &problem{what: "a server shows this for the newest revision", next: "Without @REVISION, or from a dump with --snapshot."}
	}
	return s.ownConfig()
}

// ownConfig refuses what a server tells only under its own configuration.
func (s *source) ownConfig() error {
	if s.dump == nil && (s.config != nil || s.profile != "" || s.semantics != "") {
		return &problem{what: "a server shows this under its own configuration", next: "Without --config, --semantics and --profile, or from a dump with --snapshot."}
	}
	return nil
}

// older reports whether a revision is named.
func (s *source) older() bool { return s.snapshot != s.cluster+"@latest" }
