package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSimulateQuestion checks the request of a simulation, and how its answer is compared.
func TestSimulateQuestion(t *testing.T) {
	var asked struct {
		Base     string
		Tries    int
		Profiles []struct {
			Name   string
			Config json.RawMessage
		}
		Arrivals struct {
			Pods []struct{ At, Duration string }
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(`{"profiles":[{"name":"default","placed":1,"pending":1,"attempts":2,"series":[{"attempts":2,"nodesInUse":3,"used":{"` + gpuResource + `":12.5},"fragmentation":{"` + gpuResource + `":4}}],
			"moves":[{"pod":"openb/a","outcome":"Scheduled","node":"n1"},{"pod":"openb/b","outcome":"Unschedulable"}]}]}`))
	}))
	defer s.Close()
	got, err := newClient(s.URL).simulate(t.Context(), "x", []task{{name: "a", created: 5, deleted: 65}, {name: "b", created: 9, deleted: 10}, {name: "c", created: 9, deleted: 9}})
	if err != nil {
		t.Fatal(err)
	}
	if asked.Base != "x@latest" || asked.Tries != 1 || len(asked.Profiles) != 3 || asked.Profiles[0].Config != nil || len(asked.Arrivals.Pods) != 3 || asked.Arrivals.Pods[0].At != "5s" || asked.Arrivals.Pods[0].Duration != "1m0s" ||
		asked.Arrivals.Pods[2].At != "9.000000001s" || asked.Arrivals.Pods[2].Duration != "1ns" {
		t.Errorf("%+v", asked)
	}
	var text strings.Builder
	got.write(&text)
	if !strings.Contains(text.String(), "4.00%") || !strings.Contains(text.String(), "12.50%") {
		t.Error(text.String())
	}
	if err := sameNodes(got.nodes(0), map[string]string{"a": "n1"}); err != nil {
		t.Error(err)
	}
	for want, alone := range map[string]map[string]string{
		`task a is on "n1"`: {"a": "n2"},
		"the service 0":     {},
	} {
		if err := sameNodes(got.nodes(0), alone); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
