package handlers

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/rest"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// TestTolerationsOfLostNodes: what admission adds to a manifest, what the ledger stores of it, and
// what lifecycle and termination say of the pod on a lost node are the same 300 seconds.
func TestTolerationsOfLostNodes(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		o.TolerationSeconds = true
		m := o.Clusters.(*revision.Manager)
		log := record.New(m, o.Seals.(store.Store), &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{TolerationSeconds: true})
		o.Decisions, o.Binder = log, bind.New(m, log, bind.Options{})
	})
	h.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(node("n1", "8")))
	for range 2 {
		h.do("POST", "/v1/snapshots/default@latest/changes", `{"apply":[`+bare("applied", `"nodeName":"n1",`)+`]}`)
	}
	h.bind(bare("created", ""))
	var a rest.Admission
	h.want(http.StatusOK, &a, "POST", "/v1/pods/admission", `{"operation":"CREATE","pod":`+bare("asked", "")+`}`)
	pods := map[string]*corev1.Pod{"asked": a.Pod, "applied": h.stored("applied"), "created": h.stored("created")}
	for name, p := range pods {
		if x := p.Spec.Tolerations; len(x) != 2 || *x[0].TolerationSeconds != 300 || *x[1].TolerationSeconds != 300 {
			t.Errorf("%s tolerates %+v", name, x)
		}
	}

	const lost = `{"kind":"Node","name":"n1","type":"merge","patch":{"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute","timeAdded":"2030-01-01T10:00:00Z"}]}}}`
	h.change(http.StatusCreated, `{"patch":[`+lost+`]}`)
	var e struct{ NodeDeletion struct{ DeletedAt string } }
	due := func(path, body string) {
		t.Helper()
		h.want(http.StatusOK, &e, "POST", path, `{"now":"2030-01-01T10:01:00Z",`+body+`}`)
		if e.NodeDeletion.DeletedAt != "2030-01-01T10:05:00Z" {
			t.Errorf("%s %s: deleted at %q", path, body, e.NodeDeletion.DeletedAt)
		}
		e.NodeDeletion.DeletedAt = ""
	}
	for _, name := range []string{"applied", "created"} {
		ref := `"snapshot":"default@latest","podRef":{"namespace":"shop","name":"` + name + `"}`
		due("/v1/pods/lifecycle", ref)
		due("/v1/pods/termination", `"cause":"taint",`+ref)
	}
	due("/v1/pods/termination", `"cause":"taint","pod":`+bare("asked", `"nodeName":"n1",`)+`,"node":{"metadata":{"name":"n1"},"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute","timeAdded":"2030-01-01T10:00:00Z"}]}}`)

	// A decision judges the pod as it comes, as kube-scheduler's plugins do.
	var d struct{ Outcome string }
	h.want(http.StatusOK, &d, "POST", "/v1/decisions", `{"snapshot":"default@latest","dryRun":true,"pod":`+bare("new", "")+`}`)
	if d.Outcome != "Unschedulable" {
		t.Errorf("%+v", d)
	}
}
