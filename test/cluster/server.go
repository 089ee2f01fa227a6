package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// followed is the name under which berth follows the suite's cluster.
const followed = "live"

// server is a berth. It can be killed and started again on the same address.
type server struct {
	program, dir, name string
	listen, extender   string // addresses; extender may be empty
	args               []string
	proc               *process
}

// newServer makes one over its own directory that follows the apiserver at an
// address.
func newServer(c *control, program, dir, name, apiserver string, args ...string) (*server, error) {
	s := &server{program: program, dir: dir, name: name}
	kubeconfig := filepath.Join(dir, name+".kubeconfig")
	if err := c.kubeconfig(kubeconfig, apiserver); err != nil {
		return nil, err
	}
	var err error
	if s.listen, err = freeAddress(); err != nil {
		return nil, err
	}
	s.args = append([]string{"--listen", s.listen, "--data-dir", filepath.Join(dir, name+"-data"), "--follow", followed + "=" + kubeconfig}, args...)
	return s, nil
}

// withExtender gives it a second listener, for kube-scheduler.
func (s *server) withExtender(args ...string) (err error) {
	if s.extender, err = freeAddress(); err == nil {
		s.args = append(append(s.args, "--extender-listen", s.extender), args...)
	}
	return err
}

// start waits until it is ready, which it is when it has read the cluster.
func (s *server) start() (err error) {
	if s.proc, err = spawn(s.dir, s.name, s.program, s.args...); err != nil {
		return err
	}
	client := &http.Client{Timeout: 5 * time.Second}
	return s.proc.await(60*time.Second, func() error { return ok(context.Background(), client, s.url("/readyz")) })
}

func (s *server) url(path string) string { return "http://" + s.listen + path }

// calls is the URL prefix for kube-scheduler; mode is "", shadow or score-only.
func (s *server) calls(mode string) string {
	return strings.TrimSuffix(s.url("/clusters/"+followed+"/"+mode), "/")
}

var direct = &http.Client{Timeout: 5 * time.Minute}

// call asks over REST; in and out may be nil.
func (s *server) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	switch v := in.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(v)
	default:
		js, err := json.Marshal(v)
		if err != nil {
			return err
		}
		body = bytes.NewReader(js)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url(path), body)
	if err != nil {
		return err
	}
	res, err := direct.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, raw)
	}
	if out == nil {
		return nil
	}
	if text, ok := out.(*string); ok {
		*text = string(raw)
		return nil
	}
	return json.Unmarshal(raw, out)
}

// row is a record as the list gives it.
type row struct {
	ID, Snapshot, Verb, Outcome, Node, NominatedNode, Message, Mode string
	Pod                                                             struct{ Namespace, Name, UID string }
	Counts                                                          struct{ Nodes, Feasible int }
	DurationMicros, Seq                                             int64
	StaleMillis                                                     *int64
}

// records follows the cluster's log from its beginning, in order.
func (s *server) records(ctx context.Context) (all []row, err error) {
	for after := int64(0); ; {
		var page struct {
			Items []row
			Next  int64
		}
		q := url.Values{"cluster": {followed}, "after": {fmt.Sprint(after)}, "limit": {"500"}}
		if err := s.call(ctx, http.MethodGet, "/v1/decisions?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		if len(page.Items) == 0 {
			return all, nil
		}
		all, after = append(all, page.Items...), page.Next
	}
}

// decision is what the suite reads of an answer.
type decision struct {
	ID, Snapshot, Outcome, Node, Message string
	Best                                 []string
	Nodes                                []struct {
		Name     string
		Feasible bool
	}
}
