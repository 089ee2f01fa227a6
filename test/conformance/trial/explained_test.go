package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplained: a difference is explained only where nothing else differs, by all rows that it
// takes and by those of its class alone.
func TestExplained(t *testing.T) {
	path := filepath.Join(t.TempDir(), "explained.txt")
	text := "# a comment\nB7 | message | no new claims to deallocate, |  | PostFilter\nB2 | message | didn't satisfy.*?NodeName | gone | PreFilter\nB4 | raw.VolumeBinding | .* |  | Score\n* | score | .* |  | sums\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := ReadExplained(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		class, want, got, rows string
	}{
		{"message", "a no new claims to deallocate, b", "a b", ""}, // two spaces are left
		{"message", "a: no new claims to deallocate,b", "a: b", "B7"},
		{"message", "1 gone, no new claims to deallocate,b", "1 didn't satisfy plugin [NodeName,b", ""},
		{"message", "1 didn't satisfy [NodeName], no new claims to deallocate,", "1 gone], ", "B2+B7"},
		{"reasons.NodeName", "no new claims to deallocate,", "", ""},
		{"raw.VolumeBinding", "13", "0", "B4"},
		{"raw.VolumeBindings", "13", "0", ""},
	} {
		if got := x.Rows([]Difference{{Class: c.class, Want: c.want, Got: c.got}})[0]; got != c.rows {
			t.Errorf("%s %q %q: %q, want %q", c.class, c.want, c.got, got, c.rows)
		}
	}
	score, other := Difference{Class: "score", Want: "1", Got: "2"}, Difference{Class: "node", Want: "a", Got: "b"}
	raw := Difference{Class: "raw.VolumeBinding", Want: "1", Got: "2"}
	if got := x.Rows([]Difference{score, other}); got[0] != "" || got[1] != "" {
		t.Errorf("a sum that follows from nothing: %q", got)
	}
	if got := x.Rows([]Difference{score, other, raw}); got[0] != "*" || got[1] != "" || got[2] != "B4" {
		t.Errorf("a sum that follows: %q", got)
	}
}

// TestExplainedFiles: the committed files can be read, and each line names a function.
func TestExplainedFiles(t *testing.T) {
	files, err := filepath.Glob("../releases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		if _, err := ReadExplained(f); err != nil {
			t.Error(err)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.txt")
	for text, want := range map[string]string{"B1 | a | b | c": "five fields", "B1 | ( | b | c | f": "missing closing", "B1 | a | b | c | ": "five fields"} {
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadExplained(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
