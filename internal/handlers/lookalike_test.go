package handlers

import "testing"

// TestOnePodDoesNotFalsifyAnother: a term of one pod whose value spells two requirements must not
// change the verdict about another pod that has those two, whatever the first was sent to.
func TestOnePodDoesNotFalsifyAnother(t *testing.T) {
	term := func(requirements string) string { return `{"matchExpressions":[` + requirements + `]}` }
	of := func(name, affinity string) string {
		return `{"metadata":{"name":"` + name + `","namespace":"shop"},"spec":{"containers":[{"name":"c"}],"affinity":{"nodeAffinity":{` + affinity + `}}}}`
	}
	evil := of("evil", `"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":`+
		term(`{"key":"kubernetes.io/hostname","operator":"In","values":["n1\u0000kubernetes.io/hostname\u0001Exists"]}`)+`}]`)
	honest := of("honest", `"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[`+
		term(`{"key":"kubernetes.io/hostname","operator":"In","values":["n1"]},{"key":"kubernetes.io/hostname","operator":"Exists"}`)+`]}`)
	for _, way := range []struct{ name, path, body string }{
		{"a dry run", "/v1/decisions", `{"snapshot":"prod@latest","dryRun":true,"pod":` + evil + `}`},
		{"a decision", "/v1/decisions", `{"snapshot":"prod@latest","pod":` + evil + `}`},
		{"scores for kube-scheduler", "/clusters/prod/prioritize", `{"Pod":` + evil + `,"NodeNames":["n1","n2","n3"]}`},
		{"a shadow call", "/clusters/prod/shadow/prioritize", `{"Pod":` + evil + `,"NodeNames":["n1","n2","n3"]}`},
	} {
		h := start(t, nil)
		h.upload("prod", small())
		h.do("POST", way.path, way.body)
		var d decided
		h.want(201, &d, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+honest+`}`)
		if d.Outcome != "Scheduled" || d.Node != "n1" {
			t.Errorf("after %s the honest pod is %s, on %q", way.name, d.Outcome, d.Node)
		}
	}
}
