package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
)

// child makes the command that plays role on dir.
func child(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir)
	return cmd
}

// TestKilledWriterLosesNothingAcknowledged kills a writing process at random
// moments, each time on the file that the last one left.
func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 3
	}
	dir := t.TempDir()
	acknowledged := 0
	for n := range kills {
		ids := writeAndKill(t, dir, time.Duration(5+rand.IntN(150))*time.Millisecond)
		acknowledged += len(ids)
		checkAfterCrash(t, dir, ids)
		if t.Failed() {
			t.Fatalf("after kill %d", n+1)
		}
	}
	if acknowledged < kills*16 {
		t.Errorf("only %d acknowledged in %d runs: the kills hit no load", acknowledged, kills)
	}
	t.Logf("%d kills, %d acknowledged decisions, none missing", kills, acknowledged)
}

// writeAndKill lets a child write, kills it some time after its first
// acknowledgement, and returns the ids that it acknowledged.
func writeAndKill(t *testing.T, dir string, after time.Duration) []string {
	t.Helper()
	cmd := child(t, "write", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(stdout, first); err != nil {
		_ = cmd.Wait()
		t.Fatalf("child wrote nothing: %v\n%s", err, stderr.String())
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	rest, err := io.ReadAll(stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		t.Fatalf("child ended by itself: %v\n%s", err, stderr.String())
	}
	lines := strings.Split(string(first)+string(rest), "\n")
	return lines[:len(lines)-1] // the last line is cut or empty
}

func checkAfterCrash(t *testing.T, dir string, ids []string) {
	t.Helper()
	s, err := Open(context.Background(), dir, Options{})
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	for _, id := range ids {
		d, err := s.Decision(t.Context(), id)
		if err != nil {
			t.Errorf("acknowledged decision %s: %v", id, err)
			continue
		}
		if d.BoundRevision == 0 {
			continue
		}
		if r, err := s.Revision(t.Context(), "prod", d.BoundRevision); err != nil || r.Token != id {
			t.Errorf("revision of bind %s: %+v, %v", id, r, err)
		}
	}
	infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
	if err != nil || len(infos) != 1 {
		t.Fatalf("Clusters: %v, %v", infos, err)
	}
	all, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod"})
	if err != nil || int64(len(all)) != infos[0].Decisions {
		t.Errorf("%d decisions are there, the books say %d (%v)", len(all), infos[0].Decisions, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	integrity(t, filepath.Join(dir, FileName))
}

func integrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, Options{}.withDefaults(), reading))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %q, %v", verdict, err)
	}
}
