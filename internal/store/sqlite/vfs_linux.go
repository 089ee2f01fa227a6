package sqlite

import (
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	codes "modernc.org/sqlite/lib"
)

// vfsName is the VFS that files are opened with: SQLite's own for Unix with two differences.
// It syncs by fdatasync, as SQLite does where a C compiler makes it; the driver's fsync waits for
// the file's times, too. And it gathers the writes to a WAL, of which SQLite makes two a page,
// until the commit is synced or the file is read. SQLite shows a commit to other connections only
// after its sync.
const vfsName = "berth"

// vfs is what registerVFS made.
var vfs struct {
	unix     uintptr // the VFS below
	fileSize uintptr // of its files; a walBuffer follows
	mu       sync.Mutex
	methods  map[methodsKey]uintptr // of files of ours, by those of the VFS below
}

type methodsKey struct {
	unix uintptr
	wal  bool
}

// registerVFS registers the VFS once a process.
var registerVFS = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	wrapPageCache(tls)
	vfs.unix = codes.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString(vfsName)
	if err != nil {
		return err
	}
	own := codes.Xsqlite3_malloc64(tls, codes.Tsqlite3_uint64(unsafe.Sizeof(codes.Tsqlite3_vfs{})))
	if vfs.unix == 0 || own == 0 {
		return fmt.Errorf("make the VFS %s: no memory", vfsName)
	}
	v := at[codes.Tsqlite3_vfs](own)
	*v = *at[codes.Tsqlite3_vfs](vfs.unix)
	vfs.fileSize = (uintptr(v.FszOsFile) + 7) &^ 7
	vfs.methods = map[methodsKey]uintptr{}
	v.FszOsFile = int32(vfs.fileSize + unsafe.Sizeof(walBuffer{}))
	v.FzName, v.FpNext, v.FxOpen = name, 0, pointer(vfsOpen)
	if rc := codes.Xsqlite3_vfs_register(tls, own, 0); rc != codes.SQLITE_OK {
		return fmt.Errorf("register the VFS %s: code %d", vfsName, rc)
	}
	return nil
})

// vfsOpen opens a file by the VFS below and gives it methods of ours.
func vfsOpen(tls *libc.TLS, _, name, file uintptr, flags int32, outFlags uintptr) int32 {
	*bufferOf(file) = walBuffer{}
	open := *function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](&at[codes.Tsqlite3_vfs](vfs.unix).FxOpen)
	if rc := open(tls, vfs.unix, name, file, flags, outFlags); rc != codes.SQLITE_OK {
		return rc
	}
	f := at[codes.Tsqlite3_file](file)
	key := methodsKey{f.FpMethods, flags&codes.SQLITE_OPEN_WAL != 0}
	vfs.mu.Lock()
	defer vfs.mu.Unlock()
	own := vfs.methods[key]
	if own == 0 {
		if own = codes.Xsqlite3_malloc64(tls, codes.Tsqlite3_uint64(unsafe.Sizeof(methods{}))); own == 0 {
			return codes.SQLITE_NOMEM // the caller closes the file, whose methods are set
		}
		*at[methods](own) = newMethods(key)
		vfs.methods[key] = own
	}
	f.FpMethods = own
	return codes.SQLITE_OK
}

// methods are a file's, and those of the VFS below behind them.
type methods struct{ own, unix codes.Tsqlite3_io_methods }

func newMethods(key methodsKey) methods {
	m := methods{unix: *at[codes.Tsqlite3_io_methods](key.unix)}
	m.own = m.unix
	m.own.FxSync = pointer(fileSync)
	if key.wal {
		m.own.FxClose, m.own.FxRead, m.own.FxWrite = pointer(walClose), pointer(walRead), pointer(walWrite)
		m.own.FxTruncate, m.own.FxFileSize, m.own.FxSync = pointer(walTruncate), pointer(walFileSize), pointer(walSync)
	}
	return m
}

// below returns the methods of the VFS below of a file.
func below(file uintptr) *codes.Tsqlite3_io_methods {
	return &at[methods](at[codes.Tsqlite3_file](file).FpMethods).unix
}

func fileSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	u := at[codes.TunixFile](file)
	if u.FctrlFlags&codes.UNIXFILE_DIRSYNC != 0 { // a new file, whose directory has to be synced, too
		return (*function[func(*libc.TLS, uintptr, int32) int32](&below(file).FxSync))(tls, file, flags)
	}
	if libc.Xfdatasync(tls, u.Fh) != 0 {
		return codes.SQLITE_IOERR_FSYNC // tried once: a second try could succeed and prove nothing
	}
	return codes.SQLITE_OK
}

// at returns what is in SQLite's memory, which Go's collector does not move.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// pointer returns a function of a package as the translated C code calls it.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function returns the function that such a pointer is of.
func function[F any](p *uintptr) *F { return (*F)(unsafe.Pointer(p)) }
