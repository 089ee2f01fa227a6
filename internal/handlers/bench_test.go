package handlers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/handlers/admit"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// unrecorded judges as the log does, by what the views remember, without writing anything down, so
// that the two handlers are compared and not the disk.
type unrecorded struct {
	admit.Decisions
	m       admit.Clusters
	profile *engine.Profile
}

func (u *unrecorded) Evaluate(ctx context.Context, q decision.Question) (*record.Entry, error) {
	v, err := u.m.View(ctx, q.Cluster, q.Revision)
	if err != nil {
		return nil, err
	}
	r, err := v.Decide(v.State, q.Pod, u.profile, engine.Options{Candidates: q.NodeNames, ScoreAlways: q.ScoreAlways, NoScores: q.Verb == decision.VerbFilter})
	if err != nil {
		return nil, err
	}
	o := &decision.Outcome{Prepared: &decision.Prepared{Question: q, View: v}, Result: r}
	return &record.Entry{Outcome: o, Record: &store.Decision{ID: "01938f3e-0000-7000-8000-000000000000"}}, nil
}

func (u *unrecorded) Write(_ context.Context, e *record.Entry) (spooled bool, err error) {
	e.Release()
	return false, nil
}

// naiveFilter is the handler as one would write it first: upstream's types through encoding/json.
func naiveFilter(u admit.Decisions) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var args extenderv1.ExtenderArgs
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked := *args.NodeNames
		out := extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}}
		e, err := u.Evaluate(r.Context(), decision.Question{Verb: "filter", Cluster: "default", Pod: args.Pod, NodeNames: asked})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, name := range asked {
			row := e.Result.Nodes().Row(name)
			if row < 0 {
				out.FailedNodes[name] = "node(s) not known to berth yet"
				continue
			}
			text, unresolvable, failed := e.Result.ReasonOf(row)
			switch {
			case !failed:
				*out.NodeNames = append(*out.NodeNames, name)
			case unresolvable:
				out.FailedAndUnresolvableNodes[name] = text
			default:
				out.FailedNodes[name] = text
			}
		}
		_, err = u.Write(r.Context(), e)
		if err != nil {
			out = extenderv1.ExtenderFilterResult{Error: err.Error()}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	}
}

// uploadNodes makes n nodes the state of the cluster default, and gives their names.
func uploadNodes(b *testing.B, m *revision.Manager, n int, each func(i int) (name, obj string)) []string {
	b.Helper()
	names := make([]string, n)
	_, _, err := m.Upload(context.Background(), "default", func(yield func(object.Object) error) (map[string]int, error) {
		for i := range n {
			name, obj := each(i)
			names[i] = name
			o, err := object.Decode([]byte(obj), object.Limits{})
			if err == nil {
				err = yield(o)
			}
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return names
}

// BenchmarkFilterHTTP asks /filter about 5,000 nodes by name over loopback, and the naive twin the
// same in the same run.
func BenchmarkFilterHTTP(b *testing.B) {
	const n = 5000
	m, l, st := openLog(b)
	names := uploadNodes(b, m, n, func(i int) (name, object string) {
		name = fmt.Sprintf("node-%c-%05d.internal", 'a'+i%3, i)
		cpu := "16"
		if i%5 == 0 {
			cpu = "500m"
		}
		return name, node(name, cpu, corev1.LabelTopologyZone, string('a'+rune(i%3)))
	})
	// kube-scheduler asks in the order of its own tree of zones.
	var asked []string
	for z := range 3 {
		for i := z; i < n; i += 3 {
			asked = append(asked, names[i])
		}
	}
	body, err := json.Marshal(extenderv1.ExtenderArgs{Pod: &corev1.Pod{}, NodeNames: &asked})
	if err != nil {
		b.Fatal(err)
	}
	body = bytes.Replace(body, []byte(`"metadata":{},"spec":{"containers":null},"status":{}`), []byte(pod("web", "2", "")[1:len(pod("web", "2", ""))-1]), 1)
	u := &unrecorded{Decisions: l, m: m, profile: config.Default(semantics.Default())[0]}
	want := ""
	for _, c := range []struct {
		name    string
		handler func(o admit.Options) http.Handler
	}{
		{"encoding_json", func(admit.Options) http.Handler { return naiveFilter(u) }},
		{"own", func(o admit.Options) http.Handler { o.Decisions = u; return mustNew(b, o).Handler() }},
		{"encoding_json_recorded", func(admit.Options) http.Handler { return naiveFilter(l) }},
		{"own_recorded", func(o admit.Options) http.Handler { return mustNew(b, o).Handler() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := httptest.NewServer(c.handler(optionsFor(m, l, st)))
			defer s.Close()
			first := dial(b, s, "/filter", body)
			defer first.close()
			got := string(bytes.TrimSpace(first.ask(b)))
			if want == "" {
				want = got
			}
			if got != want || len(got) < n*10 {
				b.Fatalf("the handlers differ: %.200s\n%.200s", got, want)
			}
			b.ReportAllocs()
			b.SetParallelism(2) // four connections on two processors
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				conn := dial(b, s, "/filter", body)
				defer conn.close()
				for pb.Next() {
					conn.ask(b)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
		})
	}
}

// rawClient writes the same bytes again and again and costs little itself, since it shares the
// processors with the server that is measured.
type rawClient struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	body    bytes.Buffer
}

func dial(b *testing.B, s *httptest.Server, path string, body []byte) *rawClient {
	b.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	if body == nil {
		return &rawClient{conn: conn, in: bufio.NewReaderSize(conn, 256<<10), request: []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")}
	}
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, len(body))
	return &rawClient{conn: conn, in: bufio.NewReaderSize(conn, 256<<10), request: append([]byte(head), body...)}
}

func (c *rawClient) ask(b *testing.B) []byte {
	if _, err := c.conn.Write(c.request); err != nil {
		b.Error(err)
		return nil
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	c.body.Reset()
	if _, err := c.body.ReadFrom(resp.Body); err != nil || resp.StatusCode >= http.StatusBadRequest {
		b.Errorf("%d %v", resp.StatusCode, err)
	}
	return c.body.Bytes()
}

func (c *rawClient) close() { _ = c.conn.Close() }

func mustNew(b *testing.B, o admit.Options) *API {
	b.Helper()
	a, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	return a
}
