package storetest

import (
	"testing"

	"berth/internal/store"
)

func init() {
	register("Confirmations", cases{
		"QuestionsAreAnsweredInOrder": func(t *testing.T, s store.Store) {
			is := func(what, cluster string, want store.Confirmation) {
				t.Helper()
				got, err := s.Confirmation(t.Context(), cluster)
				wantErr(t, what, err, nil)
				same(t, what, want, got)
			}
			ask := func(cluster string, want int64) {
				t.Helper()
				got, err := s.WantConfirmation(t.Context(), cluster)
				wantErr(t, "WantConfirmation", err, nil)
				same(t, "the question's number", want, got)
			}
			is("before anybody asked", "prod", store.Confirmation{})
			ask("prod", 1)
			ask("prod", 2)
			ask("test", 1)
			is("two questions", "prod", store.Confirmation{Wanted: 2})
			wantErr(t, "Confirm both", s.Confirm(t.Context(), "prod", 2, 40), nil)
			is("both answered", "prod", store.Confirmation{Wanted: 2, Given: 2, Revision: 40})
			wantErr(t, "Confirm late", s.Confirm(t.Context(), "prod", 1, 39), nil)
			is("a late answer changes nothing", "prod", store.Confirmation{Wanted: 2, Given: 2, Revision: 40})
			ask("prod", 3)
			is("a new question", "prod", store.Confirmation{Wanted: 3, Given: 2, Revision: 40})
			is("of another cluster", "test", store.Confirmation{Wanted: 1})
		},
	})
}
