package commit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Marker is a file that reports that decisions may be lost should the process be
// killed: it is there while a relaxed server runs, and removed at its clean end.
type Marker struct {
	path string
	mu   sync.Mutex
	now  Mark
}

// Mark is what a marker says.
type Mark struct {
	// Clean is a time up to which everything was on record or counted.
	Clean    time.Time `json:"clean"`
	Instance string    `json:"instance"`
}

// ReadMarker returns the mark that a killed process left; nil where none did.
func ReadMarker(path string) (*Mark, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the marker: %w", err)
	}
	var m Mark
	if err := json.Unmarshal(b, &m); err != nil || m.Clean.IsZero() {
		// Whatever it was, a process was killed: when it began is not known.
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read the marker: %w", err)
		}
		return &Mark{Clean: info.ModTime().UTC()}, nil
	}
	return &m, nil
}

// SetMarker writes a marker, durably.
func SetMarker(path string, m Mark) (*Marker, error) {
	mk := &Marker{path: path, now: m}
	return mk, mk.write(m)
}

// Refresh moves the clean time on, at most every five seconds.
func (m *Marker) Refresh(at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.Sub(m.now.Clean) < 5*time.Second {
		return nil
	}
	m.now.Clean = at.UTC()
	return m.write(m.now)
}

// Clear removes the marker: nothing was lost that is not in the log.
func (m *Marker) Clear() error { return ClearMarker(m.path) }

// ClearMarker removes a marker; none there is fine.
func ClearMarker(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear the marker: %w", err)
	}
	return nil
}

// write replaces the file whole, on disk before it counts.
func (m *Marker) write(mark Mark) error {
	b, err := json.Marshal(mark)
	if err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(m.path), ".marker-*")
	if err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), m.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the marker: %w", err), os.Remove(f.Name()))
	}
	return nil
}
