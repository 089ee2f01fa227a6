//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// floor serves what berth would if a decision took no time: a request is read and not looked at,
// the answer is one that berth gave to such a request, and its record is a row that the driver
// alone writes, in a transaction with those that came meanwhile. The function returned ends it.
func (s *server) floor(ctx context.Context, b bench) (*server, func() error, error) {
	answers := map[bool][]byte{}
	for _, dry := range []bool{true, false} {
		more := ""
		if dry {
			more = dryRun
		}
		answer, err := http.Post("http://"+s.address+decisions, "application/json", strings.NewReader(body(taintedCluster, plainPod, more)))
		if err != nil {
			return nil, nil, err
		}
		text, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return nil, nil, err
		}
		if answer.StatusCode/100 != 2 {
			return nil, nil, fmt.Errorf("an answer to give again is %s: %s", answer.Status, text)
		}
		answers[dry] = text
	}
	write, finish, err := b.bare(ctx)
	if err != nil {
		return nil, nil, err
	}
	waiting := make(chan chan error, 1<<10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		writeTogether(waiting, write)
	}()
	f, err := s.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		dry := strings.Contains(string(text), dryRun)
		status := http.StatusOK
		if err == nil && !dry {
			status = http.StatusCreated
			written := make(chan error, 1)
			waiting <- written
			err = <-written
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(answers[dry])))
		w.WriteHeader(status)
		_, _ = w.Write(answers[dry])
	}))
	if err != nil {
		return nil, nil, errors.Join(err, finish())
	}
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
