package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/handlers/rest"
	"berth/internal/kube/object"
	"berth/internal/semantics"
	"berth/internal/world"
	"berth/test/enginetest"
)

// BenchmarkScenarioBesideCalls places the same arrivals in closed loop on a fork, and the naive
// way: the cluster is uploaded once more under another name, and each pod is decided and bound
// there by a call of its own. Both place every pod on the same node. The ratios are of one pod's
// time without the upload, by the clock and by processor time. With -short the cluster has a tenth
// of the size.
func BenchmarkScenarioBesideCalls(b *testing.B) {
	size, count := enginetest.FullSize, 3000
	if testing.Short() {
		size.Nodes, size.Pods, size.Apps, count = size.Nodes/10, size.Pods/10, size.Apps/10, 300
	}
	m, l, st := openLog(b)
	s := httptest.NewServer(mustNew(b, optionsFor(m, l, st)).Handler())
	defer s.Close()
	obj := func(o any) json.RawMessage {
		made, err := object.Of(o)
		if err != nil {
			b.Fatal(err)
		}
		return made.JSON
	}
	post := func(path string, body []byte, out any) {
		b.Helper()
		resp, err := s.Client().Post(s.URL+path, "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil || resp.StatusCode >= http.StatusBadRequest {
			b.Fatal(path, resp.Status, err)
		}
	}
	var items []json.RawMessage
	for _, o := range enginetest.Large(size) {
		items = append(items, obj(o))
	}
	dump, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		b.Fatal(err)
	}
	arrivals, calls := make([]world.Arrival, count), make([]string, count)
	for i := range arrivals {
		pod := enginetest.LargePod(i*i%30, fmt.Sprintf("asked-%d", i), enginetest.Priority(0))
		arrivals[i].Pod = pod
		calls[i] = `{"snapshot":"%s@latest","explain":"none","bind":true,"pod":` + string(obj(decision.WithKind(pod))) + `}`
	}
	nodes := make([]string, count)
	per := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(count*b.N) }
	var uploads, calling, callingCPU, running, runningCPU time.Duration
	for b.Loop() {
		began := time.Now()
		name := fmt.Sprint("fork-", began.UnixNano())
		post("/v1/snapshots?cluster="+name, dump, new(rest.Snapshot))
		uploads += time.Since(began)
		v, err := m.View(b.Context(), name, 1)
		if err != nil {
			b.Fatal(err)
		}
		began, callingCPU = time.Now(), callingCPU-processCPU()
		for i, call := range calls {
			var got struct{ Node string }
			post("/v1/decisions", fmt.Appendf(nil, call, name), &got)
			nodes[i] = got.Node
		}
		calling, callingCPU = calling+time.Since(began), callingCPU+processCPU()
		began, runningCPU = time.Now(), runningCPU-processCPU()
		f, i := world.NewFork(v, world.Options{Profiles: config.Default(semantics.Default()), Now: began}), 0
		_, err = f.Run(b.Context(), arrivals, world.Limits{}, func(at *world.Attempt) error {
			if at.Node == "" || at.Node != nodes[i] {
				return fmt.Errorf("%s is on %q, and by a call on %q", at.Pod.Name, at.Node, nodes[i])
			}
			i++
			return nil
		})
		if err != nil || i != count {
			b.Fatal(i, err)
		}
		running, runningCPU = running+time.Since(began), runningCPU+processCPU()
	}
	b.ReportMetric(uploads.Seconds()/float64(b.N), "upload-s")
	b.ReportMetric(per(calling), "call-us/pod")
	b.ReportMetric(per(running), "fork-us/pod")
	b.ReportMetric(calling.Seconds()/running.Seconds(), "times-slower")
	b.ReportMetric(callingCPU.Seconds()/runningCPU.Seconds(), "times-slower-cpu")
}
