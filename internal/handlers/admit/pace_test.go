package admit

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"berth/internal/handlers/limits"
)

// TestPacedCountsWaitingAlone: time that the server takes between reads is not the caller's.
func TestPacedCountsWaitingAlone(t *testing.T) {
	l := &limits.Limits{Fixed: limits.Fixed{BodyGrace: 50 * time.Millisecond, MinBodyRate: 1 << 20}}
	w := httptest.NewRecorder()
	p := &paced{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", 300))), conn: w, until: time.Now().Add(time.Minute), limits: l}
	for range 3 {
		if _, err := io.ReadFull(p, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond)
	}
	if p.waited > 20*time.Millisecond {
		t.Errorf("%s count", p.waited)
	}
}
