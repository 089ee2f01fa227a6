package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// own are the fields of an answer that are of this answer alone: its id, when it
// was given and how long it took.
var own = []string{"id", "createdAt", "durationMicros"}

// sameAnswer returns where two answers differ beyond what is their own. Values are
// compared as they were sent, byte for byte.
func sameAnswer(a, b []byte) error {
	one, err := fieldsOf(a)
	if err != nil {
		return err
	}
	other, err := fieldsOf(b)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for name := range one {
		names[name] = true
	}
	for name := range other {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains(own, name) && !bytes.Equal(one[name], other[name]) {
			return fmt.Errorf("field %s differs: %.300s and %.300s", name, one[name], other[name])
		}
	}
	return nil
}

func fieldsOf(raw []byte) (fields map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	return fields, nil
}

// sameEnd wants the clusters to have come to the same state.
func sameEnd(ctx context.Context, servers []*client, cluster string) error {
	var ends [2]struct {
		ID, Digest string
	}
	for i, c := range servers {
		if err := c.call(ctx, http.MethodGet, "/v1/snapshots/"+cluster+"@latest", nil, &ends[i], http.StatusOK); err != nil {
			return err
		}
	}
	if ends[0] != ends[1] {
		return fmt.Errorf("the servers end at %v and %v", ends[0], ends[1])
	}
	return nil
}
