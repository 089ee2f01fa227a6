//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// given is an answer of berth's to requests that hold the mark.
type given struct {
	mark   string
	status int
	text   []byte
}

// answersOf asks berth each of the questions whose answers a floor gives again. Every request holds
// the mark of the last one.
func (s *server) answersOf() ([]given, error) {
	var all []given
	for _, q := range []struct{ cluster, pod, mark string }{
		{taintedCluster, plainPod, dryRun}, {boundCluster, smallPod, bindNow}, {taintedCluster, plainPod, ""},
	} {
		answer, err := http.Post("http://"+s.address+decisions, "application/json", strings.NewReader(body(q.cluster, q.pod, q.mark)))
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return nil, err
		}
		if answer.StatusCode/100 != 2 {
			return nil, fmt.Errorf("an answer to give again is %s: %s", answer.Status, text)
		}
		all = append(all, given{q.mark, answer.StatusCode, text})
	}
	return all, nil
}

// floor serves what berth would if a decision took no time: a request is read and not looked at,
// the answer is one that berth gave to such a request, and its record is a row that the driver
// alone writes, in a transaction with those that came meanwhile. The function returned ends it.
func (s *server) floor(ctx context.Context, b bench) (*server, func() error, error) {
	answers, err := s.answersOf()
	if err != nil {
		return nil, nil, err
	}
	write, finish, err := b.bare(ctx)
	if err != nil {
		return nil, nil, err
	}
	waiting := make(chan chan error, 1<<10)
	f, err := s.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		answer := answers[slices.IndexFunc(answers, func(a given) bool { return bytes.Contains(text, []byte(a.mark)) })]
		if err == nil && answer.status == http.StatusCreated {
			written := make(chan error, 1)
			waiting <- written
			err = <-written
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer.text)))
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.text)
	}))
	if err != nil {
		return nil, nil, errors.Join(err, finish())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		writeTogether(waiting, write)
	}()
	return f, func() error {
		err := f.http.Shutdown(ctx)
		close(waiting)
		<-ended
		return errors.Join(err, finish())
	}, nil
}

// writeTogether writes a row for each that waits, all that wait in one transaction.
func writeTogether(waiting <-chan chan error, write func(rows int) error) {
	for first := range waiting {
		batch := []chan error{first}
		for more := len(waiting); more > 0; more-- {
			batch = append(batch, <-waiting)
		}
		err := write(len(batch))
		for _, written := range batch {
			written <- err
		}
	}
}
