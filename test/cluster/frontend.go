package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// exchange is a call of kube-scheduler's and its answer.
type exchange struct {
	verb            string
	request, answer []byte
	status          int // 0: no answer came
	id              string
	at              time.Time
	took            time.Duration
}

// pod reads whom an exchange is about.
func (e *exchange) pod() (namespace, name, uid string) {
	var args struct {
		Pod struct {
			Metadata struct{ Namespace, Name, UID string }
		}
		PodNamespace, PodName, PodUID string
	}
	_ = json.Unmarshal(e.request, &args) // kube-scheduler's own; what is empty is found nowhere
	if args.PodName != "" {
		return args.PodNamespace, args.PodName, args.PodUID
	}
	m := args.Pod.Metadata
	return m.Namespace, m.Name, m.UID
}

// frontend is one address in front of one or more servers. It uses them in turn, skips those that
// do not listen, and records what was exchanged.
type frontend struct {
	server   *http.Server
	address  string
	client   *http.Client
	backends []string
	turn     atomic.Int64

	mu     sync.Mutex
	log    []*exchange
	active int // calls that are not answered yet
}

func newFrontend(backends ...string) (*frontend, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &frontend{
		address: l.Addr().String(), backends: backends,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 60 * time.Second}},
	}
	f.server = &http.Server{Handler: f}
	go func() { _ = f.server.Serve(l) }() // ends by close
	return f, nil
}

// ServeHTTP implements http.Handler.
func (f *frontend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	e := &exchange{verb: path.Base(r.URL.Path), request: body, at: time.Now()}
	f.mu.Lock()
	f.active++
	f.mu.Unlock()
	res, err := f.pass(r, body)
	if err == nil {
		e.answer, err = io.ReadAll(res.Body)
		_ = res.Body.Close() // read to its end, or broken
	}
	e.took = time.Since(e.at)
	if err == nil {
		e.status, e.id = res.StatusCode, res.Header.Get("Berth-Decision-Id")
	}
	f.mu.Lock()
	f.log = append(f.log, e)
	f.active--
	f.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(e.answer) // kube-scheduler's business
}

func (f *frontend) pass(r *http.Request, body []byte) (*http.Response, error) {
	first := int(f.turn.Add(1))
	var errs error
	for i := range f.backends {
		req, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+f.backends[(first+i)%len(f.backends)]+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = r.Header.Clone()
		res, err := f.client.Do(req)
		if err == nil {
			return res, nil
		}
		errs = errors.Join(errs, err)
		var dial *net.OpError
		if !errors.As(err, &dial) || dial.Op != "dial" {
			return nil, errs // it may have been heard
		}
	}
	return nil, errs
}

// calls is the URL prefix for kube-scheduler.
func (f *frontend) calls(mode string) string {
	return strings.TrimSuffix("http://"+f.address+"/clusters/"+followed+"/"+mode, "/")
}

// said returns what was said of a verb so far, or of all.
func (f *frontend) said(verb string) (list []*exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.log {
		if verb == "" || e.verb == verb {
			list = append(list, e)
		}
	}
	return list
}

// count is a number that changes with each call and with each answer.
func (f *frontend) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return 2*len(f.log) + f.active
}

func (f *frontend) close() { _ = f.server.Close() }
