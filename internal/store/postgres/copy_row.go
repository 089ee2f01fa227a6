package postgres

import (
	"encoding/binary"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// copyRow is a row as COPY's binary format has it. Callers make it before they wait for the writer,
// which copies it and puts in the stamp's number and the place.
type copyRow struct {
	text         []byte
	stamp, place int  // where they are in text
	narrow       bool // whether the column has 32 bits
}

// usualRow is what most rows take.
const usualRow = 1 << 10

func newCopyRow(r *lists.Row) *copyRow {
	w := &copyRow{text: make([]byte, 0, usualRow)}
	w.text = binary.BigEndian.AppendUint16(w.text, uint16(len(lists.Stored))) //nolint:gosec // columns
	for i := range lists.Stored {
		c := &lists.Stored[i]
		switch c.Kind {
		case store.Stamp:
			w.stamp = len(w.text) + 4
		case store.Place:
			w.place = len(w.text) + 4
		}
		w.narrow = c.Kind == store.Int || c.Kind == store.Stamp // as TestColumns has them
		r.Put(c, w)
	}
	return w
}

// appendRow writes a row, which is encoded now if it was not ahead.
func appendRow(buf []byte, r *lists.Row) []byte {
	w, ok := r.Ahead.(*copyRow)
	if !ok {
		w = newCopyRow(r)
	}
	at := len(buf)
	buf = append(buf, w.text...)
	binary.BigEndian.PutUint32(buf[at+w.stamp:], uint32(r.StampID)) //nolint:gosec // of 32 bits
	binary.BigEndian.PutUint64(buf[at+w.place:], uint64(r.Seq))     //nolint:gosec // two's complement on both sides
	return buf
}

// begin writes how many bytes a value has.
func (w *copyRow) begin(size int) {
	w.text = binary.BigEndian.AppendUint32(w.text, uint32(size)) //nolint:gosec // below 1 GB
}

// Null implements lists.Sink.
func (w *copyRow) Null() { w.begin(-1) }

// Number implements lists.Sink.
func (w *copyRow) Number(n int64) {
	if w.narrow {
		w.begin(4)
		w.text = binary.BigEndian.AppendUint32(w.text, uint32(n)) //nolint:gosec // of 32 bits
		return
	}
	w.begin(8)
	w.text = binary.BigEndian.AppendUint64(w.text, uint64(n)) //nolint:gosec // two's complement on both sides
}

// Text implements lists.Sink.
func (w *copyRow) Text(s string) {
	w.begin(len(s))
	w.text = append(w.text, s...)
}

// Blob implements lists.Sink.
func (w *copyRow) Blob(b []byte) {
	w.begin(len(b))
	w.text = append(w.text, b...)
}

// Packed implements lists.Sink.
func (w *copyRow) Packed(pack func([]byte, string) []byte, text string) {
	at := len(w.text)
	w.begin(0)
	w.text = pack(w.text, text)
	binary.BigEndian.PutUint32(w.text[at:], uint32(len(w.text)-at-4)) //nolint:gosec // below 1 GB
}

// epoch is where PostgreSQL's times begin, in microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// Time implements lists.Sink.
func (w *copyRow) Time(t time.Time) { w.Number(t.UnixMicro() - epoch) }

// List implements lists.Sink.
func (w *copyRow) List(v any) {
	if s, ok := v.(string); ok {
		w.Text(s)
		return
	}
	w.Null()
}
