package spool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/store"
)

// TestSimulation plays recorder, spool and database through errors, hangs, lost
// answers, disk failures, kills and power cuts, on a clock of its own. One seed
// is one run. At its end every record that was acknowledged is in the database
// once, and each cluster's in order.
func TestSimulation(t *testing.T) {
	seeds := uint64(3000)
	if testing.Short() {
		seeds = 300
	}
	var spooled, straight, kills int
	for seed := range seeds {
		s := &simulation{rng: rand.New(rand.NewPCG(seed, 7)), disk: newLiar(), db: newDatabase()}
		synctest.Test(t, func(t *testing.T) { s.run(t) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		spooled, straight, kills = spooled+s.spooled, straight+s.straight, kills+s.kills
	}
	t.Logf("%d seeds: %d records by the spool, %d straight, %d kills", seeds, spooled, straight, kills)
	if spooled < int(seeds) || straight < int(seeds) || kills < int(seeds)/2 {
		t.Errorf("%d by the spool, %d straight, %d kills: the runs say little", spooled, straight, kills)
	}
}

type simulation struct {
	rng  *rand.Rand
	disk *liar
	db   *database
	next int
	// acked are the ids that callers were told of, by cluster and in order.
	acked                    map[string][]string
	spooled, straight, kills int
}

func (s *simulation) run(t *testing.T) {
	s.acked = map[string][]string{}
	for range 1 + s.rng.IntN(3) {
		s.life(t)
	}
	// In the end all is well, and what is left is handed over.
	s.heal()
	s.disk.fail = nil
	w := s.open(t)
	for range 600 {
		if !w.Status().Queued {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if st := w.Status(); st.Queued || st.Records != 0 || st.Quarantined != 0 {
		t.Errorf("in the end: %+v", st)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	seen := map[string]int{}
	byCluster := map[string][]string{}
	for _, id := range s.db.has() {
		seen[id]++
		c, _, _ := strings.Cut(id, "-")
		byCluster[c] = append(byCluster[c], id)
	}
	for id, n := range seen {
		if n != 1 || strings.Count(id, "-") != 1 {
			t.Errorf("%s is there %d times", id, n)
		}
	}
	for c, want := range s.acked {
		if err := within(want, byCluster[c]); err != nil {
			t.Errorf("cluster %s: %v", c, err)
		}
	}
}

func (s *simulation) open(t *testing.T) *Writer {
	t.Helper()
	w, err := Open(s.db, s.disk, Options{Limits: Limits{Segment: 4 << 10}, Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// heal lets the database answer, and the calls that hang go on.
func (s *simulation) heal() {
	s.db.set(func(d *database) {
		d.away, d.lose = false, 0
		if d.hang != nil {
			close(d.hang)
			d.hang = nil
		}
	})
}

// life is one process from its start to its end.
func (s *simulation) life(t *testing.T) {
	s.disk.mu.Lock()
	s.disk.fail = nil
	s.disk.mu.Unlock()
	w := s.open(t)
	for range 4 + s.rng.IntN(14) {
		switch s.rng.IntN(12) {
		case 0:
			s.db.set(func(d *database) { d.away = true })
		case 1:
			s.db.set(func(d *database) {
				if d.hang == nil {
					d.hang, d.late = make(chan struct{}), s.rng.IntN(2) == 0
				}
			})
		case 2:
			s.db.set(func(d *database) { d.lose = 1 + s.rng.IntN(3) })
		case 3:
			s.disk.mu.Lock()
			until := s.disk.ops + 1 + s.rng.IntN(4)
			s.disk.fail = func(op int, what string) error {
				if op < until && what != "names" {
					return errIO
				}
				return nil
			}
			s.disk.mu.Unlock()
		case 4, 5, 6:
			s.heal()
		}
		if s.rng.IntN(3) == 0 {
			time.Sleep(time.Duration(s.rng.IntN(3000)) * time.Millisecond)
		}
		s.append(t, w)
	}
	switch s.rng.IntN(3) {
	case 0:
		s.heal()
		if err := w.Close(); err != nil && !errors.Is(err, errIO) {
			t.Error(err)
		}
	default:
		s.kill(w)
	}
}

func (s *simulation) append(t *testing.T, w *Writer) {
	cluster := []string{"a", "b"}[s.rng.IntN(2)]
	var entries []*store.Entry
	for range 1 + s.rng.IntN(5) {
		s.next++
		entries = append(entries, decision(cluster, s.next))
	}
	before := time.Now()
	if err := w.Append(context.Background(), entries); err != nil {
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, errIO) {
			t.Errorf("Append: %v", err)
		}
		return
	}
	if took := time.Since(before); took > 3*time.Second {
		t.Errorf("Append took %v", took) // on the simulation's clock, where only waiting takes time
	}
	for _, e := range entries {
		if e.Err != nil {
			if !errors.Is(e.Err, store.ErrUnavailable) {
				t.Errorf("%s: %v", e.Decision.ID, e.Err)
			}
			continue
		}
		s.acked[cluster] = append(s.acked[cluster], fmt.Sprintf("%s-%06d", cluster, numberOf(e)))
		if e.Spooled {
			s.spooled++
		} else {
			s.straight++
		}
	}
}

// numberOf reads the number out of an id, which the writer has no business to
// change.
func numberOf(e *store.Entry) (n int) {
	_, _ = fmt.Sscanf(e.Decision.ID[2:], "%06d", &n)
	return n
}

// kill ends a process without any of its ends in order: the directory is as the
// system leaves it, and what the old process still does goes nowhere.
func (s *simulation) kill(w *Writer) {
	s.kills++
	s.disk.mu.Lock()
	s.disk.fail = nil
	s.disk.mu.Unlock()
	old := s.disk
	if s.rng.IntN(2) == 0 {
		s.disk = old.killed()
	} else {
		s.disk = old.powerLoss(func(b []byte) []byte { return b[:s.rng.IntN(len(b)+1)] })
	}
	old.mu.Lock()
	old.fail = func(int, string) error { return errIO }
	old.mu.Unlock()
	// The database may still do what it was asked; the rest of the process is
	// wound up only so that no goroutine stays, on a disk that takes nothing.
	db := s.db
	w.stop()
	hung := func() (h chan struct{}) { db.set(func(d *database) { h = d.hang }); return h }()
	if hung != nil {
		s.heal()
	}
	w.work.Wait()
	_ = w.j.close()
}
