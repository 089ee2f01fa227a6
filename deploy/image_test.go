package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
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
		case "ENV":
			if env := strings.Join(in[1:], " "); strings.Contains(env, "BERTH_INSECURE=true") && !strings.Contains(env, "BERTH_ALLOWED_HOSTS=") {
				t.Errorf("it answers to any name, and so to a page of any site: %s", env)
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

// TestImagesArePinned: a tag can be moved to other bytes, a digest cannot.
func TestImagesArePinned(t *testing.T) {
	compose, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var images []string
	for _, m := range regexp.MustCompile(`(?m)^ +image: (\S+)`).FindAllStringSubmatch(string(compose), -1) {
		images = append(images, m[1])
	}
	for _, in := range instructions(t) {
		if in[0] == "FROM" && in[1] != "scratch" {
			images = append(images, in[1])
		}
	}
	for _, image := range images {
		if !regexp.MustCompile(`^[a-z/.]+:[0-9.]+@sha256:[0-9a-f]{64}$`).MatchString(image) {
			t.Errorf("%s is not NAME:VERSION@sha256:DIGEST: run make pin-images", image)
		}
	}
	if len(images) != 2 {
		t.Errorf("images %v", images)
	}
}

// TestComposeIsRestricted: no service has rights that it does not need, and berth's role in the
// database is no superuser.
func TestComposeIsRestricted(t *testing.T) {
	raw, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			ReadOnly    bool              `json:"read_only"`
			CapDrop     []string          `json:"cap_drop"`
			SecurityOpt []string          `json:"security_opt"`
			MemLimit    string            `json:"mem_limit"`
			Environment map[string]string `json:"environment"`
			Ports       []string          `json:"ports"`
		} `json:"services"`
	}
	if err := sigsyaml.Unmarshal(raw, &compose); err != nil {
		t.Fatal(err)
	}
	for name, s := range compose.Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) || s.MemLimit == "" {
			t.Errorf("%s may do more than it needs", name)
		}
		if !s.ReadOnly && name != "postgres" {
			t.Errorf("%s may write to its root", name)
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s is published on %s", name, port)
			}
		}
		if s.Environment["BERTH_INSECURE"] == "true" && s.Environment["BERTH_ALLOWED_HOSTS"] == "" {
			t.Errorf("%s answers to any name, and so to a page of any site", name)
		}
		if user, ok := s.Environment["POSTGRES_USER"]; ok {
			t.Errorf("%s makes %s the superuser", name, user)
		}
	}
	if len(compose.Services) != 4 {
		t.Errorf("%d services", len(compose.Services))
	}
}

// TestManifestsUndoTheImage: what the image sets for a container without anything before it is not
// so in a cluster, and no listener that other machines reach is without identities.
func TestManifestsUndoTheImage(t *testing.T) {
	files, err := filepath.Glob("rendered/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if !strings.Contains(text, "--listen=") {
			continue
		}
		for _, env := range []string{"BERTH_INSECURE", "BERTH_ALLOWED_HOSTS"} {
			if !strings.Contains(text, "name: "+env) {
				t.Errorf("%s leaves %s as the image has it", file, env)
			}
		}
		if strings.Contains(text, "- --insecure\n") && !strings.Contains(text, "- --require-identity\n") {
			t.Errorf("%s serves callers without an identity", file)
		}
	}
}

// TestImageKnowsItsCommit builds the programs as the Dockerfile does, without a repository beside
// them, and asks them for the commit that the build names.
func TestImageKnowsItsCommit(t *testing.T) {
	flags, declared := "", false
	for _, in := range instructions(t) {
		line := strings.Join(in[1:], " ")
		if in[0] == "ARG" && strings.HasPrefix(line, "REVISION") {
			declared = true
		}
		if _, rest, has := strings.Cut(line, `-ldflags "`); has && in[0] == "RUN" && declared {
			flags, _, _ = strings.Cut(rest, `"`)
		}
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags", strings.ReplaceAll(flags, "${REVISION}", "0c0ffee0"), "-o", dir+"/", "../cmd/server", "../cmd/berth")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, program := range []string{"server", "berth"} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, program), "version").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "0c0ffee0") {
			t.Errorf("%s version: %v %s", program, err, out)
		}
	}
}
