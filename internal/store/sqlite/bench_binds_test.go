package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
)

// BenchmarkBinds writes decisions that bind: each a row and the revision that it made, one a
// commit. The fastest tenth is what depends least on others who use the disk.
func BenchmarkBinds(b *testing.B) {
	s := openAt(b, b.TempDir())
	change := []byte(strings.Repeat(`{"kind":"Pod"}`, 50))
	token := ""
	add := func(i int64) {
		e := &store.Entry{Revision: &store.Revision{
			Cluster: "prod", Number: i, Token: fmt.Sprintf("%08x%018d", i, i*7919%1000003), ParentToken: token,
			CreatedAt: time.Now(), Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Cause: "bind", Change: change,
		}}
		if i == 1 {
			e.Checkpoint, e.Revision.Change = &store.Checkpoint{Cluster: "prod", Number: 1, Payload: []byte("{}")}, nil
		} else {
			e.Decision = benchDecision(i)
			e.Decision.Revision, e.Decision.BoundRevision = i-1, i
		}
		if err := s.Append(b.Context(), []*store.Entry{e}); err != nil || e.Err != nil {
			b.Fatal(err, e.Err)
		}
		token = e.Revision.Token
	}
	add(1)
	i := int64(2)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		add(i)
		took = append(took, time.Since(began))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/10].Microseconds()), "us-p10")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "us-p50")
}
