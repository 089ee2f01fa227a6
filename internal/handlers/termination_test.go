package handlers

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/handlers/exchange"
)

func TestPodTermination(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/pods/termination"
	body := func(more string) string {
		return `{"now":"2026-03-01T12:00:00Z","pod":{"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":60,
			"containers":[{"name":"c","lifecycle":{"preStop":{"sleep":{"seconds":0}}},"livenessProbe":{"terminationGracePeriodSeconds":5}}],"initContainers":[{"name":"s","restartPolicy":"Always"}]}},` + more + `}`
	}
	type ending struct {
		GracePeriodSeconds     int64
		DeletionTimestamp      string
		EvictionTimeoutSeconds *int64
		Containers             []struct {
			Name               string
			StopTimeoutSeconds int64
		}
		Timeline []struct {
			At, Event     string
			OffsetSeconds int64
		}
		Steps              []struct{ Source string }
		Phase, Reason      string
		LeftRunning, Notes []string
	}
	for _, c := range []struct{ more, want string }{
		{`"cause":"delete","preStopSeconds":{"c":20}`, "60 <nil> [{c 40} {s 2}] Failed "},
		{`"cause":"delete","gracePeriodSeconds":10`, "10 <nil> [{c 10} {s 2}] Failed "},
		{`"cause":"delete","force":true`, "0 <nil> [{c 2} {s 2}] Running "},
		{`"cause":"preempt"`, "60 <nil> [{c 60} {s 2}] Failed "},
		{`"cause":"evict-hard"`, "1 10 [{c 2} {s 2}] Failed Evicted"},
		{`"cause":"evict-soft","evictionMaxPodGracePeriod":40`, "40 60 [{c 40} {s 2}] Failed Evicted"},
		{`"cause":"liveness"`, "5 <nil> [{c 5}] Running "},
		{`"cause":"shutdown","gracePeriodSeconds":20`, "20 <nil> [{c 20} {s 2}] Failed Terminated"},
		{`"cause":"shutdown","shutdown":{"shutdownGracePeriod":"30s","shutdownGracePeriodCriticalPods":"5s"}`, "25 <nil> [{c 25} {s 2}] Failed Terminated"},
	} {
		var e ending
		h.want(200, &e, "POST", at, body(c.more))
		wait := "<nil>"
		if e.EvictionTimeoutSeconds != nil {
			wait = fmt.Sprint(*e.EvictionTimeoutSeconds)
		}
		if got := fmt.Sprint(e.GracePeriodSeconds, " ", wait, " ", e.Containers, " ", e.Phase, " ", e.Reason); got != c.want {
			t.Errorf("%s: got %s, want %s", c.more, got, c.want)
		}
		if len(e.Timeline) == 0 || len(e.Steps) == 0 || e.Timeline[0].At != "2026-03-01T12:00:00Z" || e.Timeline[0].OffsetSeconds != 0 {
			t.Errorf("%s: %+v, %+v", c.more, e.Timeline, e.Steps)
		}
		if strings.Contains(c.more, "force") != (len(e.LeftRunning) > 0) || strings.HasPrefix(c.more, `"cause":"delete`) != (e.DeletionTimestamp != "") && !strings.Contains(c.more, "preempt") {
			t.Errorf("%s: left %v, deletion %q", c.more, e.LeftRunning, e.DeletionTimestamp)
		}
	}
	// Without now it is the server's time.
	h.want(200, nil, "POST", at, `{"cause":"delete","pod":{"spec":{"containers":[{"name":"c"}]}}}`)

	for what, c := range map[string]struct{ body, field string }{
		"nothing":            {``, ""},
		"no pod":             {`{"cause":"delete"}`, "pod"},
		"a list":             {`{"cause":"delete","pod":[]}`, "pod"},
		"a node":             {`{"cause":"delete","pod":{"kind":"Node"}}`, "pod.kind"},
		"no cause":           {`{"pod":{"spec":{"containers":[{"name":"c"}]}}}`, "cause"},
		"another cause":      {body(`"cause":"kill"`), "cause"},
		"an unknown field":   {body(`"cause":"delete","grace":3`), "grace"},
		"a wrong type":       {body(`"cause":"delete","gracePeriodSeconds":"3"`), "gracePeriodSeconds"},
		"a hook of nobody":   {body(`"cause":"delete","preStopSeconds":{"x":3}`), "preStopSeconds[x]"},
		"force with more":    {body(`"cause":"delete","force":true,"gracePeriodSeconds":3`), "force"},
		"no such container":  {body(`"cause":"liveness","container":"x"`), "container"},
		"no startup probe":   {body(`"cause":"startup"`), "container"},
		"no such config":     {body(`"cause":"shutdown","shutdown":{"gracePeriod":"3s"}`), "shutdown.gracePeriod"},
		"no duration":        {body(`"cause":"shutdown","shutdown":{"shutdownGracePeriod":"3"}`), "shutdown.shutdownGracePeriod"},
		"a pod's wrong type": {`{"cause":"delete","pod":{"spec":{"terminationGracePeriodSeconds":"x"}}}`, "pod.spec.terminationGracePeriodSeconds"},
	} {
		var p exchange.Problem
		h.want(400, &p, "POST", at, c.body)
		if p.Detail == "" || c.field != "" && (len(p.Errors) != 1 || p.Errors[0].Field != c.field) {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

func TestEvictionRanking(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/nodes/eviction-ranking"
	used := func(name, spec, usage string) string {
		return fmt.Sprintf(`{"pod":{"metadata":{"name":%q,"namespace":"ns"},"spec":{%s"containers":[{"name":"c","resources":{"requests":{"memory":"1Gi","ephemeral-storage":"1Gi"}}}]}}%s}`, name, spec, usage)
	}
	var out struct {
		Ranking []struct {
			Namespace, Name    string
			ExceedsRequests    bool
			Priority           int
			UsageAboveRequests string
		}
		Protected []struct{ Namespace, Name, Why string }
	}
	h.want(200, &out, "POST", at, `{"signal":"memory","pods":[`+strings.Join([]string{
		used("within", "", `,"usage":{"memory":"1000Mi"}`), used("above", `"priority":7,`, `,"usage":{"memory":1073741825}`), used("unknown", "", ""), used("critical", `"priority":2000000000,`, `,"usage":{"memory":"9Gi"}`),
	}, ",")+`]}`)
	if got := fmt.Sprint(out.Ranking); got != "[{ns unknown false 0 } {ns above true 7 1} {ns within false 0 -24Mi}]" {
		t.Error(got)
	}
	if len(out.Protected) != 1 || out.Protected[0].Name != "critical" || out.Protected[0].Why == "" {
		t.Errorf("%+v", out.Protected)
	}
	h.want(200, &out, "POST", at, `{"signal":"pids","pods":[`+used("few", "", `,"usage":{"pids":3}`)+","+used("many", "", `,"usage":{"pids":"40"}`)+`]}`)
	if got := fmt.Sprint(out.Ranking, out.Protected); got != "[{ns many false 0 40} {ns few false 0 3}] []" {
		t.Error(got)
	}
	h.want(200, &out, "POST", at, `{"signal":"disk","pods":[]}`)
	for what, c := range map[string]struct{ body, field string }{
		"no signal":       {`{"pods":[]}`, "signal"},
		"another signal":  {`{"signal":"cpu","pods":[]}`, "signal"},
		"no pod":          {`{"signal":"memory","pods":[{"usage":{}}]}`, "pods[0].pod"},
		"an unknown key":  {`{"signal":"memory","pods":[{"pod":{},"stats":{}}]}`, "pods[0].stats"},
		"a list of usage": {`{"signal":"memory","pods":[{"pod":{"spec":{"containers":[{"name":"c"}]}}},{"pod":{"spec":{"containers":[{"name":"c"}]}},"usage":[]}]}`, "pods[1].usage"},
		"no quantity":     {`{"signal":"memory","pods":[{"pod":{"spec":{"containers":[{"name":"c"}]}},"usage":{"memory":"much"}}]}`, "pods[0].usage.memory"},
		"a negative one":  {`{"signal":"memory","pods":[{"pod":{"spec":{"containers":[{"name":"c"}]}},"usage":{"memory":-3}}]}`, "pods[0].usage.memory"},
		"a bomb":          {`{"signal":"memory","pods":[{"pod":{"spec":{"containers":[{"name":"c"}]}},"usage":{"memory":"1e-999999999"}}]}`, "pods[0].usage.memory"},
		"null":            {`{"signal":"memory","pods":[{"pod":{"spec":{"containers":[{"name":"c"}]}},"usage":{"memory":null}}]}`, "pods[0].usage.memory"},
	} {
		var p exchange.Problem
		h.want(400, &p, "POST", at, c.body)
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

func TestGarbage(t *testing.T) {
	h := start(t, nil)
	const at = "/v1/clusters/prod/garbage"
	dead := func(name, node, more, status string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","uid":"u-%s"%s},"spec":{"nodeName":%q,"containers":[{"name":"c"}]},"status":{%s}}`, name, name, more, node, status)
	}
	const going = `,"deletionTimestamp":"2026-03-01T11:00:00Z","deletionGracePeriodSeconds":30`
	broken := strings.Replace(node("n2", "4"), `"status":{`, `"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]},"status":{"conditions":[{"type":"Ready","status":"Unknown"}],`, 1)
	h.want(404, nil, "POST", at, `{}`)
	h.upload("prod", listOf(node("n1", "4"), broken,
		dead("done", "n1", `,"creationTimestamp":"2026-03-01T01:00:00Z"`, `"phase":"Succeeded"`), dead("evicted", "n1", `,"creationTimestamp":"2026-03-01T09:00:00Z"`, `"phase":"Failed","reason":"Evicted"`),
		dead("stuck", "n2", going, `"phase":"Running"`), dead("lost", "n9", "", `"phase":"Running"`), dead("never", "", going, `"phase":"Pending"`), dead("fine", "n1", going, `"phase":"Running"`), pod("web", "1", "")))
	var out struct {
		Snapshot string
		Pods     []struct {
			Namespace, Name, Reason string
			Patch                   *struct {
				Metadata struct{ UID string }
				Status   struct {
					Phase      string
					Conditions []struct{ Type, Reason, LastTransitionTime string }
				}
			}
		}
	}
	list := func() string {
		var all []string
		for _, p := range out.Pods {
			all = append(all, p.Name+" "+p.Reason)
			if over := p.Name == "done" || p.Name == "evicted"; over != (p.Patch == nil) || !over && (p.Patch.Status.Phase != "Failed" || p.Patch.Metadata.UID != "u-"+p.Name) {
				t.Errorf("%+v", p)
			}
		}
		return strings.Join(all, ", ")
	}
	h.want(200, &out, "POST", at, `{"now":"2026-03-01T12:00:00Z","terminatedPodThreshold":1}`)
	if got := list(); got != "evicted terminated, stuck out-of-service, lost orphaned, never unscheduled" || out.Snapshot != "prod@1" {
		t.Error(got, out.Snapshot)
	}
	if c := out.Pods[2].Patch.Status.Conditions; len(c) != 1 || c[0].Type != "DisruptionTarget" || c[0].Reason != "DeletionByPodGC" || c[0].LastTransitionTime != "2026-03-01T12:00:00Z" {
		t.Errorf("%+v", c)
	}
	for _, body := range []string{``, `{}`, `{"terminatedPodThreshold":0}`, `{"terminatedPodThreshold":-1}`} {
		h.want(200, &out, "POST", at, body)
		if got := list(); got != "stuck out-of-service, lost orphaned, never unscheduled" {
			t.Error(body, got)
		}
	}
	for _, body := range []string{`{"threshold":1}`, `{"terminatedPodThreshold":"1"}`, `[]`, `{"now":"noon"}`} {
		var p exchange.Problem
		if h.want(400, &p, "POST", at, body); p.Detail == "" {
			t.Errorf("%s: no detail", body)
		}
	}
	var done struct {
		Snapshot, Applied string
		Pods              []struct{ Name string }
	}
	h.want(200, &done, "POST", at, `{"apply":true}`)
	if done.Snapshot != "prod@1" || done.Applied != "prod@2" || len(done.Pods) != 3 {
		t.Errorf("applied: %+v", done)
	}
	h.want(404, nil, "GET", "/v1/clusters/prod/pods/shop/stuck", "")
	h.want(200, nil, "GET", "/v1/clusters/prod/pods/shop/fine", "")
	left := done.Applied
	done.Applied = ""
	h.want(200, &done, "POST", at, `{"apply":true}`)
	if done.Snapshot != left || done.Applied != "" || len(done.Pods) != 0 {
		t.Errorf("applied again: %+v", done)
	}
	h.want(400, nil, "POST", "/v1/clusters/a@b/garbage", `{}`)
}

// TestPodTerminationByOthers: causes that need more than the pod.
func TestPodTerminationByOthers(t *testing.T) {
	h := start(t, nil)
	const (
		at     = "/v1/pods/termination"
		thePod = `"pod":{"metadata":{"name":"p","namespace":"shop","uid":"u","labels":{"app":"web"}},"spec":{"nodeName":"n","tolerations":[{"key":"k","operator":"Exists","tolerationSeconds":90}],
			"containers":[{"name":"c"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
		budget = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":0,"currentHealthy":2,"desiredHealthy":2}}`
	)
	h.want(201, nil, "POST", "/v1/snapshots?cluster=prod", `{"apiVersion":"v1","kind":"List","items":[`+budget+`]}`)
	for _, c := range []struct{ more, want string }{
		{`"cause":"api-eviction","budgets":[` + budget + `]`, "429 The disruption budget b needs 2 healthy pods and has 2 currently  false  Running "},
		{`"cause":"api-eviction","snapshot":"prod@latest"`, "429 The disruption budget b needs 2 healthy pods and has 2 currently  false  Running "},
		{`"cause":"api-eviction","budgets":[]`, "201   false 30 Failed "},
		{`"cause":"taint","node":{"metadata":{"name":"n"},"spec":{"taints":[{"key":"k","effect":"NoExecute","timeAdded":"2026-03-01T11:59:00Z"}]},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, "0  2026-03-01T12:00:30Z false 60 Failed "},
		{`"cause":"taint","nodeLostSince":"2026-03-01T11:59:00Z"`, "0  2026-03-01T11:59:40Z true  Running "},
		{`"cause":"delete","node":{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`, "0   true  Running "},
		{`"cause":"delete","node":null`, "0   false 60 Failed "},
		{`"cause":"kubelet-preempt"`, "0   false 30 Failed Preempting"},
		{`"cause":"delete","exitSeconds":{"c":3}`, "0   false 30 Failed  expected 3 Succeeded"},
		{`"cause":"evict-hard","then":[{"cause":"delete","afterSeconds":1,"force":true}]`, "0   false 1 Running "},
	} {
		var e struct {
			GoneAfterSeconds *int64
			StaysTerminating bool
			Phase, Reason    string
			Eviction         struct {
				Code  int
				Cause string
			}
			NodeDeletion struct{ DeletedAt string }
			Expected     *struct {
				GoneAfterSeconds int64
				Phase            string
			}
		}
		h.want(200, &e, "POST", at, `{"now":"2026-03-01T12:00:00Z",`+thePod+`,`+c.more+`}`)
		gone, more := "", ""
		if e.GoneAfterSeconds != nil {
			gone = fmt.Sprint(*e.GoneAfterSeconds)
		}
		if e.Expected != nil {
			more = fmt.Sprintf(" expected %d %s", e.Expected.GoneAfterSeconds, e.Expected.Phase)
		}
		if got := fmt.Sprintf("%d %s %s %v %s %s %s%s", e.Eviction.Code, e.Eviction.Cause, e.NodeDeletion.DeletedAt, e.StaysTerminating, gone, e.Phase, e.Reason, more); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.more, got, c.want)
		}
	}
	for what, c := range map[string]struct{ more, field string }{
		"both":              {`"cause":"api-eviction","budgets":[],"snapshot":"prod@latest"`, "snapshot"},
		"no snapshot's id":  {`"cause":"api-eviction","snapshot":"prod"`, "snapshot"},
		"no budget":         {`"cause":"api-eviction","budgets":[null]`, "budgets[0]"},
		"another kind":      {`"cause":"api-eviction","budgets":[{"kind":"Pod"}]`, "budgets[0].kind"},
		"a taint of nobody": {`"cause":"taint"`, "node"},
		"no node":           {`"cause":"taint","node":[]`, "node"},
		"a later cause":     {`"cause":"delete","then":[{"cause":"startup","afterSeconds":1}]`, "then[0].cause"},
	} {
		var p exchange.Problem
		h.want(400, &p, "POST", at, `{`+thePod+`,`+c.more+`}`)
		if len(p.Errors) == 0 || p.Errors[0].Field != c.field {
			t.Errorf("%s: %+v", what, p)
		}
	}
	h.want(404, nil, "POST", at, `{`+thePod+`,"cause":"api-eviction","snapshot":"none@latest"}`)
}
