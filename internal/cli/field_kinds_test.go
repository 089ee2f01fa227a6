package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFieldKinds asks what each file of testdata/field/kinds asks of itself. Its first line names
// the public reports of that kind; a line with a $ is a question, run in this directory, and the
// lines below it are what the first screen says: the cause, the objects and the next step.
func TestFieldKinds(t *testing.T) {
	files, err := filepath.Glob(fieldInputs + "kinds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			var args []string
			says, screen := 0, ""
			for line := range strings.Lines(mustRead(t, file)) {
				text, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "# ")
				if !is {
					break
				}
				question, asks := strings.CutPrefix(text, "$ berth ")
				want, answers := strings.CutPrefix(text, "  ")
				switch {
				case asks:
					args = append(strings.Fields(question), "--snapshot", file)
					r := call{}.run(t, args...)
					within(t, standardWidth, r.out)
					screen = strings.Join(strings.Fields(r.out), " ")
					if r.code != exitYes && r.code != exitNo {
						t.Errorf("%q ends with %d: %s", args, r.code, r.err)
					}
				case answers:
					if says++; !strings.Contains(screen, want) {
						t.Errorf("%q does not say %q:\n%s", args, want, screen)
					}
				}
			}
			if says < 2 {
				t.Errorf("it wants %d things of its answers", says)
			}
		})
	}
}
