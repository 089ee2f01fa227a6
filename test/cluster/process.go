package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a child that ends with the suite, whatever becomes of that.
type process struct {
	name, log string
	cmd       *exec.Cmd
	ended     chan struct{}
	err       error // once ended
}

// spawner starts children from one thread, because the kernel ends a child with
// the thread that started it.
var spawner = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// spawn starts a program with its output in dir/name.log, added to what is there.
func spawn(dir, name, program string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), ended: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	spawner() <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), out.Close())
	}
	go func() {
		p.err = errors.Join(p.cmd.Wait(), out.Close())
		close(p.ended)
	}()
	return p, nil
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill ends it as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop asks it to end, and ends it after ten seconds.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		p.kill()
	}
}

// tail returns the end of its log.
func (p *process) tail() string {
	raw, _ := os.ReadFile(p.log)
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-15):], []byte("\n")))
}

// await waits until ok says yes, its process ends, or time runs out.
func (p *process) await(atMost time.Duration, ok func() error) error {
	var err error
	for end := time.Now().Add(atMost); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = ok(); err == nil {
			return nil
		}
		if p.over() {
			return fmt.Errorf("%s ended (%v):\n%s", p.name, p.err, p.tail())
		}
	}
	return fmt.Errorf("%s is not ready after %s: %w\n%s", p.name, atMost, err, p.tail())
}

// freeAddress finds a port on which no process listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// freePort is freeAddress with the port apart.
func freePort() (address, port string, err error) {
	if address, err = freeAddress(); err == nil {
		_, port, err = net.SplitHostPort(address)
	}
	return address, port, err
}
