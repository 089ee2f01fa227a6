package postgres

import (
	"encoding/binary"
	"io"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// copyRows writes decisions in COPY's binary format, a chunk at a time, so that
// large inputs are not held twice. It is written by hand since the driver asks
// the database for the columns' types first, and boxes each value.
type copyRows struct {
	decisions []*stamped
	state     int // 0: nothing sent; 1: rows; 2: all sent
	buf, rest []byte
}

const (
	copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	copyEnd    = "\xff\xff"
	copyChunk  = 256 << 10
	copyFields = 29
)

// Read implements io.Reader.
func (c *copyRows) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.state == 2 {
			return 0, io.EOF
		}
		c.fill()
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *copyRows) fill() {
	c.buf = c.buf[:0]
	if c.state == 0 {
		c.buf = append(c.buf, copyHeader...)
		c.state = 1
	}
	for len(c.decisions) > 0 && len(c.buf) < copyChunk {
		c.buf = appendRow(c.buf, c.decisions[0])
		c.decisions = c.decisions[1:]
	}
	if len(c.decisions) == 0 {
		c.buf = append(c.buf, copyEnd...)
		c.state = 2
	}
	c.rest = c.buf
}

// stamped is a decision with the parts that are made before it is written.
type stamped struct {
	*store.Decision
	stamp  lists.Stamp
	id     int64 // the stamp's
	seq    int64
	scores []byte
}

func newStamped(d *store.Decision) *stamped {
	s := &stamped{Decision: d}
	s.stamp, s.scores = lists.StampOf(d)
	return s
}

func appendRow(b []byte, d *stamped) []byte {
	b = binary.BigEndian.AppendUint16(b, copyFields)
	b = appendText(b, d.Cluster, d.ID)
	b = appendTime(b, d.CreatedAt)
	b = appendTime(b, d.Now)
	b = appendInt64(b, d.Revision, d.BoundRevision)
	b = appendText(b, d.Verb, d.Outcome, d.Namespace, d.Pod)
	b = appendBytes(b, lists.PackUID(d.PodUID))
	b = appendText(b, d.Node, d.NominatedNode)
	b = binary.BigEndian.AppendUint32(b, 4)
	b = binary.BigEndian.AppendUint32(b, uint32(d.Priority))
	b = appendInt64(b, int64(d.NodesTotal), int64(d.NodesFeasible))
	b = appendText(b, d.Message)
	b = binary.BigEndian.AppendUint32(b, 4)
	b = binary.BigEndian.AppendUint32(b, uint32(d.id))
	b = appendBytes(b, lists.PackDigest(d.SnapshotDigest))
	b = appendBytes(b, lists.PackDigest(d.PodDigest))
	b = appendBytes(b, lists.PackDigest(d.AnswerDigest))
	b = appendInt64(b, d.DurationMicros)
	b = appendBytes(b, lists.EncodeFailures(d.Failures))
	b = appendBytes(b, d.scores)
	b = appendBytes(b, lists.EncodeVictims(d.Victims))
	b = appendBytes(b, d.Input)
	b = appendInt64(b, d.seq)
	b = appendText(b, d.Mode)
	if d.StaleMillis == nil {
		return appendBytes(b, nil)
	}
	return appendInt64(b, *d.StaleMillis)
}

func appendText(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}

// appendBytes writes nil as NULL.
func appendBytes(b, value []byte) []byte {
	if value == nil {
		return append(b, 0xff, 0xff, 0xff, 0xff)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

func appendInt64(b []byte, values ...int64) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, 8)
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// epoch is when PostgreSQL's time begins, in microseconds since 1970.
const epoch = 946684800 * 1000000

func appendTime(b []byte, t time.Time) []byte { return appendInt64(b, t.UnixMicro()-epoch) }
