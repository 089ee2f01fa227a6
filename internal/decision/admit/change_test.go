package admit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
	"berth/internal/revision"
)

const (
	node1 = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"a"}},"status":{"capacity":{"cpu":"8"},"allocatable":{"cpu":"7"}}}`
	bound = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"}},"spec":{"nodeName":"n1","priority":7,"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]},"status":{"phase":"Running"}}`
)

var start = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

// single is an Updater of one revision. It keeps the last step.
type single struct {
	v    *revision.View
	step *revision.Step
}

func (s *single) Update(_ context.Context, _ string, _ int64, f func(*revision.View) (*revision.Step, error)) (v *revision.View, step *revision.Step, err error) {
	s.step, err = f(s.v)
	return s.v, s.step, err
}

// change makes a change of objects that are there.
func change(t *testing.T, held []string, c Change) (*revision.Step, error) {
	t.Helper()
	list := `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(held, ",") + `]}`
	v, err := revision.Standalone("prod", func(yield func(object.Object) error) (map[string]int, error) {
		return object.Read(strings.NewReader(list), object.JSON, object.Limits{}, yield)
	}, start)
	if err != nil {
		t.Fatal(err)
	}
	c.Read = func(_ string, raw json.RawMessage) (object.Object, error) {
		return object.Decode(raw, object.Limits{})
	}
	u := &single{v: v}
	made, err := New(u, Options{Clock: func() time.Time { return start }}).Change(t.Context(), "prod", 0, c)
	if err == nil && made.Changed != (u.step != nil) {
		t.Errorf("changed is %v beside %+v", made.Changed, u.step)
	}
	return u.step, err
}

func raws(list ...string) (out []json.RawMessage) {
	for _, s := range list {
		out = append(out, json.RawMessage(s))
	}
	return out
}

func class(name string, isDefault bool) string {
	js, _ := json.Marshal(map[string]any{"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": map[string]string{"name": name}, "value": 500, "globalDefault": isDefault})
	return string(js)
}

func plain(name, spec string) string {
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"shop"},"spec":{` + spec + `"containers":[{"name":"c","image":"i"}]}}`
}

// TestApplyKeepsTheBind applies the manifest that a bound and running pod was made
// from, with another label.
func TestApplyKeepsTheBind(t *testing.T) {
	t.Parallel()
	manifest := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","labels":{"app":"new"}},"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]}}`
	step, err := change(t, []string{node1, bound}, Change{Apply: raws(manifest)})
	if err != nil || len(step.Apply) != 1 {
		t.Fatalf("%+v, %v", step, err)
	}
	p := step.Apply[0].Value.(*corev1.Pod)
	if p.Spec.NodeName != "n1" || *p.Spec.Priority != 7 || p.Status.Phase != corev1.PodRunning || p.Labels["app"] != "new" {
		t.Errorf("%+v", p)
	}
	if step, err := change(t, []string{node1, bound}, Change{Apply: raws(strings.Replace(manifest, "new", "web", 1))}); err != nil || step != nil {
		t.Errorf("the same manifest again: %+v, %v", step, err)
	}
	var conflict *revision.ConflictError
	if _, err := change(t, []string{node1, bound}, Change{Apply: raws(plain("web", `"nodeName":"n2",`))}); !errors.As(err, &conflict) || conflict.Node != "n1" || conflict.Revision != 1 {
		t.Errorf("another node: %v", err)
	}
}

func TestPatchTypes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, patch string
		want        func(o any) bool
	}{
		"merge": {"Node", `{"metadata":{"labels":{"b":"2","topology.kubernetes.io/zone":null}}}`, func(o any) bool {
			l := o.(*corev1.Node).Labels
			return len(l) == 1 && l["b"] == "2"
		}},
		"json": {"Node", `[{"op":"test","path":"/status/capacity/cpu","value":"8"},{"op":"add","path":"/spec/unschedulable","value":true}]`, func(o any) bool {
			n := o.(*corev1.Node)
			return n.Spec.Unschedulable && n.Status.Capacity.Cpu().String() == "8"
		}},
		"strategic": {"Pod", `{"spec":{"containers":[{"name":"d","image":"k"}]}}`, func(o any) bool {
			l := o.(*corev1.Pod).Spec.Containers
			images := map[string]string{}
			for _, c := range l {
				images[c.Name] = c.Image
			}
			return len(l) == 2 && images["c"] == "i" && images["d"] == "k"
		}},
	} {
		p := Patch{Kind: c.kind, Name: "n1", Type: name, Patch: json.RawMessage(c.patch)}
		if c.kind == "Pod" {
			p.Namespace, p.Name = "shop", "web"
		}
		step, err := change(t, []string{node1, bound}, Change{Patch: []Patch{p}})
		if err != nil || len(step.Apply) != 1 || !c.want(step.Apply[0].Value) {
			t.Errorf("%s: %+v, %v", name, step, err)
		}
	}
}

// TestCopiesAreBounded over all patches of a change: a few copies that double what they copy are
// taken, and many more than that are not.
func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	patches := func(n, copies int) (c Change, objects []string) {
		ops := []string{`{"op":"add","path":"/metadata/labels","value":{"a":{"x":"` + strings.Repeat("y", 60) + `"}}}`}
		for i := range copies {
			ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"/metadata/labels/a","path":"/metadata/labels/a/b%d"}`, i))
		}
		ops = append(ops, `{"op":"replace","path":"/metadata/labels","value":{"done":"1"}}`)
		for i := range n {
			name := fmt.Sprintf("n%d", i)
			objects = append(objects, strings.Replace(node1, `"n1"`, `"`+name+`"`, 1))
			c.Patch = append(c.Patch, Patch{Kind: "Node", Name: name, Type: "json", Patch: json.RawMessage("[" + strings.Join(ops, ",") + "]")})
		}
		return c, objects
	}
	for _, c := range []struct {
		patches, copies int
		field           string
	}{{100, 4, ""}, {10, 13, ""}, {1, 30, "patch[0].patch"}, {100, 14, "patch[10].patch"}} {
		ch, objects := patches(c.patches, c.copies)
		step, err := change(t, objects, ch)
		var invalid *revision.InvalidError
		if c.field == "" && (err != nil || len(step.Apply) != c.patches) || c.field != "" && (!errors.As(err, &invalid) || invalid.Field != c.field) {
			t.Errorf("%d patches of %d copies: %v, want %s", c.patches, c.copies, err, c.field)
		}
	}
}

func TestPatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p      Patch
		field  string
		absent bool
	}{
		"no kind":                             {Patch{Name: "n1", Type: "merge"}, "patch[0].kind", false},
		"a kind that is none":                 {Patch{Kind: "Nod", Name: "n1", Type: "merge"}, "patch[0].kind", false},
		"no name":                             {Patch{Kind: "Node", Type: "merge"}, "patch[0].name", false},
		"a node's namespace":                  {Patch{Kind: "Node", Namespace: "shop", Name: "n1", Type: "merge"}, "patch[0].namespace", false},
		"not there":                           {Patch{Kind: "Node", Name: "n2", Type: "merge", Patch: json.RawMessage(`{}`)}, "patch[0]", true},
		"of another namespace":                {Patch{Kind: "Pod", Name: "web", Type: "merge", Patch: json.RawMessage(`{}`)}, "patch[0]", true},
		"another type":                        {Patch{Kind: "Node", Name: "n1", Type: "apply", Patch: json.RawMessage(`{}`)}, "patch[0].type", false},
		"no patch":                            {Patch{Kind: "Node", Name: "n1", Type: "merge"}, "patch[0].patch", false},
		"null":                                {Patch{Kind: "Node", Name: "n1", Type: "json", Patch: json.RawMessage(`null`)}, "patch[0].patch", false},
		"merge of a list":                     {Patch{Kind: "Node", Name: "n1", Type: "merge", Patch: json.RawMessage(`[]`)}, "patch[0].patch", false},
		"json of an object":                   {Patch{Kind: "Node", Name: "n1", Type: "json", Patch: json.RawMessage(`{}`)}, "patch[0].patch", false},
		"no such path":                        {Patch{Kind: "Node", Name: "n1", Type: "json", Patch: json.RawMessage(`[{"op":"remove","path":"/spec/none"}]`)}, "patch[0].patch", false},
		"a test that fails":                   {Patch{Kind: "Node", Name: "n1", Type: "json", Patch: json.RawMessage(`[{"op":"test","path":"/metadata/name","value":"n2"}]`)}, "patch[0].patch", false},
		"more operations than upstream takes": {Patch{Kind: "Node", Name: "n1", Type: "json", Patch: operations(10_001, `[]`)}, "patch[0].patch", false},
		"operations on a long list":           {Patch{Kind: "Node", Name: "n1", Type: "json", Patch: operations(1_000, `[0`+strings.Repeat(",0", 200_000)+`]`)}, "patch[0].patch", false},
		"an order of a list without a merge key": {
			Patch{Kind: "Node", Name: "n1", Type: "strategic", Patch: json.RawMessage(`{"spec":{"$setElementOrder/taints":[{"key":"a"}],"taints":[{"key":"a","effect":"NoSchedule"}]}}`)}, "patch[0].patch", false,
		},
		"strategic of a list": {Patch{Kind: "Node", Name: "n1", Type: "strategic", Patch: json.RawMessage(`[]`)}, "patch[0].patch", false},
		"another name":        {Patch{Kind: "Node", Name: "n1", Type: "merge", Patch: json.RawMessage(`{"metadata":{"name":"n2"}}`)}, "patch[0].patch", false},
	} {
		step, err := change(t, []string{node1, bound}, Change{Patch: []Patch{c.p}})
		var invalid *revision.InvalidError
		if step != nil || !errors.As(err, &invalid) || invalid.Field != c.field || invalid.Absent != c.absent {
			t.Errorf("%s: %+v, %v", name, step, err)
		}
	}
}

// TestOrder has what is deleted gone, and classes and nodes there, before pods are
// admitted, wherever they stand in the change.
func TestOrder(t *testing.T) {
	t.Parallel()
	step, err := change(t, []string{node1, class("old", true), plain("gone", "")}, Change{
		Apply: raws(plain("young", `"nodeName":"n9",`), class("new", true), strings.NewReplacer(`"n1"`, `"n9"`, `"a"`, `"z"`).Replace(node1)),
		Patch: []Patch{{Kind: "Node", Name: "n1", Type: "merge", Patch: json.RawMessage(`{"spec":{"unschedulable":true}}`)}},
		Delete: []Deletion{
			{Kind: "Pod", Namespace: "shop", Name: "gone"}, {Kind: "Pod", Name: "never"}, {Kind: "PriorityClass", Name: "old"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var applied, deleted []string
	for _, o := range step.Apply {
		applied = append(applied, nameOf(o.Key))
	}
	for _, k := range step.Delete {
		deleted = append(deleted, nameOf(k))
	}
	if want := []string{"PriorityClass new", "Node n9", "Node n1", "Pod shop/young"}; !slices.Equal(applied, want) {
		t.Errorf("applied %v, want %v", applied, want)
	}
	if want := []string{"PriorityClass old", "Pod shop/gone"}; !slices.Equal(deleted, want) {
		t.Errorf("deleted %v, want %v", deleted, want)
	}
	p := step.Apply[len(step.Apply)-1].Value.(*corev1.Pod)
	if *p.Spec.Priority != 500 || p.Spec.PriorityClassName != "new" || p.Labels["topology.kubernetes.io/zone"] != "z" {
		t.Errorf("%+v %+v", p.Labels, p.Spec)
	}
}

func TestChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	seconds := int64(5)
	for name, c := range map[string]struct {
		c     Change
		field string
	}{
		"nothing":                   {Change{}, "apply"},
		"named twice":               {Change{Apply: raws(plain("web", "")), Replace: raws(plain("web", ""))}, "replace[0]"},
		"applied and deleted":       {Change{Apply: raws(node1), Delete: []Deletion{{Kind: "Node", Name: "n1"}}}, "delete[0]"},
		"patched and deleted":       {Change{Patch: []Patch{{Kind: "Pod", Name: "a"}}, Delete: []Deletion{{Kind: "Pod", Namespace: "default", Name: "a"}}}, "patch[0]"},
		"patched and deleted twice": {Change{Patch: []Patch{{Kind: "Node", Name: "n1"}}, Delete: []Deletion{{Kind: "Node", Name: "n1"}, {Kind: "Node", Name: "n1"}}}, "delete[1]"},
		"strictly not there":        {Change{Strict: true, Delete: []Deletion{{Kind: "Node", Name: "n2"}}}, "delete[0]"},
		"a node's grace":            {Change{Delete: []Deletion{{Kind: "Node", Name: "n1", GracePeriodSeconds: &seconds}}}, "delete[0].gracePeriodSeconds"},
	} {
		step, err := change(t, []string{node1, bound}, c.c)
		var invalid *revision.InvalidError
		if step != nil || !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("%s: %+v, %v", name, step, err)
		}
	}
	// Nothing of a change is made where its last part is refused.
	if step, err := change(t, []string{node1}, Change{Apply: raws(class("new", false), plain("p", `"priorityClassName":"none",`))}); step != nil || err == nil {
		t.Errorf("%+v, %v", step, err)
	}
}

// operations is a JSON patch that puts elements before those of a list, one by one.
func operations(n int, list string) json.RawMessage {
	return json.RawMessage(`[{"op":"add","path":"/spec/taints","value":` + list + `}` + strings.Repeat(`,{"op":"add","path":"/spec/taints/0","value":0}`, n-1) + `]`)
}
