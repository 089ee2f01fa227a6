package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// audited is a request of the audit, sent to a server of its own.
type audited struct {
	id, what string
	before   string // what the audit saw
	prepare  func(a *attack)
	ask      func(a *attack) string // returns the answer in short
}

// audit sends each request of the audit that pick picks and writes a table in Markdown.
func audit(out io.Writer, pick func(name string) bool) (err error) {
	memory = 4 << 30
	dir, err := os.MkdirTemp("", "berth-audit-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "server")
	if out, err := exec.Command("go", "build", "-o", program, "berth/cmd/server").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	_, _ = fmt.Fprint(out, "| | request | the audit saw | answer now | CPU s | peak RSS MB | time |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for i, one := range slices.Concat(auditMemory, auditTime, auditRest) {
		if !pick(one.id + ": " + one.what) {
			continue
		}
		at := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		s, err := launch(program, at)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out, s.audited(one))
		s.stop()
		if err := os.RemoveAll(at); err != nil {
			return err
		}
	}
	return nil
}

// audited sends one request and returns its row.
func (s *server) audited(one audited) string {
	a := &attack{server: s, until: time.Now().Add(2 * time.Minute), statuses: map[int]int{}}
	if one.prepare != nil {
		one.prepare(a)
	}
	time.Sleep(200 * time.Millisecond)
	s.forgetPeak()
	began, cpu := time.Now(), s.cpu()
	answer := one.ask(a)
	took := time.Since(began)
	for _, c := range a.conns {
		_ = c.Close()
	}
	if !s.Alive() {
		answer += " **the server is gone**"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %.1f | %d | %.1f s |", one.id, one.what, one.before, answer, s.cpu()-cpu, s.peak(), took.Seconds())
}

// answer sends a request and returns its status with the limit, the outcome or the kind of problem
// that it names.
func (a *attack) answer(method, path, body string, headers ...string) string {
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := (&http.Client{Timeout: time.Until(a.until)}).Do(req)
	if err != nil {
		return "no answer"
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return "no answer"
	}
	var got struct {
		Type, Limit, Outcome, Node string
	}
	_ = json.Unmarshal(raw, &got) // some answers are no objects
	why := got.Limit
	if why == "" {
		why = strings.TrimPrefix(got.Type, "urn:berth:problem:")
	}
	return strings.Join(strings.Fields(fmt.Sprint(res.StatusCode, " ", why, " ", got.Outcome, " ", got.Node)), " ")
}

// each sends a request several times at once and counts the answers.
func (a *attack) each(n int, send func(i int) string) string {
	var mu sync.Mutex
	count := map[string]int{}
	a.times(n, func(i int) {
		one := send(i)
		mu.Lock()
		defer mu.Unlock()
		count[one]++
	})
	var list []string
	for _, one := range slices.Sorted(maps.Keys(count)) {
		list = append(list, fmt.Sprintf("%s x%d", one, count[one]))
	}
	return strings.Join(list, ", ")
}

// decision makes a dry run in a cluster.
func (a *attack) decision(cluster, pod, more string) string {
	return a.answer("POST", "/v1/decisions", `{"snapshot":"`+cluster+`@latest","dryRun":true,"pod":`+pod+more+`}`)
}

// nodesOf uploads a cluster of so many nodes.
func nodesOf(cluster string, n int) func(a *attack) {
	return func(a *attack) { a.upload(cluster, n, 0) }
}
