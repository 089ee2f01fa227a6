// Package record writes down what upstream's own plugin tests do: it is called
// from wrappers that the overlay puts around the plugins' methods and from a line
// at the start of each test. It judges nothing.
package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Dir is the variable that names the directory to write to.
const Dir = "BERTH_TABLES"

// Scenario is one test, or one row of a table, with the calls that it made. A
// test that only has subtests and makes no call itself is none.
type Scenario struct {
	Name   string  `json:"name"`
	Failed bool    `json:"failed,omitempty"` // by upstream's own test
	Calls  []*Call `json:"calls"`
	leaf   bool
}

// The tests that are running, the innermost last. Upstream's run one by one:
// go test is told so.
var (
	mu    sync.Mutex
	stack []*Scenario
)

// test is what the recorder needs of a *testing.T or of upstream's own wrapper.
type test interface {
	Name() string
	Failed() bool
	Cleanup(func())
	Errorf(format string, args ...any)
}

// Enter is called at the start of a test.
func Enter(t test) {
	mu.Lock()
	defer mu.Unlock()
	for _, s := range stack {
		s.leaf = false
	}
	s := &Scenario{Name: t.Name(), leaf: true}
	stack = append(stack, s)
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for i := range stack {
			if stack[i] == s {
				stack = append(stack[:i], stack[i+1:]...)
				break
			}
		}
		s.Failed = t.Failed()
		if !s.leaf && len(s.Calls) == 0 {
			return
		}
		if err := write(s); err != nil {
			t.Errorf("record %s: %v", s.Name, err)
		}
	})
}

func current() *Scenario {
	mu.Lock()
	defer mu.Unlock()
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// write appends a line to the directory's file; each test binary has one of its
// own, named by its process.
func write(s *Scenario) error {
	dir := os.Getenv(Dir)
	if dir == "" {
		return nil
	}
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", os.Getpid())), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Close()
}
