//go:build unix

package blame

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"berth/internal/kube/object"
)

// BenchmarkWalk asks about a pod in a history of 10,000 revisions of 1,000 nodes with 10,000 pods:
// new pods on nodes and deletions of old ones. An operation is an answer.
func BenchmarkWalk(b *testing.B) {
	const nodes, pods, revisions = 1000, 10_000, 10_000
	h := begin(b)
	list := make([]string, 0, nodes+pods+4)
	for i := range nodes {
		list = append(list, node(fmt.Sprintf("n%04d", i), "16", ""))
	}
	for i := range pods {
		list = append(list, pod(fmt.Sprintf("batch/p-%05d", i), "1500m", fmt.Sprintf(`,"nodeName":"n%04d","priority":%d`, i%nodes, i%2)))
	}
	list = append(list,
		pod("fits", "1", `,"priority":0`), pod("never", "12", `,"priority":0`), pod("turns", "2500m", `,"priority":0`),
		pod("preempts", "12", `,"priority":1`))
	h.upload("token:ops", list...)
	for i := 0; i < revisions; i += 2 {
		// Each node gets a pod more, loses one, and so on.
		n := i / 2
		h.apply("token:s", pod(fmt.Sprintf("batch/q-%05d", n), "1500m", fmt.Sprintf(`,"nodeName":"n%04d","priority":0`, n%nodes)))
		key := object.Key{Kind: "Pod", Namespace: "batch", Name: fmt.Sprintf("q-%05d", n)}
		if n%1000 < 999 {
			key.Name = fmt.Sprintf("p-%05d", n)
		}
		if _, err := h.m.Change(h.by("token:s"), "prod", 0, nil, []object.Key{key}); err != nil {
			b.Fatal(err)
		}
	}
	for name, change := range map[string]func(*Ask){
		"fits": nil, "turns": nil, "never": nil, "preempts": nil,
		"node": func(a *Ask) { a.Name, a.Node = "turns", "n0007" }, "count=12": func(a *Ask) { a.Name, a.Count = "turns", 12 },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				if out := h.ask(name, change); out.Revisions < revisions {
					b.Fatalf("%d revisions", out.Revisions)
				}
			}
			b.ReportMetric((cpu(b)-began).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// cpu is what the process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
