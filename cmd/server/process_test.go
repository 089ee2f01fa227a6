package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProcess looks at the server as its users run it: a binary with flags, a data directory and
// signals.
func TestProcess(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	t.Cleanup(client.CloseIdleConnections)
	for name, test := range map[string]func(*testing.T, string){
		"kill loses no answered decision":             killLosesNothing,
		"SIGTERM answers what runs":                   termAnswersWhatRuns,
		"a restart answers the same bytes":            restartAnswersSameBytes,
		"shuffled uploads are answered by same bytes": shuffledUploadsAnswerSameBytes,
		"a kill before a bind reached the apiserver":  killBeforeBind,
		"a kill before a bind was answered":           killAfterBind,
		"a server that ends follows to the end":       followsWhileEnding,
		"a job goes on after a kill":                  jobGoesOnAfterKill,
		"replicas share jobs":                         replicasShareJobs,
	} {
		t.Run(name, func(t *testing.T) { test(t, program) })
	}
}

// process is a server as its users run it.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr *bytes.Buffer
	ended  chan error
}

// launch starts a server on a data directory and returns once it is ready.
func launch(t *testing.T, program, dataDir string, more ...string) *process {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.Command(program, append([]string{"--listen", "127.0.0.1:0", "--data-dir", dataDir, "--ready-file", ready}, more...)...)
	p := &process{cmd: cmd, stderr: &bytes.Buffer{}, ended: make(chan error, 1)}
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.ended <- p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // fails where it has ended
		<-p.ended
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-p.ended:
			t.Fatalf("the server ended: %v\n%s", err, p.stderr)
		default:
		}
		if address, err := os.ReadFile(ready); err == nil {
			p.url = "http://" + string(address)
			return p
		}
	}
	t.Fatal("the server did not become ready")
	return nil
}

// kill ends the process as a power cut of the process would: nothing of it runs any more.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.ended
}

// stop ends the process in order and wants a clean end.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			t.Fatalf("the server did not end well: %v\n%s", err, p.stderr)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server did not end")
	}
}

// ask sends a request and gives status and body; an error is the connection's.
func (p *process) ask(method, path, body string) (int, []byte, error) {
	req, err := http.NewRequest(method, p.url+path, strings.NewReader(body)) //nolint:noctx // the client has a timeout
	if err != nil {
		return 0, nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return res.StatusCode, got, err
}

var client = &http.Client{
	Timeout:   2 * time.Minute,
	Transport: &http.Transport{MaxIdleConnsPerHost: 256},
}

// must asks and wants a status.
func (p *process) must(t *testing.T, want int, method, path, body string) []byte {
	t.Helper()
	status, got, err := p.ask(method, path, body)
	if err != nil || status != want {
		t.Fatalf("%s %s: status %d, want %d: %v\n%s", method, path, status, want, err, got)
	}
	return got
}

// object is a Kubernetes object in the making.
type object = map[string]any

func marshal(t *testing.T, v any) string {
	t.Helper()
	js, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(js)
}

func listOf(items ...any) object {
	return object{"apiVersion": "v1", "kind": "List", "items": items}
}

// cell is a small cluster with zones, a taint, bound pods that differ, and one that waits.
func cell() (items []any) {
	for i := range 24 {
		name := fmt.Sprintf("node-%02d", i)
		n := object{
			"apiVersion": "v1", "kind": "Node",
			"metadata": object{"name": name, "labels": object{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprintf("z%d", i%3)}},
			"status":   object{"allocatable": object{"cpu": fmt.Sprint(4 + i%5), "memory": "16Gi", "pods": "110"}},
		}
		if i%6 == 0 {
			n["spec"] = object{"taints": []any{object{"key": "dedicated", "value": "db", "effect": "NoSchedule"}}}
		}
		items = append(items, n, podOf(fmt.Sprintf("bound-%02d", i), fmt.Sprintf("%dm", 100*(i%7+1)), name))
	}
	return append(items, podOf("waiting", "250m", ""))
}

// podOf is a pod of an application that spreads over zones.
func podOf(name, cpu, node string) object {
	spec := object{
		"containers": []any{object{"name": "main", "image": "registry.example/app:1", "resources": object{"requests": object{"cpu": cpu}}}},
		"topologySpreadConstraints": []any{object{
			"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
			"labelSelector": object{"matchLabels": object{"app": "a"}},
		}},
	}
	if node != "" {
		spec["nodeName"] = node
	}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name, "labels": object{"app": "a"}}, "spec": spec}
}
