package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
)

// noop is an extender that lets everything pass and records nothing. What is slower with it is
// slower because kube-scheduler calls any extender at all. Below /scored it also sends scores, the
// same to every pod: what is slower there is slower because kube-scheduler reads any scores at all.
type noop struct {
	server  *http.Server
	address string

	mu     sync.Mutex
	scores map[int][]byte // by the length of the names, which come in any order
}

func newNoop() (*noop, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &noop{address: l.Addr().String(), scores: map[int][]byte{}}
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
	switch {
	case strings.HasSuffix(r.URL.Path, "/filter"):
		reply = append(append([]byte(`{"NodeNames":`), args.NodeNames...), '}')
	case r.URL.Path == "/scored/prioritize":
		reply = n.scoresOf(args.NodeNames)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(reply) // kube-scheduler's business
}

// scoresOf returns scores from 0 to 10 of the nodes with these names, which are made once.
func (n *noop) scoresOf(names json.RawMessage) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	if made, ok := n.scores[len(names)]; ok {
		return made
	}
	var hosts []string
	if err := json.Unmarshal(names, &hosts); err != nil {
		return []byte(fmt.Sprint(err)) // which kube-scheduler cannot read
	}
	list := make([]struct {
		Host  string
		Score int
	}, len(hosts))
	for i, host := range hosts {
		list[i].Host, list[i].Score = host, i%11
	}
	made, _ := json.Marshal(list) // of strings and numbers
	n.scores[len(names)] = made
	return made
}
