package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instructions reads a Dockerfile: each instruction with its arguments, lines
// that go on joined.
func instructions(t *testing.T) (list [][]string) {
	t.Helper()
	raw, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(raw), "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if f := strings.Fields(line); len(f) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// TestImage reads the Dockerfile as a builder would: what it copies is there, what
// it builds is a command, and what comes out is what the manifests start, with the
// command line for people beside it.
func TestImage(t *testing.T) {
	stage, runs, holds := 0, "", map[string]bool{}
	for _, in := range instructions(t) {
		switch in[0] {
		case "FROM":
			stage++
		case "RUN":
			runs += strings.Join(in[1:], " ") + "\n"
		case "COPY":
			args, from := in[1:], ""
			for strings.HasPrefix(args[0], "--") {
				if name, ok := strings.CutPrefix(args[0], "--from="); ok {
					from = name
				}
				args = args[1:]
			}
			for _, source := range args[:len(args)-1] {
				if from != "" {
					holds[source] = true
					continue
				}
				if _, err := os.Stat(filepath.Join("..", source)); err != nil {
					t.Errorf("COPY: %v", err)
				}
			}
		case "ENTRYPOINT":
			if in[1] != `["/server"]` {
				t.Errorf("it starts %s", in[1])
			}
		case "USER":
			if in[1] != "65532:65532" {
				t.Errorf("it runs as %s, and volumes are for 65532", in[1])
			}
		}
	}
	if stage != 2 || !holds["/out/bin/"] || !holds["/out/data"] || !strings.Contains(runs, "mkdir -p /out/bin /out/data") {
		t.Errorf("%d stages, the last holds %v of what these make:\n%s", stage, holds, runs)
	}
	build := regexp.MustCompile(`go build .* -o /out/bin/((?: \./\S+)+)`).FindStringSubmatch(runs)
	if build == nil {
		t.Fatalf("nothing is built: %s", runs)
	}
	built := strings.Fields(build[1])
	for _, dir := range built {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil || !slices.ContainsFunc(files, func(name string) bool {
			raw, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(raw), "\nvar version = ")
		}) {
			t.Errorf("%s: no command that the linker tells its version: %v", dir, err)
		}
	}
	if !slices.Contains(built, "./cmd/server") || !slices.Contains(built, "./cmd/berth") || !strings.Contains(runs, "ln -s berth /out/bin/kubectl-berth") {
		t.Errorf("not all commands are in the image: %v", built)
	}
}

// TestImageLeavesOut: records and the like do not get into a layer, what is built
// from does.
func TestImageLeavesOut(t *testing.T) {
	raw, err := os.ReadFile("../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Fields(regexp.MustCompile(`(?m)^#.*`).ReplaceAllString(string(raw), ""))
	for _, name := range []string{".git", "bin", "data"} {
		if !slices.Contains(out, name) {
			t.Errorf("%s is sent to the builder", name)
		}
	}
	for _, name := range []string{"cmd", "internal", "migrations", "api", "go.mod", "go.sum", "docs", "*"} {
		if slices.Contains(out, name) {
			t.Errorf("%s is not sent to the builder", name)
		}
	}
}
