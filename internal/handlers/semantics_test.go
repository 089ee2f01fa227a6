package handlers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/rest"
	"berth/internal/jobs/replays"
	"berth/internal/report"
	"berth/internal/scenario"
	"berth/internal/semantics"
	"berth/internal/upgrade"
)

// volumeOfImage is a pod with an image volume, which counts for nothing in v1.35, for its size in
// v1.36, and for less of it in v1.37.
const volumeOfImage = `{"metadata":{"name":"v","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"none"}],"volumes":[{"name":"v","image":{"reference":"web:1"}}]}}`

var imageScores = map[string]string{"v1.35": "0", "v1.36": "28", "v1.37": "14"}

func withImage(name string) string {
	return strings.Replace(node(name, "8"), `"status":{`, `"status":{"images":[{"names":["web:1"],"sizeBytes":629145600}],`, 1)
}

// imageScore is the score of ImageLocality for the node that has the image.
func imageScore(t *testing.T, a *decision.Answer) string {
	t.Helper()
	for _, n := range a.Nodes {
		for _, s := range n.Scores {
			if n.Name == "has" && s.Plugin == "ImageLocality" {
				return fmt.Sprint(s.Raw)
			}
		}
	}
	t.Fatalf("no score of ImageLocality: %+v", a)
	return ""
}

// TestSemanticsOfACall: a question names the release that answers it. The answer, its record and
// its profile name that one, and a replay follows the record.
func TestSemanticsOfACall(t *testing.T) {
	var jobs *replays.Jobs
	h := start(t, func(o *admit.Options) { jobs = o.Replays.(*replays.Jobs) })
	h.upload("prod", listOf(withImage("has"), node("lacks", "8")))
	ask := func(more string) *decision.Answer {
		t.Helper()
		a := new(decision.Answer)
		h.want(201, a, "POST", "/v1/decisions", `{"snapshot":"prod@latest","explain":"full","pod":`+volumeOfImage+more+`}`)
		return a
	}
	plain := ask("")
	if got := imageScore(t, plain); got != imageScores["v1.36"] || plain.Semantics != "v1.36.3" {
		t.Errorf("without a release %s scores %s", plain.Semantics, got)
	}
	const text = `,"config":"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"`
	for name, score := range imageScores {
		for _, conf := range []string{"", text} {
			a := ask(`,"semantics":"` + name + `"` + conf)
			if got := imageScore(t, a); got != score || !strings.HasPrefix(a.Semantics, name+".") {
				t.Errorf("%s: %s scores %s, want %s", name, a.Semantics, got, score)
			}
			if same := a.ProfileDigest == plain.ProfileDigest; same != (name == "v1.36") {
				t.Errorf("%s: profile %s, of v1.36 %s", name, a.ProfileDigest, plain.ProfileDigest)
			}
			var p rest.ProfileConfiguration
			h.want(200, &p, "GET", "/v1/profiles/"+a.ProfileDigest, "")
			if named := strings.Contains(string(p.Configuration), `"semantics":"`+a.Semantics+`"`); named == (name == "v1.36") {
				t.Errorf("%s: %s", name, p.Configuration)
			}
			var r record.Replay
			h.want(200, &r, "POST", "/v1/decisions/"+a.ID+"/replay", "")
			if !r.Identical || r.Decision.Semantics != a.Semantics {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	gated := ask(`,"semantics":"v1.37,StorageCapacityScoring=false"`)
	if gated.Semantics != "v1.37.2 StorageCapacityScoring=false" || imageScore(t, gated) != imageScores["v1.37"] {
		t.Errorf("%s scores %s", gated.Semantics, imageScore(t, gated))
	}
	var r record.Replay
	h.want(200, &r, "POST", "/v1/decisions/"+gated.ID+"/replay", "")
	if !r.Identical || r.Decision.Semantics != gated.Semantics {
		t.Errorf("%+v", r)
	}
	for _, body := range []string{`{"semantics":"v1.35"}`, `{"semantics":"v1.35","profile":"default-scheduler"}`, `{"semantics":"v1.35"` + text + `}`} {
		h.want(200, &r, "POST", "/v1/decisions/"+plain.ID+"/replay", body)
		if r.Identical || r.Decision.Semantics != "v1.35.4" || imageScore(t, r.Decision) != imageScores["v1.35"] {
			t.Errorf("%s: %+v", body, r)
		}
	}
	var a decision.Answer
	h.want(200, &a, "POST", "/v1/previews", `{"explain":"full","objects":`+listOf(withImage("has"), node("lacks", "8"))+`,"pod":`+volumeOfImage+`,"semantics":"v1.37"}`)
	if imageScore(t, &a) != imageScores["v1.37"] || a.Semantics != "v1.37.2" {
		t.Errorf("%+v", a)
	}
	var job replays.Job
	h.want(201, &job, "POST", "/v1/replays", `{"cluster":"prod","semantics":"v1.37"}`)
	for w := jobs.Worker(); ; {
		if worked, err := w.Step(t.Context()); err != nil {
			t.Fatal(err)
		} else if !worked {
			break
		}
	}
	h.want(200, &job, "GET", "/v1/replays/"+job.ID, "")
	if job.Semantics != "v1.37.2" || job.Different != 5 || job.Identical != 3 || job.Errors != 0 {
		t.Errorf("%+v", job)
	}
}

// TestSemanticsOfAScenario: a scenario has a release, and each of its configurations may have one.
func TestSemanticsOfAScenario(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(withImage("has"), node("lacks", "8")))
	var q scenario.Simulation
	runs := func(body string) []scenario.ProfileRun {
		t.Helper()
		h.want(200, &q, "POST", "/v1/simulations", `{"base":"prod@latest","keep":"decisions","arrivals":{"pods":[{"pod":`+volumeOfImage+`}]}`+body+`}`)
		return q.Profiles
	}
	digests := map[string]string{}
	for name := range imageScores {
		digests[name] = runs(`,"semantics":"` + name + `"`)[0].Moves[0].Digest
	}
	if digests["v1.35"] == digests["v1.36"] || digests["v1.36"] == digests["v1.37"] {
		t.Errorf("releases have the same answers: %v", digests)
	}
	list := runs(`,"semantics":"v1.35","profiles":[{"name":"now","semantics":"v1.36"},{"name":"next","semantics":"v1.37"},{"name":"old"}]`)
	for i, name := range []string{"v1.36", "v1.37", "v1.35"} {
		if got := list[i].Moves[0].Digest; got != digests[name] {
			t.Errorf("%s decides %s, want %s of %s", list[i].Name, got, digests[name], name)
		}
	}
	var fit scenario.Fit
	h.want(200, &fit, "POST", "/v1/clusters/prod/fit", `{"pod":`+volumeOfImage+`,"semantics":"v1.37"}`)
}

// TestUnknownSemantics: each call refuses a release that is not known, and names those that are.
func TestUnknownSemantics(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "8")))
	var a decision.Answer
	h.want(201, &a, "POST", "/v1/decisions", `{"snapshot":"prod@latest","pod":`+volumeOfImage+`}`)
	for text, says := range map[string]string{
		"v1.99": semantics.Known(), "1.37": semantics.Known(), "v1.37 Nope=true": "StorageCapacityScoring",
		"v1.37 NodeDeclaredFeatures=false": "locked", "v1.36 emulated=v1.37": "up to itself",
	} {
		for path, body := range map[string]string{
			"/v1/decisions":                     `"snapshot":"prod@latest","pod":` + volumeOfImage,
			"/v1/previews":                      `"objects":` + listOf(node("n1", "8")) + `,"pod":` + volumeOfImage,
			"/v1/decisions/" + a.ID + "/replay": `"profile":"default-scheduler"`,
			"/v1/replays":                       `"cluster":"prod"`,
			"/v1/simulations":                   `"base":"prod@latest","arrivals":{"pending":true}`,
			"/v1/clusters/prod/fit":             `"pod":` + volumeOfImage,
		} {
			var p exchange.Problem
			got := h.want(400, &p, "POST", path, `{`+body+`,"semantics":"`+text+`"}`)
			if len(p.Errors) != 1 || p.Errors[0].Field != "semantics" || !strings.Contains(p.Errors[0].Message, says) {
				t.Errorf("%s %q: %s", path, text, got.body)
			}
		}
	}
	var p exchange.Problem
	h.want(400, &p, "POST", "/v1/simulations", `{"base":"prod@latest","arrivals":{"pending":true},"profiles":[{"name":"a"},{"name":"b","semantics":"v1.99"}]}`)
	if len(p.Errors) != 1 || p.Errors[0].Field != "profiles[1].semantics" {
		t.Errorf("%+v", p)
	}
}

// TestUpgradeOfACluster: what another release changes is answered of a revision, by the behaviours
// that make it, and what is wrong with the question is named.
func TestUpgradeOfACluster(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(withImage("has"), node("lacks", "8"), strings.Replace(volumeOfImage, `{"metadata"`, `{"kind":"Pod","apiVersion":"v1","metadata"`, 1)))
	var out report.Upgrade
	h.want(200, &out, "GET", "/v1/clusters/prod/upgrade?to=v1.37", "")
	if out.From != "v1.36.3" || out.To != "v1.37.2" || out.Asked.Waiting != 1 || out.Differ != 1 || len(out.Groups) == 0 {
		t.Fatalf("%+v", out)
	}
	if g := out.Groups[0]; g.Kind != upgrade.OtherScores || !slices.Equal(g.Causes, []string{"ImageVolumesRaiseTop"}) {
		t.Errorf("%+v", g)
	}
	if len(out.Objects) == 0 || out.Objects[0].Sample[0] != "shop/v" {
		t.Errorf("%+v", out.Objects)
	}
	for query, field := range map[string]string{"to=v1.99": "to", "to=v1.37&limit=0": "limit"} {
		var p exchange.Problem
		h.want(400, &p, "GET", "/v1/clusters/prod/upgrade?"+query, "")
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", query, p)
		}
	}
}

// TestAdmissionOfReleases: what the cluster's release may admit otherwise than the newest is named,
// of pods that it concerns alone.
func TestAdmissionOfReleases(t *testing.T) {
	h := start(t, nil)
	h.upload("prod", listOf(node("n1", "8")))
	const level = `{"metadata":{"name":"p"},"spec":{"resources":{},"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}`
	for _, c := range []struct {
		more string
		row  string
	}{
		{`"operation":"CREATE","pod":` + level, "(C6)"},
		{`"operation":"CREATE","semantics":"v1.37","pod":` + level, ""},
		{`"operation":"CREATE","pod":` + pod("plain", "1", ""), ""},
		{`"operation":"CREATE","semantics":"v1.37 GenericWorkload=true","pod":` + pod("g", "1", `,"schedulingGroup":{"podGroupName":"g"}`), "is dropped"},
	} {
		var a rest.Admission
		h.want(200, &a, "POST", "/v1/pods/admission", `{"cluster":"prod",`+c.more+`}`)
		named := len(a.NotEvaluated) > 0 && a.NotEvaluated[0].Plugin == "admission" && strings.Contains(a.NotEvaluated[0].Reason, c.row)
		if named != (c.row != "") || c.row == "" && len(a.NotEvaluated) > 0 {
			t.Errorf("%s: %+v", c.more, a.NotEvaluated)
		}
	}
	var p exchange.Problem
	h.want(400, &p, "POST", "/v1/pods/admission", `{"cluster":"prod","semantics":"v1.99","operation":"CREATE","pod":`+level+`}`)
	if len(p.Errors) != 1 || p.Errors[0].Field != "semantics" {
		t.Errorf("%+v", p)
	}
}
