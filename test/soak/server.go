package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/test/process"
)

// server is the process that is watched, with the limits that it has by default, but for deadlines:
// memory is watched here, and a machine that is busy with other work must not look like a server
// that is.
type server struct {
	*process.Server
	url string
}

func launch(program, dir string) (*server, error) {
	ready := filepath.Join(dir, "ready")
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--ready-file", ready, "--log-level", "error",
		"--extender-deadline", "2m", "--decision-deadline", "2m")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GOMEMLIMIT=") && !strings.HasPrefix(e, "GOGC=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	s, err := process.Start(cmd, ready)
	if err != nil {
		return nil, err
	}
	return &server{s, "http://" + s.Host}, nil
}

// figures are what a server says of itself at a moment.
type figures struct {
	heap       float64 // MB of objects, garbage that was not collected yet included
	goroutines int
	files      int
	rss        float64 // MB
	cpu        float64 // seconds so far
}

// look reads the figures from /metrics.
func (s *server) look() (figures, error) {
	res, err := (&http.Client{Timeout: 20 * time.Second}).Get(s.url + "/metrics")
	if err != nil {
		return figures{}, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return figures{}, fmt.Errorf("GET /metrics: %s", res.Status)
	}
	return readFigures(res.Body)
}

func readFigures(r io.Reader) (f figures, err error) {
	found := 0
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		found++
		switch name {
		case "go_memstats_heap_alloc_bytes":
			f.heap = v / 1e6
		case "go_goroutines":
			f.goroutines = int(v)
		case "process_open_fds":
			f.files = int(v)
		case "process_resident_memory_bytes":
			f.rss = v / 1e6
		case "process_cpu_seconds_total":
			f.cpu = v
		default:
			found--
		}
	}
	if err := lines.Err(); err != nil {
		return f, err
	}
	if found != 5 {
		return f, fmt.Errorf("GET /metrics has %d of the 5 figures", found)
	}
	return f, nil
}
