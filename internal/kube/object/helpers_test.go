package object

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readAll reads a body into a slice.
func readAll(body string, f Format, lim Limits) (objs []Object, ignored map[string]int, err error) {
	ignored, err = Read(strings.NewReader(body), f, lim, func(o Object) error {
		objs = append(objs, o)
		return nil
	})
	return objs, ignored, err
}

func mustRead(t *testing.T, body string, f Format) []Object {
	t.Helper()
	objs, _, err := readAll(body, f, Limits{})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return objs
}

// sharedFile is a file of real data that may stand beside the repository;
// empty where it doesn't.
func sharedFile(t *testing.T, name string) string {
	dir := os.Getenv("BERTH_SHARED")
	if dir == "" {
		dir = "../../../../shared"
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Logf("no shared data, nothing to read: %v", err)
		return ""
	}
	return path
}
