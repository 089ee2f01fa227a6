package postgres

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// plainRow writes the values of lists.Stored as COPY's binary format has them.
func plainRow(t testing.TB, buf []byte, values []any) []byte {
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(values)))
	for i, v := range values {
		at := len(buf)
		buf = append(buf, 0, 0, 0, 0)
		switch v := v.(type) {
		case nil:
			binary.BigEndian.PutUint32(buf[at:], 1<<32-1)
			continue
		case string:
			buf = append(buf, v...)
		case []byte:
			buf = append(buf, v...)
		case int64:
			if kind := lists.Stored[i].Kind; kind == store.Int || kind == store.Stamp {
				buf = binary.BigEndian.AppendUint32(buf, uint32(v))
			} else {
				buf = binary.BigEndian.AppendUint64(buf, uint64(v))
			}
		case time.Time:
			buf = binary.BigEndian.AppendUint64(buf, uint64(v.UnixMicro()-epoch))
		default:
			t.Fatalf("column %s is %T", lists.Stored[i].Name, v)
		}
		binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	}
	return buf
}

// TestCopyRow: a row that was encoded ahead is written as its values are, with the stamp and the
// place that it got since.
func TestCopyRow(t *testing.T) {
	full, stale := sampleDecision("prod", "full", time.Unix(1_700_000_000, 123_456_000)), int64(-5)
	full.Priority, full.StaleMillis, full.Asked.By, full.BoundRevision = -7, &stale, "ann", 1<<40
	full.Victims = []store.Victim{{Pod: "v", Priority: -1}}
	for name, d := range map[string]*store.Decision{"full": full, "empty": {CreatedAt: time.Unix(-1, 0), Now: time.Unix(0, 0)}} {
		ahead := lists.NewRow(d)
		ahead.Ahead = newCopyRow(ahead)
		for stamp := int64(1); stamp < 1<<31; stamp <<= 10 {
			r := ahead.Clone()
			r.StampID, r.Seq = stamp, stamp<<20
			want := plainRow(t, []byte("before"), decisionValues(r))
			if got := appendRow([]byte("before"), r); !bytes.Equal(got, want) {
				t.Errorf("%s, ahead:\n%q, want\n%q", name, got, want)
			}
			r.Ahead = nil
			if got := appendRow([]byte("before"), r); !bytes.Equal(got, want) {
				t.Errorf("%s:\n%q, want\n%q", name, got, want)
			}
		}
	}
}

// BenchmarkPrepare hashes and encodes a row ahead of its batch and writes it, beside its values.
func BenchmarkPrepare(b *testing.B) {
	e, buf := &store.Entry{Decision: benchDecision(1)}, make([]byte, 0, atOnce)
	e.Decision.Shared = &store.SharedLists{}
	for name, s := range map[string]*Store{"values": {pooled: true}, "ahead": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Prepare(e)
				if r := e.Prepared.(*lists.Row).Clone(); s.pooled {
					buf = plainRow(b, buf[:0], decisionValues(r))
				} else {
					buf = appendRow(buf[:0], r)
				}
			}
		})
	}
}
