package handlers

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
)

// What the stores cannot hold is refused by name, not an error of ours.
func TestNULIsRefusedByName(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	evil := `{"metadata":{"name":"p","namespace":"shop","uid":"\u0000"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	var p exchange.Problem
	h.want(422, &p, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+evil+`}`)
	if len(p.Errors) != 1 || p.Errors[0].Field != "pod.metadata.uid" {
		t.Errorf("%+v", p)
	}
	if a := h.do("POST", "/clusters/prod/filter", `{"Pod":`+evil+`,"NodeNames":["n1"]}`); a.StatusCode >= 500 || !strings.Contains(string(a.body), "uid") {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	h.want(422, nil, "POST", "/v1/snapshots?cluster=other", listOf(strings.Replace(evil, `{"metadata"`, `{"apiVersion":"v1","kind":"Pod","metadata"`, 1)))
	h.want(422, &p, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+pod("w", "1", "")+`,"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"a\u0000b"}]}}`)
	if !strings.Contains(p.Detail, "schedulerName") {
		t.Errorf("%+v", p)
	}
	for _, victims := range []string{
		`"NodeNameToMetaVictims":{"n\u0000":{"Pods":[]}}`,
		`"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"\u0000"}]}}`,
		`"NodeNameToVictims":{"n1":{"Pods":[{"metadata":{"name":"v\u0000","namespace":"shop","uid":"v"}}]}}`,
	} {
		h.want(400, &p, "POST", "/clusters/prod/preempt", `{"Pod":`+pod("w", "1", "")+`,`+victims+`}`)
		if !strings.Contains(p.Detail, "NUL") {
			t.Errorf("%s: %+v", victims, p)
		}
	}
	for _, name := range []string{"namespace", "pod", "node"} {
		h.want(400, &p, "GET", "/v1/decisions?"+name+"="+url.QueryEscape("\x00"), "")
		if len(p.Errors) != 1 || p.Errors[0].Field != name {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// A refusal is small whatever it refuses.
func TestRefusalsAreBounded(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	long := strings.Repeat("x", 2<<20)
	for name, body := range map[string]string{
		"a long name":      `{"snapshot":"prod@latest","pod":{"metadata":{"name":"` + long + `","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"i"}]}}}`,
		"a long value":     `{"snapshot":"prod@latest","pod":{"metadata":{"name":"p","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":"` + long + `"}]}}}`,
		"a long parameter": `{"` + long + `":1}`,
		"many bad fields":  `{"snapshot":"prod@latest","pod":{"metadata":{"name":"p","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[` + many(256, `{"operator":"No","effect":"No","key":"/"}`) + `]}}}`,
	} {
		before := len(h.log.String())
		a := h.do("POST", "/v1/decisions", body)
		var p exchange.Problem
		if err := json.Unmarshal(a.body, &p); err != nil || a.StatusCode < 400 || a.StatusCode >= 500 {
			t.Fatalf("%s: %d %v", name, a.StatusCode, err)
		}
		if len(a.body) > 64<<10 || len(p.Errors) > exchange.MaxFields {
			t.Errorf("%s: an answer of %d bytes with %d fields", name, len(a.body), len(p.Errors))
		}
		if n := len(h.log.String()) - before; n > 16<<10 {
			t.Errorf("%s: %d bytes of log", name, n)
		}
	}
}

// The earliest time is a bound, not the absence of one.
func TestUntilTheBeginningOfTime(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", small())
	h.want(201, nil, "POST", "/v1/decisions", webRef+`,"snapshot":"prod@latest"}`)
	var list rest.DecisionList
	if h.want(200, &list, "GET", "/v1/decisions?until=0001-01-01T00:00:00Z", ""); len(list.Items) != 0 {
		t.Errorf("%d decisions from before the first year", len(list.Items))
	}
}
