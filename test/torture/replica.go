//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// replica is a server that is started again whenever it ends, as a supervisor
// would.
type replica struct {
	name, program, dir string
	args               []string
	disk               *disk
	link               *link

	mu       sync.Mutex
	cmd      *exec.Cmd // nil: not running
	url      string    // "" until it is ready
	expected bool      // its end was our doing
	stopping bool
	starts   int
	refusals int      // ends before it was ready
	crashes  []string // ends that the plan did not cause

	done chan struct{} // closed when the supervisor has ended
}

// drainDelay is for how long a replica that is to end still answers.
const drainDelay = 400 * time.Millisecond

func (r *replica) spoolDir() string { return filepath.Join(r.disk.dir, "spool") }
func (r *replica) logFile() string  { return filepath.Join(r.dir, "log") }

// start begins to supervise.
func (r *replica) start() error {
	log, err := os.OpenFile(r.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	r.done = make(chan struct{})
	go func() {
		// The system ends the server with the thread that started it, so that none
		// is left behind by a killed run: the thread must last.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(r.done)
		defer func() { _ = log.Close() }()
		for r.once(log) {
			time.Sleep(200 * time.Millisecond)
		}
	}()
	return nil
}

// once runs the server from start to end and reports whether to start it again.
func (r *replica) once(log *os.File) bool {
	ready := filepath.Join(r.dir, "ready")
	_ = os.Remove(ready) // a killed one leaves it behind
	r.mu.Lock()
	program := r.program
	r.mu.Unlock()
	cmd := exec.Command(program, append(r.args, "--ready-file", ready)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	r.mu.Lock()
	if r.stopping {
		r.mu.Unlock()
		return false
	}
	r.starts++
	r.expected = false
	err := cmd.Start()
	if err == nil {
		r.cmd = cmd
	}
	r.mu.Unlock()
	ended := make(chan struct{})
	if err == nil {
		go r.watch(ready, ended)
		err = cmd.Wait()
	}
	close(ended)
	r.mu.Lock()
	defer r.mu.Unlock()
	wasReady := r.url != ""
	r.cmd, r.url = nil, ""
	switch {
	case r.expected:
	case wasReady:
		r.crashes = append(r.crashes, fmt.Sprintf("%s ended by itself: %v", r.name, err))
	default:
		r.refusals++
	}
	return !r.stopping
}

// watch reads the address once the server is ready.
func (r *replica) watch(ready string, ended chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
		if address, err := os.ReadFile(ready); err == nil {
			r.mu.Lock()
			if r.cmd != nil {
				r.url = "http://" + string(address)
			}
			r.mu.Unlock()
			return
		}
	}
}

// address is where it serves; "" while it does not.
func (r *replica) address() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.url
}

func (r *replica) awaitReady(ctx context.Context) error {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if r.address() != "" {
			return nil
		}
	}
	out, _ := os.ReadFile(r.logFile())
	return fmt.Errorf("%s does not become ready: %w\n%s", r.name, ctx.Err(), out)
}

// signal sends the process a signal; one that ends it is ours.
func (r *replica) signal(sig syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil {
		return nil
	}
	if sig == syscall.SIGKILL || sig == syscall.SIGTERM {
		r.expected = true
	}
	if err := r.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// stop ends it in order and for good.
func (r *replica) stop(atMost time.Duration) error {
	if r.done == nil {
		return nil
	}
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	if err := r.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-r.done:
		return nil
	case <-time.After(atMost):
	}
	err := r.signal(syscall.SIGKILL)
	<-r.done
	return errors.Join(fmt.Errorf("%s did not end within %s", r.name, atMost), err)
}

// complaints are the lines of its log that must not occur, whatever fault is injected.
func (r *replica) complaints() (lines []string) {
	raw, _ := os.ReadFile(r.logFile())
	for line := range strings.Lines(string(raw)) {
		for _, bad := range []string{"panic", "DATA RACE", "fatal error", "status=500"} {
			if strings.Contains(line, bad) {
				lines = append(lines, r.name+": "+strings.TrimSpace(line))
				break
			}
		}
	}
	return lines
}

func (r *replica) close() error {
	var errs []error
	if r.disk != nil {
		errs = append(errs, r.disk.thaw())
	}
	errs = append(errs, r.signal(syscall.SIGCONT))
	if r.done != nil {
		r.mu.Lock()
		r.stopping = true
		r.mu.Unlock()
		errs = append(errs, r.signal(syscall.SIGKILL))
		<-r.done
	}
	if r.link != nil {
		errs = append(errs, r.link.close())
	}
	return errors.Join(append(errs, r.disk.close())...)
}
