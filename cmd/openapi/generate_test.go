package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestDescriptionIsCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "api", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Error("api/openapi.yaml is not what the handlers' annotations say: run go run ./cmd/openapi")
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
		if !bytes.Equal(first, again) {
			t.Fatal("two runs differ")
		}
	}
}
