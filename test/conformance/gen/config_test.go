package gen

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestConfigs: every configuration is drawn, differs from case to case where it
// should, and leaves the objects as they are.
func TestConfigs(t *testing.T) {
	for _, config := range Configs {
		seen := map[string]bool{}
		for seed := range uint64(60) {
			opts := Options{MaxNodes: 6, MaxPods: 8}
			plain, err := Case(seed, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Config = config
			c, err := Case(seed, opts)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Case(seed, opts)
			if err != nil {
				t.Fatal(err)
			}
			if string(c.Config) != string(again.Config) {
				t.Fatalf("%s: seed %d gives two configurations", config, seed)
			}
			seen[string(c.Config)] = true
			same := slices.EqualFunc(plain.Objects, c.Objects, func(a, b json.RawMessage) bool { return string(a) == string(b) })
			if named := strings.Contains(string(c.Config), `"second"`) || strings.Contains(string(c.Config), `"schedulerName":"`); !same && !named {
				t.Errorf("%s: seed %d has other objects", config, seed)
			}
		}
		if n := len(seen); config == "default" && n != 1 || config == "most-allocated" && n != 1 || config != "default" && config != "most-allocated" && n < 10 {
			t.Errorf("%s: %d configurations in 60 cases", config, n)
		}
	}
	if _, err := Case(1, Options{MaxNodes: 2, Config: "nonsense"}); err == nil {
		t.Error("a configuration that nobody knows is drawn")
	}
}
