package handlers

import (
	"fmt"
	"net/http/httptest"
	"testing"
)

// BenchmarkDecideHTTP decides over loopback on 1,500 nodes, by 64 connections, beside an endpoint
// that does nothing.
func BenchmarkDecideHTTP(b *testing.B) {
	m, l, st := openLog(b)
	uploadNodes(b, m, 1500, func(i int) (name, object string) {
		name = fmt.Sprintf("node-%05d", i)
		return name, node(name, fmt.Sprint(16+i%48), "model", fmt.Sprint("m", i%5))
	})
	s := httptest.NewServer(mustNew(b, optionsFor(m, l, st)).Handler())
	defer s.Close()
	web := pod("web", "2", `,"tolerations":[{"key":"batch","operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
		{"nodeSelectorTerms":[{"matchExpressions":[{"key":"model","operator":"In","values":["m0","m1","m2"]}]}]}}}`)
	for _, c := range []struct{ name, body string }{
		{"livez", ""},
		{"dry", `{"dryRun":true,"explain":"none","pod":` + web + `}`},
		{"dry_failures", `{"dryRun":true,"pod":` + web + `}`},
		{"recorded", `{"explain":"none","pod":` + web + `}`},
		{"full", `{"dryRun":true,"explain":"full","pod":` + web + `}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			path, body := "/v1/decisions", []byte(c.body)
			if c.body == "" {
				path, body = "/livez", nil
			}
			b.ReportAllocs()
			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				conn := dial(b, s, path, body)
				defer conn.close()
				for pb.Next() {
					conn.ask(b)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
		})
	}
}
