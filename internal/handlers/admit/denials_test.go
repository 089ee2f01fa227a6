package admit

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/handlers/exchange"
)

// TestDenialsAreBounded: what is remembered is bounded, what was not told is counted, and a caller
// is told of again in the next interval.
func TestDenialsAreBounded(t *testing.T) {
	var d denials
	now := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	told := 0
	for i := range 3 * maxDenials {
		if tell, _ := d.allow(denial{exchange.Caller{Identity: fmt.Sprint(i)}, "x"}, now); tell {
			told++
		}
	}
	if told != maxDenials+1 || len(d.last) != maxDenials+1 {
		t.Errorf("%d lines, %d remembered", told, len(d.last))
	}
	of := denial{exchange.Caller{Identity: "1"}, "x"}
	if tell, _ := d.allow(of, now); tell {
		t.Error("two lines in an interval")
	}
	if tell, untold := d.allow(of, now.Add(denialsEvery)); !tell || untold != 1 {
		t.Errorf("the next: %v %d", tell, untold)
	}
	if tell, _ := d.allow(denial{exchange.Caller{Identity: "new"}, "x"}, now.Add(denialsEvery)); !tell || len(d.last) > 3 {
		t.Errorf("after an interval %d are remembered", len(d.last))
	}
}
