package handlers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"berth/api"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

// TestBudget: bodies that are held back take memory as they come; who comes then is told to come
// again, and all is given back in the end.
func TestBudget(t *testing.T) {
	const limit = 36 << 20
	h := start(t, func(o *admit.Options) { o.Limits.MemoryBudget = limit })
	h.upload("default", small())
	in, out := io.Pipe()
	var group sync.WaitGroup
	group.Go(func() {
		r := httptest.NewRequest("POST", "/filter", in)
		r.ContentLength = 30 << 20
		h.api.Handler().ServeHTTP(httptest.NewRecorder(), r)
	})
	_, _ = out.Write(make([]byte, 5<<20)) // ends once all of it was read
	if used := h.api.Budget.Used(); used < 5<<20 || used > 20<<20 {
		t.Errorf("%d bytes are taken for 5 MiB of 30", used)
	}
	others := h.api.Budget.Claim()
	if err := others.Take(t.Context(), limit-4<<20-h.api.Budget.Used()); err != nil {
		t.Fatal(err)
	}
	var p exchange.Problem
	a := h.want(503, &p, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`,"x":"`+strings.Repeat("x", 29<<20/10)+`"}`)
	if p.Limit != "memory-budget" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%+v", p)
	}
	others.End()
	_ = out.CloseWithError(io.ErrUnexpectedEOF)
	group.Wait()
	if used := h.api.Budget.Used(); used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
	h.want(201, nil, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`}`)
	tiny := start(t, func(o *admit.Options) { o.Limits.MemoryBudget = 4 << 10 })
	tiny.want(413, &p, "POST", "/v1/snapshots?cluster=c", small())
	if p.Limit != "memory-budget" {
		t.Errorf("an upload that never fits: %+v", p)
	}
}

// TestScenariosLeaveMemoryToDecisions: where scenarios have taken all the memory that they may,
// decisions, extender calls and reads are answered at once, and uploads, replays and scenarios are
// refused.
func TestScenariosLeaveMemoryToDecisions(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	var d struct{ ID string }
	h.want(201, &d, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`}`)
	scenarios := h.api.Budget.Claim()
	defer scenarios.End()
	for n := h.api.Budget.Limit(); n > 0; n /= 2 { // to the last byte
		for scenarios.Take(stopped(t), n) == nil {
		}
	}
	began := time.Now()
	h.want(201, nil, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`}`)
	h.want(200, nil, "POST", "/filter", `{"Pod":`+pod("new", "1", "")+`,"NodeNames":["n1"]}`)
	h.want(200, nil, "GET", "/v1/decisions/"+d.ID, "")
	if took := time.Since(began); took > time.Second {
		t.Errorf("they waited: %s", took)
	}
	for path, body := range map[string]string{
		"/v1/snapshots?cluster=c": small(), "/v1/decisions/" + d.ID + "/replay": "{}",
		"/v1/clusters/default/fit": `{"max":10,"pod":` + pod("new", "1", "") + `}`,
	} {
		var p exchange.Problem
		if h.want(503, &p, "POST", path, body); p.Limit != "memory-budget" {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

// stopped is a context that has ended, with which no claim waits.
func stopped(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestStalledBodiesGiveTheirSlotBack: a body of which nothing comes is ended long before its
// class's deadline, on every path that reads one, and with an answer that the description has.
func TestStalledBodiesGiveTheirSlotBack(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.BodyGrace, o.Limits.MinBodyRate = 200*time.Millisecond, 1000 })
	h.upload("c", small())
	h.upload("default", small())
	var d struct{ ID string }
	h.want(http.StatusCreated, &d, "POST", "/v1/decisions", `{"pod":`+pod("one", "1", "")+`}`)
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	asked := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			asked++
			calls.Go(func() {
				if err := stall(h.url, method, strings.NewReplacer("/decisions/{id}", "/decisions/"+d.ID, "{cluster}", "c", "{id}", "c@1", "{name}", "n").Replace(path)); err != nil {
					t.Errorf("%s %s: %v", method, path, err)
				}
			})
		}
	}
	calls.Wait()
	if asked < 30 {
		t.Errorf("only %d paths read a body", asked)
	}
}

// TestStalledCallsEndWithTheirDeadline: a body of a call whose deadline is short stalls no longer
// than that.
func TestStalledCallsEndWithTheirDeadline(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		o.Limits.ExtenderDeadline, o.Limits.ExtenderQueueWait = 300*time.Millisecond, 100*time.Millisecond
	})
	h.upload("c", small())
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "POST /clusters/c/filter HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
	began := time.Now()
	_ = conn.SetReadDeadline(began.Add(20 * time.Second))
	_, _ = io.Copy(io.Discard, conn)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("its slot is held for %s", took)
	}
}

// stall announces a body, sends a byte of it, and wants to be refused for that.
func stall(url, method, path string) error {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, method+" "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
	_ = conn.SetReadDeadline(time.Now().Add(8 * time.Second))
	req, err := http.NewRequest(method, url+path, nil)
	if err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusRequestTimeout {
		return fmt.Errorf("status %d: %.200s", res.StatusCode, body)
	}
	return conforms(req, res, body)
}
