package object

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestWeight: what decoding takes is never more than its weight, whichever list of a pod is made
// long.
func TestWeight(t *testing.T) {
	spec := func(field, item string) string {
		return `{"metadata":{"name":"p","namespace":"d"},"spec":{"containers":[{"name":"c"}],` + fmt.Sprintf(field, strings.Repeat(item+",", 20_000)+item) + `}}`
	}
	entries := func(format string) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, js := range map[string]string{
		"init containers":      spec(`"initContainers":[%s]`, `{}`),
		"ephemeral containers": spec(`"ephemeralContainers":[%s]`, `{}`),
		"volumes":              spec(`"volumes":[%s]`, `{}`),
		"claims of volumes":    spec(`"volumes":[%s]`, `{"persistentVolumeClaim":{}}`),
		"made claims":          spec(`"volumes":[%s]`, `{"ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"limits":{"a":1}}}}}}`),
		"tolerations":          spec(`"tolerations":[%s]`, `{}`),
		"resources":            spec(`"initContainers":[%s]`, `{"resources":{"limits":{"a":1},"requests":{"a":1}}}`),
		"ports":                spec(`"initContainers":[{"ports":[%s]}]`, `{}`),
		"spread":               spec(`"topologySpreadConstraints":[%s]`, `{"labelSelector":{}}`),
		"label keys":           spec(`"topologySpreadConstraints":[{"matchLabelKeys":[%s]}]`, `""`),
		"terms":                spec(`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[%s]}}}`, `{"matchExpressions":[{}]}`),
		"values":               spec(`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"values":[%s]}]}]}}}`, `"a"`),
		"pod terms":            spec(`"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[%s]}}`, `{"podAffinityTerm":{"labelSelector":{},"namespaceSelector":{}}}`),
		"claims":               spec(`"resourceClaims":[%s]`, `{}`),
		"gates":                spec(`"schedulingGates":[%s]`, `{}`),
		"statuses":             `{"status":{"containerStatuses":[` + strings.Repeat(`{},`, 20_000) + `{}]}}`,
		"labels":               `{"metadata":{"labels":{` + entries(`"%d":"",`) + `"x":""}}}`,
		"amounts":              `{"spec":{"overhead":{` + entries(`"%d":1,`) + `"x":1}}}`,
		"owners":               `{"metadata":{"ownerReferences":[` + strings.Repeat(`{},`, 20_000) + `{}]}}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pod := &corev1.Pod{}
		_, err := unmarshal([]byte(js), pod)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		took, weight := int64(after.TotalAlloc-before.TotalAlloc), Weight([]byte(js))
		t.Logf("%-22s %8d bytes take %9d, weight %9d", name, len(js), took, weight)
		if took > weight {
			t.Errorf("%s: %d bytes take %d, their weight is %d", name, len(js), took, weight)
		}
	}
}

// FuzzWeight: any text has a weight, which does not shrink when more follows.
func FuzzWeight(f *testing.F) {
	f.Add([]byte(`{"containers":[{"a":[1,"x\"y"]}]}`), 12)
	f.Fuzz(func(t *testing.T, js []byte, n int) {
		if n < 0 || n > len(js) {
			return
		}
		if all, part := Weight(js), Weight(js[:n]); part < int64(n) || all < part {
			t.Errorf("%q weighs %d, its first %d bytes %d", js, all, n, part)
		}
	})
}
