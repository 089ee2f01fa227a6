package lists

import (
	"encoding/json"
	"fmt"
	"testing"

	"berth/internal/store"
)

// BenchmarkLists sets the lists' own encoding against encoding/json of the same values, in time and
// in bytes a record.
func BenchmarkLists(b *testing.B) {
	d := &store.Decision{
		Failures: []store.Failure{
			{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 4980},
			{
				Plugin: "TaintToleration", Code: "UnschedulableAndUnresolvable", Reason: "node(s) had untolerated taint(s)", Nodes: 3,
				Names: []string{"ip-10-0-1-17.ec2.internal", "ip-10-0-1-18.ec2.internal", "ip-10-0-2-33.ec2.internal"},
			},
		},
	}
	for i := range 3 {
		s := store.Score{Rank: i + 1, Node: fmt.Sprintf("ip-10-0-3-%d.ec2.internal", i), Total: 612}
		for _, p := range []string{"NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality", "PodTopologySpread", "InterPodAffinity", "NodeAffinity", "TaintToleration"} {
			s.Plugins = append(s.Plugins, store.PluginScore{Plugin: p, Raw: int64(i), Normalized: 100, Weight: 2, Weighted: 200})
		}
		d.Scores = append(d.Scores, s)
	}
	run := func(name string, encode func() int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				size = encode()
			}
			b.ReportMetric(float64(size), "bytes/record")
		})
	}
	run("own", func() int {
		scores, _ := encodeScores(d.Scores) // the plugins are stored once for many records
		return len(encodeFailures(d.Failures)) + len(scores) + len(encodeVictims(d.Victims))
	})
	run("json", func() int {
		size := 0
		for _, v := range []any{d.Failures, d.Scores, d.Victims} {
			js, err := json.Marshal(v)
			if err != nil {
				b.Fatal(err)
			}
			size += len(js)
		}
		return size
	})
}
