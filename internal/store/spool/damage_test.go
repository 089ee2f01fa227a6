package spool

import (
	"slices"
	"strings"
	"testing"
)

// TestDamageIsLoudAndBounded flips a bit in every seventh byte of a log: what is
// not hit is still handed over, and what is hit is reported and set aside,
// unless it is at the very end, where a crash looks the same.
func TestDamageIsLoudAndBounded(t *testing.T) {
	disk := newLiar()
	j, _, err := openJournal(disk, Limits{Segment: 12 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for n := 0; n < 40; n += 4 {
		recs := recordsOf(t, "c", n, n+4)
		if err := j.append(recs, began); err != nil {
			t.Fatal(err)
		}
		for _, r := range recs {
			all = append(all, r.id)
		}
	}
	names, _ := disk.Names()
	if len(names) < 2 || len(names) > 5 {
		t.Fatalf("%d segments of ten appends show little: several, each with several, do", len(names))
	}
	last := names[len(names)-1]
	for _, name := range names {
		size := len(disk.files[name].data)
		for at := 0; at < size; at += 7 {
			after := disk.killed()
			after.files[name].data[at] ^= 0x10
			again, found, err := openJournal(after, Limits{})
			if err != nil && at < 12 {
				continue // a version that is not known refuses the start
			}
			if err != nil {
				t.Fatalf("%s, byte %d: %v", name, at, err)
			}
			got := idsIn(t, again)
			if missing := len(all) - len(got); missing > 4 {
				t.Fatalf("%s, byte %d: %d records are gone by one bit", name, at, missing)
			}
			if !slices.IsSorted(got) {
				t.Fatalf("%s, byte %d: order %v", name, at, got)
			}
			if len(found) == 0 && !(name == last && at < headerSize) {
				t.Fatalf("%s, byte %d: nobody was told", name, at)
			}
			loss := slices.ContainsFunc(found, func(f finding) bool { return f.Loss })
			if name != last && !loss {
				t.Fatalf("%s, byte %d: %+v passes for a torn tail", name, at, found)
			}
			if loss && again.parked == 0 {
				t.Fatalf("%s, byte %d: nothing is in quarantine", name, at)
			}
		}
	}
}

// A file that lost its end is told from one that never had it.
func TestShortFileIsLoss(t *testing.T) {
	disk := newLiar()
	j, _, err := openJournal(disk, Limits{Segment: 3 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		if err := j.append(recordsOf(t, "c", n, n+1), began); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := disk.Names()
	first := disk.files[names[0]]
	first.data = first.data[:len(first.data)-100]
	_, found, err := openJournal(disk, Limits{})
	if err != nil || len(found) == 0 || !found[0].Loss {
		t.Fatalf("%+v, %v", found, err)
	}
	if again, _, err := openJournal(disk, Limits{}); err != nil || again.parked == 0 {
		t.Errorf("quarantine is forgotten: %v", err)
	}
}

func TestNewerFormatIsNotGuessed(t *testing.T) {
	disk := newLiar()
	b := header{seq: 1, prevGood: unknownEnd}.encode()
	b[8] = 2
	le.PutUint32(b[36:], sum(1, 0, b[:36]))
	disk.files[segmentName(1)] = &lie{data: b}
	if _, _, err := openJournal(disk, Limits{}); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("error %v", err)
	}
}

// FuzzScan feeds the reader any bytes: it neither panics nor invents records,
// and what it gives lies inside of them.
func FuzzScan(f *testing.F) {
	disk := newLiar()
	j, _, err := openJournal(disk, Limits{})
	if err != nil {
		f.Fatal(err)
	}
	for n := range 6 {
		if err := j.append(recordsOf(f, "c", 2*n, 2*n+2), began); err != nil {
			f.Fatal(err)
		}
	}
	good := disk.files[segmentName(1)].data
	f.Add(good, int64(-1))
	f.Add(good[:len(good)-9], int64(len(good)))
	f.Add([]byte{}, int64(40))
	f.Fuzz(func(t *testing.T, data []byte, end int64) {
		s := scan(data, 1, end)
		for _, r := range s.records {
			at := r.off - recordHeader
			if at < headerSize || r.off+int64(len(r.payload)) > int64(len(data)) || le.Uint32(data[at+4:]) != sum(1, at, r.payload) {
				t.Fatalf("record at %d is none", r.off)
			}
			if e, err := decodeRecord(r.payload); err == nil && (e.Decision == nil) == (e.Gap == nil) {
				t.Fatal("a record of nothing, or of two things")
			}
		}
		for _, h := range s.holes {
			if h.from > h.to || h.from < 0 {
				t.Fatalf("hole %+v", h)
			}
		}
	})
}
