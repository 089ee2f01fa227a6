package words

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestSuffix(t *testing.T) {
	const aws = ".eu-west-1.compute.internal"
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"ip-10-0-1-1" + aws, "ip-10-0-11-1" + aws}, aws},
		{[]string{"ip-10-0-1-1" + aws}, aws},
		{[]string{"ip-10-0-1-1.eu-west-1.compute.internal", "ip-10-0-1-1.eu-west-2.compute.internal"}, ".compute.internal"},
		{[]string{"a.example.com", "b.example.com", "c"}, ""},
		{[]string{"10.0.0.1", "10.0.1.1"}, ""},
		{[]string{"node-1", "node-2"}, ""},
		{[]string{".example.com", "a.example.com"}, ""},
		{[]string{"example.com.internal", "a.example.com.internal"}, ".com.internal"},
	} {
		if got := Suffix(c.names); got != c.want {
			t.Errorf("%v: %q, want %q", c.names, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	got := Shorten([]string{"payments/ledger-close-7d9f8b6c5d-ttrz2", "shop/web"}, 20)
	if got["payments/ledger-close-7d9f8b6c5d-ttrz2"] != "payments/...5d-ttrz2" || got["shop/web"] != "shop/web" {
		t.Errorf("%q", got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		names := map[string]bool{}
		for range 1 + r.IntN(30) {
			names[fmt.Sprintf("%s%d%s", strings.Repeat("a", r.IntN(30)), r.IntN(40), strings.Repeat("世", r.IntN(30)))] = true
		}
		var list []string
		for name := range names {
			list = append(list, name)
		}
		width := r.IntN(40)
		short := Shorten(list, width)
		if short == nil {
			continue
		}
		var out []string
		for _, name := range list {
			if Columns(short[name]) > width {
				t.Fatalf("%q is wider than %d", short[name], width)
			}
			out = append(out, short[name])
		}
		slices.Sort(out)
		if len(slices.Compact(out)) != len(list) {
			t.Fatalf("two of %v are one at width %d", list, width)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"a b  c", 3, "a b|c"},
		{"eks.amazonaws.com/nodegroup In [genral]", 20, "eks.amazonaws.com/|nodegroup In|[genral]"},
		{"abcdefgh", 3, "abc|def|gh"},
	} {
		if got := strings.Join(Wrap(c.text, c.width), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
