package sqlite

import "testing"

// TestKeptReadsWhatScanReads: a column that was changed behind berth's back is no empty one.
func TestKeptReadsWhatScanReads(t *testing.T) {
	for src, want := range map[any]string{nil: "", "text": "text"} {
		b := []byte("before")
		if err := (kept{&b}).Scan(src); err != nil || string(b) != want || (src == nil) != (b == nil) {
			t.Errorf("%v: %q, %v", src, b, err)
		}
	}
	b := []byte("before")
	if err := (kept{&b}).Scan([]byte("bytes")); err != nil || string(b) != "bytes" {
		t.Errorf("bytes: %q, %v", b, err)
	}
	if err := (kept{&b}).Scan(int64(7)); err == nil {
		t.Error("a number was read as bytes")
	}
}
