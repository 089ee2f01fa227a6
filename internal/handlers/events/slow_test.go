package events

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/goleak"

	"berth/internal/handlers/admit"
	"berth/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// longLog has seals of many decisions.
type longLog struct {
	admit.EventLog
	seals, each int64
}

func (l longLog) SealHeads(context.Context, string) ([]store.SealHead, error) {
	return []store.SealHead{{Number: l.seals, Hash: make([]byte, 32)}}, nil
}

func (l longLog) ListSeals(_ context.Context, cluster string, after int64, limit int, _ bool) (list []*store.Seal, err error) {
	for n := after + 1; n <= l.seals && len(list) < limit; n++ {
		list = append(list, &store.Seal{Cluster: cluster, Number: n, Hash: make([]byte, 32), AfterSeq: (n - 1) * l.each, Seq: n * l.each, RowHashes: make([]byte, 32*l.each)})
	}
	return list, nil
}

func (l longLog) FollowDecisions(_ context.Context, cluster string, after int64, limit int) (list []*store.Decision, err error) {
	for n := after + 1; n <= l.seals*l.each && len(list) < limit; n++ {
		list = append(list, &store.Decision{Cluster: cluster, Seq: n, ID: fmt.Sprint(n), Namespace: "shop", Pod: strings.Repeat("p", 250)})
	}
	return list, nil
}

var eventID = regexp.MustCompile(`(?m)^id: (\S+)\nevent: decision\ndata: .*\n\n`)

// limited notes a write that may take longer than within.
type limited struct {
	http.ResponseWriter
	within   time.Duration
	by       time.Time
	exceeded *atomic.Bool
}

func (l *limited) Unwrap() http.ResponseWriter { return l.ResponseWriter }

func (l *limited) SetWriteDeadline(by time.Time) error {
	l.by = by
	return http.NewResponseController(l.ResponseWriter).SetWriteDeadline(by)
}

func (l *limited) Write(b []byte) (int, error) {
	if l.by.IsZero() || time.Until(l.by) > l.within {
		l.exceeded.Store(true)
	}
	return l.ResponseWriter.Write(b)
}

// TestSlowReader: a reader that takes nothing is cut off and holds up no other, and what it got
// ends in an id behind which comes exactly the rest.
func TestSlowReader(t *testing.T) {
	adm, err := admit.New(&admit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := longLog{seals: 200, each: 200}
	a := New(adm, log, nil)
	a.writeWithin = 500 * time.Millisecond
	router := chi.NewRouter()
	var exceeded atomic.Bool
	router.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&limited{ResponseWriter: w, within: a.writeWithin, exceeded: &exceeded}, r)
		})
	}, adm.Observe)
	adm.Mount(router, a.Endpoints(), admit.REST, true)
	s := httptest.NewServer(router)
	defer s.Close()
	defer a.Drain()

	slow, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	request := func(after string) string {
		return "GET /v1/clusters/prod/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nLast-Event-ID: " + after + "\r\n\r\n"
	}
	if _, err := io.WriteString(slow, request("0")); err != nil {
		t.Fatal(err)
	}
	read := func(after string, want int64) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/clusters/prod/events", nil)
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Last-Event-ID", after)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got := int64(0)
		for lines := bufio.NewScanner(resp.Body); got < want && lines.Scan(); {
			if lines.Text() == "event: decision" {
				got++
			}
		}
		if got != want {
			t.Errorf("behind %s come %d events, want %d", after, got, want)
		}
	}
	read("0", log.seals*log.each)
	if exceeded.Load() { // it would not be cut off for long
		t.Fatalf("a write may take longer than %s", a.writeWithin)
	}
	for open := 1; open > 0; runtime.Gosched() { // it is cut off
		a.mu.Lock()
		open = a.all
		a.mu.Unlock()
	}
	sent, _ := io.ReadAll(slow)
	// The chunks' sizes stand between events.
	plain := regexp.MustCompile(`\r\n[0-9a-f]+\r\n`).ReplaceAllString(string(sent), "")
	ids := eventID.FindAllStringSubmatch(plain, -1)
	if n := int64(len(ids)); n == 0 || n >= log.seals*log.each {
		t.Fatalf("the slow reader got %d events", n)
	}
	read(ids[len(ids)-1][1], log.seals*log.each-int64(len(ids)))
	http.DefaultClient.CloseIdleConnections()
}

// brokenLog cannot be read from a seal on.
type brokenLog struct {
	longLog
	from int64
}

func (l brokenLog) ListSeals(ctx context.Context, cluster string, after int64, limit int, newest bool) ([]*store.Seal, error) {
	list, err := l.longLog.ListSeals(ctx, cluster, after, limit, newest)
	for _, s := range list {
		if s.Number >= l.from {
			s.Items = []byte("{")
		}
	}
	return list, err
}

// TestBrokenPage: a stream that ends because a page cannot be read ends in the place behind what it
// has sent, and not in one that was read and not sent.
func TestBrokenPage(t *testing.T) {
	adm, err := admit.New(&admit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := New(adm, brokenLog{longLog{seals: 200, each: 200}, 7}, nil) // a page has five seals
	defer a.Drain()
	router := chi.NewRouter()
	router.Use(adm.Observe)
	adm.Mount(router, a.Endpoints(), admit.REST, true)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/clusters/prod/events", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", "0")
	w := httptest.NewRecorder()
	router.ServeHTTP(w, r)
	sent := w.Body.String()
	if n := len(eventID.FindAllString(sent, -1)); n != 5*200 || !strings.Contains(sent, "id: "+behind(5, make([]byte, 32)).String()+"\nevent: bookmark\n") {
		t.Errorf("%d events were sent, and then %s", n, sent[max(0, len(sent)-200):])
	}
}
