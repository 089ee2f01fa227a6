package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// goodKinds are what the good caller asks: what a kube-scheduler asks all the time, and what a
// person or a dashboard does, with what has to stand in the answer.
var goodKinds = []struct{ name, method, path, body, want string }{
	{"filter", "POST", "/clusters/good/filter", goodCall, `"NodeNames":["n0"`},
	{"decide", "POST", "/v1/decisions", `{"snapshot":"good@latest","explain":"full","pod":` + onePod + `}`, `"outcome":"Scheduled"`},
	{"objects", "GET", "/v1/snapshots/good@latest/objects", "", `"name":"n4"`},
	{"log", "GET", "/v1/decisions?cluster=good&limit=5", "", `"items":[{`},
	{"explain", "GET", "/v1/decisions/", "", `"digestAgrees":true`}, // of one on record
}

// good asks once and returns the status; 0 for no answer, and for a wrong one. It comes from an
// address of its own.
func (s *server) good(kind int) int {
	k := goodKinds[kind]
	if k.name == "explain" {
		k.path += s.recorded
	}
	req, err := http.NewRequest(k.method, s.url+k.path, strings.NewReader(k.body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.caller.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode < 300 && !strings.Contains(string(body), k.want) {
		return 0
	}
	return res.StatusCode
}

// patience is how long the good caller asks again where it is refused for now.
const patience = 5 * time.Second

// answered asks until there is an answer, for a time.
func (s *server) answered(kind int) bool {
	for began := time.Now(); s.Alive(); time.Sleep(100 * time.Millisecond) {
		status := s.good(kind)
		if status >= 200 && status < 300 {
			return true
		}
		if time.Since(began) > patience {
			return false
		}
	}
	return false
}

// calls are what became of a caller's calls.
type calls struct {
	asked int
	took  []time.Duration // of those that were answered
}

// ask sends one kind of call after the other until done, or the server's end.
func (s *server) ask(done <-chan struct{}, kinds []int) (c calls) {
	for i := 0; s.Alive(); i++ {
		at := time.Now()
		c.asked++
		if status := s.good(kinds[i%len(kinds)]); status >= 200 && status < 300 {
			c.took = append(c.took, time.Since(at))
		}
		select {
		case <-done:
			slices.Sort(c.took)
			return c
		case <-time.After(20 * time.Millisecond):
		}
	}
	return c
}

// String is the row's columns: how many were answered, p99 and longest.
func (c calls) String() string {
	nth := func(share float64) time.Duration {
		if len(c.took) == 0 {
			return 0
		}
		return c.took[int(float64(len(c.took)-1)*share)].Round(time.Millisecond)
	}
	return fmt.Sprintf("%d of %d\t%s\t%s", len(c.took), c.asked, nth(.99), nth(1))
}

// callers ask beside an attack: a scheduler, and a person for all else.
func (s *server) callers(done <-chan struct{}) (scheduler, person calls) {
	var group sync.WaitGroup
	group.Go(func() { scheduler = s.ask(done, []int{0}) })
	group.Go(func() { person = s.ask(done, []int{1, 2, 3, 4}) })
	group.Wait()
	return scheduler, person
}

// well reports whether each kind of call is answered again, in the end, with the name of the first
// that is not.
func (s *server) well() (string, bool) {
	for kind := range goodKinds {
		if !s.answered(kind) {
			return goodKinds[kind].name, false
		}
	}
	return "", true
}
