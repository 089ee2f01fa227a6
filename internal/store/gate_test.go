package store

import (
	"context"
	"errors"
	"testing"
)

func TestGate(t *testing.T) {
	var g Gate
	away := errors.New("away")
	under, end, err := g.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended, done, err := g.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done()
	g.Shut(away)
	if err := context.Cause(under); !errors.Is(err, away) {
		t.Errorf("a call under way ends with %v", err)
	}
	if err := context.Cause(ended); errors.Is(err, away) {
		t.Error("a call that had ended was ended")
	}
	end()
	if _, _, err := g.Enter(t.Context()); !errors.Is(err, away) {
		t.Errorf("a new call: %v", err)
	}
	g.Open()
	again, end, err := g.Enter(t.Context())
	if err != nil || again.Err() != nil {
		t.Errorf("open again: %v, %v", err, again)
	}
	end()
}
