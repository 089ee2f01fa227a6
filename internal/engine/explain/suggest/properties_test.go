package suggest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// trial is a random case made ready.
type trial struct {
	*enginetest.Case
	state   *state.State
	profile *engine.Profile
	objects map[string]any
}

func ready(t testing.TB, c *enginetest.Case) *trial {
	t.Helper()
	for _, v := range []int32{3, 15, 40} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("class-%d", v)}, Value: v}
		if v == 15 {
			never := corev1.PreemptNever
			class.PreemptionPolicy = &never
		}
		c.Objects = append(c.Objects, class)
	}
	s, err := enginetest.State(c.Objects...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.Build(c.Spec)
	if err != nil {
		t.Fatal(err)
	}
	out := &trial{Case: c, state: s, profile: p, objects: map[string]any{}}
	for _, o := range c.Objects {
		kind, ns, name := enginetest.Key(o)
		out.objects[kind+"/"+ns+"/"+name] = o
	}
	return out
}

func (c *trial) object(kind, ns, name string) []byte {
	o, ok := c.objects[kind+"/"+ns+"/"+name]
	if !ok {
		return nil
	}
	js, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return js
}

func (c *trial) decide(t testing.TB, s *state.State, pod *corev1.Pod) *engine.Decision {
	t.Helper()
	r, err := engine.Decide(s, pod, c.profile, c.Options)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	return explain.Decision(r, engine.ExplainFull)
}

// advise returns groups and suggestions; ok is false for a case that the engine
// cannot judge or that fits.
func (c *trial) advise() (groups []suggest.Group, list []suggest.Suggestion, r *engine.Decision, ok bool) {
	res, err := engine.Decide(c.state, c.Pod, c.profile, c.Options)
	if err != nil {
		return nil, nil, nil, false
	}
	defer res.Release()
	groups, _ = suggest.Groups(res, 3)
	list = suggest.Suggest(suggest.Question{State: c.state, Pod: c.Pod, Profile: c.profile, Options: c.Options, Object: c.object}, res)
	return groups, list, explain.Decision(res, engine.ExplainFull), true
}

// edited makes the change that a suggestion describes, from its JSON alone: with these
// operations in place of the first edit's.
func (c *trial) edited(t testing.TB, g *suggest.Suggestion, ops []suggest.Op) (*state.State, *corev1.Pod) {
	t.Helper()
	edits := slices.Clone(g.Edits)
	if len(edits) == 0 {
		edits = []suggest.Edit{g.Edit}
	}
	edits[0].Patch = ops
	e, pod := c.state.Edit(), c.Pod
	for i := range edits {
		if p := edits[i].Patch; len(p) == 1 && p[0].Op == "remove" && p[0].Path == "" {
			if c.object(edits[i].Kind, edits[i].Namespace, edits[i].Name) == nil {
				t.Fatalf("%s deletes an object that is not there", g.Change)
			}
			e.Delete(edits[i].Kind, edits[i].Namespace, edits[i].Name)
			continue
		}
		into := objectOf(t, edits[i].Kind)
		js := c.object(edits[i].Kind, edits[i].Namespace, edits[i].Name)
		if p, ok := into.(*corev1.Pod); ok && edits[i].Namespace == c.Pod.Namespace && edits[i].Name == c.Pod.Name {
			var err error
			if js, err = json.Marshal(c.Pod); err != nil {
				t.Fatal(err)
			}
			pod = p
		}
		c.patched(t, g, js, edits[i].Patch, into)
		if into == any(pod) {
			continue
		}
		if err := e.Put(into); err != nil {
			t.Fatal(err)
		}
	}
	return e.Done(), pod
}

func objectOf(t testing.TB, kind string) any {
	t.Helper()
	switch kind {
	case "Pod":
		return &corev1.Pod{}
	case "Node":
		return &corev1.Node{}
	case "PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	case "PersistentVolumeClaim":
		return &corev1.PersistentVolumeClaim{}
	case "CSINode":
		return &storagev1.CSINode{}
	case "ResourceSlice":
		return &resourcev1.ResourceSlice{}
	case "ResourceClaim":
		return &resourcev1.ResourceClaim{}
	}
	t.Fatalf("a %s is changed", kind)
	return nil
}

// patched decodes an object with a patch made. One that is new is a patch of the empty
// path, and then there is no object before it.
func (c *trial) patched(t testing.TB, g *suggest.Suggestion, js []byte, ops []suggest.Op, into any) {
	t.Helper()
	if len(ops) == 1 && ops[0].Path == "" {
		if js != nil {
			t.Fatalf("%s makes an object that is there", g.Change)
		}
		var err error
		if js, err = json.Marshal(ops[0].Value); err != nil {
			t.Fatal(err)
		}
	} else {
		text, err := json.Marshal(ops)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			t.Fatal(err)
		}
		if js, err = patch.Apply(js); err != nil {
			t.Fatalf("%s: %v", g.Change, err)
		}
	}
	if err := json.Unmarshal(js, into); err != nil {
		t.Fatalf("%s: %v", g.Change, err)
	}
}

// feasible names the nodes that a decision leaves, or that evicting helps on.
func feasible(d *engine.Decision, unviolated bool) []string {
	var out []string
	if d.Outcome == engine.Preempting {
		for _, c := range d.Preemption.Candidates {
			if !unviolated || c.NumPDBViolations == 0 {
				out = append(out, c.Node)
			}
		}
	} else {
		for _, n := range d.Nodes {
			if n.Feasible {
				out = append(out, n.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// A nominated node is taken at once, and the others are not looked at.
func counted(d *engine.Decision) int {
	if d.Outcome == engine.Scheduled {
		return d.Counts.Feasible
	}
	return len(feasible(d, false))
}

// What random cases have to come to before a test has seen enough.
var (
	kindsOffered = []string{
		"gate", "toleration", "resource", "topologySpread", "nodeSelector", "nodeAffinity", "podAffinity", "podAntiAffinity", "hostPort",
		"uncordon", "capacity", "label", "wait", "delete", "preemptionPolicy", "priorityClass", "budget",
		"pair", "node", "pair of resource and resource", "pair of capacity and capacity", "pair of toleration and resource", "pair of topologySpread and capacity", "toleration that evicts",
	}
	reasonsGiven = []string{
		engine.CauseGated, engine.CauseCordoned, engine.CauseOtherNode, engine.CauseUntoleratedTaint, engine.CauseSelectorNotMatched, engine.CauseAffinityNotMatched, engine.CauseAddedAffinityNotMatched,
		engine.CausePortTaken, engine.CauseTooManyPods, engine.CauseInsufficientCPU, engine.CauseInsufficientMemory, engine.CauseInsufficientEphemeralStorage, engine.CauseInsufficientExtended,
		engine.CauseSkewExceeded, engine.CauseTopologyLabelMissing, engine.CausePodAffinityNotMatched, engine.CausePodAntiAffinityViolated, engine.CauseOthersAntiAffinityViolated,
		engine.CauseFeatureMissing, engine.CauseNotNamed,
	}
)

func missing(have map[string]int, want []string) []string {
	return slices.DeleteFunc(slices.Clone(want), func(w string) bool { return have[w] > 0 })
}

// TestSuggestionsHold applies each suggestion of random cases as its patch has it, and makes an
// ordinary decision: it must come out as promised. An amount that was searched for must be the last
// that helps.
func TestSuggestionsHold(t *testing.T) {
	kinds := map[string]int{}
	for seed := uint64(1); seed <= 1000 || seed <= 8000 && len(missing(kinds, kindsOffered)) > 0; seed++ {
		draw := enginetest.Generate
		if seed%3 == 0 {
			draw = enginetest.Crowded
		}
		drawn := draw(seed)
		if seed%8 == 0 {
			for _, o := range drawn.Objects {
				if n, ok := o.(*corev1.Node); ok {
					enginetest.Cordoned()(n)
				}
			}
		}
		c := ready(t, drawn)
		_, list, base, ok := c.advise()
		if !ok || base.Outcome == engine.Scheduled {
			if len(list) > 0 {
				t.Fatalf("seed %d: %s, and yet %s", seed, base.Outcome, list[0].Change)
			}
			continue
		}
		for i := range list {
			g := &list[i]
			kinds[g.Kind]++
			if g.Kind == "pair" {
				kinds["pair of "+strings.Join(g.Parts, " and ")]++
			}
			if g.Kind == "toleration" && g.Outcome == engine.Preempting {
				kinds["toleration that evicts"]++
			}
			s, pod := c.edited(t, g, g.Edit.Patch)
			d := c.decide(t, s, pod)
			got := feasible(d, g.Kind == "budget")
			n := counted(d)
			if g.Kind == "budget" {
				n = len(got)
			}
			if d.Outcome != g.Outcome || n != g.Fits || n == 0 || len(g.Nodes) != min(n, 5) || !slices.Equal(got[:len(g.Nodes)], g.Nodes) {
				t.Fatalf("seed %d: %s: promised %s on %d nodes %v, got %s on %d %v: %s", seed, g.Change, g.Outcome, g.Fits, g.Nodes, d.Outcome, n, got, d.Message)
			}
			c.last(t, seed, g)
		}
	}
	for _, k := range missing(kinds, kindsOffered) {
		t.Errorf("no case in which %s helps", k)
	}
	t.Log(kinds)
}

// last changes a request by one more, or a skew or a capacity by one less: that must not help.
func (c *trial) last(t *testing.T, seed uint64, g *suggest.Suggestion) {
	t.Helper()
	op := slices.Clone(g.Edit.Patch)
	switch {
	case g.Kind == "topologySpread" && strings.HasSuffix(op[0].Path, "/maxSkew"):
		op[0].Value = op[0].Value.(int64) - 1
	case g.Kind == "resource":
		for i := range op {
			op[i].Value = more(op[i].Path, op[i].Value.(string), 1)
		}
	case g.Kind == "capacity" && strings.HasPrefix(op[0].Path, "/status/allocatable/"):
		op[0].Value = more(op[0].Path, op[0].Value.(string), -1)
	default:
		return
	}
	s, pod := c.edited(t, g, op)
	if d := c.decide(t, s, pod); d.Outcome == engine.Scheduled {
		t.Fatalf("seed %d: %s: %v does as well", seed, g.Change, op)
	}
}

func more(path, amount string, by int64) string {
	q := resource.MustParse(amount)
	if strings.HasSuffix(path, "/cpu") {
		return resource.NewMilliQuantity(q.MilliValue()+by, resource.DecimalSI).String()
	}
	return strconv.FormatInt(q.Value()+by, 10)
}

// Groups add up to the nodes that were rejected, and name nodes that the decision
// rejected by that very rule.
func TestGroupsAddUp(t *testing.T) {
	reasons := map[string]int{}
	for seed := uint64(1); seed <= 800 || seed <= 8000 && len(missing(reasons, reasonsGiven)) > 0; seed++ {
		c := ready(t, enginetest.Generate(seed))
		groups, _, d, ok := c.advise()
		if !ok {
			continue
		}
		want, got := 0, 0
		if d.Outcome != engine.Scheduled {
			want = d.Counts.Nodes
		}
		plugin := map[string]string{}
		for _, n := range d.Nodes {
			plugin[n.Name] = n.Plugin
		}
		for i := range groups {
			g := &groups[i]
			reasons[g.Reason]++
			got += g.Nodes
			if i > 0 && g.Nodes > groups[i-1].Nodes && groups[i-1].Merged == 0 && g.Merged == 0 {
				t.Fatalf("seed %d: groups are not in order of size", seed)
			}
			if g.Short != nil && (g.Short.Min < 1 || g.Short.Median < g.Short.Min || g.Short.Max < g.Short.Median) {
				t.Fatalf("seed %d: %s short %+v", seed, g.Reason, g.Short)
			}
			if !slices.Contains([]suggest.Action{suggest.Wait, suggest.ChangePod, suggest.AskPlatform}, g.Action) {
				t.Fatalf("seed %d: action %q", seed, g.Action)
			}
			for _, n := range g.Sample {
				if d.Outcome != engine.Gated && plugin[n] != g.Rule {
					t.Fatalf("seed %d: %s is out for %q, its group says %q", seed, n, plugin[n], g.Rule)
				}
			}
		}
		if got != want {
			t.Fatalf("seed %d (%s): groups of %d nodes, want %d", seed, d.Outcome, got, want)
		}
	}
	for _, r := range missing(reasons, reasonsGiven) {
		t.Errorf("no group for %s", r)
	}
	t.Log(reasons)
}

// The same question has the same advice, byte for byte.
func TestAdviceIsDeterministic(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		var first string
		for range 3 {
			c := ready(t, enginetest.Generate(seed))
			groups, list, _, _ := c.advise()
			js, err := json.Marshal([]any{groups, list})
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(js)
			}
			if d := cmp.Diff(first, string(js)); d != "" {
				t.Fatalf("seed %d: %s", seed, d)
			}
		}
	}
}
