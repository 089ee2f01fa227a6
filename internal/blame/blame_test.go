package blame

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"berth/internal/decision"
	"berth/internal/kube/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBind has a bind take the room, and a deletion give it back.
func TestBind(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.upload("token:ops", node("n1", "4", ""), node("n2", "1", ""), pod("web", "3", ""), pod("batch/j-17", "2", ""), pod("batch/other", "500m", ""))
	h.bind("token:kube-scheduler", "batch/other", "n2")
	h.bind("token:kube-scheduler", "batch/j-17", "n1")
	h.apply("token:ops", node("n2", "1", `"unschedulable":true`))
	h.remove("token:ann", "Pod/batch/j-17")
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 9, 0, s, 0, time.UTC) }
	got := h.ask("web", nil)
	want := &Blame{
		Pod: decision.PodRef{Namespace: "shop", Name: "web", UID: "uid-web"}, Revisions: 5, Outcome: "Scheduled",
		Turns: []Turn{
			{
				Snapshot: "prod@5", At: got.Turns[0].At, From: "Unschedulable", To: "Scheduled", By: "token:ann",
				Change:  Change{Verb: "delete", Kind: "Pod", Namespace: "batch", Name: "j-17", Node: "n1"},
				Message: "would have fit from prod@5, " + got.Turns[0].At.Format(time.TimeOnly) + ", on, when batch/j-17 was deleted from n1 (token:ann)",
			},
			{
				Snapshot: "prod@3", At: got.Turns[1].At, From: "Scheduled", To: "Unschedulable", By: "token:kube-scheduler",
				Change:  Change{Verb: "bind", Kind: "Pod", Namespace: "batch", Name: "j-17", Node: "n1"},
				Message: "would have fit until prod@3, " + got.Turns[1].At.Format(time.TimeOnly) + ", when batch/j-17 was bound to n1 (token:kube-scheduler): 0/2 nodes are available: 2 Insufficient cpu",
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a := got.Turns[0].At; a.Before(at(1)) || !got.Turns[1].At.Before(a) {
		t.Errorf("times: %v", got.Turns)
	}
	if n := len(h.ask("web", func(a *Ask) { a.Until = Bound{Revision: 4} }).Turns); n != 1 {
		t.Errorf("%d turns up to prod@4", n)
	}
	if b := h.ask("web", func(a *Ask) { a.Since = Bound{Time: got.Turns[1].At} }); b.Revisions != 3 || len(b.Turns) != 1 {
		t.Errorf("since the first turn: %+v", b)
	}
	if b := h.ask("web", func(a *Ask) { a.Until = Bound{Time: got.Turns[1].At.Add(-1)} }); b.Revisions != 2 || b.Outcome != "Scheduled" {
		t.Errorf("until the first turn: %+v", b)
	}
}

// TestTaint has taints keep the pod off, on the whole and from one node.
func TestTaint(t *testing.T) {
	t.Parallel()
	h := begin(t)
	taint := `"taints":[{"key":"dedicated","value":"ml","effect":"NoSchedule"}]`
	h.upload("token:ops", node("n1", "4", ""), node("n2", "4", ""), pod("web", "3", ""))
	h.apply("token:ops", node("n1", "4", taint))
	h.apply("token:eve", node("n2", "4", taint))
	h.apply("token:ops", node("n1", "4", taint), node("n2", "2", taint))
	h.remove("token:ops", "Node//n1")
	b := h.ask("web", nil)
	if len(b.Turns) != 1 || b.Turns[0].By != "token:eve" || b.Turns[0].Change != (Change{Verb: "apply", Kind: "Node", Name: "n2"}) ||
		!strings.Contains(b.messages(), "when node n2 changed in spec.taints (token:eve)") {
		t.Errorf("%+v", b)
	}
	on := func(node string) string {
		b := h.ask("web", func(a *Ask) { a.Node = node })
		out := b.Outcome
		for i := range b.Turns {
			x := &b.Turns[i]
			out += fmt.Sprintf("; %s %s>%s", x.Snapshot, x.From, x.To)
		}
		return out
	}
	if got, want := on("n1"), "absent; prod@5 TaintToleration>absent; prod@2 fits>TaintToleration"; got != want {
		t.Errorf("n1: %s, want %s", got, want)
	}
	if got, want := on("n2"), "TaintToleration; prod@3 fits>TaintToleration"; got != want {
		t.Errorf("n2: %s, want %s", got, want)
	}
	var none *decision.Error
	if _, err := h.try("web", func(a *Ask) { a.Node = "n9" }); !errors.As(err, &none) || none.Kind != decision.NotFound || none.Field != "node" {
		t.Errorf("a node that no revision has: %v", err)
	}
}

// TestBudget has a budget change the victims of a preemption.
func TestBudget(t *testing.T) {
	t.Parallel()
	h := begin(t)
	low := func(name, node string, priority int) string {
		return pod(name, "3", fmt.Sprintf(`,"nodeName":%q,"priority":%d`, node, priority))
	}
	budget := func(disruptions int) string {
		return fmt.Sprintf(`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"keep-a","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"a"}},"minAvailable":1},"status":{"disruptionsAllowed":%d}}`, disruptions)
	}
	h.upload("token:ops", node("n1", "4", ""), node("n2", "4", ""), low("a", "n1", 1), low("b", "n2", 2), pod("web", "3", `,"priority":100`))
	h.apply("token:ops", budget(1))
	h.apply("token:ops", node("n3", "1", ""))
	h.apply("token:eve", budget(0), node("n4", "1", ""))
	h.apply("token:ops", low("b", "n2", 200))
	h.apply("token:ops", low("a", "n1", 300))
	b := h.ask("web", nil)
	if len(b.Turns) != 2 {
		t.Fatalf("%+v", b)
	}
	x := b.Turns[1]
	if x.Snapshot != "prod@4" || x.From != "Preempting" || x.To != "Preempting" || x.By != "token:eve" || x.Also != nil ||
		x.Change != (Change{Verb: "apply", Kind: "PodDisruptionBudget", Namespace: "shop", Name: "keep-a"}) {
		t.Errorf("%+v", x)
	}
	if want := "PodDisruptionBudget shop/keep-a changed in status.disruptionsAllowed (token:eve): shop/a on n1, and since then shop/b on n2"; !strings.Contains(x.Message, want) {
		t.Errorf("%s", x.Message)
	}
	if x := b.Turns[0]; x.Snapshot != "prod@6" || x.From != "Preempting" || x.To != "Unschedulable" {
		t.Errorf("%+v", x)
	}
	hidden := h.ask("web", func(a *Ask) { a.Sees = func(namespace string) bool { return namespace == "other" } })
	if text := fmt.Sprintf("%+v", hidden.Turns); strings.Contains(text, "keep-a") || strings.Contains(text, "shop/") || !strings.Contains(text, "1 pod of other namespaces on n2") {
		t.Error(text)
	}
}

// TestCount has the number of copies fall.
func TestCount(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.upload("token:ops", node("n1", "4", ""), node("n2", "4", ""), pod("web", "1", `,"nodeName":"n1","schedulingGates":[]`), pod("batch/big", "3", ""), pod("batch/small", "2", ""))
	h.bind("token:kube-scheduler", "batch/big", "n1")
	h.remove("token:ops", "Node//n2")
	h.remove("token:ops", "Pod/shop/web")
	b := h.ask("web", func(a *Ask) { a.Count = 6 })
	if b.Outcome != "1" || b.Revisions != 4 || len(b.Turns) != 2 {
		t.Fatalf("%+v", b)
	}
	if x := b.Turns[0]; x.From != "5" || x.To != "1" || x.Change.Name != "n2" {
		t.Errorf("%+v", x)
	}
	if x := b.Turns[1]; x.From != "6" || x.To != "5" || x.Change.Name != "big" ||
		!strings.HasPrefix(x.Message, "6 of 6 would have fit until prod@2, 09:00:") || !strings.Contains(x.Message, "; since then 5: 0/2 nodes are available") {
		t.Errorf("%+v", x)
	}
}

// TestOne of many: an upload changes many objects, and one of them turned it.
func TestUploadNamesTheOne(t *testing.T) {
	t.Parallel()
	for _, n := range []int{40, 2 * maxSingles} {
		h := begin(t)
		objects := func(version int) []string {
			list := []string{node("n1", "4", ""), node("n2", "4", `"unschedulable":true`), pod("web", "3", "")}
			for i := range n {
				list = append(list, pod(fmt.Sprintf("batch/p-%04d", i), fmt.Sprintf("%dm", 1+version%2), `,"nodeName":"n2"`))
			}
			return list
		}
		h.upload("token:ops", objects(1)...)
		h.upload("token:cron", append(objects(2), pod("batch/taker", "2", `,"nodeName":"n1"`))...)
		b := h.ask("web", nil)
		if len(b.Turns) != 1 {
			t.Fatalf("%+v", b)
		}
		x := b.Turns[0]
		if x.Change != (Change{Verb: "upload", Kind: "Pod", Namespace: "batch", Name: "taker", Node: "n1"}) || x.Also != nil || x.By != "token:cron" ||
			!strings.Contains(x.Message, "when batch/taker came to n1 by an upload (token:cron)") {
			t.Errorf("%d: %+v", n, x)
		}
	}
}

// TestSeveralTurnIt: no single object of a change did, but two together, of which the least set is
// named; or each of two did.
func TestSeveralTurnIt(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.upload("token:ops", node("n1", "4", ""), node("n2", "4", ""), pod("web", "3", ""))
	h.apply("token:ops", pod("batch/a", "2", `,"nodeName":"n1"`), pod("batch/b", "2", `,"nodeName":"n2"`), pod("batch/c", "1", `,"nodeName":"n2"`), pod("batch/d", "10m", ""))
	h.remove("token:ops", "Pod/batch/a", "Pod/batch/b", "Pod/batch/c")
	b := h.ask("web", nil)
	for i, verb := range []string{"delete", "apply"} { // without a and b nothing turns, and without either on the way out
		x := b.Turns[i]
		if len(b.Turns) != 2 || x.Change != (Change{verb, "Pod", "batch", "a", "n1"}) || len(x.Also) != 1 || x.Also[0] != (Change{verb, "Pod", "batch", "b", "n2"}) {
			t.Errorf("%+v", x)
		}
	}
	again := h.ask("web", nil)
	if diff := cmp.Diff(b, again); diff != "" {
		t.Errorf("asked twice:\n%s", diff)
	}
	h = begin(t)
	h.upload("token:ops", node("n1", "4", ""), pod("web", "3", ""))
	h.apply("token:ops", pod("batch/a", "1", `,"nodeName":"n1"`), pod("batch/b", "500m", `,"nodeName":"n1"`), pod("batch/c", "10m", `,"nodeName":"n1"`))
	if x := h.ask("web", nil).Turns[0]; x.Change.Name != "a" || x.Also != nil {
		t.Errorf("a alone leaves 490m too little: %+v", x)
	}
	h = begin(t)
	h.upload("token:ops", node("n1", "4", ""), pod("web", "3", ""))
	h.apply("token:ops", pod("batch/a", "600m", `,"nodeName":"n1"`), pod("batch/b", "600m", `,"nodeName":"n1"`))
	if x := h.ask("web", nil).Turns[0]; x.Change.Name != "a" || len(x.Also) != 1 || x.Also[0].Name != "b" {
		t.Errorf("without either there is room: %+v", x)
	}
}

// TestMasked leaves out the names of what the caller may not see.
func TestMasked(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.upload("token:ops", node("n1", "4", ""), pod("web", "3", ""), pod("vault/secret", "2", ""))
	h.bind("token:kube-scheduler", "vault/secret", "n1")
	h.remove("token:ops", "Pod/vault/secret")
	b := h.ask("web", func(a *Ask) { a.Sees = func(namespace string) bool { return namespace == "shop" } })
	text := fmt.Sprintf("%+v", b)
	if len(b.Turns) != 2 || strings.Contains(text, "secret") || strings.Contains(text, "vault") || b.Turns[1].Change != (Change{Verb: "bind", Kind: "Pod", Node: "n1"}) ||
		!strings.Contains(text, "when a pod of another namespace was bound to n1 (token:kube-scheduler)") {
		t.Error(text)
	}
}

// TestOfDecisions compares each revision's outcome with that of a dry run there.
func TestOfDecisions(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.upload("token:ops", node("n1", "4", ""), node("n2", "2", ""), pod("web", "2", `,"priority":10`), pod("low", "1", `,"priority":1`), pod("batch/a", "2", ""))
	h.bind("s", "shop/web", "n1")
	h.bind("s", "batch/a", "n2")
	h.apply("s", pod("batch/b", "3", `,"nodeName":"n1","priority":20`))
	h.apply("s", strings.Replace(pod("web", "2", `,"priority":10`), `"spec":`, `"status":{"nominatedNodeName":"n2"},"spec":`, 1))
	h.apply("s", pod("low", "1", `,"priority":1,"nodeName":"n2"`))
	h.remove("s", "Pod/batch/a")
	h.apply("s", pod("low", "2", `,"priority":50,"nodeName":"n2"`))
	h.remove("s", "Pod/batch/b")
	was := ""
	turns := map[string]string{}
	for rev := int64(1); rev <= 9; rev++ {
		v, err := h.m.View(t.Context(), "prod", rev)
		if err != nil {
			t.Fatal(err)
		}
		pod, err := v.Pod("shop", "web")
		if err != nil {
			t.Fatal(err)
		}
		ans, err := decision.Preview(t.Context(), v, ask().Profiles, decision.Question{Pod: pod, Revision: rev}, func() time.Time { return v.CreatedAt })
		if err != nil {
			t.Fatal(err)
		}
		if is := string(ans.Outcome); is != was && was != "" {
			turns[v.ID()] = was + ">" + is
		}
		was = string(ans.Outcome)
	}
	got := map[string]string{}
	b := h.ask("web", nil)
	for _, x := range b.Turns {
		got[x.Snapshot] = x.From + ">" + x.To
	}
	if diff := cmp.Diff(turns, got); diff != "" || len(turns) < 3 || b.Outcome != was {
		t.Errorf("(-dry runs +blame), now %s:\n%s", b.Outcome, diff)
	}
}

// TestRandomHistories compares the turns of random histories with dry runs at each revision.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(4) {
		h, r := begin(t), rand.New(rand.NewPCG(seed, 1))
		list := []string{pod("web", "2", `,"priority":10`)}
		for i := range 4 {
			list = append(list, node(fmt.Sprintf("n%d", i), "4", ""))
		}
		h.upload("s", list...)
		names := map[string]bool{}
		for range 60 {
			name := fmt.Sprintf("p%d", r.IntN(12))
			switch n := r.IntN(8); {
			case n == 0:
				h.apply("s", node(fmt.Sprintf("n%d", r.IntN(4)), "4", []string{"", `"unschedulable":true`, `"taints":[{"key":"a","effect":"NoSchedule"}]`}[r.IntN(3)]))
			case n < 3 && names[name]:
				h.remove("s", "Pod/shop/"+name)
				delete(names, name)
			case !names[name]:
				h.apply("s", pod(name, fmt.Sprint(1+r.IntN(4)), fmt.Sprintf(`,"nodeName":"n%d","priority":%d`, r.IntN(4), 5+10*r.IntN(2))))
				names[name] = true
			}
		}
		h.bind("s", "shop/web", "n0")
		b := h.ask("web", nil)
		want, was := map[string]string{}, ""
		for rev := int64(1); rev <= int64(b.Revisions); rev++ {
			v, err := h.m.View(t.Context(), "prod", rev)
			if err != nil {
				t.Fatal(err)
			}
			key := &object.Key{Kind: "Pod", Namespace: "shop", Name: "web"}
			ans, err := decision.Preview(t.Context(), v, ask().Profiles, decision.Question{PodRef: key}, func() time.Time { return v.CreatedAt })
			if err != nil {
				t.Fatal(err)
			}
			if is := string(ans.Outcome); is != was {
				want[v.ID()] = was + ">" + is
				was = is
			}
			seen[was]++
		}
		delete(want, "prod@1")
		got := map[string]string{}
		for _, x := range b.Turns {
			got[x.Snapshot] = x.From + ">" + x.To
			if x.Change.Name == "" {
				t.Errorf("seed %d: %+v", seed, x)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || b.Outcome != was {
			t.Errorf("seed %d (-dry runs +blame), now %s and not %s:\n%s", seed, was, b.Outcome, diff)
		}
	}
	if len(seen) < 3 || seen["Preempting"] < 20 || seen["Unschedulable"] < 5 {
		t.Errorf("the histories try too little: %v", seen)
	}
}

// TestPruned says from which revision on it could be told.
func TestPruned(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.upload("s", node("n1", "4", ""), pod("web", "3", ""))
	for i := range 4 {
		h.apply("s", pod(fmt.Sprintf("batch/p%d", i), "1", `,"nodeName":"n1"`))
	}
	for _, rev := range []int64{1, 3} {
		if err := h.m.Delete(t.Context(), "prod", rev); err != nil {
			t.Fatal(err)
		}
	}
	b := h.ask("web", nil)
	want := []string{"prod@2 is the oldest revision that is kept: what came before it cannot be told", "1 revision in between, not kept: a turn at one of them is told at the next that is"}
	if diff := cmp.Diff(want, b.Notes); diff != "" || b.Revisions != 3 || len(b.Turns) != 1 || b.Turns[0].Snapshot != "prod@4" || len(b.Turns[0].Also) != 1 {
		t.Errorf("%+v\n%s", b, diff)
	}
	if b := h.ask("web", func(a *Ask) { a.Since = Bound{Revision: 2} }); len(b.Notes) != 1 {
		t.Errorf("%+v", b)
	}
	for field, change := range map[string]func(*Ask){
		"until": func(a *Ask) { a.Until = Bound{Revision: 1} },
		"name":  func(a *Ask) { a.Name = "nobody" },
	} {
		var none *decision.Error
		if _, err := h.try("web", change); !errors.As(err, &none) || none.Kind != decision.NotFound || none.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestEndsInTime tells how far the walk had come.
func TestEndsInTime(t *testing.T) {
	t.Parallel()
	h := begin(t)
	h.upload("s", node("n1", "4", ""), pod("web", "3", ""))
	h.apply("s", pod("batch/p", "1", `,"nodeName":"n1"`))
	h.apply("s", pod("batch/q", "1", `,"nodeName":"n1"`))
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	a := ask()
	a.Progress = func(done, total int) {
		if done == 2 && total == 3 {
			cancel()
		}
	}
	if _, err := Of(ctx, h.m, a); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	err := late(context.DeadlineExceeded, headOf(7), 6, 9)
	if want := "the walk had come to prod@7, 6 of 9 revisions, when its time was over: ask for a shorter history with since and until"; err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
