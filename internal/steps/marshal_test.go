package steps_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"berth/internal/steps"
	"berth/test/stepstest"
)

type inner struct {
	Name  string     `json:"name"`
	Times []own      `json:"times,omitempty"`
	Long  []*int     `json:"long"`
	At    *time.Time `json:"at,omitempty"`
}

// own has JSON of its own.
type own struct{ n int }

func (o *own) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]int{"n": o.n}) }

type outer struct {
	Before string `json:"before"`
	inner
	Few   []inner           `json:"few"`
	Many  []*inner          `json:"many,omitempty"`
	None  []inner           `json:"none"`
	Empty []string          `json:"empty"`
	Raw   []json.RawMessage `json:"raw"`
	Bytes []byte            `json:"bytes"`
	Left  []string          `json:"left,omitempty"`
	Out   []string          `json:"-"`
	Names []string
	After map[string][]string `json:"after"`
}

func made(many int) *outer {
	one := 1
	o := &outer{
		Before: `a "few": [`, inner: inner{Name: "x", Times: []own{{3}}}, Few: []inner{{Name: "<few>", Times: []own{{1}, {2}}}, {}}, Empty: []string{},
		Raw: []json.RawMessage{json.RawMessage(`{"k":[1]}`)}, Bytes: []byte("b"), Out: []string{"o"}, Names: []string{"n"}, After: map[string][]string{"few": {"y"}},
	}
	for range many {
		o.Many = append(o.Many, &inner{Long: []*int{nil, &one}})
	}
	return o
}

// TestMarshal compares with encoding/json.
func TestMarshal(t *testing.T) {
	for _, many := range []int{0, 1, 16, 17, 512, 513, 2000} {
		want, err := json.Marshal(made(many))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := steps.Marshal(t.Context(), made(many)); err != nil || string(got) != string(want) {
			t.Fatalf("%d: %.400s: %v\nwant %.400s", many, got, err, want)
		}
	}
	for _, v := range []any{nil, 3, &own{4}, []string{"a"}, struct{}{}, (*outer)(nil)} {
		want, _ := json.Marshal(v)
		if got, err := steps.Marshal(t.Context(), v); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v, want %s", got, err, want)
		}
	}
}

// TestMarshalEndsWithItsCall has a caller go while a long list is marshalled.
func TestMarshalEndsWithItsCall(t *testing.T) {
	gone, end := context.WithCancel(t.Context())
	end()
	if _, err := steps.Marshal(gone, made(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v of a caller who has gone", err)
	}
	all := stepstest.After(t.Context(), 0)
	if _, err := steps.Marshal(all, made(5000)); err != nil || all.Looks() < 10 {
		t.Errorf("%d looks at the context: %v", all.Looks(), err)
	}
	if _, err := steps.Marshal(stepstest.After(t.Context(), all.Looks()), made(5000)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v of a caller who goes in the end", err)
	}
}
