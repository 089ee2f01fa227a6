package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/store"
	"berth/internal/store/sqlite"
)

// A relaxed server says so wherever people look, and one that is killed leaves a
// gap in the log; one that ends in order leaves none.
func TestRelaxed(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	t.Cleanup(client.CloseIdleConnections)
	t.Setenv("BERTH_AUDIT", "relaxed")
	dir := t.TempDir()
	gaps := func() []*store.Gap {
		t.Helper()
		st, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		list, err := st.ListGaps(context.Background(), "default")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	p := launch(t, program, dir)
	p.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots", oneNode)
	p.must(t, http.StatusCreated, http.MethodPost, "/v1/decisions", decisionOn("bound"))
	p.must(t, http.StatusCreated, http.MethodPost, "/v1/decisions", strings.Replace(decisionOn("free"), `"bind":true,`, "", 1))
	if text := string(p.must(t, http.StatusOK, http.MethodGet, "/readyz", "")); !strings.Contains(text, "[!]audit: --audit=relaxed") {
		t.Errorf("readyz says %q", text)
	}
	p.stop(t)
	if !strings.Contains(p.stderr.String(), relaxedNote) {
		t.Errorf("the log does not say that the promise is off: %s", p.stderr)
	}
	if list := gaps(); len(list) != 0 {
		t.Errorf("an end in order left %+v", list[0])
	}
	if _, err := os.Stat(filepath.Join(dir, "relaxed")); err == nil {
		t.Error("an end in order left its marker")
	}

	p = launch(t, program, dir)
	p.kill(t)
	t.Setenv("BERTH_AUDIT", "strict") // the next one owns up all the same
	launch(t, program, dir).stop(t)
	list := gaps()
	if len(list) != 1 || list[0].Lost != store.UnknownLoss || list[0].Cause != "killed" || list[0].Instance == "" {
		t.Fatalf("a kill left %+v", list)
	}
	launch(t, program, dir).stop(t)
	if again := gaps(); len(again) != 1 {
		t.Errorf("the same gap is written %d times", len(again))
	}
}
