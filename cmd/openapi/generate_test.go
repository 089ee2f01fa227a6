package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func TestDescriptionIsCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, got) {
			t.Errorf("%s is not what the handlers' annotations say: run go run ./cmd/openapi", name)
		}
	}
}

func TestDescriptionIsTheSameEachTime(t *testing.T) {
	root := filepath.Join("..", "..")
	first, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := generate(root)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.EqualFunc(first, again, bytes.Equal) {
			t.Fatal("two runs differ")
		}
	}
}

// TestClientsCanBeGenerated holds what generated clients could not be compiled or called without.
func TestClientsCanBeGenerated(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "api", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			route := method + " " + path
			if other := ids[op.OperationID]; op.OperationID == "" || other != "" {
				t.Errorf("%s has the id %q, as has %q", route, op.OperationID, other)
			}
			ids[op.OperationID] = route
			if open := op.Security != nil; open != (op.Responses.Value("401") == nil) {
				t.Errorf("%s: needs no identity: %t", route, open)
			}
		}
	}
	for id, route := range map[string]string{
		"decide": "POST /v1/decisions", "scoreOnlyFilter": "POST /score-only/filter",
		"clustersScoreOnlyFilter": "POST /clusters/{cluster}/score-only/filter", "livez": "GET /livez",
	} {
		if ids[id] != route {
			t.Errorf("%s is the id of %q, not of %s", id, ids[id], route)
		}
	}
	fields := doc.Components.Schemas["DecisionRequest"].Value.Properties
	if has := fields["pod"].Value.AdditionalProperties.Has; has == nil || !*has {
		t.Error("a pod may have no field")
	}
	if e := fields["explain"].Value; e.Default != nil || !strings.Contains(e.Description, "Default: failures.") {
		t.Errorf("explain's default is %v, and its description %q", e.Default, e.Description)
	}
	decide := doc.Paths.Value("/v1/decisions").Post.RequestBody.Value
	example, ok := decide.Content["application/json"].Example.(map[string]any)
	if !ok || example["pod"] == nil || !decide.Required {
		t.Errorf("a decision's body is required: %t, its example is %v", decide.Required, example)
	}
}

// TestNotesAreShown: each note is named for an operation, whose description ends with it.
func TestNotesAreShown(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "api", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]string{}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			described[op.OperationID] = op.Description
		}
	}
	notes, err := filepath.Glob(filepath.Join("..", "..", "api", "notes", "*.md"))
	if err != nil || len(notes) == 0 {
		t.Fatalf("%d notes, %v", len(notes), err)
	}
	for _, note := range notes {
		text, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSuffix(filepath.Base(note), ".md")
		if !strings.HasSuffix(described[id], strings.TrimSpace(string(text))) {
			t.Errorf("no operation %q ends with %s", id, note)
		}
	}
}
