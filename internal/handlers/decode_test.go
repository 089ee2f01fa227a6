package handlers

import (
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/wire"
)

func FuzzDecisionRequest(f *testing.F) {
	for _, seed := range []string{
		`{"pod":` + pod("p", "1", `,"schedulingGates":[{"name":"g"}]`) + `,"explain":"full","dryRun":true}`, `{"podRef":{"namespace":"a","name":"b"},"nodeNames":["n"]}`,
		`{"snapshot":"prod@7","config":"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"}`,
		`{"pod":{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1e9999"}}}]}}}`,
		`{"bind":null,"preempt":false}`, `{"podd":1}`, `[]`, ``, `{"pod":{}}{}`, `{"config":{"profiles":[{}]}}`, strings.Repeat("[", 200),
	} {
		f.Add([]byte(seed))
	}
	a := fuzzAPI(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := a.decodeDecision(body, &posted{mode: fieldsStrict, limits: a.limits.objects(), pods: a.pods})
		if err == nil {
			q, err = q.Normalize(time.Now)
		}
		if err != nil {
			if e := translate(err); e.Status < 400 || e.Status > 422 || e.Detail == "" {
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
	f.Add([]byte(`{"apply":[` + node("n", "1") + `],"delete":[{"kind":"Pod","namespace":"a","name":"b"}]}`))
	f.Add([]byte(`{"apply":[{}]}`))
	a := fuzzAPI(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		var req ChangeRequest
		if err := decodeStrict(body, &req, a.changesBounds()); err != nil {
			if e := translate(err); e.Status != 400 && e.Status != 413 {
				t.Errorf("%d: %v", e.Status, err)
			}
		}
	})
}

func fuzzAPI(f *testing.F) *API {
	f.Helper()
	m, l, st := openLog(f)
	a, err := New(optionsFor(m, l, st))
	if err != nil {
		f.Fatal(err)
	}
	return a
}

// TestCountingIsNoDecoder holds the count to what it is there for: it never takes a body for larger
// than it is.
func TestCountingIsNoDecoder(t *testing.T) {
	b := jsonBounds{depth: 3, tokens: 6, depthSetting: "d", tokenSetting: "t"}
	for body, limit := range map[string]string{
		`{"a":[{"b":1}]}`: "", `{"a":[[{}]]}`: "d", `{"a":"[[[[[["}`: "", `{"a":"\"[[[[{{{{"}`: "", `[1,2,3,4,5]`: "", `[1,2,3,4,5,6]`: "t",
		`[-1.5e10, true ,null,"x"]`: "", `[[],[],[],[],[],[]]`: "t", ``: "", `"`: "", `{"a`: "", `"\`: "",
	} {
		err := b.check([]byte(body))
		if (err == nil) != (limit == "") || err != nil && translate(err).Limit != limit {
			t.Errorf("%s: %v, want %q", body, err, limit)
		}
	}
}

func TestPooledCallKeepsNothing(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	secret := strings.Replace(pod("web", "1", ""), `"spec"`, `"status":{"message":"s3cret"},"spec"`, 1)
	h.want(200, nil, "POST", "/filter", filterBody(secret, "n1", "zz"))
	for range 20 {
		c := calls.Get().(*call)
		if c.args.Pod != nil || c.table.names != nil || c.id != "" {
			t.Error("a call's memory is handed on with its content")
		}
		for _, u := range c.args.Unknown[:cap(c.args.Unknown)] {
			if u != nil {
				t.Error("a name of another call")
			}
		}
	}
	if wire.MaxPooledBuffer < 1<<20 {
		t.Error("a call of 15,000 names is not pooled")
	}
}
