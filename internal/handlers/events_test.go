package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/events"
	"berth/internal/store"
)

// events lists what happened in the cluster default after an id.
func (h *harness) events(after string, more ...string) events.EventList {
	h.Helper()
	var list events.EventList
	h.want(http.StatusOK, &list, "GET", "/v1/clusters/default/events?wait=0s&after="+after+strings.Join(more, ""), "")
	return list
}

// kinds are events in short.
func kinds(list []events.Event) string {
	var out []string
	for _, e := range list {
		text := fmt.Sprint(e.Event, " ", e.Data.Revision)
		switch e.Event {
		case "revision":
			text += " " + e.Data.Cause
		case "decision":
			text += fmt.Sprint(" ", e.Data.Pods[0].Name, " ", e.Data.Outcome, " ", e.Data.BoundRevision)
		case "placement":
			text += fmt.Sprint(" ", e.Data.Placed, "+", e.Data.Failed)
		case "wake":
			text += fmt.Sprint(" ", e.Data.Pods, " ", e.Data.Plugin, " ", e.Data.Hint)
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// happen has one event of each kind happen.
func happen(h *harness) {
	h.upload("default", listOf(node("n1", "2"), pod("waits", "4", "")))
	h.want(http.StatusCreated, nil, "POST", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"podRef":{"namespace":"shop","name":"waits"}}`)
	h.want(http.StatusNotFound, nil, "POST", "/v1/snapshots/default@77/changes", `{"apply":[`+node("n2", "8")+`]}`)
	h.want(http.StatusCreated, nil, "POST", "/v1/decisions", `{"snapshot":"default@1","pod":`+pod("asked", "1", "")+`}`)
	h.place(http.StatusCreated, `{"snapshot":"default@latest","bind":true,"count":3,"template":`+pod("job", "1", "")+`}`)
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots/default@latest/changes", `{"apply":[`+node("n2", "8")+`]}`)
}

const happened = `revision 1 upload
revision 2 change
decision 1 waits Unschedulable 2
decision 1 asked Scheduled 0
revision 3 bind
decision 2 job-0 Scheduled 3
decision 2 job-1 Scheduled 3
decision 2 job-2 Unschedulable 3
placement 2 2+1
revision 4 change
wake 4 [{shop job-2} {shop waits}] NodeResourcesFit NodeAdd`

// TestEvents: what happened is told in the order of the store, on each server alike, and behind
// each id comes exactly the rest.
func TestEvents(t *testing.T) {
	h := start(t, nil)
	happen(h)
	all := h.events("0")
	if got := kinds(all.Items); got != happened {
		t.Fatalf("happened:\n%s\nwant\n%s", got, happened)
	}
	second, err := New(h.o) // as another replica, or after a restart
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(second.Handler())
	defer s.Close()
	other := &harness{T: t, url: s.URL, client: h.client}
	last := ""
	for i, e := range all.Items {
		if e.ID <= last {
			t.Errorf("id %s comes after %s", e.ID, last)
		}
		last = e.ID
		for _, at := range []*harness{h, other} {
			var rest, one events.EventList
			rest, one = at.events(e.ID), at.events(e.ID, "&limit=1")
			want, _ := json.Marshal(all.Items[i+1:])
			if got, _ := json.Marshal(rest.Items); string(got) != string(want) && len(rest.Items) > 0 {
				t.Errorf("behind %s:\n%s\nwant\n%s", e.ID, got, want)
			}
			if n := len(all.Items) - i - 1; len(rest.Items) != n || len(one.Items) != min(n, 1) || n > 0 && len(at.events(one.Next).Items) != n-1 {
				t.Errorf("behind %s: %d events, %d with a limit of 1, next %s", e.ID, len(rest.Items), len(one.Items), one.Next)
			}
		}
		if js, _ := json.Marshal(e.Data); len(js) > 4<<10 || e.Data.Cluster != "default" {
			t.Errorf("%s", js)
		}
	}
	if rest := h.events(all.Next); len(rest.Items) != 0 || rest.Next != all.Next {
		t.Errorf("behind the end: %+v", rest)
	}
	if now := h.events(""); len(now.Items) != 0 || now.Next != all.Next {
		t.Errorf("from now on: %+v", now)
	}
}

// TestEventsAreWaitedFor: a list that has nothing yet is answered when something comes, also from
// another server.
func TestEventsAreWaitedFor(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	second, err := New(h.o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(second.Handler())
	defer s.Close()
	got := make(chan string)
	next := h.events("").Next
	go func() {
		var list events.EventList
		h.want(http.StatusOK, &list, "GET", "/v1/clusters/default/events?wait=60s&after="+next, "")
		got <- kinds(list.Items)
	}()
	other := &harness{T: t, url: s.URL, client: h.client}
	other.want(http.StatusCreated, nil, "POST", "/v1/snapshots/default@latest/changes", `{"apply":[`+node("later", "8")+`]}`)
	if list := <-got; !strings.HasPrefix(list, "revision 2 change") {
		t.Error(list)
	}
}

// TestEventsThatAreGone: an id whose events are not stored any more, or that is of another chain,
// is 410 with the newest; what is no id is refused.
func TestEventsThatAreGone(t *testing.T) {
	h := start(t, nil)
	happen(h)
	all := h.events("0")
	first, newest := all.Items[0].ID, all.Items[len(all.Items)-1].ID
	other := all.Next[:len(all.Next)-8] + "00000000"
	for _, after := range []string{"x", "1-2", "000000000001-0000001-xx", "-1-1-00000000"} {
		if p := h.problem(http.StatusBadRequest, "GET", "/v1/clusters/default/events?after="+after, ""); p.Errors[0].Field != "after" {
			t.Errorf("%+v", p)
		}
	}
	if _, err := h.o.Seals.(store.Store).Retain(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{other, first, "0"} {
		p := h.problem(http.StatusGone, "GET", "/v1/clusters/default/events?wait=0s&after="+after, "")
		if p.Type != "urn:berth:problem:gone" || p.Newest == "" || len(h.events(p.Newest).Items) != 0 {
			t.Errorf("%s: %+v", after, p)
		}
	}
	if rest := h.events(newest); len(rest.Items) != 0 {
		t.Errorf("%+v", rest)
	}
	h.want(http.StatusNotFound, nil, "GET", "/v1/clusters/none/events", "")
	for _, query := range []string{"wait=2m", "wait=-1s", "wait=x", "limit=0", "limit=501"} {
		h.want(http.StatusBadRequest, nil, "GET", "/v1/clusters/default/events?"+query, "")
	}
}

// eventStream is a stream of events as a client reads it.
type eventStream struct {
	t    *testing.T
	r    *bufio.Reader
	stop func()
}

func (h *harness) stream(headers ...string) *eventStream {
	h.Helper()
	ctx, cancel := context.WithCancel(h.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", h.url+"/v1/clusters/default/events", nil)
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := h.client.Do(req) //nolint:bodyclose // stop closes it
	if err != nil {
		h.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		h.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	s := &eventStream{h.T, bufio.NewReader(resp.Body), func() {
		cancel()
		_ = resp.Body.Close()
	}}
	h.Cleanup(s.stop)
	return s
}

// next returns the next event; one without a kind at the stream's end.
func (s *eventStream) next() (e events.Event) {
	s.t.Helper()
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return events.Event{}
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case name == "id":
			e.ID = value
		case name == "event":
			e.Event = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &e.Data); err != nil {
				s.t.Fatal(err)
			}
		case line == "\n" && e.Event != "":
			return e
		}
	}
}

// TestEventStream: a stream has what a list has, goes on from the last id, and ends with its place
// when the server does.
func TestEventStream(t *testing.T) {
	h := start(t, nil)
	happen(h)
	all := h.events("0").Items
	whole := h.stream("Last-Event-ID", "0")
	for _, want := range all {
		if got := whole.next(); got.ID != want.ID || got.Event != want.Event {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
	live := h.stream()
	if mark := live.next(); mark.Event != "bookmark" || mark.Data.Cluster != "default" {
		t.Errorf("%+v", mark)
	}
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots/default@latest/changes", `{"apply":[`+node("n3", "8")+`]}`)
	for _, s := range []*eventStream{whole, live} {
		if e := s.next(); e.Event != "revision" || e.Data.Revision != 5 {
			t.Errorf("%+v", e)
		}
	}
	h.api.Drain()
	for _, s := range []*eventStream{whole, live} {
		var last events.Event
		for n := 0; ; n++ {
			e := s.next()
			if e.Event == "" {
				break
			}
			if last = e; n == 2 { // a bookmark that was due, and the place
				t.Fatalf("the stream goes on with %+v", last)
			}
		}
		if last.Event != "bookmark" || len(h.events(last.ID).Items) != 0 {
			t.Errorf("the stream ends with %+v", last)
		}
	}
}

// TestEventStreamsAreBounded: a caller has so many at once, and ended ones count no more.
func TestEventStreamsAreBounded(t *testing.T) {
	g := startGuarded(t)
	token := []string{"Authorization", "Bearer " + g.token("one", "admin", "*", "*")}
	g.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(node("n1", "2")), token...)
	var open []*eventStream
	for range 16 {
		open = append(open, g.stream(token...))
	}
	refused := g.want(http.StatusTooManyRequests, nil, "GET", "/v1/clusters/default/events", "", token...)
	if refused.Header.Get("Retry-After") == "" {
		t.Errorf("%v", refused.Header)
	}
	other := []string{"Authorization", "Bearer " + g.token("two", "viewer", "*", "*")}
	g.want(http.StatusOK, nil, "GET", "/v1/clusters/default/events?wait=0s", "", other...)
	for _, s := range open {
		s.stop()
	}
	for g.do("GET", "/v1/clusters/default/events?wait=0s", "", token...).StatusCode != http.StatusOK {
		time.Sleep(time.Millisecond)
	}
}

// TestEventsOfSomeNamespaces: a caller of one namespace learns of its pods, and of revisions.
func TestEventsOfSomeNamespaces(t *testing.T) {
	g := startGuarded(t, func(*admit.Options) {})
	root := []string{"Authorization", "Bearer " + g.token("root", "admin", "*", "*")}
	shop := []string{"Authorization", "Bearer " + g.token("shop", "viewer", "*", "shop")}
	vault := strings.Replace(pod("secret", "64", ""), `"shop"`, `"vault"`, 1)
	g.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(node("n1", "2"), vault, pod("waits", "4", "")), root...)
	for _, ref := range []string{`{"namespace":"vault","name":"secret"}`, `{"namespace":"shop","name":"waits"}`} {
		g.want(http.StatusCreated, nil, "POST", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"podRef":`+ref+`}`, root...)
	}
	g.want(http.StatusCreated, nil, "POST", "/v1/snapshots/default@latest/changes", `{"apply":[`+node("n2", "128")+`]}`, root...)
	var list, whole events.EventList
	g.want(http.StatusOK, &list, "GET", "/v1/clusters/default/events?wait=0s&after=0", "", shop...)
	g.want(http.StatusOK, &whole, "GET", "/v1/clusters/default/events?wait=0s&after=0", "", root...)
	js, _ := json.Marshal(list)
	if text := string(js); strings.Contains(text, "secret") || strings.Contains(text, "vault") || !strings.Contains(text, "waits") {
		t.Error(text)
	}
	if all, _ := json.Marshal(whole); !strings.Contains(string(all), "secret") || list.Next != whole.Next {
		t.Errorf("%s", all)
	}
}
