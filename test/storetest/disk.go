package storetest

import (
	"os"
	"testing"
)

// noMount skips a test that needs a small disk where none can be mounted. It fails in CI, where a
// skip would leave promises about a full disk untested.
func noMount(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("no small disk: %v", err)
	}
	t.Skipf("no disk can be full here: %v", err)
}
