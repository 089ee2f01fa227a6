package handlers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecisionsAreFollowed(t *testing.T) {
	h := start(t, nil)
	h.upload("default", small())
	type page struct {
		Items []struct {
			ID  string
			Seq int64
		}
		Next   *int64
		Cursor string
	}
	var want, got []string
	next := int64(0)
	read := func(limit int) {
		t.Helper()
		for {
			var p page
			h.want(200, &p, "GET", fmt.Sprintf("/v1/decisions?cluster=default&after=%d&limit=%d", next, limit), "")
			if p.Items == nil || p.Next == nil || p.Cursor != "" {
				t.Fatalf("%+v", p)
			}
			for _, d := range p.Items {
				got = append(got, d.ID)
				if d.Seq <= next {
					t.Errorf("%s has place %d after %d", d.ID, d.Seq, next)
				}
				next = d.Seq
			}
			if *p.Next != next {
				t.Errorf("next is %d after %d", *p.Next, next)
			}
			if len(p.Items) == 0 {
				return
			}
		}
	}
	read(2) // nothing yet
	for round := range 3 {
		for i := range 5 {
			var d decided
			h.want(201, &d, "POST", "/v1/decisions", `{"pod":`+pod(fmt.Sprintf("p%d-%d", round, i), "1", "")+`}`)
			want = append(want, d.ID)
		}
		read(2 + round)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var list page
	h.want(200, &list, "GET", "/v1/decisions?cluster=default", "")
	slices.Reverse(got)
	for i, d := range list.Items {
		if d.ID != got[i] || d.Seq != int64(len(got)-i) {
			t.Errorf("the list has %+v, want %s", d, got[i])
		}
	}
	if list.Next != nil {
		t.Error("a list that is not followed has a next")
	}
}
