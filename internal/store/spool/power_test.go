package spool

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestPowerLoss cuts the power of a log of 200 records at every byte of what was
// not synced, and with each of its sectors spoilt: whatever was acknowledged is
// there, and the log opens without a word of loss.
func TestPowerLoss(t *testing.T) {
	disk := newLiar()
	j, _, err := openJournal(disk, Limits{Segment: 3 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var acked []string
	cuts := 0
	var live []string // acknowledged, and not handed over yet
	check := func(keep func([]byte) []byte) {
		t.Helper()
		cuts++
		after := disk.powerLoss(keep)
		again, found, err := openJournal(after, Limits{})
		if err != nil {
			t.Fatalf("after %d records: %v", len(acked), err)
		}
		for _, f := range found {
			if f.Loss {
				t.Fatalf("after %d records: %+v", len(acked), f)
			}
		}
		if err := within(live, idsIn(t, again)); err != nil {
			t.Fatalf("after %d records: %v", len(acked), err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < 200; {
		size := 1 + rng.IntN(14)
		recs := small(n, min(n+size, 200))
		// The cut comes amid the group: just before each sync.
		disk.fail = func(_ int, what string) error {
			if what == "sync" {
				disk.mu.Unlock()
				defer disk.mu.Lock()
				check(nil)
				for _, all := range disk.files {
					rest := len(all.data) - len(all.safe)
					for cut := 0; cut <= rest; cut++ {
						if cut > 700 && cut < rest-700 && cut%97 != 0 {
							continue // the records in the middle are like those at the ends
						}
						check(func(b []byte) []byte { return b[:min(cut, len(b))] })
					}
					for at := 0; at < rest; at += 512 {
						check(func(b []byte) []byte {
							clear(b[min(at, len(b)):min(at+512, len(b))])
							return b
						})
						check(func(b []byte) []byte { // the later sectors only
							clear(b[:min(at, len(b))])
							return b
						})
					}
				}
			}
			return nil
		}
		if err := j.append(recs, began); err != nil {
			t.Fatal(err)
		}
		disk.fail = nil
		for _, r := range recs {
			acked, live = append(acked, r.id), append(live, r.id)
		}
		n += len(recs)
		check(nil)
		for len(j.segs) > 2 { // the older ones are handed over
			s := j.first()
			sc, err := j.read(s)
			if err != nil {
				t.Fatal(err)
			}
			live = live[len(sc.records):]
			j.handed(s, sc.records)
			if err := j.finish(s); err != nil {
				t.Fatal(err)
			}
			check(nil)
		}
	}
	if len(acked) != 200 || cuts < 10000 {
		t.Fatalf("%d records, %d cuts", len(acked), cuts)
	}
	t.Logf("%d cuts of 200 records in %d files", cuts, len(disk.files))
}

// small makes records of a size that lets every byte be a cut: what is in them
// is no concern here.
func small(from, to int) (recs []record) {
	for n := from; n < to; n++ {
		id := fmt.Sprintf("c-%06d", n)
		payload := append(le.AppendUint16(nil, uint16(len(id))), id...)
		recs = append(recs, record{id: id, payload: append(payload, bytes.Repeat([]byte{'{'}, 20+n%90)...)})
	}
	return recs
}

// Two power cuts: what the first left, torn, is not torn further by going on.
func TestPowerLossAfterRecovery(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		disk := newLiar()
		var acked []string
		for life := range 4 {
			j, found, err := openJournal(disk, Limits{Segment: 4 << 10})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, f := range found {
				if f.Loss {
					t.Fatalf("seed %d: %+v", seed, f)
				}
			}
			if err := within(acked, idsIn(t, j)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			stop := rng.IntN(40)
			disk.fail = func(op int, _ string) error {
				if op%41 == stop {
					return errIO
				}
				return nil
			}
			for n := range rng.IntN(12) {
				recs := recordsOf(t, string(rune('a'+life)), n*3, n*3+3)
				if j.append(recs, began) == nil {
					for _, r := range recs {
						acked = append(acked, r.id)
					}
				}
			}
			if rng.IntN(2) == 0 {
				disk = disk.killed()
			} else {
				disk = disk.powerLoss(func(b []byte) []byte { return b[:rng.IntN(len(b)+1)] })
			}
		}
	}
}
