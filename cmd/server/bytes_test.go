package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"testing"
)

// What is on record reads the same, byte for byte, from another process on the same data.
func restartAnswersSameBytes(t *testing.T, program string) {
	dir := t.TempDir()
	p := launch(t, program, dir)
	p.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots?cluster=cell", marshal(t, listOf(cell()...)))
	var ids []string
	for _, q := range questions() {
		var a answered
		if err := json.Unmarshal(p.must(t, http.StatusCreated, http.MethodPost, "/v1/decisions", marshal(t, q)), &a); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	paths := []string{"/v1/decisions?cluster=cell", "/v1/clusters", "/v1/snapshots?cluster=cell", "/v1/snapshots/cell@1", "/v1/snapshots/cell@2/objects?limit=500"}
	for _, id := range ids {
		paths = append(paths, "/v1/decisions/"+id)
	}
	before := map[string][]byte{}
	for _, path := range paths {
		before[path] = p.must(t, http.StatusOK, http.MethodGet, path, "")
	}
	replays := map[string][]byte{}
	for _, id := range ids {
		replays[id] = p.must(t, http.StatusOK, http.MethodPost, "/v1/decisions/"+id+"/replay", "")
	}
	p.stop(t)
	p = launch(t, program, dir)
	for _, path := range paths {
		same(t, "GET "+path, before[path], p.must(t, http.StatusOK, http.MethodGet, path, ""))
	}
	for _, id := range ids {
		same(t, "replay "+id, replays[id], p.must(t, http.StatusOK, http.MethodPost, "/v1/decisions/"+id+"/replay", ""))
	}
	p.stop(t)
}

// The order of the objects in an upload changes no answer.
func shuffledUploadsAnswerSameBytes(t *testing.T, program string) {
	p := launch(t, program, t.TempDir())
	items := cell()
	var first []json.RawMessage
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 4 {
		p.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots?cluster=cell", marshal(t, listOf(items...)))
		again := append([]any{}, items...)
		random.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		p.must(t, http.StatusOK, http.MethodPost, "/v1/snapshots?cluster=cell", marshal(t, listOf(again...)))
		var got []json.RawMessage
		for _, q := range questions() {
			q["dryRun"], q["bind"] = true, false
			got = append(got, stripped(t, p.must(t, http.StatusOK, http.MethodPost, "/v1/decisions", marshal(t, q))))
		}
		if round == 0 {
			first = got
		}
		for i := range got {
			same(t, questions()[i]["explain"].(string), first[i], got[i])
		}
		// The next round begins with an empty line of revisions and another order.
		p.must(t, http.StatusNoContent, http.MethodDelete, "/v1/clusters/cell", "")
		random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	p.stop(t)
}

// questions are decisions of every outcome that there is without preemption, the last one bound.
func questions() []object {
	gated := podOf("gated", "1", "")
	gated["spec"].(object)["schedulingGates"] = []any{object{"name": "example.com/wait"}}
	return []object{
		{"snapshot": "cell@latest", "pod": podOf("small", "100m", ""), "explain": "full"},
		{"snapshot": "cell@latest", "pod": podOf("huge", "64", ""), "explain": "failures"},
		{"snapshot": "cell@latest", "pod": gated, "explain": "none"},
		{"snapshot": "cell@latest", "podRef": object{"name": "waiting"}, "explain": "full", "nodeNames": []any{"node-07", "node-01", "node-06"}},
		{"snapshot": "cell@latest", "podRef": object{"name": "waiting"}, "explain": "full", "bind": true},
	}
}

// stripped leaves out when an answer was made and how long that took.
func stripped(t *testing.T, body []byte) json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "createdAt")
	delete(fields, "durationMicros")
	js, err := json.Marshal(fields) // values stay as they are, byte for byte
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func same(t *testing.T, what string, want, got []byte) {
	t.Helper()
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs:\n%s\n%s", what, want, got)
	}
}
