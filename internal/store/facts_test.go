package store

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

// TestFactsAreReadAsWritten: and no NUL is, of which a roll-up on Postgres could not get past.
func TestFactsAreReadAsWritten(t *testing.T) {
	f := &PodFacts{
		OwnerKind: "Job", OwnerName: "a\x00\"ü", PriorityClass: "high", Scheduler: "s",
		CPUMilli: 1<<53 + 1, MemoryBytes: -1, CreatedAt: time.UnixMicro(1_772_323_198_123_456).UTC(),
		Requests: []byte(`{"cpu":"1"}`), Labels: []byte(`{"a":"b","c":"\u0000"}`),
	}
	d := &Decision{PodDigest: "sha256:aa", Facts: f.Encode()}
	if err := d.ValidateFacts(); err != nil {
		t.Errorf("%s: %v", d.Facts, err)
	}
	got, err := d.PodFacts()
	f.OwnerName, f.Labels = "a\uFFFD\"ü", []byte(`{"a":"b","c":"\ufffd"}`)
	if err != nil || !reflect.DeepEqual(f, got) {
		t.Errorf("%+v, not %+v: %v", got, f, err)
	}
	for _, wrong := range []string{`{}`, `[1`, "[\"\xff\"]", `["\u0000"]`} {
		d.Facts = wrong
		if err := d.ValidateFacts(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for _, wrong := range []string{`[]`, `["","","","",1,2,{},{},0,1]`, `["","","","",1,2,{},{},""]`} {
		d.Facts = wrong
		if _, err := d.PodFacts(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
