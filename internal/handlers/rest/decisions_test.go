package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
)

func FuzzDecisionRequest(f *testing.F) {
	for _, seed := range []string{
		`{"pod":` + aPod("p", "1", `,"schedulingGates":[{"name":"g"}]`) + `,"explain":"full","dryRun":true}`, `{"podRef":{"namespace":"a","name":"b"},"nodeNames":["n"]}`,
		`{"snapshot":"prod@7","config":"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"}`,
		`{"pod":{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1e9999"}}}]}}}`,
		`{"bind":null,"preempt":false}`, `{"podd":1}`, `[]`, ``, `{"pod":{}}{}`, `{"config":{"profiles":[{}]}}`, strings.Repeat("[", 200),
	} {
		f.Add([]byte(seed))
	}
	a := fuzzAPI(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		q, _, err := a.decodeDecision(t.Context(), body, &posted{mode: fieldsStrict, limits: a.Limits.Objects(), pods: a.pods})
		if err == nil {
			q, err = q.Normalize(time.Now)
		}
		if err != nil {
			if e := exchange.Translate(err); e.Status < 400 || e.Status > 422 || e.Detail == "" {
				t.Errorf("%d %q: %v", e.Status, e.Detail, err)
			}
			return
		}
		if (q.Pod == nil) == (q.PodRef == nil) || q.Cluster == "" || q.Explain == "" {
			t.Errorf("%+v", q)
		}
	})
}

func FuzzChangeRequest(f *testing.F) {
	f.Add([]byte(`{"apply":[` + `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1"}}}` + `],"delete":[{"kind":"Pod","namespace":"a","name":"b"}]}`))
	f.Add([]byte(`{"apply":[{}]}`))
	a := fuzzAPI(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		var req ChangeRequest
		if err := exchange.DecodeStrict(body, &req, exchange.ChangesBounds(&a.Limits)); err != nil {
			if e := exchange.Translate(err); e.Status != 400 && e.Status != 413 {
				t.Errorf("%d: %v", e.Status, err)
			}
		}
	})
}

func fuzzAPI(t testing.TB) *API {
	t.Helper()
	o := admit.Options{ParseProfiles: config.Parse}
	a, err := admit.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(a, o, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// aPod is a pod in JSON.
func aPod(name, cpu, more string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","uid":"uid-%s"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]%s}}`, name, name, cpu, more)
}

// BenchmarkDecodePosted decodes a decision's body with and without the check of its pod's fields,
// in the same run.
func BenchmarkDecodePosted(b *testing.B) {
	body := []byte(`{"snapshot":"prod@7","pod":` + aPod("web", "2", `,"nodeSelector":{"disk":"ssd","arch":"amd64"},"tolerations":[{"key":"gpu","operator":"Exists"}],"schedulerName":"default-scheduler",
		"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"web"}},"topologyKey":"kubernetes.io/hostname"}]}},
		"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}]`) + `}`)
	a := fuzzAPI(b)
	for _, mode := range []string{fieldsIgnore, fieldsStrict} {
		b.Run(mode, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, _, err := a.decodeDecision(b.Context(), body, &posted{mode: mode, limits: a.Limits.Objects(), pods: a.pods}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
