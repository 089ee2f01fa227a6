package main

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
)

// noop is an extender that lets everything pass and records nothing. What is slower with it is
// slower because kube-scheduler calls any extender at all.
type noop struct {
	server  *http.Server
	address string
}

func newNoop() (*noop, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &noop{address: l.Addr().String()}
	n.server = &http.Server{Handler: n}
	go func() { _ = n.server.Serve(l) }() // ends by close
	return n, nil
}

func (n *noop) url() string { return "http://" + n.address }
func (n *noop) close()      { _ = n.server.Close() }

// ServeHTTP implements http.Handler.
func (n *noop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var args struct{ NodeNames json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	reply := []byte("[]")
	if strings.HasSuffix(r.URL.Path, "/filter") {
		reply = append(append([]byte(`{"NodeNames":`), args.NodeNames...), '}')
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(reply) // kube-scheduler's business
}
