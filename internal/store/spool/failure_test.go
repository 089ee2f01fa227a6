package spool

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

var errIO = fmt.Errorf("disk: %w", syscall.EIO)

// TestEveryFailure lets the Nth call to the disk fail, for every N of a run of
// 50 records, once or for good: what was acknowledged outlives a power cut and
// a kill, what failed was not acknowledged, and the log works again as soon as
// the disk does.
func TestEveryFailure(t *testing.T) {
	for _, errno := range []error{syscall.EIO, syscall.ENOSPC} {
		for _, lasting := range []int{1, 7} {
			for n := 1; ; n++ {
				disk := newLiar()
				failed := ""
				disk.fail = func(op int, what string) error {
					if op >= n && op < n+lasting {
						failed = what
						return fmt.Errorf("disk: %w", errno)
					}
					return nil
				}
				acked, err := failingRun(t, disk)
				if err != nil {
					t.Fatalf("%v at call %d (%s): %v", errno, n, failed, err)
				}
				if failed == "" {
					if len(acked) < 40 {
						t.Fatalf("without a failure %d records were acknowledged", len(acked))
					}
					if n < 100 {
						t.Fatalf("only %d calls: the run says little", n)
					}
					break
				}
			}
		}
	}
}

// failingRun appends 50 records in groups of two, then looks at the disk after
// a kill and after a power cut.
func failingRun(t *testing.T, disk *liar) (acked []string, err error) {
	j, _, err := openJournal(disk, Limits{Segment: 3 << 10})
	if err != nil {
		if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) {
			return nil, nil // refused to start, with the reason
		}
		return nil, err
	}
	refusedInRow := 0
	for n := 0; n < 50; n += 2 {
		recs := recordsOf(t, "c", n, n+2)
		if err := j.append(recs, began); err != nil {
			if !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) {
				return nil, err
			}
			if refusedInRow++; refusedInRow > 7 {
				return nil, fmt.Errorf("the disk works and the log does not: %w", err)
			}
			continue
		}
		refusedInRow = 0
		acked = append(acked, recs[0].id, recs[1].id)
		if n == 24 { // amid it, the oldest segment is handed over and removed
			s := j.first()
			sc, err := j.read(s)
			if err != nil {
				continue
			}
			for _, r := range sc.records {
				acked = remove(acked, r.id)
			}
			j.handed(s, sc.records)
			if err := j.quarantine(s, 1, []*refusal{{Reason: "test"}}); err == nil && j.parked != 1 {
				return nil, fmt.Errorf("%d records in quarantine", j.parked)
			}
			_ = j.finish(s) // what cannot be removed is removed later
		}
	}
	for what, after := range map[string]*liar{"kill": disk.killed(), "power cut": disk.powerLoss(nil), "power cut that kept all": disk.powerLoss(func(b []byte) []byte { return b })} {
		again, found, err := openJournal(after, Limits{})
		if err != nil {
			return nil, fmt.Errorf("after a %s: %w", what, err)
		}
		for _, f := range found {
			if f.Loss {
				return nil, fmt.Errorf("after a %s: %+v", what, f)
			}
		}
		if err := within(acked, idsIn(t, again)); err != nil {
			return nil, fmt.Errorf("after a %s: %w", what, err)
		}
	}
	return acked, nil
}

func remove(list []string, id string) []string {
	for i, have := range list {
		if have == id {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}
