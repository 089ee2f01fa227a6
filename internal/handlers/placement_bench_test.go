//go:build unix

package handlers

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkPlace places pods on 5,000 nodes over loopback, recorded and bound: one a call, on one
// connection and on 64, and in placements of 100 and of 1,000. An iteration is a pod. The CPU is
// that of the process, the client in it: it is what others on the machine change least.
func BenchmarkPlace(b *testing.B) {
	for _, shape := range []struct{ name, more string }{
		{"plain", ""},
		{"spread", `,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"new"}}}]`},
		{"affinity", `,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"app":"new"}}}]}}`},
		{"anti-affinity", `,"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"new"}}}}]}}`},
	} {
		b.Run(shape.name, func(b *testing.B) { benchmarkPlace(b, shape.more) })
	}
}

func benchmarkPlace(b *testing.B, more string) {
	m, l, st := openLog(b)
	uploadNodes(b, m, 5000, func(i int) (name, object string) {
		name = fmt.Sprintf("node-%05d", i)
		return name, node(name, fmt.Sprint(1000+i%48), "topology.kubernetes.io/zone", fmt.Sprint("z", i%3))
	})
	s := httptest.NewServer(mustNew(b, optionsFor(m, l, st)).Handler())
	defer s.Close()
	var made atomic.Int64
	next := func() string {
		return strings.Replace(pod(fmt.Sprint("p-", made.Add(1)), "100m", more), `"metadata":{`, `"metadata":{"labels":{"app":"new"},`, 1)
	}
	post := func(b *testing.B, path, body string) {
		resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if _ = resp.Body.Close(); err != nil || resp.StatusCode != http.StatusCreated {
			b.Fatalf("%d %.500s, %v", resp.StatusCode, text, err)
		}
	}
	single := func(b *testing.B) {
		post(b, "/v1/decisions", `{"snapshot":"default@latest","bind":true,"explain":"none","pod":`+next()+`}`)
	}
	cpu := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	rate := func(b *testing.B) func() {
		before := cpu()
		return func() {
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
			b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-us/pod")
		}
	}
	b.Run("single", func(b *testing.B) {
		defer rate(b)()
		for range b.N {
			single(b)
		}
	})
	b.Run("single-64", func(b *testing.B) {
		defer rate(b)()
		b.SetParallelism(32)
		http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				single(b)
			}
		})
	})
	for _, size := range []int{100, 1000} {
		b.Run(fmt.Sprintf("placement-%d", size), func(b *testing.B) {
			defer rate(b)()
			for left := b.N; left > 0; left -= size {
				pods := make([]string, min(size, left))
				for i := range pods {
					pods[i] = next()
				}
				post(b, "/v1/placements", `{"snapshot":"default@latest","bind":true,"pods":[`+strings.Join(pods, ",")+`]}`)
			}
		})
	}
}
