package spool

import (
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
)

// liar is a directory in memory that forgets what was not synced when the power
// goes, and fails when it is told to.
type liar struct {
	mu    sync.Mutex
	files map[string]*lie // as processes see them
	disk  map[string]*lie // names that would survive
	ops   int
	fail  func(op int, what string) error // nil: all goes well
}

// lie is a file: what was written, and how much of it is on disk. A sync that
// failed leaves bytes that pass for synced and are not, as Linux does.
type lie struct {
	data   []byte
	safe   []byte
	synced int // up to where a sync would find nothing to do
}

func newLiar() *liar { return &liar{files: map[string]*lie{}, disk: map[string]*lie{}} }

func (l *liar) op(what string) error {
	l.ops++
	if l.fail == nil {
		return nil
	}
	return l.fail(l.ops, what)
}

func (l *liar) Names() ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.files)), l.op("names")
}

func (l *liar) Create(name string) (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("create"); err != nil {
		return nil, err
	}
	if l.files[name] != nil {
		return nil, fs.ErrExist
	}
	l.files[name] = &lie{}
	return &handle{l, l.files[name]}, nil
}

func (l *liar) Open(name string) (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("open"); err != nil {
		return nil, err
	}
	if l.files[name] == nil {
		return nil, fs.ErrNotExist
	}
	return &handle{l, l.files[name]}, nil
}

func (l *liar) Rename(from, to string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("rename"); err != nil {
		return err
	}
	l.files[to] = l.files[from]
	delete(l.files, from)
	return nil
}

func (l *liar) Remove(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files[name] == nil {
		return fs.ErrNotExist
	}
	if err := l.op("remove"); err != nil {
		return err
	}
	delete(l.files, name)
	return nil
}

func (l *liar) SyncDir() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.op("syncdir"); err != nil {
		return err
	}
	l.disk = maps.Clone(l.files)
	return nil
}

func (l *liar) Close() error { return nil }

// powerLoss returns the directory after a power cut: synced bytes under synced
// names. keep is how much of each file's unsynced bytes happens to survive;
// tear may spoil it.
func (l *liar) powerLoss(keep func(unsynced []byte) []byte) *liar {
	l.mu.Lock()
	defer l.mu.Unlock()
	after := newLiar()
	for name, f := range l.disk {
		data := slices.Clone(f.safe)
		if rest := f.data[min(len(f.safe), len(f.data)):]; keep != nil && len(rest) > 0 {
			data = append(data, keep(slices.Clone(rest))...)
		}
		after.files[name] = &lie{data: data, safe: data, synced: len(data)}
	}
	after.disk = maps.Clone(after.files)
	return after
}

// killed returns the directory after kill -9: all that was written is there.
func (l *liar) killed() *liar {
	l.mu.Lock()
	defer l.mu.Unlock()
	after := newLiar()
	for name, f := range l.files {
		c := *f
		c.data, c.safe = slices.Clone(f.data), slices.Clone(f.safe)
		after.files[name] = &c
	}
	for name, f := range l.disk {
		for other, have := range l.files {
			if have == f {
				after.disk[name] = after.files[other]
			}
		}
		if after.disk[name] == nil {
			after.disk[name] = f
		}
	}
	return after
}

type handle struct {
	l *liar
	f *lie
}

func (h *handle) Write(b []byte) (int, error) {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if err := h.l.op("write"); err != nil {
		half := b[:len(b)/2] // a disk that is full has taken some
		h.f.data = append(h.f.data, half...)
		return len(half), err
	}
	h.f.data = append(h.f.data, b...)
	return len(b), nil
}

func (h *handle) ReadAt(b []byte, off int64) (int, error) {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if off >= int64(len(h.f.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.f.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) Sync() error {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if err := h.l.op("sync"); err != nil {
		h.f.synced = len(h.f.data) // the next sync finds nothing to do
		return err
	}
	if h.f.synced < len(h.f.data) {
		if len(h.f.safe) == h.f.synced {
			h.f.safe = slices.Clone(h.f.data)
		}
		h.f.synced = len(h.f.data)
	}
	return nil
}

func (h *handle) Size() (int64, error) {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	return int64(len(h.f.data)), nil
}

func (h *handle) Close() error { return nil }
