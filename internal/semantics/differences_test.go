package semantics

import (
	"reflect"
	"slices"
	"testing"
)

// TestBehaviours: every field of a release and every gate is listed, and nothing else.
func TestBehaviours(t *testing.T) {
	gates := gateNames()
	var fields []string
	for f := range reflect.TypeFor[Release]().Fields() {
		if f.IsExported() && !slices.Contains([]string{"Name", "Locked", "Fixed", "Gates", "Life", "APIs", "Dropped"}, f.Name) {
			fields = append(fields, f.Name)
		}
	}
	var has []string
	for _, b := range behaviours {
		has = append(has, b.Name)
		if b.Row == "" || b.What == "" || b.Where == "" {
			t.Errorf("%s: %+v is not complete", b.Name, b)
		}
		if b.Gate != slices.Contains(gates, b.Name) {
			t.Errorf("%s: gate %v", b.Name, b.Gate)
		}
	}
	for f := range reflect.TypeFor[Life]().Fields() {
		fields = append(fields, f.Name)
	}
	want := slices.Concat(fields, gates)
	slices.Sort(want)
	slices.Sort(has)
	if !slices.Equal(has, want) {
		t.Errorf("behaviours.go has %q\nwant %q", has, want)
	}
}

// TestDifferences: releases differ in what their files say, and one with all differences as another
// has them decides as that.
func TestDifferences(t *testing.T) {
	for i, a := range releases {
		if got := Differences(a, a); len(got) > 0 {
			t.Errorf("%s differs from itself in %v", a.Name, got)
		}
		for _, b := range releases[i+1:] {
			list := Differences(a, b)
			if len(list) == 0 || len(list) != len(Differences(b, a)) {
				t.Errorf("%s and %s: %v", a.Name, b.Name, list)
			}
			if left := Differences(b.With(list, a), a); len(left) > 0 {
				t.Errorf("%s with all of %s differs in %v", b.Name, a.Name, left)
			}
		}
	}
}

// TestCauses: one behaviour alone is found, and several that make a difference only together.
func TestCauses(t *testing.T) {
	all := slices.DeleteFunc(Differences(v135, v137), func(b *Behaviour) bool { return b.Undecided })
	none := func(*Release) (bool, error) { return false, nil }
	if got, err := Causes(v135, v137, none); len(got) > 0 || err != nil {
		t.Errorf("causes of what no behaviour makes: %v, %v", got, err)
	}
	for size := 1; size <= 3; size++ {
		want := all[len(all)-1-size : len(all)-1]
		asked := 0
		got, err := Causes(v135, v137, func(r *Release) (bool, error) {
			asked++
			left := Differences(r, v135)
			return !slices.ContainsFunc(want, func(b *Behaviour) bool { return slices.Contains(left, b) }), nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d behaviours: %v, %v, want %v", size, got, err, want)
		}
		if asked > 2*len(all)+1 {
			t.Errorf("%d behaviours: asked %d times", size, asked)
		}
	}
}
