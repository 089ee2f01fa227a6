package wire

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	extender "k8s.io/kube-scheduler/extender/v1"
)

// TestAllNames: a list has all names if it goes once round the table's order, from anywhere.
func TestAllNames(t *testing.T) {
	for _, tc := range []struct {
		list string
		want bool
	}{
		{`["a","b","c","d"]`, true},
		{`["c","d","a","b"]`, true},
		{`["c", "d", "a", "b"]`, true},
		{`["a","b","a","b"]`, false},
		{`["a","b","c","c"]`, false},
		{`["a","b","c"]`, false},
		{`["a","b","c","d","a"]`, false},
		{`["a","b","c","x"]`, false},
		{`["a","b","c",""]`, false},
		{`[]`, false},
	} {
		var args FilterArgs
		p := &Parser{Names: NewNames([]string{"a", "b", "", "c", "d", ""})}
		if err := p.FilterArgs([]byte(`{"NodeNames":`+tc.list+`}`), &args); err != nil || args.All != tc.want {
			t.Errorf("%s: %v, %v", tc.list, args.All, err)
		}
		compareFilterArgs(t, p, []byte(`{"NodeNames":`+tc.list+`}`))
	}
}

// TestOrdersAreLearned: lists are read and answered alike whatever order the table has learned from
// those before, and the order of the last ones is learned in the end.
func TestOrdersAreLearned(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	names := make([]string, 300)
	for i := range names {
		names[i] = string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	table := NewNames(names)
	list := append([]string{"stranger", names[7]}, names...)
	for round := range 40 {
		if round < 20 { // then the same list again and again
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		asked := list[:len(list)-round%3*50]
		body, err := json.Marshal(extender.ExtenderArgs{NodeNames: &asked})
		if err != nil {
			t.Fatal(err)
		}
		compareFilterArgs(t, &Parser{Names: table}, body)
		var got, want FilterArgs
		if err := (&Parser{Names: table}).FilterArgs(body, &got); err != nil {
			t.Fatal(err)
		}
		fresh := NewNames(names)
		if err := (&Parser{Names: plainTable{fresh}}).FilterArgs(body, &want); err != nil {
			t.Fatal(err)
		}
		verdicts := make([]verdict, len(asked))
		for i := range verdicts {
			verdicts[i] = verdict{outcome(rng.IntN(8)), "no"}
		}
		if diff := cmp.Diff(string(AppendFilterResult(nil, &want, fresh, failures(verdicts))), string(AppendFilterResult(nil, &got, table, failures(verdicts)))); diff != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
	}
	first := table.rows[list[10]]
	if o := table.current(); o.rows[o.places[first]+1] != table.rows[list[11]] {
		t.Error("the order of twenty lists was not learned")
	}
}

// TestListsComeAgain: a list that the table did not foresee is read alike the second time, as are
// those that begin with it, and no limit is passed by it.
func TestListsComeAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	names := make([]string, 200)
	for i := range names {
		names[i] = "node-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	names[5], names[6] = `q"uote`, "<tag>"
	table := NewNames(names)
	body := func(list []string) []byte {
		js, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(`{"NodeNames":` + string(js) + `}`)
	}
	kept := 0
	for range 40 {
		list := slices.Clone(names)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:100+rng.IntN(101)]
		for _, js := range [][]byte{body(list), body(list), body(append(list[:len(list):len(list)], "stranger", list[0])), body(list[:90])} {
			for _, lim := range []Limits{{}, {Names: 95}, {Names: len(list)}, {Tokens: 95}, {Tokens: len(list) + 3}} {
				var got, want FilterArgs
				err := (&Parser{Names: table, Limits: lim}).FilterArgs(js, &got)
				plain := (&Parser{Names: plainTable{table}, Limits: lim}).FilterArgs(js, &want)
				if got.All = want.All; !reflect.DeepEqual(err, plain) || err == nil && !reflect.DeepEqual(got, want) {
					t.Fatalf("under %+v (-want +got):\n%s", lim, cmp.Diff([]any{want, plain}, []any{got, err}))
				}
			}
			if _, size, _ := table.last.again(nil, js[len(`{"NodeNames":[`):], len(names)); size > 0 {
				kept++
			}
		}
	}
	if kept < 60 {
		t.Errorf("%d lists of 160 were kept", kept)
	}
}
