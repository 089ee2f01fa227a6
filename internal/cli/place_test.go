package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/decision"
	"berth/internal/handlers/rest"
)

// TestHolds holds copies of a pod, lists what is held, and ends it both ways.
func TestHolds(t *testing.T) {
	_, online := uploaded(t)
	file := filepath.Join("testdata", "level.yaml")
	text := func(code int, args ...string) string {
		t.Helper()
		r := online.run(t, args...)
		if r.code != code {
			t.Fatalf("%v: %d %s%s", args, r.code, r.out, r.err)
		}
		within(t, standardWidth, r.out)
		return r.out + r.err
	}
	held := func(file string) string {
		t.Helper()
		var a decision.PlacementAnswer
		if err := json.Unmarshal([]byte(text(exitYes, "place", "-f", file, "--count", "1", "--hold", "1h", "-o", "json")), &a); err != nil || a.Hold == nil {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Hold.ID
	}
	kept := held(file)
	if got := text(exitYes, "hold", "get", kept); !strings.Contains(got, "HELD") || !strings.Contains(got, "-0 ") {
		t.Error(got)
	}
	if got := text(exitYes, "hold", "commit", kept); !strings.Contains(got, "COMMITTED") {
		t.Error(got)
	}
	if got := text(exitBroken, "hold", "release", kept); !strings.Contains(got, "is committed since") {
		t.Error(got)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte(strings.ReplaceAll(mustRead(t, file), "level", "other")), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := held(other)
	if got := text(exitYes, "hold", "list"); !strings.Contains(got, "1 HELD") || !strings.Contains(got, kept) || !strings.Contains(got, gone) {
		t.Error(got)
	}
	var list rest.HoldList
	if err := json.Unmarshal([]byte(text(exitYes, "hold", "list", "-o", "json")), &list); err != nil || len(list.Items) != 2 || list.Items[0].ID != gone {
		t.Errorf("%+v, %v", list, err)
	}
	if got := text(exitYes, "hold", "release", gone); !strings.Contains(got, "RELEASED") {
		t.Error(got)
	}
	if got := text(exitYes, "place", "-f", file, "--hold", "1h"); !strings.Contains(got, "Held until ") {
		t.Error(got)
	}
	offline := call{}
	for _, args := range [][]string{{"hold", "list"}, {"hold", "get", kept}, {"place", "-f", file, "--hold", "1h", "--snapshot", fixture}} {
		if r := offline.run(t, args...); r.code != exitBroken || !strings.Contains(r.err, "--server") {
			t.Errorf("%v: %d %s", args, r.code, r.err)
		}
	}
}
