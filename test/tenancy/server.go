package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth/test/process"
)

// server is the process that all tenants share.
type server struct {
	*process.Server
	tokens [tenants]string
	cgroup string // ""; or the one that bounds its memory
}

// launch makes a token for each tenant, which grants everything in its own cluster and nothing
// elsewhere, and starts the server.
// memory is what the process has, in bytes; 0: what the machine has.
func launch(program, dir string, memory int, more []string) (*server, error) {
	s := &server{}
	data, ready := filepath.Join(dir, "data"), filepath.Join(dir, "ready")
	for i := range s.tokens {
		name := fmt.Sprint("t", i)
		out, err := exec.Command(program, "token", "--data-dir", data, "create", "--name", name, "--role", "admin", "--cluster", name).Output()
		if err != nil {
			return nil, fmt.Errorf("token create: %w", err)
		}
		s.tokens[i] = strings.TrimSpace(string(out))
	}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--require-identity", "--data-dir", data, "--ready-file", ready, "--log-level", "error"}, more...)
	cmd := exec.Command(program, args...)
	if memory > 0 {
		cmd, s.cgroup = process.Within(memory, program, args...)
	}
	var err error
	s.Server, err = process.Start(cmd, ready)
	return s, err
}

// stop ends the process and what bounded it.
func (s *server) stop() {
	s.Stop()
	if s.cgroup != "" {
		_ = os.Remove(s.cgroup)
	}
}

// kind is a kind of calls: the same one for each tenant, about its own cluster.
type kind struct {
	name     string
	requests [tenants][]byte
}

func (s *server) request(tenant int, method, path, body string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, s.tokens[tenant], len(body), body)
}

const pod = `{"metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}}`

// prepare uploads the clusters and returns the kinds of calls.
func (s *server) prepare(nodes int) ([]kind, error) {
	kinds := []kind{{name: "decide"}, {name: "dry"}, {name: "filter"}, {name: "read"}, {name: "replay"}, {name: "scenario"}}
	names := namesOf(nodes)
	for t := range tenants {
		if _, err := s.send(t, "/v1/snapshots?cluster=t"+fmt.Sprint(t), state(names, 0)); err != nil {
			return nil, err
		}
		decide := fmt.Sprintf(`{"snapshot":"t%d@latest","explain":"none","pod":%s}`, t, pod)
		raw, err := s.send(t, "/v1/decisions", decide)
		if err != nil {
			return nil, err
		}
		var d struct{ ID string }
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, err
		}
		kinds[0].requests[t] = s.request(t, "POST", "/v1/decisions", decide)
		kinds[1].requests[t] = s.request(t, "POST", "/v1/decisions", strings.Replace(decide, "{", `{"dryRun":true,`, 1))
		kinds[2].requests[t] = s.request(t, "POST", fmt.Sprintf("/clusters/t%d/filter", t), fmt.Sprintf(`{"Pod":%s,"NodeNames":[%s]}`, pod, strings.Join(names, ",")))
		kinds[3].requests[t] = s.request(t, "GET", fmt.Sprintf("/v1/snapshots/t%d@1/objects?kind=Node&limit=5", t), "")
		kinds[4].requests[t] = s.request(t, "POST", "/v1/decisions/"+d.ID+"/replay", "{}")
		kinds[5].requests[t] = s.request(t, "POST", fmt.Sprintf("/v1/clusters/t%d/fit", t), fmt.Sprintf(`{"max":1000,"sensitivity":false,"pod":%s}`, pod))
	}
	return kinds, nil
}

// send posts in a plain way, for what is prepared.
func (s *server) send(tenant int, path, body string) ([]byte, error) {
	return s.Send(http.DefaultClient, http.MethodPost, path, body, "Authorization", "Bearer "+s.tokens[tenant])
}

func namesOf(nodes int) []string {
	names := make([]string, nodes)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprint("n", i))
	}
	return names
}

// state returns a cluster with pods that run.
func state(names []string, pods int) string {
	var b strings.Builder
	b.WriteString(`{"apiVersion":"v1","kind":"List","items":[`)
	for i := range pods {
		_, _ = fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"p%d","uid":"p%d","labels":{"app":"a%d"}},"spec":{"nodeName":%s,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]},"status":{"phase":"Running"}},`, i, i, i%100, names[i%len(names)])
	}
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"Node","metadata":{"name":%s,"labels":{"kubernetes.io/hostname":%s,"zone":"z%d"}},"status":{"capacity":{"cpu":"16","memory":"64Gi","pods":"110"},"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}}`, name, name, i%3)
	}
	b.WriteString("]}")
	return b.String()
}
