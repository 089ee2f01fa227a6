package wire

import "sync"

// MaxPooledBuffer is the capacity in bytes up to which PutBuffer keeps a buffer. It holds a
// NodeNames call of 15,000 names; the 70 MB of a Nodes call must not stay in memory because one
// such call came by.
const MaxPooledBuffer = 4 << 20

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

// GetBuffer returns an empty buffer for a body. The caller grows it by append and hands it
// back with PutBuffer.
func GetBuffer() *[]byte { return buffers.Get().(*[]byte) }

// PutBuffer takes a buffer back. Nothing that was parsed from it may be used any more.
func PutBuffer(b *[]byte) {
	if b == nil || cap(*b) > MaxPooledBuffer {
		return
	}
	*b = (*b)[:0]
	buffers.Put(b)
}
