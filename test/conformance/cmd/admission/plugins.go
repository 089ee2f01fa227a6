package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"berth/test/conformance/admit"
	"berth/test/conformance/progress"
)

// perScene is how many pods are created in each scene, beside a few objects of other kinds.
const perScene = 5

// scenes tries LimitRanger, RuntimeClass and ResourceQuota: n pods in scenes of their own objects,
// and objects of other kinds that berth's ledger creates there.
type scenes struct {
	client *admit.Client
	oracle *admit.Oracle
	g      *admit.Generator
	show   int
	meter  *progress.Meter

	judged, allowed, differ int
	refused                 map[string]int // by the words that a refusal begins with
}

func (t *scenes) run(n int) error {
	t.refused = map[string]int{}
	t.meter = progress.Of(n, "creates and updates under plugins")
	for t.judged < n {
		s := t.g.Scene()
		if err := t.client.Upload(s.Objects()); err != nil {
			return err
		}
		for range perScene {
			if err := t.pod(s); err != nil {
				return err
			}
		}
		if err := t.others(s); err != nil {
			return err
		}
	}
	var by []string
	for _, words := range slices.Sorted(maps.Keys(t.refused)) {
		by = append(by, fmt.Sprintf("%s %d", words, t.refused[words]))
	}
	fmt.Printf("under LimitRanger, RuntimeClass and ResourceQuota: %d creates and updates (%d allowed; %s), %d differences\n",
		t.judged, t.allowed, strings.Join(by, ", "), t.differ)
	return nil
}

func (t *scenes) pod(s *admit.Scene) error {
	oracle, err := t.oracle.In(s)
	if err != nil {
		return err
	}
	js := admit.Encode(t.g.Applicant())
	want, err := oracle.Create(js)
	if err != nil {
		return fmt.Errorf("oracle: %s: %w", js, err)
	}
	got, err := t.client.Judge(js, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", js, err)
	}
	t.count(s, js, want.Allowed, want.Forbidden, admit.Compare(want, got))
	return nil
}

// count counts a verdict, and shows a difference.
func (t *scenes) count(s *admit.Scene, object []byte, allowed bool, forbidden, differs string) {
	t.judged++
	switch {
	case allowed:
		t.allowed++
	case forbidden == "":
		t.refused["invalid"]++
	default:
		_, words, _ := strings.Cut(forbidden, "is forbidden: ")
		t.refused[kindOf(words)]++
	}
	if differs != "" {
		if t.differ++; t.differ <= t.show {
			fmt.Printf("CREATE %.3000s\nin %.6000s\n%s\n", object, admit.Encode(s.Objects()), differs)
		}
	}
	t.meter.Step(t.differ)
}

// kindOf names which check a refusal is of.
func kindOf(words string) string {
	for _, x := range []string{"exceeded quota", "failed quota", "minimum", "maximum", "ratio", "RuntimeClass", "Overhead", "conflict", "PriorityClass"} {
		if strings.Contains(words, x) {
			return x
		}
	}
	return "other"
}

// others creates claims and objects that are only counted in the ledger, one after the other, so
// that each counts for the next, and lets a claim grow.
func (t *scenes) others(s *admit.Scene) error {
	var list []runtime.Object
	for i := range 3 {
		list = append(list, t.g.Claim(fmt.Sprint("new-", i)), t.g.Counted(fmt.Sprint("more-", i)))
	}
	for _, x := range list {
		if err := t.object(s, x, nil); err != nil {
			return err
		}
	}
	if now, old := t.g.Larger(s); now != nil {
		return t.object(s, now, old)
	}
	return nil
}

func (t *scenes) object(s *admit.Scene, x, old runtime.Object) error {
	oracle, err := t.oracle.In(s)
	if err != nil {
		return err
	}
	want, err := oracle.Object(x, old)
	if err != nil {
		return err
	}
	js := admit.Encode(x)
	got, err := t.client.Apply(x)
	if err != nil {
		return fmt.Errorf("%s: %w", js, err)
	}
	differs := ""
	if admit.InOrder(want) != admit.InOrder(got) {
		differs = fmt.Sprintf("want %q\ngot  %q", want, got)
	}
	t.count(s, js, want == "", want, differs)
	if want == "" && old == nil {
		s.Others = append(s.Others, x)
	}
	return nil
}
