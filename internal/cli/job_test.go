package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/apiclient"
)

// followed is a server and the progress of a call of it on a terminal, whose clock goes on.
func followed(t *testing.T, at string) (*source, *progress, *bytes.Buffer) {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{Server: at})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	a := &app{Streams: Streams{Err: &text, Watched: true, Env: func(string) string { return "" }, Now: ticking(today)}}
	return &source{client: client}, a.progress("running"), &text
}

// TestServersJobIsFollowed asks a real server for a job, and wants the answer of the call.
func TestServersJobIsFollowed(t *testing.T) {
	at, _ := uploaded(t)
	s, wait, _ := followed(t, at)
	ask := func(wait *progress, waits string) string {
		t.Helper()
		raw, err := s.follow(t.Context(), wait, nil, map[string]any{"selector": "kubernetes.io/hostname", "wait": waits}, "v1", "clusters", "prod", "losses")
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if job, call := ask(wait, "0s"), ask(wait, "1m"); job != strings.TrimSpace(call) {
		t.Errorf("%s\nwant\n%s", job, call)
	}
}

func TestJobIsShownAndCancelled(t *testing.T) {
	var gets, cancels atomic.Int32
	last := atomic.Pointer[string]{}
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const job = `{"id":"j1","state":"running","progress":[{"part":"today","done":10,"total":10},{"part":"packed","done":3,"total":10}]}`
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/cancel"):
			cancels.Add(1)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusAccepted)
		case gets.Add(1) == 2:
			_, _ = io.WriteString(w, *last.Load())
			return
		}
		_, _ = io.WriteString(w, job)
	}))
	defer fake.Close()
	ask := func(ctx context.Context, end string) (string, string, error) {
		gets.Store(0)
		last.Store(&end)
		s, wait, text := followed(t, fake.URL)
		raw, err := s.follow(ctx, wait, nil, nil, "v1", "simulations")
		return string(raw), text.String(), err
	}
	raw, text, err := ask(t.Context(), `{"id":"j1","state":"done","result":{"a":1}}`)
	if err != nil || raw != `{"a":1}` || !strings.Contains(text, "running: [#########.....................] 30% of 10 (packed)") || !strings.HasSuffix(text, " \r") {
		t.Errorf("%s %q %v", raw, text, err)
	}
	if _, _, err = ask(t.Context(), `{"id":"j1","state":"failed","reason":"nodes: none"}`); err == nil || !strings.Contains(err.Error(), "job j1: nodes: none") {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(jobEvery/2, stop)
	if _, _, err = ask(ctx, `{}`); !errors.Is(err, context.Canceled) || cancels.Load() != 1 {
		t.Errorf("%v, cancelled %d times", err, cancels.Load())
	}
}
