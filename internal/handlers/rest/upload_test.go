package rest

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"berth/internal/handlers/exchange"
	"berth/internal/store"
)

// A database that hangs up in the middle of an upload describes what a body that is
// cut off says; only the latter is the caller's doing.
func TestLostDatabaseIsNoShortBody(t *testing.T) {
	lost := fmt.Errorf("write prod@2: %w: %w", store.ErrUnavailable, io.ErrUnexpectedEOF)
	if e := exchange.Translate(bodyError(lost)); e.Status != http.StatusServiceUnavailable {
		t.Errorf("status %d: %s", e.Status, e.Detail)
	}
	if e := exchange.Translate(bodyError(fmt.Errorf("read: %w", io.ErrUnexpectedEOF))); e.Status != http.StatusBadRequest {
		t.Errorf("status %d: %s", e.Status, e.Detail)
	}
}
