package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	codes "modernc.org/sqlite/lib"
)

// walBufferSize is how much is written to a WAL at once, at most. SQLite's own write takes less
// than 128 KiB.
const walBufferSize = 120 << 10

// walBuffer is what is to be written to a WAL, from an offset on. It stands behind SQLite's file.
type walBuffer struct {
	bytes       uintptr // walBufferSize of them; 0 until the first write
	offset, len int64
}

func bufferOf(file uintptr) *walBuffer { return at[walBuffer](file + vfs.fileSize) }

// flush writes what is in the buffer of a WAL.
func flush(tls *libc.TLS, file uintptr) int32 {
	b := bufferOf(file)
	if b.len == 0 {
		return codes.SQLITE_OK
	}
	n := b.len
	b.len = 0 // what cannot be written is the error of a commit, which is undone
	return (*function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](&below(file).FxWrite))(tls, file, b.bytes, int32(n), b.offset)
}

func walWrite(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	b := bufferOf(file)
	if b.bytes == 0 {
		if b.bytes = codes.Xsqlite3_malloc64(tls, walBufferSize); b.bytes == 0 {
			return codes.SQLITE_NOMEM
		}
	}
	if offset != b.offset+b.len || b.len+int64(n) > walBufferSize {
		if rc := flush(tls, file); rc != codes.SQLITE_OK {
			return rc
		}
		b.offset = offset
	}
	if n > walBufferSize {
		return (*function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](&below(file).FxWrite))(tls, file, from, n, offset)
	}
	copy(unsafe.Slice(at[byte](b.bytes+uintptr(b.len)), n), unsafe.Slice(at[byte](from), n))
	b.len += int64(n)
	return codes.SQLITE_OK
}

func walRead(tls *libc.TLS, file, into uintptr, n int32, offset int64) int32 {
	if rc := flush(tls, file); rc != codes.SQLITE_OK {
		return rc
	}
	return (*function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](&below(file).FxRead))(tls, file, into, n, offset)
}

func walTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := flush(tls, file); rc != codes.SQLITE_OK {
		return rc
	}
	return (*function[func(*libc.TLS, uintptr, int64) int32](&below(file).FxTruncate))(tls, file, size)
}

func walFileSize(tls *libc.TLS, file, size uintptr) int32 {
	if rc := flush(tls, file); rc != codes.SQLITE_OK {
		return rc
	}
	return (*function[func(*libc.TLS, uintptr, uintptr) int32](&below(file).FxFileSize))(tls, file, size)
}

func walSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc := flush(tls, file); rc != codes.SQLITE_OK {
		return rc
	}
	return fileSync(tls, file, flags)
}

// walClose drops what was not synced: it is of a commit that was undone, or of none.
func walClose(tls *libc.TLS, file uintptr) int32 {
	codes.Xsqlite3_free(tls, bufferOf(file).bytes)
	return (*function[func(*libc.TLS, uintptr) int32](&below(file).FxClose))(tls, file)
}
