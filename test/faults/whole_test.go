package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/planted"
)

// A list that is not whole is found out before any test runs.
func TestJudge(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"internal/planted/list.go": `package planted
const (
	Whole, Nowhere Fault = "whole", "nowhere"
	Twice Fault = "twice"
	Testless Fault = "testless"
	Twins Fault = "twins"
	Rowless Fault = "rowless"
)`,
		"internal/room/room.go":      `package room; func f() bool { return planted.On(planted.Whole) || planted.On(planted.Twice) || planted.On(planted.Testless) || planted.On(planted.Twins) }`,
		"internal/room/more.go":      `package room; func g() bool { return planted.On(planted.Twice) }`,
		"internal/room/room_test.go": `package room; func TestRoom(t *testing.T) { planted.On(planted.Nowhere) }`,
		"internal/other/other.go":    `package other; func f() bool { return planted.On(planted.Twins) }`,
		"cmd/server/main.go":         `package main`,
		"migrations/run.go":          `package migrations`,
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "; func", "\nfunc")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := readSource(root)
	if err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[planted.Fault]string{
		"whole": "", "twins": "", "nowhere": "NOT PLANTED", "twice": "PLANTED at 2", "unheard-of": "NO CONSTANT",
	} {
		err := s.judge(root, planted.Plant{Fault: fault, Package: "./internal/room", Test: "TestRoom/part"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", fault, err)
		}
	}
	if err := s.judge(root, planted.Plant{Fault: "testless", Package: "./internal/room", Test: "TestNone"}); err == nil {
		t.Error("a test that is not there passed for one")
	}
	if rest := s.rowless(); len(rest) != 6 { // none of them is a real fault
		t.Errorf("without a row: %v", rest)
	}
}

// The table is true of the tree as it is, so that `make faults` finds its rows
// whenever somebody runs it.
func TestRowsAreWhole(t *testing.T) {
	root := filepath.Join("..", "..")
	s, err := readSource(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range planted.All {
		if err := s.judge(root, p); err != nil {
			t.Errorf("%s: %v", p.Fault, err)
		}
	}
	if rest := s.rowless(); len(rest) > 0 {
		t.Errorf("planted, and no row says which test finds them: %v", rest)
	}
	if len(planted.All) < 90 {
		t.Errorf("%d rows", len(planted.All))
	}
}
