package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"berth/internal/podlife"
)

func TestCountedListEndsWithItsCall(t *testing.T) {
	list := make([]podlife.Garbage, 5000)
	for i := range list {
		list[i] = podlife.Garbage{Name: "p", Reason: "orphaned"}
	}
	plain, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if counted, err := json.Marshal(countedList(t.Context(), list)); err != nil || string(counted) != string(plain) {
		t.Fatalf("%d bytes, %v; marshalled alone %d", len(counted), err, len(plain))
	}
	gone, end := context.WithCancel(t.Context())
	counted := countedList(gone, list)
	end()
	if _, err := json.Marshal(counted); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v of a caller who has gone", err)
	}
}
