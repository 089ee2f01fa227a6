package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/internal/config"
	"berth/internal/semantics"
)

// sink is a response that is not read.
type sink struct {
	header http.Header
	status int
	n      int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { s.n += len(b); return len(b), nil }

// BenchmarkShadow asks a shadow about 1,000 nodes by name, and the verbs that decide beside it.
func BenchmarkShadow(b *testing.B) {
	const n = 1000
	m, l, st := openLog(b)
	names := uploadNodes(b, m, n, func(i int) (name, object string) {
		name = fmt.Sprintf("node-%04d", i)
		return name, node(name, "16")
	})
	body, err := json.Marshal(map[string]any{"Pod": json.RawMessage(pod("web", "2", "")), "NodeNames": &names})
	if err != nil {
		b.Fatal(err)
	}
	var args extenderv1.ExtenderArgs
	if err := json.Unmarshal(body, &args); err != nil || len(*args.NodeNames) != n {
		b.Fatal(err)
	}
	o := optionsFor(m, l, st)
	o.Decisions = &unrecorded{Decisions: l, m: m, profile: config.Default(semantics.Default())[0]}
	h := mustNew(b, o).Handler()
	for _, path := range []string{"/filter", "/shadow/filter", "/prioritize", "/shadow/prioritize"} {
		b.Run(path[1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, path, io.NopCloser(bytes.NewReader(body)))
				if err != nil {
					b.Fatal(err)
				}
				r.ContentLength = int64(len(body))
				r.Header.Set("Content-Type", "application/json")
				w := &sink{header: http.Header{}}
				if h.ServeHTTP(w, r); w.status != http.StatusOK || w.n == 0 {
					b.Fatal(w.status)
				}
			}
		})
	}
}
