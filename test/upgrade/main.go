// Command upgrade makes the data directory of a release, with what each kind of request leaves in
// it, for the test beside it: every later release has to open it, migrate it and replay it.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	program := flag.String("program", "", "server of the release")
	out := flag.String("out", "", "archive to write, such as test/upgrade/testdata/v0.3.0.tar.gz")
	flag.Parse()
	if err := makeData(*program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "upgrade:", err)
		os.Exit(1)
	}
}

// server is a running one over a data directory.
type server struct {
	cmd *exec.Cmd
	url string
}

func start(program, dir string) (*server, error) {
	ready := filepath.Join(dir, "ready")
	if err := os.Remove(ready); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	s := &server{cmd: exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--ready-file", ready, "--log-level", "error")}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if address, err := os.ReadFile(ready); err == nil && len(address) > 0 {
			s.url = "http://" + strings.TrimSpace(string(address))
			return s, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the server did not start"), s.stop())
}

func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// call sends a request and reads the answer, which has to be a success.
func (s *server) call(method, path, body string, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if !strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/yaml")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, raw)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// record is what a decision has to be after any upgrade.
type record struct {
	ID, Cluster, Snapshot, Verb, Outcome, Node, Digest, Mode string
	Seq                                                      int64
}

// contents are what a data directory holds, as its own release answered.
type contents struct {
	Records   []record
	Snapshots map[string]string // digests by id
	Classes   int
	Tokens    int
	Jobs      map[string]string // states by path
}

// read requests all of it.
func (s *server) read(known contents) (contents, error) {
	c := contents{Snapshots: map[string]string{}, Jobs: map[string]string{}}
	var page struct {
		Items  []record
		Cursor string
	}
	if err := s.call("GET", "/v1/decisions?limit=500", "", &page); err != nil {
		return c, err
	}
	c.Records = page.Items
	for id := range known.Snapshots {
		var o struct{ Digest string }
		if err := s.call("GET", "/v1/snapshots/"+id, "", &o); err != nil {
			return c, err
		}
		c.Snapshots[id] = o.Digest
	}
	var classes struct{ Items []json.RawMessage }
	if err := s.call("GET", "/v1/priorityclasses", "", &classes); err != nil {
		return c, err
	}
	c.Classes = len(classes.Items)
	var tokens struct{ Items []json.RawMessage }
	if err := s.call("GET", "/v1/tokens", "", &tokens); err != nil {
		return c, err
	}
	c.Tokens = len(tokens.Items)
	for path := range known.Jobs {
		var job struct{ State string }
		if err := s.call("GET", path, "", &job); err != nil {
			return c, err
		}
		c.Jobs[path] = job.State
	}
	return c, nil
}

// requests are what the data directory is made by, in this order; @NAME is a file of examples/.
var requests = []struct{ path, body string }{
	{"/v1/priorityclasses", `{"metadata":{"name":"science"},"value":500}`},
	{"/v1/snapshots?cluster=demo", "@cluster.yaml"},
	{"/v1/snapshots?cluster=web", "@web.yaml"},
	{"/v1/snapshots?cluster=drain", "@drain.yaml"},
	{"/v1/snapshots/demo@latest/changes", `{"apply":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-d1","labels":{"kubernetes.io/hostname":"node-d1","topology.kubernetes.io/zone":"zone-d"}},"status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"110"}}}]}`},
	{"/v1/decisions", "@decision.json"},
	{"/clusters/demo/filter", "@filter.json"},
	{"/clusters/demo/prioritize", "@filter.json"},
	{"/clusters/demo/shadow/filter", "@filter.json"},
	{"/v1/decisions", `{"snapshot":"demo@latest","bind":true,"pod":{"metadata":{"namespace":"shop","name":"bound","uid":"uid-bound"},"spec":{"containers":[{"name":"c","image":"registry.example/c:1","resources":{"requests":{"cpu":"250m","memory":"64Mi"}}}]}}}`},
	{"/clusters/demo/preempt", `{"Pod":{"metadata":{"namespace":"shop","name":"urgent","uid":"uid-urgent"},"spec":{"priority":2000,"containers":[{"name":"c","image":"registry.example/c:1","resources":{"requests":{"cpu":"3"}}}]}},"NodeNameToVictims":{"node-a1":{"Pods":[]}}}`},
	{"/v1/decisions", `{"snapshot":"web@latest","pod":{"metadata":{"namespace":"shop","name":"large"},"spec":{"containers":[{"name":"c","image":"registry.example/c:1","resources":{"requests":{"cpu":"900"}}}]}}}`},
	{"/v1/tokens", `{"name":"ci","grants":[{"role":"viewer","clusters":["demo"],"namespaces":["*"]}],"expiresAt":"2126-01-01T00:00:00Z"}`},
	{"/v1/replays", `{"cluster":"demo"}`},
}

// makeData runs the requests on a release and packs what is left.
func makeData(program, out string) error {
	dir, err := os.MkdirTemp("", "berth-upgrade")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := start(program, dir)
	if err != nil {
		return err
	}
	known := contents{Snapshots: map[string]string{"demo@1": "", "demo@2": "", "demo@3": "", "web@1": "", "drain@1": ""}, Jobs: map[string]string{}}
	for _, r := range requests {
		if name, ok := strings.CutPrefix(r.body, "@"); ok {
			raw, err := os.ReadFile(filepath.Join("examples", name))
			if err != nil {
				return errors.Join(err, s.stop())
			}
			r.body = string(raw)
		}
		var created struct{ ID string }
		err := s.call("POST", r.path, r.body, nil)
		if r.path == "/v1/replays" {
			if err = s.call("POST", r.path, r.body, &created); err == nil {
				known.Jobs[r.path+"/"+created.ID] = ""
				err = s.settled(r.path + "/" + created.ID)
			}
		}
		if err != nil {
			return errors.Join(err, s.stop())
		}
	}
	holds, err := s.read(known)
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	text, err := json.MarshalIndent(holds, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "contents.json"), text, 0o600); err != nil {
		return err
	}
	return pack(dir, out)
}

// settled waits for the end of a job.
func (s *server) settled(path string) error {
	for range 600 {
		var job struct{ State string }
		if err := s.call("GET", path, "", &job); err != nil {
			return err
		}
		if job.State != "queued" && job.State != "pending" && job.State != "running" {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s does not end", path)
}

// pack writes contents.json and the data directory as an archive.
func pack(dir, out string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "ready" || d.Name() == "lock" {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(body))}); err != nil {
			return err
		}
		_, err = w.Write(body)
		return err
	})
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", out, b.Len())
	if b.Len() > 300_000 {
		return errors.New("the archive is over 300 kB: it is kept in the repository")
	}
	return os.WriteFile(out, b.Bytes(), 0o600)
}
