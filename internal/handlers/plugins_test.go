package handlers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/handlers/rest"
)

const (
	kataClass = `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"cpu":"250m"}},"scheduling":{"nodeSelector":{"kata":"yes"}}}`
	shopRange = `{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"lr","namespace":"shop"},"spec":{"limits":[{"type":"Container","default":{"memory":"1Gi"},"max":{"cpu":"2"}}]}}`
	shopQuota = `{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"q","namespace":"shop"},"spec":{"hard":{"requests.cpu":"3","pods":"9"}}}`
)

// shopPod is a pod of the namespace with limits.
func shopPod(name, spec, cpu string) string {
	return strings.Replace(bare(name, spec), `{"requests":{"cpu":"1"}}`, `{"requests":{"cpu":"`+cpu+`"},"limits":{"cpu":"`+cpu+`"}}`, 1)
}

// TestLedgerAdmits by the RuntimeClass, LimitRange and ResourceQuota that it holds, or that come
// with a change.
func TestLedgerAdmits(t *testing.T) {
	h := ledgerOf(t, kataClass, shopRange)
	s := h.change(http.StatusCreated, `{"apply":[`+shopQuota+`,`+shopPod("a", `"runtimeClassName":"kata",`, "1")+`]}`)
	if s.Revision != 2 {
		t.Errorf("%+v", s)
	}
	p := h.stored("a")
	if p.Spec.Overhead.Cpu().String() != "250m" || p.Spec.NodeSelector["kata"] != "yes" || p.Spec.Containers[0].Resources.Requests.Memory().String() != "1Gi" || p.Annotations != nil && p.Annotations["kubernetes.io/limit-ranger"] != "" {
		t.Errorf("%+v", p)
	}
	// the same manifest again changes nothing
	h.change(http.StatusOK, `{"apply":[`+shopPod("a", `"runtimeClassName":"kata",`, "1")+`]}`)
	for _, c := range []struct{ body, detail, field string }{
		{`{"apply":[` + shopPod("b", `"runtimeClassName":"gvisor",`, "1") + `]}`, `pods "b" is forbidden: pod rejected: RuntimeClass "gvisor" not found`, "apply[0].spec.runtimeClassName"},
		{`{"apply":[` + shopPod("b", ``, "3") + `]}`, `pods "b" is forbidden: [maximum cpu usage per Container is 2, but limit is 3]`, "apply[0].spec"},
		{`{"apply":[` + shopPod("b", ``, "2") + `]}`, `pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=1250m, limited: requests.cpu=3; most of it is used by shop/a`, "apply[0].spec"},
		{`{"apply":[` + shopPod("b", ``, "1") + `,` + shopPod("c", ``, "1") + `]}`, `pods "c" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=2250m, limited: requests.cpu=3; most of it is used by shop/a, shop/b`, "apply[1].spec"},
		{`{"apply":[` + bare("b", "") + `],"delete":[{"kind":"LimitRange","namespace":"shop","name":"lr"},{"kind":"Pod","namespace":"shop","name":"gone"}],"patch":[{"kind":"ResourceQuota","namespace":"shop","name":"q","type":"merge","patch":{"spec":{"hard":{"limits.cpu":"1"}}}}]}`, `pods "b" is forbidden: failed quota: q: must specify limits.cpu for: c`, "apply[0].spec"},
	} {
		got := h.refused(http.StatusForbidden, c.body)
		want := strings.NewReplacer("[maximum", "maximum", "is 3]", "is 3").Replace(c.detail)
		if got.Type != "urn:berth:problem:not-admitted" || got.Detail != want || len(got.Errors) != 1 || got.Errors[0].Field != c.field {
			t.Errorf("%s: %+v, want %q at %s", c.body, got, want, c.field)
		}
	}
	// room that the change makes counts, and objects that are stored as they stand are not judged
	h.change(http.StatusCreated, `{"delete":[{"kind":"Pod","namespace":"shop","name":"a"}],"apply":[`+shopPod("b", ``, "2")+`,`+shopPod("c", ``, "1")+`]}`)
	h.change(http.StatusCreated, `{"replace":[`+shopPod("d", ``, "2")+`]}`)
	if got := h.refused(http.StatusForbidden, `{"apply":[`+shopPod("e", ``, "1")+`]}`); !strings.Contains(got.Detail, "used: requests.cpu=5,") || !strings.HasSuffix(got.Detail, "used by shop/b, shop/d, shop/c") {
		t.Errorf("%+v", got)
	}
	// claims and counted objects: each counts for the next
	const storage = `{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"s","namespace":"shop"},"spec":{"hard":{"requests.storage":"3Gi","services":"1"}}}`
	claim := func(name, size string) string {
		return `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"shop"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}}}`
	}
	service := func(name string) string {
		return `{"kind":"Service","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"shop"},"spec":{"selector":{"a":"b"},"ports":[{"port":80}]}}`
	}
	for _, c := range []struct{ body, detail, field string }{
		{`{"apply":[` + claim("a", "2Gi") + `,` + claim("b", "2Gi") + `,` + storage + `]}`, `persistentvolumeclaims "b" is forbidden: exceeded quota: s, requested: requests.storage=2Gi, used: requests.storage=2Gi, limited: requests.storage=3Gi`, "apply[1].spec"},
		{`{"apply":[` + storage + `,` + service("x") + `,` + service("y") + `]}`, `services "y" is forbidden: exceeded quota: s, requested: services=1, used: services=1, limited: services=1`, "apply[2].spec"},
	} {
		if got := h.refused(http.StatusForbidden, c.body); got.Detail != c.detail || len(got.Errors) != 1 || got.Errors[0].Field != c.field {
			t.Errorf("%s: %+v, want %q at %s", c.body, got, c.detail, c.field)
		}
	}
	h.change(http.StatusCreated, `{"apply":[`+claim("a", "2Gi")+`,`+storage+`]}`)
	h.change(http.StatusCreated, `{"delete":[{"kind":"PersistentVolumeClaim","namespace":"shop","name":"a"}],"apply":[`+claim("b", "3Gi")+`]}`)
	// other namespaces have no quota
	h.change(http.StatusCreated, `{"apply":[`+strings.Replace(shopPod("e", ``, "9"), `"namespace":"shop"`, `"namespace":"free"`, 1)+`]}`)
}

// TestAdmissionNamesWhoUsesAQuota, which a decision only notes.
func TestAdmissionNamesWhoUsesAQuota(t *testing.T) {
	var items []string
	for i := range 12 {
		items = append(items, shopPod(fmt.Sprintf("p%02d", i), "", fmt.Sprintf("%dm", 10*(i+1))))
	}
	h := ledgerOf(t, append(items, shopQuota, shopRange)...)
	var a rest.Admission
	ask := `"pod":` + shopPod("new", "", "2500m")
	h.want(http.StatusOK, &a, "POST", "/v1/pods/admission", `{"operation":"CREATE",`+ask+`}`)
	if !strings.Contains(a.Forbidden, "maximum cpu usage per Container is 2, but limit is 2500m") {
		t.Fatalf("%+v", a)
	}
	ask = `"pod":` + strings.Replace(shopPod("new", "", "2"), `"containers":[`, `"containers":[{"name":"d","image":"i","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}},`, 1)
	h.want(http.StatusOK, &a, "POST", "/v1/pods/admission", `{"operation":"CREATE",`+ask+`}`)
	const said = `pods "new" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=3, used: pods=12,requests.cpu=780m, limited: pods=9,requests.cpu=3`
	if a.Allowed || a.Forbidden != said || len(a.Errors) != 1 || a.Errors[0].Message != "Forbidden: "+strings.TrimPrefix(said, `pods "new" is forbidden: `) {
		t.Fatalf("%+v", a)
	}
	if q := a.Quota; len(q.Pods) != 10 || q.More != 2 || q.Pods[0].Name != "p11" || q.Pods[0].Uses["requests.cpu"] != "120m" {
		t.Errorf("%+v", q)
	}
	var d, plain decision.Answer
	h.want(http.StatusCreated, &d, "POST", "/v1/decisions", `{`+ask+`}`)
	if !slices.Contains(d.Notes, "an API server refuses the pod: "+said) || !slices.Contains(d.Notes, "an API server sets requests memory=1Gi of container c by a LimitRange of the namespace: it is not counted") {
		t.Errorf("%q", d.Notes)
	}
	h.want(http.StatusCreated, &plain, "POST", "/v1/decisions", `{"explain":"none",`+ask+`}`)
	if plain.Notes != nil || plain.Node != d.Node || plain.PodDigest != d.PodDigest {
		t.Errorf("%+v beside %+v", plain, d)
	}
	var again struct{ Identical bool }
	if h.want(http.StatusOK, &again, "POST", "/v1/decisions/"+d.ID+"/replay", ""); !again.Identical {
		t.Error("the replay differs")
	}
	var there decision.Answer
	h.want(http.StatusOK, &there, "POST", "/v1/decisions", `{"dryRun":true,"podRef":{"namespace":"shop","name":"p03"}}`)
	if there.Notes != nil {
		t.Errorf("of a pod that is there: %q", there.Notes)
	}
}
