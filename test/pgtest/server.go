package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options tunes Start.
type Options struct {
	// Settings are put on the server's command line, such as "fsync=off".
	Settings []string
	// Standby starts it in recovery, where it only reads.
	Standby bool
}

// Server is a PostgreSQL server of our own.
type Server struct {
	dir     string // holds data, socket and log
	bin     string
	who     identity
	options Options

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan error // gets the process's end
}

const port = "5432" // part of the socket's name only

// Start makes a server's directory, from a cached one where there is, and
// starts the server. It waits for the disk as a real one does.
func Start(o Options) (_ *Server, err error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	who, err := serverIdentity()
	if err != nil {
		return nil, err
	}
	// A socket's path may have a hundred letters or so; TMPDIR may have more.
	dir, err := os.MkdirTemp(shortTemp(), "berth-pg")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, who: who, options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := who.own(dir); err != nil {
		return nil, err
	}
	if err := s.initialise(); err != nil {
		return nil, err
	}
	if o.Standby {
		signal := filepath.Join(s.data(), "standby.signal")
		if err := os.WriteFile(signal, nil, 0o600); err != nil {
			return nil, err
		}
		if err := who.own(signal); err != nil {
			return nil, err
		}
	}
	return s, s.Launch()
}

// shortTemp returns a directory for the server's files: in memory where there is
// plenty of it, since thousands of small databases' fsyncs are most of what the
// tests would wait for, and no test here can tell a disk that loses power.
func shortTemp() string {
	if memory := "/dev/shm"; roomy(memory) {
		return memory
	}
	if dir := os.TempDir(); len(dir) < 40 {
		return dir
	}
	return "/tmp"
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Socket is the server's Unix socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL."+port) }

// URL is the address of the server's database.
func (s *Server) URL() string {
	q := url.Values{"host": {s.dir}, "port": {port}, "user": {"berth"}, "sslmode": {"disable"}}
	return "postgres:///postgres?" + q.Encode()
}

// Launch starts the server's process again after Stop-like ends of it, and
// waits until it answers.
func (s *Server) Launch() error {
	args := []string{"-D", s.data(), "-p", port, "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=200"}
	for _, setting := range s.options.Settings {
		args = append(args, "-c", setting)
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.SysProcAttr = s.who.process()
	started, done := make(chan error), make(chan error, 1)
	go func() {
		// The system ends the server with the thread that started it, so that a
		// killed test leaves none behind: the thread must last.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	err = <-started
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	s.mu.Lock()
	s.cmd, s.done = cmd, done
	s.mu.Unlock()
	return s.await(done)
}

// await returns when the server takes connections.
func (s *Server) await(done chan error) error {
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-done:
			done <- err
			return fmt.Errorf("postgres ended at once: %w\n%s", err, s.Log())
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		var conn *pgx.Conn
		if conn, err = pgx.Connect(ctx, s.URL()); err == nil {
			err = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("postgres does not answer: %w\n%s", err, s.Log()), s.Stop())
}

// Log is what the server has said so far.
func (s *Server) Log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(bytes.TrimSpace(b))
}

// Signal sends the server's main process a signal: SIGSTOP and SIGCONT, or
// SIGQUIT for an end without a checkpoint, as after a crash.
func (s *Server) Signal(sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process.Signal(sig)
}

// Halt ends the process and keeps the data; Launch starts it again.
func (s *Server) Halt(sig syscall.Signal) error {
	if err := s.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := <-s.done
	s.done <- err // for later calls
	return nil    // after a signal it reports that it failed, of course
}

// Stop ends the server and removes everything of it.
func (s *Server) Stop() error {
	return errors.Join(s.Halt(syscall.SIGINT), os.RemoveAll(s.dir))
}
