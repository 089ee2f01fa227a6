package object

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// canonicalPod is a pod as Encode writes it.
func canonicalPod(t testing.TB, js string) []byte {
	t.Helper()
	o, err := Decode([]byte(js), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o.JSON
}

// TestPodCacheDecodesTheSame has pods that share a template, and pods that nearly
// do.
func TestPodCacheDecodesTheSame(t *testing.T) {
	form := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":%q%s},"spec":{%s"containers":[{"name":"c","resources":{"requests":{"cpu":"%s"}}}]}}`
	var list [][]byte
	for _, name := range []string{"a", "b", "name", "uid", "nodename"} {
		for _, more := range []string{"", `,"uid":"u1"`, `,"uid":"u2"`, `,"labels":{"name":"x","uid":"y"}`, `,"labels":{"name":"x","uid":"z"}`, `,"annotations":{"name":"}"}`} {
			for _, spec := range []string{"", `"nodeName":"n1",`, `"nodeName":"n2",`, `"nodeSelector":{"nodeName":"x"},`} {
				for _, cpu := range []string{"1", "250m"} {
					list = append(list, canonicalPod(t, fmt.Sprintf(form, name, "d"+name[:1], more, spec, cpu)))
				}
			}
		}
	}
	c := NewPodCache()
	for round := range 2 {
		for _, js := range list {
			want, err := FromCanonical("Pod", js)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Decode(js)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("round %d, %s (-want +got):\n%s", round, js, diff)
			}
			again, err := Encode(got.Value)
			if err != nil || !bytes.Equal(again, js) {
				t.Fatalf("%s came back as %s, %v", js, again, err)
			}
		}
	}
	if n := len(c.templates); n >= len(list) {
		t.Errorf("%d templates for %d pods", n, len(list))
	}
}

// TestPodCacheIsBoundedByWhatItHolds: a list of volumes takes twenty times its text.
func TestPodCacheIsBoundedByWhatItHolds(t *testing.T) {
	c := NewPodCache()
	volumes := strings.Repeat(`{"name":"a"},`, 10_000)
	most := 0
	for i := range 40 {
		js := fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d"},"spec":{"volumes":[%s],"hostname":"h%02d"}}`, volumes[:len(volumes)-1], i)
		before := c.Decoded()
		for range 2 {
			if _, _, err := c.Split(js); err != nil {
				t.Fatal(err)
			}
		}
		one := c.Decoded() - before
		if one < 20*len(js) || one > 50*len(js) {
			t.Fatalf("%d bytes are said to take %d decoded", len(js), one)
		}
		if most = max(most, len(c.templates)); c.held != one*len(c.templates) || c.held > maxDecodedBytes {
			t.Fatalf("%d templates of %d bytes are counted as %d", len(c.templates), one, c.held)
		}
	}
	if most < 5 {
		t.Errorf("%d templates at most", most)
	}
}

// FuzzPodCache reports that a pod is decoded as without the cache, whatever came before it.
func FuzzPodCache(f *testing.F) {
	f.Add([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"u"},"spec":{"nodeName":"n"}}`), []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","uid":"\n"},"spec":{"nodeName":""}}`))
	f.Add([]byte(`{"metadata":{"name":"a"},"metadata":{"name":"b"}}`), []byte(`{"metadata":{"name":"c"},"metadata":{"name":"d"}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		c := NewPodCache()
		_, _ = c.Decode(first)
		got, err := c.Decode(second)
		if err != nil {
			return
		}
		if !bytes.Equal(got.JSON, second) {
			t.Fatal("other bytes")
		}
		want, err := FromCanonical("Pod", second)
		if err != nil {
			return // damage that the cache need not see: stored bytes have a digest
		}
		a, errA := Encode(want.Value)
		b, errB := Encode(got.Value)
		// A value that is not UTF-8 is mended by encoding/json; Encode writes none.
		if errA != nil || errB != nil || bytes.ContainsRune(a, '\uFFFD') || bytes.Equal(a, b) {
			return
		}
		t.Fatalf("%s\nnot\n%s (%T)", b, a, got.Value.(*corev1.Pod))
	})
}

// BenchmarkPodCache splits pods of one template and of 150 in turn, as the trace of openb has them:
// by their hashes, and by their keys, which is the plain way.
func BenchmarkPodCache(b *testing.B) {
	for _, templates := range []int{1, 150} {
		var list [][]byte
		for i := range 300 {
			list = append(list, canonicalPod(b, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"default","labels":{"app":"web"}},
"spec":{"nodeName":"node-%d","containers":[{"name":"main","image":"registry.example/app:1","resources":{"requests":{"cpu":"%dm","memory":"16Mi"}}}],
"tolerations":[{"key":"batch","operator":"Exists"}]}}`, i, i, 10+i*7%templates)))
		}
		for name, split := range map[string]func(*PodCache, []byte) (*corev1.Pod, Own, error){"hash": (*PodCache).Split, "key": (*PodCache).SplitByKey} {
			b.Run(fmt.Sprintf("%s/%d", name, templates), func(b *testing.B) {
				c := NewPodCache()
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, _, err := split(c, list[i%len(list)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
