//go:build unix

package replays

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/jobs"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

// BenchmarkBatch answers the binds of one workload on 1,523 nodes again; an operation is a record.
func BenchmarkBatch(b *testing.B) {
	const nodes, pods, binds = 1523, 6000, 3000
	ctx := b.Context()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	st, err := sqlite.Open(ctx, b.TempDir(), sqlite.Options{})
	must(err)
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(ctx, st, g, revision.Options{})
	must(err)
	defer func() {
		must(m.Close())
		must(g.Close(ctx))
		must(st.Close())
	}()
	log := record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{})
	_, _, err = m.Upload(ctx, "prod", func(yield func(object.Object) error) (map[string]int, error) {
		for i := range nodes + pods {
			js := fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%05d","labels":{"topology.kubernetes.io/zone":"z%d"}},
				"status":{"allocatable":{"cpu":"%d","memory":"256Gi","pods":"110"}}}`, i, i%3, 32+i%96)
			if i >= nodes {
				js = fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%06d","namespace":"default","labels":{"app":"app-%d"}},
				"spec":{"nodeName":"node-%05d","containers":[{"name":"main","resources":{"requests":{"cpu":"2","memory":"8Gi"}}}]}}`, i, i%50, i%nodes)
			}
			o, err := object.Decode([]byte(js), object.Limits{})
			if err != nil {
				return nil, err
			}
			if err := yield(o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	must(err)
	binder := bind.New(m, log, bind.Options{})
	decoder := object.NewRequestPods(object.Limits{}, false)
	for i := range binds {
		pod, js, err := decoder.Decode(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"default","labels":{"app":"a"}},
"spec":{"containers":[{"name":"main","image":"registry.example/app:1","resources":{"requests":{"cpu":"10m","memory":"16Mi"}}}],"tolerations":[{"key":"batch","operator":"Exists"}]}}`, i))
		must(err)
		_, err = binder.Decide(ctx, decision.Question{Cluster: "prod", Pod: pod, PodJSON: js, Bind: true})
		must(err)
	}
	batches := New(st, log, jobs.Options{})
	w := batches.Worker()
	cpu := func() time.Duration {
		var u syscall.Rusage
		must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := cpu()
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		job, err := batches.Start(ctx, Request{Cluster: "prod"})
		must(err)
		for !job.Ended() {
			_, err = w.Step(ctx)
			must(err)
			job, err = batches.Get(ctx, job.ID)
			must(err)
		}
		if job.Identical != binds {
			b.Fatalf("%+v", job)
		}
		done += binds
	}
	b.ReportMetric(float64((cpu()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
}
