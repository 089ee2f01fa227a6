package handlers

import (
	"slices"
	"strings"
	"testing"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/internal/decision"
	"berth/internal/handlers/admit"
	"berth/internal/scenario"
)

// TestFallback: kube-scheduler leaves a pod alone whose scheduler it is not. berth judges it by the
// first profile and says so.
func TestFallback(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	p := pod("web", "2", `,"schedulerName":"volcano"`)
	const want = `no profile is named "volcano", which is the pod's schedulerName: "default-scheduler" judged it instead, and kube-scheduler with these profiles would leave it alone`
	var d, read decision.Answer
	h.want(201, &d, "POST", "/v1/decisions", `{"pod":`+p+`}`)
	if d.ProfileFallback != "volcano" || d.Profile != "default-scheduler" || !slices.Equal(d.Warnings, []string{want}) {
		t.Errorf("%q %q %q", d.ProfileFallback, d.Profile, d.Warnings)
	}
	if h.want(200, &read, "GET", "/v1/decisions/"+d.ID, ""); read.ProfileFallback != "volcano" {
		t.Errorf("the record has %q", read.ProfileFallback)
	}
	var again struct {
		Identical bool
		Decision  decision.Answer
	}
	if h.want(200, &again, "POST", "/v1/decisions/"+d.ID+"/replay", ""); !again.Identical || again.Decision.ProfileFallback != "volcano" {
		t.Errorf("%+v", again)
	}
	for _, ours := range []string{`{"pod":` + p + `,"profile":"default-scheduler"}`, `{"pod":` + pod("api", "1", "") + `}`} {
		var d decision.Answer
		if h.want(201, &d, "POST", "/v1/decisions", ours); d.ProfileFallback != "" || d.Warnings != nil {
			t.Errorf("%s: %q %q", ours, d.ProfileFallback, d.Warnings)
		}
	}
	h.want(200, nil, "POST", "/filter", filterBody(p, "n1", "n2"))
	h.want(200, nil, "POST", "/prioritize", filterBody(p, "n1", "n2"))
	h.want(200, nil, "POST", "/preempt", `{"Pod":`+p+`,"NodeNameToMetaVictims":{"n1":{"Pods":[]}}}`)
	metrics := string(h.want(200, nil, "GET", "/metrics", "").body)
	for _, verb := range []string{"decide", "filter", "prioritize", "preempt"} {
		if line := `berth_profile_fallbacks_total{profile="default-scheduler",verb="` + verb + `"} 1`; !strings.Contains(metrics, line) {
			t.Errorf("no %s", line)
		}
	}
	if n := strings.Count(h.log.String(), `"scheduler":"volcano"`); n != 1 {
		t.Errorf("logged %d times", n)
	}
	var fit scenario.Fit
	if h.want(200, &fit, "POST", "/v1/clusters/default/fit", `{"pod":`+p+`}`); !slices.Contains(fit.Warnings, want) {
		t.Errorf("fit: %q", fit.Warnings)
	}
	fit = scenario.Fit{}
	if h.want(200, &fit, "POST", "/v1/clusters/default/fit", `{"pod":`+p+`,"profile":"default-scheduler"}`); slices.Contains(fit.Warnings, want) {
		t.Errorf("fit by a profile of its name: %q", fit.Warnings)
	}
	var sim scenario.Simulation
	if h.want(200, &sim, "POST", "/v1/simulations", `{"arrivals":{"pods":[{"pod":`+pod("new", "1", `,"schedulerName":"volcano"`)+`}]}}`); !slices.Contains(sim.Warnings, want) {
		t.Errorf("simulation: %q", sim.Warnings)
	}
}

// refusing is a binder that serves no scheduler of another name.
type refusing struct{ admit.Binder }

func (refusing) Unserved(_ string, pod decision.PodRef, scheduler string) string {
	if scheduler == "default-scheduler" {
		return ""
	}
	return pod.String() + " is for scheduler " + scheduler
}

// TestFilterRefusesWhatBindWould: where kube-scheduler binds through berth, no node is reserved for
// a pod that /bind refuses.
func TestFilterRefusesWhatBindWould(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Binder = refusing{o.Binder} })
	h.upload("default", small())
	filter := func(path, scheduler string) (got extenderv1.ExtenderFilterResult) {
		h.want(200, &got, "POST", path, filterBody(pod("web", "2", `,"schedulerName":"`+scheduler+`"`), "n1", "n2"))
		return got
	}
	if got := filter("/filter", "volcano"); got.Error != "" {
		t.Errorf("before any bind: %s", got.Error)
	}
	h.want(200, nil, "POST", "/bind", `{"PodNamespace":"shop","PodName":"none","PodUID":"u","Node":"n1"}`)
	if got := filter("/filter", "volcano"); got.Error != "pod shop/web is for scheduler volcano" {
		t.Errorf("%+v", got)
	}
	for _, c := range [][2]string{{"/filter", "default-scheduler"}, {"/shadow/filter", "volcano"}} {
		if got := filter(c[0], c[1]); got.Error != "" {
			t.Errorf("%s: %s", c, got.Error)
		}
	}
}
