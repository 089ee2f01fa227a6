package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// binaries are built once: the server, and the command that makes up clusters.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "berth-web-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-trimpath", "-o", dir, "./cmd/server", "./test/synth", "./cmd/berth")
	build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server: %v\n%s", err, out)
		return 1
	}
	binaries = dir
	return m.Run()
}

// serve starts a server and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	var log bytes.Buffer
	server := exec.Command(filepath.Join(binaries, "server"), "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--ready-file", ready, "--pages", "read-write")
	server.Stdout, server.Stderr = &log, &log
	check(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended: %v\n%s", err, log.String())
		}
	})
	for range 300 {
		if address, err := os.ReadFile(ready); err == nil {
			return "http://" + string(address)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the server is not ready:\n%s", log.String())
	return ""
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// send posts a body that has to be taken, and returns the answer's header.
func send(t *testing.T, address, mediaType string, body io.Reader) http.Header {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, address, body)
	check(t, err)
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %d %s", address, resp.StatusCode, text)
	}
	return resp.Header
}

// sample loads the sample cluster as its button does, and returns the id of a decision about it.
func sample(t *testing.T, base string) string {
	t.Helper()
	send(t, base+"/sample", "application/x-www-form-urlencoded", http.NoBody)
	made := send(t, base+"/v1/decisions", "application/json", strings.NewReader(`{"snapshot":"sample@latest","podRef":{"namespace":"shop","name":"checkout"}}`))
	return made.Get("Berth-Decision-Id")
}

// large uploads a cluster of 5,000 nodes, with 400 pods that wait, of 40 sizes.
func large(t *testing.T, base string) string {
	t.Helper()
	synth := exec.Command(filepath.Join(binaries, "synth"), "--nodes", "5000", "--pods", "5000")
	out, err := synth.Output()
	check(t, err)
	send(t, base+"/v1/snapshots?cluster=large", "application/json", bytes.NewReader(out))
	var pods strings.Builder
	for i := range 400 {
		if i > 0 {
			pods.WriteString(",")
		}
		fmt.Fprintf(&pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"wait-%d","namespace":"default","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"%d"}}}]}}`, i, 900+i%40)
	}
	send(t, base+"/v1/snapshots/large@latest/changes", "application/json", strings.NewReader(`{"apply":[`+pods.String()+`]}`))
	made := send(t, base+"/v1/decisions", "application/json", strings.NewReader(`{"snapshot":"large@latest","podRef":{"namespace":"default","name":"wait-7"}}`))
	return made.Get("Berth-Decision-Id")
}

// hostile is a cluster whose texts try to be more than text.
func hostile(t *testing.T, base string) {
	t.Helper()
	long := strings.Repeat("x", 10<<10)
	body := fmt.Sprintf(`{"kind":"List","apiVersion":"v1","items":[
		{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"kubernetes.io/hostname":"n1","big":%q}},"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"9"}}},
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"default","annotations":{"a":%q}},"spec":{"schedulerName":"default-scheduler","containers":[{"name":"c","image":%q,"resources":{"requests":{"cpu":"2"}}}]},
		 "status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":%q}]}},
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p2","namespace":"default"},"spec":{"containers":[{"name":"c"}]},
		 "status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":%q}]}}]}`,
		strings.Repeat("x", 63), long, "<script>document.title='run'</script>", "<img src=x onerror=\"document.title='run'\">"+long, "\u202eמרושע \u2066שלום\u2069 <b>bold</b>")
	send(t, base+"/v1/snapshots?cluster=hostile", "application/json", strings.NewReader(body))
}

// with adds a cluster to an address.
func with(address, cluster string) string {
	if cluster == "" {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	q.Set("cluster", cluster)
	u.RawQuery = q.Encode()
	return u.String()
}
