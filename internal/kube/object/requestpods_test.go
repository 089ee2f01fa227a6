package object

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// requestPod is a pod of a request. What stands in it decides whether it has a template, and
// whether it is valid.
func requestPod(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	name := pick(`"web-1"`, `"web-2"`, `"a.b"`, `"web_1"`, `""`, `"Web"`, `7`, `"w\u0065b"`, `"ü"`)
	uid := pick(``, ``, `,"uid":"u-1"`, `,"uid":"u-2"`, `,"uid":""`, `,"uid":"a b"`, `,"uid":"<&>"`, `,"uid":"\u00e9"`, `,"uid":"\u2028"`, `,"uid":null`)
	labels := pick(``, `,"labels":{"app":"web"}`, `,"labels":{"name":"x","uid":"y"}`, `,"labels":{"app":"-"}`)
	kind := pick(``, `"kind":"Pod",`, `"apiVersion":"v1","kind":"Pod",`, `"kind":"Node",`, `"apiVersion":"v2",`)
	node := pick(``, ``, `"nodeName":"n1",`, `"nodeName":"n2",`, `"nodeName":"",`, `"nodeName":"N",`)
	containers := pick(`"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1000m"}}}]`, `"containers":null`, `"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]`)
	meta := `{"name":` + name + pick(``, `,"namespace":"n"`) + uid + labels + pick(``, ``, ``, `,"name":"web-2"`) + `,"managedFields":[]}`
	if r.IntN(8) == 0 {
		meta = `{"uid":"u","name":` + name + `}`
	}
	if r.IntN(8) == 0 {
		kind += pick(`"metadata":{"name":"web-1"},`, `"spec":{"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"metadata":{"name":"web-1"}}}}]},`)
	}
	return `{` + kind + `"metadata":` + meta + `,"spec":{` + node + containers + `},"status":{"phase":"Pending"}}`
}

// TestRequestPods: pods come out as without templates, in value, in canonical JSON and in errors.
func TestRequestPods(t *testing.T) {
	for _, scheduled := range []bool{false, true} {
		c := NewRequestPods(Limits{}, scheduled)
		decode := DecodePod
		if scheduled {
			decode = DecodeScheduledPod
		}
		r := rand.New(rand.NewPCG(1, 2))
		valid := 0
		for range 20_000 {
			js := requestPod(r)
			want, wantErr := decode([]byte(js), Limits{})
			got, canonical, err := c.Decode([]byte(js))
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%s: error %v, want %v", js, err, wantErr)
			}
			if err != nil {
				continue
			}
			valid++
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", js, diff)
			}
			encoded, err := Encode(want)
			if err != nil || string(encoded) != string(canonical) {
				t.Fatalf("%s: canonical\n%s, want\n%s (%v)", js, canonical, encoded, err)
			}
			if other := WithUID(canonical, "other"); other != nil {
				moved := *want
				moved.UID = "other"
				if encoded, err := Encode(&moved); err != nil || string(encoded) != string(other) {
					t.Fatalf("with another UID\n%s, want\n%s (%v)", other, encoded, err)
				}
			} else if !strings.Contains(string(canonical), `\`) {
				t.Fatalf("%s gets no other UID", canonical)
			}
		}
		if n := len(c.templates); valid < 1000 || n == 0 || n > valid/10 {
			t.Errorf("%d valid pods have %d templates", valid, n)
		}
		c.Forget()
		if len(c.templates) != 0 {
			t.Error("templates are left")
		}
	}
}

// TestRequestPodsAreBounded: what callers send does not decide how much is kept.
func TestRequestPodsAreBounded(t *testing.T) {
	c := NewRequestPods(Limits{}, false)
	for i := range 3 * maxRequestTemplates {
		js := fmt.Appendf(nil, `{"metadata":{"name":"a","labels":{"l":"%d"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, i)
		if _, _, err := c.Decode(js); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for key := range c.templates {
		kept += len(key)
	}
	if len(c.templates) > maxRequestTemplates || kept != c.bytes {
		t.Errorf("%d templates of %d bytes, counted %d", len(c.templates), kept, c.bytes)
	}
}

// BenchmarkRequestPods decodes pods that differ in their names, beside the way without templates.
func BenchmarkRequestPods(b *testing.B) {
	form := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"shop","labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"registry.example/app:1","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}],
		"tolerations":[{"key":"batch","operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"model","operator":"In","values":["m0","m1"]}]}]}}}}}`
	var list [][]byte
	for i := range 64 {
		list = append(list, fmt.Appendf(nil, form, i))
	}
	c := NewRequestPods(Limits{}, false)
	for name, decode := range map[string]func([]byte) (*corev1.Pod, []byte, error){
		"templates": func(js []byte) (*corev1.Pod, []byte, error) {
			return c.Decode(js)
		},
		"plain": func(js []byte) (*corev1.Pod, []byte, error) {
			pod, err := DecodePod(js, Limits{})
			if err != nil {
				return nil, nil, err
			}
			canonical, err := Encode(pod)
			return pod, canonical, err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, _, err := decode(list[i%len(list)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
