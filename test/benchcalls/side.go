package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/test/process"
)

// side is a program that answers calls: a server, or the command line, which is started anew for
// each call.
type side struct {
	*programs
	process *process.Server
	client  *http.Client
	dir     string
	count   int           // calls that were made, so that each can differ
	spent   time.Duration // CPU of processes that have ended
}

func (p *programs) start(dir string) (*side, error) {
	s := &side{programs: p, dir: dir, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}}
	ready := filepath.Join(dir, "ready")
	cmd := exec.Command(p.server, "serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--ready-file", ready, "--log-level", "error")
	var err error
	s.process, err = process.Start(cmd, ready)
	return s, err
}

func (s *side) stop() {
	s.client.CloseIdleConnections()
	s.process.Stop()
}

// cpu returns what the side's processes have spent.
func (s *side) cpu() (time.Duration, error) {
	now, err := process.CPU(s.process.Cmd.Process.Pid)
	return s.spent + now, err
}

// resident returns the server's resident memory in bytes.
func (s *side) resident() (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kib << 10, err
}

// post sends a body and reads the answer, which has to be one of success.
func (s *side) post(path, body string) ([]byte, error) {
	return s.process.Send(s.client, http.MethodPost, path, body)
}

func (s *side) get(path string) ([]byte, error) {
	return s.process.Send(s.client, http.MethodGet, path, "")
}

// decided posts a question and wants the outcome that the row is about.
func (s *side) decided(body, outcome string) error {
	raw, err := s.post("/v1/decisions", body)
	if err != nil {
		return err
	}
	var a struct{ Outcome string }
	if err := json.Unmarshal(raw, &a); err != nil {
		return err
	}
	if a.Outcome != outcome {
		return fmt.Errorf("the outcome is %q, not %q", a.Outcome, outcome)
	}
	return nil
}

// filtered posts to /filter and wants nodes.
func (s *side) filtered(path, body string) error {
	raw, err := s.post(path, body)
	if err != nil {
		return err
	}
	var a struct {
		NodeNames []string
		Error     string
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return err
	}
	if a.Error != "" || len(a.NodeNames) == 0 {
		return fmt.Errorf("%d nodes passed, error %q", len(a.NodeNames), a.Error)
	}
	return nil
}

// explain runs the command line on a file.
func (s *side) explain(file string) error {
	cmd := exec.Command(s.berth, "explain", "default/waits", "--snapshot", file)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 0 {
		return fmt.Errorf("berth explain: %w: %s", err, out)
	}
	s.spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return nil
}

// replayed runs a batch replay to its end.
func (s *side) replayed(cluster string, total int) error {
	end, err := s.ended("/v1/replays", fmt.Sprintf(`{"cluster":%q}`, cluster))
	if err == nil && end.Identical != total {
		err = fmt.Errorf("%d of %d are identical, not %d", end.Identical, end.Total, total)
	}
	return err
}

// job is what jobs of all kinds say of themselves. An answer that was ready at once has no state.
type job struct {
	ID, State        string
	Total, Identical int
}

// ended posts a question and waits for the end of the job that it became, if it became one.
func (s *side) ended(path, body string) (job, error) {
	raw, err := s.post(path, body)
	var j job
	if err == nil {
		err = json.Unmarshal(raw, &j)
	}
	of := "/v1/simulations/"
	if path == "/v1/replays" {
		of = "/v1/replays/"
	}
	for err == nil && (j.State == "queued" || j.State == "running") {
		time.Sleep(2 * time.Millisecond)
		if raw, err = s.get(of + j.ID); err == nil {
			err = json.Unmarshal(raw, &j)
		}
	}
	if err == nil && j.State != "" && j.State != "done" {
		err = fmt.Errorf("the job of %s is %s", path, j.State)
	}
	return j, err
}
