package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/handlers/admit"
	"berth/internal/scenario"
)

func TestRollout(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.ScenarioMaxPods = 20 })
	set := `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-1","namespace":"shop","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"d","controller":true}]},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}}}}`
	old := func(name string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"shop","labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"s","controller":true}]},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running"}}`
	}
	h.upload("prod", listOf(node("n1", "2"), set, old("web-1-a"), old("web-1-b")))
	deployment := func(cpu, spec string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},` + spec + `"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i:2","resources":{"requests":{"cpu":"` + cpu + `"}}}]}}}}`
	}
	ask := func(body string) *scenario.Rollout {
		t.Helper()
		var out scenario.Rollout
		h.want(http.StatusOK, &out, "POST", "/v1/clusters/prod/rollouts", body)
		return &out
	}
	// Its surge of one finds no room, and none of the old pods may be missed: it gets stuck.
	got := ask(`{"deployment":` + deployment("1", "") + `}`)
	if got.Snapshot != "prod@1" || got.Outcome != scenario.RolloutStuck || got.MaxSurge != 1 || got.MaxUnavailable != 0 || *got.DeadlineExceededAfterSeconds != 601 || !strings.Contains(got.Why, "Insufficient cpu") || len(got.Warnings) != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask(`{"startSeconds":5,"deployment":` + deployment("1", "") + `,"edits":{"addNodes":[{"like":"n1"}]}}`); got.Outcome != scenario.RolloutComplete || got.Seconds != 10 || len(got.Removed) != 2 {
		t.Errorf("%+v", got)
	}
	if again := ask(`{"deployment":` + deployment("1", "") + `}`); again.Digest != got.Digest {
		t.Errorf("digests %s and %s", got.Digest, again.Digest)
	}
	workload := func(kind, spec string) string {
		return `{"apiVersion":"apps/v1","kind":"` + kind + `","metadata":{"name":"db","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"db"}},` + spec + `"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"i:2"}]}}}}`
	}
	got = ask(`{"statefulSet":` + workload("StatefulSet", `"replicas":2,"serviceName":"db",`) + `}`)
	if got.Outcome != scenario.RolloutComplete || got.StatefulSet.Name != "db" || got.Deployment != nil || *got.Updated != 2 || got.Seconds != 20 {
		t.Errorf("%+v", got)
	}
	got = ask(`{"daemonSet":` + workload("DaemonSet", "") + `}`)
	if got.Outcome != scenario.RolloutComplete || got.DaemonSet.Name != "db" || len(got.Nodes) != 1 || got.Nodes[0].Node != "n1" || *got.Nodes[0].ReadyAfterSeconds != 10 {
		t.Errorf("%+v", got)
	}
	for want, c := range map[string]struct {
		status int
		body   string
	}{
		"deployment: want a Deployment":                                             {400, `{}`},
		"deployment.spec.template.spec.containers[0]":                               {422, `{"deployment":` + deployment("-1", "") + `}`},
		"deployment.spec.strategy.type: Unsupported":                                {422, `{"deployment":` + deployment("1", `"strategy":{"type":"Canary"},`) + `}`},
		"deployment.spec.stratgy: unknown field":                                    {400, `{"deployment":` + deployment("1", `"stratgy":{},`) + `}`},
		"deployment.spec.replicas: want 20 at most":                                 {422, `{"deployment":` + strings.Replace(deployment("1", ""), `"replicas":2`, `"replicas":21`, 1) + `}`},
		"deployment.spec.template.metadata.labels":                                  {422, `{"deployment":` + strings.Replace(deployment("1", ""), `"matchLabels":{"app":"web"}`, `"matchLabels":{"app":"x"}`, 1) + `}`},
		"deployment: want a deployment, a statefulSet or a daemonSet, and only one": {400, `{"statefulSet":{},"deployment":` + deployment("1", "") + `}`},
		"statefulSet.kind: want a StatefulSet":                                      {422, `{"statefulSet":` + deployment("1", "") + `}`},
		"statefulSet.spec.updateStrategy.type: Unsupported":                         {422, `{"statefulSet":` + workload("StatefulSet", `"serviceName":"db","updateStrategy":{"type":"Recreate"},`) + `}`},
		"daemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable: Required":      {422, `{"daemonSet":` + workload("DaemonSet", `"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}},`) + `}`},
		"startSeconds: want 0 to":                                                   {422, `{"startSeconds":-1,"deployment":` + deployment("1", "") + `}`},
		"deployment.spec.paused: a Deployment":                                      {422, `{"deployment":` + deployment("1", `"paused":true,`) + `}`},
		"deployment.spec.strategy.rollingUpdate.maxSurge":                           {422, `{"deployment":` + deployment("1", `"strategy":{"rollingUpdate":{"maxSurge":"1.5"}},`) + `}`},
	} {
		if a := h.want(c.status, nil, "POST", "/v1/clusters/prod/rollouts", c.body); !strings.Contains(string(a.body), want) {
			t.Errorf("%s\nwant %s", a.body, want)
		}
	}
	h.want(http.StatusNotFound, nil, "POST", "/v1/clusters/none/rollouts", `{"deployment":`+deployment("1", "")+`}`)
}
