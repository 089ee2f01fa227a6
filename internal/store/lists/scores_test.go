package lists

import (
	"encoding/json"
	"testing"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

// TestScores holds the bytes of the columns, which stores of years have, and that they are read
// back.
func TestScores(t *testing.T) {
	scored := func(name string, raw, normalized, weight, weighted int64) store.PluginScores {
		return store.PluginScores{
			{Plugin: name, Raw: raw, Normalized: normalized, Weight: weight, Weighted: weighted},
			{Plugin: "ImageLocality", Weight: 1},
		}
	}
	for _, tt := range []struct {
		name            string
		scores          []store.Score
		column, plugins string
	}{
		{
			"packed",
			[]store.Score{{Rank: 1, Node: "n1", Total: 200, Plugins: scored("NodeAffinity", 7, 100, 2, 200)}, {Rank: 2, Node: "n\"2", Total: -5, Plugins: scored("NodeAffinity", 100, 100, 2, 200)}},
			`[[1,"n1",200,[[7,100],0]],[2,"n\"2",-5,[100,0]]]`, `[["NodeAffinity",2],["ImageLocality",1]]`,
		},
		{
			"not the product",
			[]store.Score{{Rank: 1, Node: "n1", Total: 200, Plugins: scored("NodeAffinity", 7, 100, 2, 201)}},
			`[[1,"n1",200,[{"plugin":"NodeAffinity","raw":7,"normalized":100,"weight":2,"weighted":201},{"plugin":"ImageLocality","raw":0,"normalized":0,"weight":1,"weighted":0}]]]`, "",
		},
		{
			"two weights",
			[]store.Score{{Rank: 1, Node: "n1", Total: 200, Plugins: scored("NodeAffinity", 7, 100, 2, 200)}, {Rank: 2, Node: "n2", Total: -5, Plugins: scored("NodeAffinity", 100, 100, 3, 300)}},
			`[[1,"n1",200,[{"plugin":"NodeAffinity","raw":7,"normalized":100,"weight":2,"weighted":200},{"plugin":"ImageLocality","raw":0,"normalized":0,"weight":1,"weighted":0}]],[2,"n2",-5,[{"plugin":"NodeAffinity","raw":100,"normalized":100,"weight":3,"weighted":300},{"plugin":"ImageLocality","raw":0,"normalized":0,"weight":1,"weighted":0}]]]`, "",
		},
		{
			"a name that JSON escapes",
			[]store.Score{{Rank: 1, Node: "n1", Total: 200, Plugins: scored("a<b", 7, 100, 2, 200)}},
			`[[1,"n1",200,[{"plugin":"a\u003cb","raw":7,"normalized":100,"weight":2,"weighted":200},{"plugin":"ImageLocality","raw":0,"normalized":0,"weight":1,"weighted":0}]]]`, "",
		},
		{
			"a name beyond ASCII",
			[]store.Score{{Rank: 1, Node: "n1", Total: 200, Plugins: scored("ü", 7, 100, 2, 200)}},
			`[[1,"n1",200,[{"plugin":"ü","raw":7,"normalized":100,"weight":2,"weighted":200},{"plugin":"ImageLocality","raw":0,"normalized":0,"weight":1,"weighted":0}]]]`, "",
		},
		{
			"too large a factor",
			[]store.Score{{Rank: 1, Node: "n1", Total: 200, Plugins: scored("x", 1<<53+1, 1<<40, 2, 1<<41)}},
			`[[1,"n1",200,[{"plugin":"x","raw":9007199254740993,"normalized":1099511627776,"weight":2,"weighted":2199023255552},{"plugin":"ImageLocality","raw":0,"normalized":0,"weight":1,"weighted":0}]]]`, "",
		},
		{"no plugins", []store.Score{{Rank: 1, Node: "n1", Total: 200, Plugins: nil}, {Rank: 2, Node: "n2", Total: 1, Plugins: store.PluginScores{}}}, `[[1,"n1",200],[2,"n2",1,[]]]`, ""},
		{"no scores", nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			column, plugins := encodeScores(tt.scores)
			if column != tt.column || plugins != tt.plugins {
				t.Errorf("column %s\nwant   %s\nplugins %s\nwant    %s", column, tt.column, plugins, tt.plugins)
			}
			if column == "" {
				return
			}
			got, err := decodeScores(column, plugins)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.scores, got); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScoresInTheSpool holds the form that segments of programs before have.
func TestScoresInTheSpool(t *testing.T) {
	for want, s := range map[string]store.Score{
		`{"Rank":1,"Node":"n","Total":2,"Plugins":null}`:         {Rank: 1, Node: "n", Total: 2},
		`{"Rank":1,"Node":"n","Total":2,"Plugins":"W10="}`:       {Rank: 1, Node: "n", Total: 2, Plugins: store.PluginScores{}},
		`{"Rank":0,"Node":"","Total":0,"Plugins":"` + one + `"}`: {Plugins: store.PluginScores{{Plugin: "P", Raw: 1, Normalized: 2, Weight: 3, Weighted: 6}}},
	} {
		js, err := json.Marshal(s)
		if err != nil || string(js) != want {
			t.Errorf("%s, %v, want %s", js, err, want)
		}
		var got store.Score
		if err := json.Unmarshal([]byte(want), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("read back (-want +got):\n%s", diff)
		}
	}
}

// one is [{"plugin":"P","raw":1,"normalized":2,"weight":3,"weighted":6}] in base64.
const one = "W3sicGx1Z2luIjoiUCIsInJhdyI6MSwibm9ybWFsaXplZCI6Miwid2VpZ2h0IjozLCJ3ZWlnaHRlZCI6Nn1d"
