package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneSeat is a server whose cluster has room for one pod. A higher class takes
// it from a lower one.
type oneSeat struct {
	mu        sync.Mutex
	held      string // who sits
	class     string
	nominated map[string]string // class by name
	asked     []string
}

func (s *oneSeat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var q struct {
		Pod struct {
			Metadata struct{ Name string }
			Spec     struct{ PriorityClassName string }
		}
		PodRef struct{ Name string }
		Delete []struct{ Name string }
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer := object{}
	if strings.HasSuffix(r.URL.Path, "/changes") {
		for _, d := range q.Delete {
			if d.Name == s.held {
				s.held = ""
			}
		}
	} else {
		answer = s.decide(q.Pod.Metadata.Name, q.Pod.Spec.PriorityClassName, q.PodRef.Name)
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *oneSeat) decide(name, class, ref string) object {
	if ref != "" {
		name, class = ref, s.nominated[ref]
	}
	s.asked = append(s.asked, name)
	rank := map[string]int{low.name: low.value, middle.name: middle.value, high.name: high.value}
	switch {
	case s.held == "":
		s.held, s.class = name, class
		return object{"outcome": "Scheduled", "node": "n"}
	case rank[class] > rank[s.class]:
		s.nominated[name] = class
		return object{"outcome": "Preempting", "nominatedNode": "n", "preemption": object{"victims": []object{{"name": s.held}}}}
	}
	return object{"outcome": "Unschedulable"}
}

func TestPlayer(t *testing.T) {
	seat := &oneSeat{nominated: map[string]string{}}
	srv := httptest.NewServer(seat)
	defer srv.Close()
	p := newPlayer([]*client{newClient(srv.URL)}, "c", newReport(nil))
	p.priorities, p.rounds = true, 2
	err := p.play(t.Context(), []task{
		{name: "a", qos: "BE", created: 0, deleted: 100},
		{name: "b", qos: "Burstable", created: 10, deleted: 50}, // a has to go
		{name: "c", qos: "LS", created: 20, deleted: 30},        // b has to go, and a is given up
		{name: "d", qos: "BE", created: 40, deleted: 60},        // b is back before it comes
		{name: "e", qos: "LS", created: 45, deleted: 80},        // b has to go again
		{name: "f", qos: "BE", created: 55, deleted: 80},        // and would have ended
		{name: "g", qos: "LS", created: 56, deleted: 80},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*service{
		"BE":        {tasks: 3, scheduled: 1, victims: 1, givenUp: 1},
		"Burstable": {tasks: 1, scheduled: 1, preempting: 1, victims: 2, back: 1, ended: 1},
		"LS":        {tasks: 3, scheduled: 2, preempting: 2},
	}
	if d := cmp.Diff(want, p.r.services, cmp.AllowUnexported(service{})); d != "" {
		t.Error(d)
	}
	if got, want := strings.Join(seat.asked, " "), "a b b a c c b a b d e e b f g"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	if p.r.decisions != len(seat.asked) || p.r.evictions != 3 || p.r.scheduled != 4 {
		t.Errorf("%d decisions, %d evictions, %d scheduled", p.r.decisions, p.r.evictions, p.r.scheduled)
	}
}

// TestPlayerWantsTheNominatedNode fails where the nomination is not honoured.
func TestPlayerWantsTheNominatedNode(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(object{"outcome": "Preempting", "nominatedNode": "n"})
	}))
	defer srv.Close()
	p := newPlayer([]*client{newClient(srv.URL)}, "c", newReport(nil))
	if err := p.play(t.Context(), []task{{name: "a"}}); err == nil || !strings.Contains(err.Error(), "made free") {
		t.Errorf("error %v", err)
	}
}

func TestLoad(t *testing.T) {
	list := []machine{{name: "1"}, {name: "2"}, {name: "3"}, {name: "4"}}
	half, err := thin(list, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if want := []machine{{name: "2"}, {name: "4"}}; !cmp.Equal(half, want, cmp.AllowUnexported(machine{})) {
		t.Errorf("half of them: %v", half)
	}
	all, err := thin(list, 1)
	if err != nil || len(all) != 4 {
		t.Errorf("all of them: %v, %v", all, err)
	}
	for _, share := range []float64{0, -1, 1.1} {
		if _, err := thin(list, share); err == nil {
			t.Errorf("a share of %v passes", share)
		}
	}
	long, err := stretch([]task{{created: 10, deleted: 30}}, 2.5)
	if err != nil || long[0].created != 10 || long[0].deleted != 60 {
		t.Errorf("stretched: %v, %v", long, err)
	}
	if _, err := stretch(nil, 0); err == nil {
		t.Error("a factor of 0 passes")
	}
}
