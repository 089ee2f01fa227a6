package engine_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/config"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/kube/object"
	"berth/internal/semantics"
	"berth/test/enginetest"
)

// vector is a case with kube-scheduler's own verdict; see
// testdata/vectors/README.md.
type vector struct {
	ID      string            `json:"id"`
	Pod     object.Key        `json:"pod"`
	Objects []json.RawMessage `json:"objects"`
	Config  json.RawMessage   `json:"config"`
	under   *semantics.Release
	Verdict struct {
		Outcome   string   `json:"outcome"`
		Message   string   `json:"message"`
		Nominated bool     `json:"nominated"`
		Nodes     int      `json:"nodes"`
		Feasible  []string `json:"feasible"`
		Best      []string `json:"best"`
		Failures  []struct {
			Plugin  string   `json:"plugin"`
			Code    string   `json:"code"`
			Reasons []string `json:"reasons"`
			Nodes   []string `json:"nodes"`
		} `json:"failures"`
		Scores *struct {
			Plugins []string `json:"plugins"`
			Weights []int64  `json:"weights"`
			Nodes   map[string]struct {
				Raw        []int64 `json:"raw"`
				Normalized []int64 `json:"normalized"`
				Total      int64   `json:"total"`
			} `json:"nodes"`
		} `json:"scores"`
		Gates      []string            `json:"gates"`
		Devices    map[string][]string `json:"devices"`
		PostFilter string              `json:"postFilter"`
		Preemption *struct {
			Eligible   bool              `json:"eligible"`
			Reason     string            `json:"reason"`
			Choices    []string          `json:"choices"`
			Told       map[string]string `json:"told"`
			Candidates []struct {
				Node             string   `json:"node"`
				Victims          []string `json:"victims"`
				NumPDBViolations int      `json:"numPDBViolations"`
			} `json:"candidates"`
		} `json:"preemption"`
	} `json:"verdict"`
}

// recorded is later than any time in a case, as it was when upstream was asked.
var recorded = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// TestVectors holds the engine to upstream's verdicts on recorded cases.
func TestVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(vectorFiles())
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	// Go's own -failfast stops no parallel test that has paused already.
	failFast := flag.Lookup("test.failfast").Value.String() == "true"
	for _, file := range files {
		for _, v := range readVectors(t, file) {
			whole := t
			t.Run(v.ID, func(t *testing.T) {
				t.Parallel()
				if failFast && whole.Failed() {
					return
				}
				for _, d := range v.differences(t) {
					t.Error(d)
				}
			})
		}
	}
}

// TestVectorsNameDevices: without them TestVectors would compare nothing of what
// claims get, and say nothing.
func TestVectorsNameDevices(t *testing.T) {
	t.Parallel()
	said, some := 0, 0
	for _, v := range readVectors(t, "testdata/vectors/devices.json.gz") {
		w := &v.Verdict
		if w.Devices == nil {
			continue
		}
		said++
		if w.Outcome != "Scheduled" || len(w.Devices) != len(w.Best) {
			t.Errorf("%s: %s, devices on %d of %d best nodes", v.ID, w.Outcome, len(w.Devices), len(w.Best))
		}
		for _, node := range w.Best {
			if len(w.Devices[node]) > 0 {
				some++
				break
			}
		}
	}
	if said < 100 || some < 70 {
		t.Errorf("%d vectors say what claims get, which is something in %d: want 100 and 70", said, some)
	}
}

// TestVectorsSeeDevices: too many, too few and other devices are differences.
func TestVectorsSeeDevices(t *testing.T) {
	t.Parallel()
	given := []engine.AllottedDevice{{Claim: "c", Request: "r", Driver: "x", Pool: "p", Device: "d"}}
	madeUp := []engine.AllottedDevice{{Claim: "<extended-resources>", Request: "r", Driver: "x", Pool: "p", Device: "d"}}
	for name, c := range map[string]struct {
		devices []engine.AllottedDevice
		want    map[string][]string
		same    bool
	}{
		"the same":                {given, map[string][]string{"n": {"c r x/p/d"}}, true},
		"another":                 {given, map[string][]string{"n": {"c r x/p/e"}}, false},
		"too few":                 {nil, map[string][]string{"n": {"c r x/p/d"}}, false},
		"none":                    {nil, map[string][]string{"n": {}}, true},
		"too many":                {given, map[string][]string{"n": {}}, false},
		"for a pod without":       {given, nil, false},
		"of the claim made up":    {madeUp, nil, true},
		"no claims and no device": {nil, nil, true},
	} {
		var v vector
		v.Verdict.Outcome, v.Verdict.Nominated, v.Verdict.Best, v.Verdict.Devices = "Scheduled", true, []string{"n"}, c.want
		out := v.compare(&engine.Decision{Outcome: "Scheduled", Node: "n", Best: []string{"n"}, Devices: c.devices})
		if (len(out) == 0) != c.same {
			t.Errorf("%s: %v", name, out)
		}
	}
}

func readVectors(t *testing.T, file string) []vector {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for i := range out {
		out[i].under = underOf(t, file)
	}
	return out
}

// underOf is the release that gave the verdicts of a file: the one of its name, or v1.36.
func underOf(t *testing.T, file string) *semantics.Release {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
	if !strings.HasPrefix(name, "v1.") {
		return semantics.Default()
	}
	r, err := semantics.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// profile is the one that the pod names, else the first.
func (v *vector) profile(pod *corev1.Pod) (*engine.Profile, error) {
	if len(v.Config) == 0 {
		return config.Default(v.under)[0], nil
	}
	list, _, err := config.Parse(v.Config, v.under)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if p.Name == pod.Spec.SchedulerName {
			return p, nil
		}
	}
	return list[0], nil
}

func (v *vector) differences(t *testing.T) []string {
	t.Helper()
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": v.Objects})
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	var pod *corev1.Pod
	_, err = object.Read(bytes.NewReader(list), object.JSON, object.Limits{}, func(o object.Object) error {
		if p, ok := o.Value.(*corev1.Pod); ok && p.Namespace == v.Pod.Namespace && p.Name == v.Pod.Name {
			pod = p
		}
		all = append(all, o.Value)
		return nil
	})
	if err != nil || pod == nil {
		t.Fatalf("read case: %v (pod found: %v)", err, pod != nil)
	}
	profile, err := v.profile(pod)
	if err != nil {
		return []string{"config: " + err.Error()}
	}
	early, state := enginetest.InTwoSteps(t, all)
	admitted, _ := state.ResolvePriority(pod, nil)
	pod.Spec.Priority = &admitted.Priority
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = admitted.Policy
	}
	var out []string
	for how, decide := range map[string]enginetest.DecideFunc{"Decide": engine.Decide, "Decider": enginetest.Remembering(early, pod, profile, engine.Options{Now: recorded})} {
		r, err := decide(state, pod, profile, engine.Options{Now: recorded})
		if err != nil { // its text follows the plugin that it is of
			_, text, _ := strings.Cut(err.Error(), ": ")
			if v.Verdict.Outcome != "Error" || !strings.HasSuffix(v.Verdict.Message, text) {
				return []string{fmt.Sprintf("%s: error %v, want %s %s", how, err, v.Verdict.Outcome, v.Verdict.Message)}
			}
			continue
		}
		for _, diff := range v.compare(explain.Decision(r, engine.ExplainFull)) {
			out = append(out, how+": "+diff)
		}
		r.Release()
	}
	return out
}

func (v *vector) compare(d *engine.Decision) []string {
	w := &v.Verdict
	var out []string
	differ := func(what string, got, want any) {
		if g, m := fmt.Sprint(got), fmt.Sprint(want); g != m {
			out = append(out, fmt.Sprintf("%s: got %s, want %s", what, g, m))
		}
	}
	outcome := w.Outcome
	if w.Preemption != nil && len(w.Preemption.Candidates) > 0 {
		outcome = "Preempting"
	}
	differ("outcome", d.Outcome, outcome)
	differ("gates", d.Gates, w.Gates)
	if w.Outcome == "Gated" {
		return out
	}
	if w.Outcome == "Unschedulable" {
		message := w.Message + " " + w.PostFilter
		if w.Preemption != nil && d.NominatedNode != "" {
			message = strings.TrimSuffix(message, " ") + " " + w.Preemption.Told[d.NominatedNode]
		}
		differ("message", d.Message, strings.TrimSuffix(message, " "))
	}
	v.comparePreemption(d, differ)
	if w.Outcome == "Scheduled" {
		differ("best", d.Best, w.Best)
		if !slices.Contains(w.Best, d.Node) {
			out = append(out, fmt.Sprintf("node %s is none of %v", d.Node, w.Best))
		}
		// Recorded for every best node of a pod that has claims; others get none.
		var got []string
		for _, o := range d.Devices {
			if o.Claim != "<extended-resources>" { // upstream makes that claim up later
				got = append(got, fmt.Sprintf("%s %s %s/%s/%s", o.Claim, o.Request, o.Driver, o.Pool, o.Device))
			}
		}
		differ("devices", got, w.Devices[d.Node])
	}
	if w.Nominated {
		return out
	}
	got := map[string]engine.NodeVerdict{}
	var feasible []string
	for _, n := range d.Nodes {
		got[n.Name] = n
		if n.Feasible {
			feasible = append(feasible, n.Name)
		}
	}
	differ("feasible", feasible, w.Feasible)
	for _, f := range w.Failures {
		for _, name := range f.Nodes {
			n := got[name]
			reasons := slices.Clone(n.Reasons)
			sort.Strings(reasons)
			plugin := n.Plugin
			if f.Plugin == "" {
				plugin = ""
			}
			differ(name, strings.Join(append([]string{plugin, n.Code}, reasons...), "|"), strings.Join(append([]string{f.Plugin, f.Code}, f.Reasons...), "|"))
		}
	}
	if w.Scores == nil {
		for _, n := range d.Nodes {
			if len(n.Scores) > 0 {
				out = append(out, n.Name+" is scored, upstream scores nobody")
			}
		}
		return out
	}
	for name, s := range w.Scores.Nodes {
		n := got[name]
		var have, want []string
		for _, ps := range n.Scores {
			have = append(have, fmt.Sprintf("%s %d %d x%d", ps.Plugin, ps.Raw, ps.Normalized, ps.Weight))
		}
		for i, plugin := range w.Scores.Plugins {
			want = append(want, fmt.Sprintf("%s %d %d x%d", plugin, s.Raw[i], s.Normalized[i], w.Scores.Weights[i]))
		}
		sort.Strings(have)
		sort.Strings(want)
		differ(name+" scores", have, want)
		if n.Score != nil {
			differ(name+" total", *n.Score, s.Total)
		}
	}
	return out
}

// comparePreemption holds the dry run to upstream's: every candidate with its
// victims in order, and the choice where chance decides nothing.
func (v *vector) comparePreemption(d *engine.Decision, differ func(what string, got, want any)) {
	w := v.Verdict.Preemption
	if w == nil {
		return
	}
	if d.Preemption == nil {
		differ("preemption", nil, w)
		return
	}
	differ("eligible", fmt.Sprint(d.Preemption.Eligible, d.Preemption.Reason), fmt.Sprint(w.Eligible, w.Reason))
	var got, want []string
	for _, c := range d.Preemption.Candidates {
		var victims []string
		for _, p := range c.Victims {
			victims = append(victims, p.Namespace+"/"+p.Name)
		}
		got = append(got, fmt.Sprintf("%s: %v, %d violations", c.Node, victims, c.NumPDBViolations))
	}
	for _, c := range w.Candidates {
		want = append(want, fmt.Sprintf("%s: %v, %d violations", c.Node, c.Victims, c.NumPDBViolations))
	}
	sort.Strings(got)
	differ("candidates", strings.Join(got, "; "), strings.Join(want, "; "))
	if len(w.Choices) > 0 && !slices.Contains(w.Choices, d.NominatedNode) {
		differ("nominatedNode", d.NominatedNode, w.Choices)
	}
}

// vectorFiles is where the vectors are; BERTH_VECTORS names others, such as ones
// made for the occasion.
func vectorFiles() string {
	if v := os.Getenv("BERTH_VECTORS"); v != "" {
		return v
	}
	return "testdata/vectors/*.json.gz"
}
