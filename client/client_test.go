package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// serve returns a client of a server that answers one call after the other with these.
func serve(t *testing.T, answers ...http.HandlerFunc) (c *Client, keys *[]string) {
	t.Helper()
	keys = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(*keys) == len(answers) {
			t.Errorf("%s %s is a call too many", r.Method, r.URL)
			return
		}
		*keys = append(*keys, r.Header.Get("Idempotency-Key")+r.Header.Get("Last-Event-ID"))
		answers[len(*keys)-1](w, r)
	}))
	t.Cleanup(s.Close)
	c, err := New(Options{Server: s.URL, Token: "secret", Tries: 4})
	if err != nil {
		t.Fatal(err)
	}
	return c, keys
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			status = http.StatusUnauthorized
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func lost(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestACallIsRepeatedUnderItsKey(t *testing.T) {
	c, keys := serve(t, says(503, `{"detail":"away"}`), lost, says(429, ""), says(201, `{"id":"p","results":[{"name":"a"}]}`))
	p, err := c.Place(t.Context(), &PlacementRequest{Snapshot: "x@latest"})
	if err != nil || p.ID != "p" || p.Results[0].Name != "a" {
		t.Fatal(p, err)
	}
	for _, k := range *keys {
		if k == "" || k != (*keys)[0] {
			t.Errorf("keys %q", *keys)
		}
	}
	c, keys = serve(t, lost, says(200, `{"id":"x@2"}`))
	if s, err := c.Change(WithKey(t.Context(), "mine"), "x@latest", &ChangeRequest{}); err != nil || s.ID != "x@2" {
		t.Fatal(s, err)
	}
	if (*keys)[1] != "mine" {
		t.Errorf("keys %q", *keys)
	}
}

func TestARefusalNamesFieldAndRemedy(t *testing.T) {
	c, _ := serve(t, says(409, `{"type":"urn:berth:problem:conflict","detail":"bound","conflict":{"node":"n1","revision":2},
		"errors":[{"field":"pod.spec.nodeName","message":"want n1"}]}`))
	_, err := c.Decide(t.Context(), &DecisionRequest{})
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != 409 || refused.Conflict.Node != "n1" || err.Error() != "409: bound; pod.spec.nodeName: want n1" {
		t.Errorf("%#v", err)
	}
	away := says(503, `{"detail":"away"}`)
	c, _ = serve(t, away, away, away, away)
	if _, err := c.Queue(t.Context(), "x", ""); err == nil || err.Error() != "503: away" {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c, _ = serve(t)
	if _, err := c.Queue(ended, "x", ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, o := range []Options{{Server: "127.0.0.1:8080"}, {Server: "http://u:p@h"}, {Server: "http://berth.example", Token: "secret"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestAListIsReadToItsEnd(t *testing.T) {
	c, _ := serve(t, says(200, `{"items":[{"id":"3"},{"id":"2"}],"cursor":"c"}`), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") != "c" || r.URL.Query().Get("cluster") != "x" {
			t.Errorf("asks for %s", r.URL)
		}
		says(200, `{"items":[{"id":"1"}]}`)(w, r)
	})
	ids := ""
	for h, err := range c.Holds(t.Context(), "x") {
		if err != nil {
			t.Fatal(err)
		}
		ids += h.ID
	}
	if ids != "321" {
		t.Error(ids)
	}
}

func TestEventsGoOnBehindTheLast(t *testing.T) {
	event := func(id, kind string) string {
		return fmt.Sprintf("id: %s\nevent: %s\ndata: {\"cluster\":\"x\",\"revision\":7}\n\n", id, kind)
	}
	c, after := serve(
		t, says(200, "retry: 1\n\n"+event("1", "revision")+event("2", "wake")+"id: 3\nevent: deci"),
		lost, says(503, ""), says(200, event("3", "decision")+event("4", "bookmark")),
		says(410, `{"detail":"gone","newest":"9"}`),
	)
	seen := ""
	for e, err := range c.Events(t.Context(), "x", "0") {
		if err != nil {
			var gone *Error
			if !errors.As(err, &gone) || gone.Newest != "9" {
				t.Error(err)
			}
			break
		}
		if e.Data.Revision != 7 {
			t.Errorf("%+v", e)
		}
		seen += e.ID + e.Event + " "
	}
	if seen != "1revision 2wake 3decision " || fmt.Sprint(*after) != "[0 2 2 2 4]" {
		t.Error(seen, *after)
	}
}
