package admit

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func oracle(t *testing.T) *Oracle {
	t.Helper()
	o, err := NewOracle(append(Classes(true), SystemClasses()...))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestComparisonFinds: a trial whose comparison sees nothing would always pass.
func TestComparisonFinds(t *testing.T) {
	o := oracle(t)
	create := func(spec string) Verdict {
		t.Helper()
		v, err := o.Create(json.RawMessage(`{"metadata":{"name":"p"},"spec":{` + spec + `"containers":[{"name":"c","image":"i"}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	good, bad, refused := create(``), create(`"schedulingGates":[{"name":"bad gate"},{"name":"bad gate"}],`), create(`"priorityClassName":"none",`)
	if !good.Allowed || bad.Allowed || len(bad.Errors) != 3 || refused.Errors[0] != "plugin Forbidden: no PriorityClass with name none was found" {
		t.Fatalf("%+v\n%+v\n%+v", good, bad, refused)
	}
	named := Verdict{Errors: []string{"spec.priorityClassName FieldValueForbidden Forbidden: no PriorityClass with name none was found"}}
	for _, v := range []struct{ want, got Verdict }{{good, good}, {bad, bad}, {refused, named}} {
		if d := Compare(v.want, v.got); d != "" {
			t.Errorf("a difference where there is none: %s", d)
		}
	}
	changed := func(v Verdict, f func(*Verdict)) Verdict {
		v.Errors = append([]string{}, v.Errors...)
		f(&v)
		return v
	}
	for what, v := range map[string]struct{ want, got Verdict }{
		"allowed":         {bad, good},
		"a missing error": {bad, changed(bad, func(v *Verdict) { v.Errors = v.Errors[1:] })},
		"another message": {bad, changed(bad, func(v *Verdict) { v.Errors[0] += "x" })},
		"an error twice":  {bad, changed(bad, func(v *Verdict) { v.Errors = append(v.Errors, v.Errors[2]) })},
		"another default": {good, changed(good, func(v *Verdict) { v.Pod = json.RawMessage(strings.Replace(string(v.Pod), `"Always"`, `"Never"`, 1)) })},
		"a field too much": {good, changed(good, func(v *Verdict) {
			v.Pod = json.RawMessage(strings.Replace(string(v.Pod), `"spec":{`, `"spec":{"nodeName":"n",`, 1))
		})},
		"the plugin": {refused, changed(named, func(v *Verdict) { v.Errors[0] += "x" })},
	} {
		if Compare(v.want, v.got) == "" {
			t.Errorf("%s: not found", what)
		}
	}
}

// TestGenerator: a seed always makes the same pods, and neither valid nor invalid ones are rare.
func TestGenerator(t *testing.T) {
	o, one, other := oracle(t), NewGenerator(3), NewGenerator(3)
	allowed, updated := 0, 0
	const n = 200
	for range n {
		pod := one.Create()
		if string(pod) != string(other.Create()) {
			t.Fatal("another pod from the same seed")
		}
		v, err := o.Create(pod)
		if err != nil {
			t.Fatal(err)
		}
		if !v.Allowed {
			continue
		}
		allowed++
		old := Stored(v.Pod)
		next := one.Update(old)
		other.Update(old)
		if v, err = o.Update(next, old); err != nil {
			t.Fatal(err)
		}
		if v.Allowed {
			updated++
		}
	}
	if allowed < n/4 || allowed > n*3/4 || updated < allowed/10 || updated > allowed*9/10 {
		t.Errorf("of %d pods %d are allowed, and %d of their updates", n, allowed, updated)
	}
}

// TestScenes: each thing that the plugins refuse a pod or a claim for is drawn, and so are those
// that they let in; what LimitRanger says is put in order.
func TestScenes(t *testing.T) {
	o, g := oracle(t), NewGenerator(5)
	said, allowed := "", 0
	for range 150 {
		s := g.Scene()
		in, err := o.In(s)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			v, err := in.Create(Encode(g.Applicant()))
			if err != nil {
				t.Fatal(err)
			}
			if v.Allowed {
				allowed++
			}
			said += v.Forbidden + "\n"
		}
		for _, x := range []runtime.Object{g.Claim("n"), g.Counted("n")} {
			why, err := in.Object(x, nil)
			if err != nil {
				t.Fatal(err)
			}
			said += why + "\n"
		}
	}
	for _, want := range []string{
		"exceeded quota", "failed quota", "minimum cpu", "maximum memory", "max limit to request ratio", "not found", "doesn't match RuntimeClass", "set without corresponding", "conflict: runtimeClass",
		"persistentvolumeclaims \"n\" is forbidden: exceeded quota", "usage per PersistentVolumeClaim", "services \"n\"", "poddisruptionbudgets.policy \"n\"",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing is refused for %q", want)
		}
	}
	if allowed < 50 || allowed > 350 {
		t.Errorf("%d of 450 are allowed", allowed)
	}
	const a, b = `minimum cpu usage per Pod is 1, but request is 0`, `maximum memory usage per Pod is 1Gi.  No limit is specified`
	if InOrder("x: ["+a+", "+b+"]") != InOrder("x: ["+b+", "+a+"]") || InOrder("["+a+"]") == InOrder("["+b+"]") {
		t.Error("not in order")
	}
}
