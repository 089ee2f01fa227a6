package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unpack lays an archive below a directory.
func unpack(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, body, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/server").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// TestTooOld: data of before v0.3.0 is refused with what to do, and left as it is.
func TestTooOld(t *testing.T) {
	program, dir := build(t), t.TempDir()
	unpack(t, "testdata/schema-13.tar.gz", dir)
	file := filepath.Join(dir, "data", "berth.db")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"migrate", "up"}, {"migrate", "down", "--to", "0"}} {
		out, err := exec.CommandContext(t.Context(), program, append(args, "--data-dir", filepath.Dir(file))...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "schema 13 is older than that of v0.3.0, which is 15: migrate it with v0.3.0 first") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the data was changed: %v", err)
	}
}

// TestUpgrade opens the data of every release with this one's server: it migrates, answers as its
// own release did, replays every record identically, and takes new ones.
func TestUpgrade(t *testing.T) {
	files, err := filepath.Glob("testdata/v*.tar.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	program := build(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) {
			dir := t.TempDir()
			unpack(t, file, dir)
			raw, err := os.ReadFile(filepath.Join(dir, "contents.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want contents
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			upgraded(t, program, dir, want)
			// A batch replay without a server, as after a move of the data.
			out, err := exec.CommandContext(t.Context(), program, "replay", "--cluster", "demo", "--data-dir", filepath.Join(dir, "data")).CombinedOutput()
			if err != nil {
				t.Errorf("replay: %v: %s", err, out)
			}
			// What the release did not record comes the first time, and then stays.
			for _, want := range [][]string{
				{"demo: filled in: purposes 6, attempts 6, objects of revisions 2, facts of pods 3", "web: filled in: purposes 0, attempts 1, objects of revisions 1, facts of pods 1", "web: not known: 1 purposes: "},
				{"demo: filled in: purposes 0, attempts 0, objects of revisions 0, facts of pods 0", "demo: roll-ups made of", "web: not known: 1 purposes: "},
			} {
				out, err = exec.CommandContext(t.Context(), program, "backfill", "--data-dir", filepath.Join(dir, "data")).CombinedOutput()
				if err != nil {
					t.Errorf("backfill: %v: %s", err, out)
				}
				for _, line := range want {
					if !strings.Contains(string(out), line) {
						t.Errorf("backfill does not say %q: %s", line, out)
					}
				}
			}
			out, err = exec.CommandContext(t.Context(), program, "audit", "verify", "--data-dir", filepath.Join(dir, "data")).CombinedOutput()
			if err != nil {
				t.Errorf("the chains do not hold: %v: %s", err, out)
			}
		})
	}
}

func upgraded(t *testing.T, program, dir string, want contents) {
	t.Helper()
	s, err := start(program, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	got, err := s.read(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the upgrade (-own release +this one):\n%s", diff)
	}
	verbs := map[string]bool{}
	for _, r := range want.Records {
		verbs[r.Verb] = true
		var answer struct{ Identical bool }
		if err := s.call("POST", "/v1/decisions/"+r.ID+"/replay", "{}", &answer); err != nil {
			t.Error(err)
		} else if !answer.Identical {
			t.Errorf("%s %s is replayed with differences", r.Verb, r.ID)
		}
	}
	if len(want.Records) < 7 || len(verbs) < 4 || len(want.Snapshots) < 5 || want.Classes == 0 || len(want.Jobs) == 0 {
		t.Errorf("little in it: %d records of %v, %d snapshots", len(want.Records), verbs, len(want.Snapshots))
	}
	if err := s.call("POST", "/v1/decisions", `{"snapshot":"demo@latest","pod":{"metadata":{"namespace":"shop","name":"new"},"spec":{"containers":[{"name":"c","image":"registry.example/c:1"}]}}}`, nil); err != nil {
		t.Error(err)
	}
}
