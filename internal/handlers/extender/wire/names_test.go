package wire

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListsComeAgain: a list is read alike the second time, as are those that begin with it, and no
// limit is passed by it.
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
				plain := (&Parser{Names: NewNames(names), Limits: lim}).FilterArgs(js, &want)
				if !reflect.DeepEqual(err, plain) || err == nil && !reflect.DeepEqual(got, want) {
					t.Fatalf("under %+v (-want +got):\n%s", lim, cmp.Diff([]any{want, plain}, []any{got, err}))
				}
			}
			if _, size := table.last.again(nil, js[len(`{"NodeNames":[`):], len(names)); size > 0 {
				kept++
			}
		}
	}
	if kept < 60 {
		t.Errorf("%d lists of 160 were kept", kept)
	}
}
