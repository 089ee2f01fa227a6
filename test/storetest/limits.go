package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
)

// incompressible is text that no backend can make shorter before it looks at
// how long it is.
func incompressible(n int) string {
	var b strings.Builder
	for x := uint64(1); b.Len() < n; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "%016x", x)
	}
	return b.String()[:n]
}

// The cases of limits hold that nothing is cut or skipped silently: what is stored comes
// back whole, and what cannot be is refused alone.
func init() {
	register("Limits", cases{
		"LongTexts": func(t *testing.T, s store.Store) {
			long := incompressible(1 << 20)
			fill := map[string]func(d *store.Decision, text string){
				"message":   func(d *store.Decision, text string) { d.Message = text },
				"uid":       func(d *store.Decision, text string) { d.PodUID = text },
				"nominated": func(d *store.Decision, text string) { d.NominatedNode = text },
				"profile":   func(d *store.Decision, text string) { d.Profile = text },
				"digests": func(d *store.Decision, text string) {
					d.SnapshotDigest, d.PodDigest, d.AnswerDigest = text, text+"a", text+"b"
				},
				"reason": func(d *store.Decision, text string) { d.Failures = []store.Failure{{Reason: text}} },
				"names": func(d *store.Decision, text string) {
					d.Failures = []store.Failure{{Names: []string{text, text + "x"}}}
				},
				"scores": func(d *store.Decision, text string) {
					d.Scores = []store.Score{{Node: text, Plugins: store.PluginScores{{Plugin: text}}}}
				},
				"victims": func(d *store.Decision, text string) { d.Victims = []store.Victim{{Pod: text, UID: text}} },
			}
			for name, into := range fill {
				for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 2000, 8192, 65535, 65536, len(long)} {
					d := decision("prod", fmt.Sprint(name, n), at(1))
					into(d, long[:n])
					appendAll(t, s, &store.Entry{Decision: d})
					got, err := s.Decision(t.Context(), d.ID)
					wantErr(t, d.ID, err, nil)
					same(t, d.ID, d, got)
				}
			}
		},
		"KeysAreBounded": func(t *testing.T, s store.Store) {
			fill := map[string]func(d *store.Decision, text string){
				"id":        func(d *store.Decision, text string) { d.ID = text },
				"cluster":   func(d *store.Decision, text string) { d.Cluster = text },
				"namespace": func(d *store.Decision, text string) { d.Namespace = text },
				"pod":       func(d *store.Decision, text string) { d.Pod = text },
				"node":      func(d *store.Decision, text string) { d.Node = text },
				"verb":      func(d *store.Decision, text string) { d.Verb = text },
				"outcome":   func(d *store.Decision, text string) { d.Outcome = text },
				"digest":    func(d *store.Decision, text string) { d.ProfileDigest = text },
				"engine":    func(d *store.Decision, text string) { d.Engine, d.Semantics = text, text },
			}
			for name, into := range fill {
				fits, over := decision("prod", "fits-"+name, at(1)), decision("prod", "over-"+name, at(1))
				into(fits, incompressible(1000))
				into(over, incompressible(1001))
				refused(t, s, []*store.Entry{{Decision: over}, {Decision: fits}}, store.ErrInvalid, nil)
				got, err := s.Decision(t.Context(), fits.ID)
				wantErr(t, name, err, nil)
				same(t, name, fits, got)
				_, err = s.Decision(t.Context(), over.ID)
				wantErr(t, name, err, store.ErrNotFound)
			}
		},
		"Numbers": func(t *testing.T, s store.Store) {
			for i, n := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt32 + 1, math.MaxInt64} {
				d := decision("prod", fmt.Sprint("n", i), at(1))
				d.DurationMicros, d.NodesTotal, d.NodesFeasible, d.Priority = n, int(n), int(n), int32(n)
				d.Failures = []store.Failure{{Nodes: int(n)}}
				d.Scores = []store.Score{{Rank: 1, Total: n, Plugins: store.PluginScores{{Plugin: "P", Raw: n, Normalized: 100, Weight: 1, Weighted: 100}}}}
				d.Victims = []store.Victim{{Priority: int32(n)}}
				appendAll(t, s, &store.Entry{Decision: d})
				got, err := s.Decision(t.Context(), d.ID)
				wantErr(t, d.ID, err, nil)
				same(t, d.ID, d, got)
			}
		},
		"Times": func(t *testing.T, s store.Store) {
			var es []*store.Entry
			var want []error
			for i, tt := range []struct {
				year int
				want error
			}{{-1, store.ErrInvalid}, {1, nil}, {1969, nil}, {2000, nil}, {9999, nil}, {10000, store.ErrInvalid}, {300000, store.ErrInvalid}} {
				es = append(es, &store.Entry{Decision: decision("prod", fmt.Sprint("t", i), time.Date(tt.year, 12, 31, 23, 59, 59, 999999000, time.UTC))})
				want = append(want, tt.want)
			}
			refused(t, s, es, want...)
			for i, e := range es {
				if want[i] == nil {
					got, err := s.Decision(t.Context(), e.Decision.ID)
					wantErr(t, e.Decision.ID, err, nil)
					same(t, e.Decision.ID, e.Decision, got)
				}
			}
		},
		"TwentyThousandNodes": func(t *testing.T, s store.Store) {
			d := decision("prod", "wide", at(1))
			f := store.Failure{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 20000}
			for i := range 20000 {
				f.Names = append(f.Names, fmt.Sprintf("ip-10-%d-%d.ec2.internal", i/256, i%256))
			}
			d.Failures = []store.Failure{f}
			appendAll(t, s, &store.Entry{Decision: d})
			got, err := s.Decision(t.Context(), "wide")
			wantErr(t, "Decision", err, nil)
			same(t, "decision", d, got)
		},
	})
}
