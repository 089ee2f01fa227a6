package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
)

const benchNodes = 5000

func benchNames() []string {
	names := make([]string, benchNodes)
	for i := range names {
		names[i] = fmt.Sprintf("node-%c-%05d.internal", 'a'+i%3, i)
	}
	return names
}

func marshal(b *testing.B, v any) []byte {
	b.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func benchPod() *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "9df67d32-bf07-475d-acc7-265190f903ef", Labels: map[string]string{"app": "x"}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10"}}},
	}
}

// benchNode is a node of about 14 kB: 50 images, as the kubelet reports, and managed fields.
func benchNode(name string, i int) v1.Node {
	n := v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: "8ef38959-8ad1-4d86-8ee0-3c412a3c6813", ResourceVersion: fmt.Sprint(i), Labels: map[string]string{}, Annotations: map[string]string{},
	}}
	for k := range 16 {
		n.Labels[fmt.Sprintf("topology.example.com/key-%d", k)] = fmt.Sprintf("value-%d", (i+k)%7)
	}
	for k := range 4 {
		n.Annotations[fmt.Sprintf("node.example.com/note-%d", k)] = fmt.Sprintf(`{"mac":"02:00:00:00:%02x:%02x"}`, i&255, k)
		fields := `{"f:metadata":{"f:labels":{".":{}`
		for j := range 20 {
			fields += fmt.Sprintf(`,"f:topology.example.com/key-%d":{}`, j)
		}
		n.ManagedFields = append(n.ManagedFields, metav1.ManagedFieldsEntry{Manager: "kubelet", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields + `}}}`)})
	}
	n.Status.Capacity = v1.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	n.Status.Allocatable = n.Status.Capacity
	for _, c := range []v1.NodeConditionType{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"} {
		n.Status.Conditions = append(n.Status.Conditions, v1.NodeCondition{Type: c, Status: "False", Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"})
	}
	for k := range 50 {
		n.Status.Images = append(n.Status.Images, v1.ContainerImage{SizeBytes: int64(1e7 + k), Names: []string{
			fmt.Sprintf("registry.example.com/team/app-%d@sha256:%064x", k, i*50+k), fmt.Sprintf("registry.example.com/team/app-%d:v1.%d", k, k),
		}})
	}
	return n
}

func BenchmarkDecodeNames(b *testing.B) {
	names := benchNames()
	body := marshal(b, extender.ExtenderArgs{Pod: benchPod(), NodeNames: &names})
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var args extender.ExtenderArgs
			if err := json.Unmarshal(body, &args); err != nil || len(*args.NodeNames) != benchNodes {
				b.Fatal(err)
			}
		}
	})
	for name, table := range map[string]*Names{"own": NewNames(names), "own_no_table": nil} {
		b.Run(name, func(b *testing.B) {
			p := &Parser{Limits: filterLimits(), Names: table}
			var args FilterArgs
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if err := p.FilterArgs(body, &args); err != nil || len(args.Rows) != benchNodes || table != nil && len(args.Unknown) > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}

// interleaved returns names as kube-scheduler's filters leave them: workers take 32 nodes each, and
// one goes on for up to most of them before another does.
func interleaved(names []string, most int) []string {
	out := make([]string, 0, len(names))
	var workers [2][]string
	for at, k := 0, 0; len(out) < len(names); k ^= 1 {
		for range 1 + rand.IntN(most) {
			if len(workers[k]) == 0 {
				next := min(at+32, len(names))
				workers[k], at = names[at:next], next
			}
			if len(workers[k]) > 0 {
				out, workers[k] = append(out, workers[k][0]), workers[k][1:]
			}
		}
	}
	return out
}

// BenchmarkDecodeInterleaved reads lists in another order for each pod, each of them twice: for
// /filter and for /prioritize.
func BenchmarkDecodeInterleaved(b *testing.B) {
	names := benchNames()[:1000]
	for _, most := range []int{4, 16} {
		bodies := make([][]byte, 64)
		for i := range bodies {
			list := interleaved(names, most)
			bodies[i] = marshal(b, extender.ExtenderArgs{Pod: benchPod(), NodeNames: &list})
		}
		b.Run(strconv.Itoa(most), func(b *testing.B) {
			p := &Parser{Limits: filterLimits(), Names: NewNames(names)}
			var args FilterArgs
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				for range 2 {
					if err := p.FilterArgs(bodies[i%len(bodies)], &args); err != nil || len(args.Rows) != len(names) {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkEncodeFilter(b *testing.B) {
	names := benchNames()
	table := NewNames(names)
	var args FilterArgs
	if err := (&Parser{Names: table}).FilterArgs(marshal(b, extender.ExtenderArgs{NodeNames: &names}), &args); err != nil {
		b.Fatal(err)
	}
	verdicts := make([]verdict, benchNodes)
	for i := range verdicts {
		switch i % 5 {
		case 0:
			verdicts[i] = verdict{failed, "Insufficient cpu"}
		case 1:
			verdicts[i] = verdict{unresolvable, "node(s) didn't match Pod's node affinity/selector"}
		}
	}
	b.Run("encoding_json", func(b *testing.B) {
		want := upstreamResult(names, verdicts)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(want); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("own", func(b *testing.B) {
		var out []byte
		failed := failures(verdicts)
		b.ReportAllocs()
		for b.Loop() {
			out = AppendFilterResult(out[:0], &args, table, failed)
		}
	})
	scores := make([]int64, benchNodes)
	list := make(extender.HostPriorityList, benchNodes)
	for i := range scores {
		scores[i] = int64(i % 11)
		list[i] = extender.HostPriority{Host: names[i], Score: scores[i]}
	}
	b.Run("priorities_encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(list); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("priorities_own", func(b *testing.B) {
		var out []byte
		b.ReportAllocs()
		for b.Loop() {
			out = AppendHostPriorityList(out[:0], &args, table, scores)
		}
	})
}

func BenchmarkDecodeNodes(b *testing.B) {
	names := benchNames()
	list := v1.NodeList{}
	for i, name := range names {
		list.Items = append(list.Items, benchNode(name, i))
	}
	body := marshal(b, extender.ExtenderArgs{Pod: benchPod(), Nodes: &list})
	for i := 0; i < benchNodes; i += 100 {
		list.Items[i].ResourceVersion = fmt.Sprint("9", i)
	}
	changed := marshal(b, extender.ExtenderArgs{Pod: benchPod(), Nodes: &list})
	list.Items = nil
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var args extender.ExtenderArgs
			if err := json.Unmarshal(body, &args); err != nil || len(args.Nodes.Items) != benchNodes {
				b.Fatal(err)
			}
		}
	})
	read := func(b *testing.B, p *Parser, args *FilterArgs, body []byte) {
		if err := p.FilterArgs(body, args); err != nil || len(args.Nodes) != benchNodes {
			b.Fatal(err)
		}
	}
	b.Run("own_split", func(b *testing.B) {
		var args FilterArgs
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			read(b, &Parser{Limits: filterLimits()}, &args, body)
		}
	})
	b.Run("own_cached_1pct_changed", func(b *testing.B) {
		cache := NewNodeCache[*v1.Node](256<<20, 16<<10)
		p := &Parser{Limits: filterLimits(), Known: cache}
		var args FilterArgs
		decoded := 0
		all := func(body []byte) {
			read(b, p, &args, body)
			for _, item := range args.Nodes {
				if _, err := cache.Value(item, func(raw []byte) (*v1.Node, error) {
					decoded++
					n := new(v1.Node)
					return n, json.Unmarshal(raw, n)
				}); err != nil {
					b.Fatal(err)
				}
			}
		}
		all(body)
		decoded = 0
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for i := 0; b.Loop(); i++ {
			if i%2 == 0 {
				all(changed)
			} else {
				all(body)
			}
		}
		b.ReportMetric(float64(decoded)/float64(b.N), "decodes/op")
	})
}
