// Package admin serves what an operator asks of a running server and no caller may read: its
// profiles, its state, its settings and its newest log lines. With names=hidden in the query no
// name of a cluster or an object is in an answer, so that it may be given away.
package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/yaml"

	"berth/internal/handlers/admit"
	"berth/internal/ops/doctor"
)

// Options are what is served. All are needed.
type Options struct {
	Status func(context.Context) *Status
	Flags  []Flag
	// Doctor returns what is found wrong around the server.
	Doctor  func(context.Context) []doctor.Finding
	Log     *Log
	Metrics prometheus.Gatherer
}

// Flag is a setting in force, its secrets masked. Named reports whether names of clusters are in
// its value.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
	Named bool   `json:"-"`
}

// Paths are what can be read, with what each returns.
var Paths = []struct{ Path, What string }{
	{"/statusz", "the server, its clusters, queues, store and spool"},
	{"/flagz", "the settings in force, secrets masked"},
	{"/doctorz", "what is wrong around the server, with remedies"},
	{"/logz", "the newest log lines"},
	{"/metrics", "the metrics"},
	{"/debug/pprof/", "Go's profiles; goroutine?debug=2 lists all goroutines"},
}

type server struct {
	o     Options
	names aliases
}

// Handler returns the handler of the admin listener. It refuses what a page in a browser may send:
// requests under a name that is not loopback's, and those that come from other sites.
func Handler(o Options) http.Handler {
	s := &server{o: o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", index)
	mux.HandleFunc("GET /statusz", s.status)
	mux.HandleFunc("GET /flagz", s.flags)
	mux.HandleFunc("GET /doctorz", s.doctor)
	mux.HandleFunc("GET /logz", s.log)
	mux.HandleFunc("GET /metrics", s.metrics)
	// Without cmdline: a database's URL may be among the arguments, with its password.
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return guard(mux)
}

func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case !admit.LoopbackName(strings.Trim(name, "[]")):
			http.Error(w, "the admin listener answers under loopback's names only, such as 127.0.0.1", http.StatusMisdirectedRequest)
		case site != "" && site != "none" && site != "same-origin":
			http.Error(w, "a page of another site may not send this request", http.StatusForbidden)
		default:
			w.Header().Set("X-Content-Type-Options", "nosniff")
			next.ServeHTTP(w, r)
		}
	})
}

func index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, p := range Paths {
		_, _ = fmt.Fprintf(w, "%-15s %s\n", p.Path, p.What)
	}
	_, _ = fmt.Fprintln(w, "\nAccept: application/json returns JSON; ?names=hidden leaves out the names of clusters and objects.")
}

func hidden(r *http.Request) bool { return r.URL.Query().Get("names") == "hidden" }

func (s *server) status(w http.ResponseWriter, r *http.Request) {
	st := s.o.Status(r.Context())
	if hidden(r) {
		st.hide(&s.names)
	}
	write(w, r, st, func() ([]byte, error) { return yaml.Marshal(st) })
}

func (s *server) flags(w http.ResponseWriter, r *http.Request) {
	list := make([]Flag, len(s.o.Flags))
	for i, f := range s.o.Flags {
		if f.Named && hidden(r) {
			f.Value = hiddenText
		}
		list[i] = f
	}
	write(w, r, list, func() (text []byte, err error) {
		for _, f := range list {
			text = fmt.Appendf(text, "%s: %s  # %s\n", f.Name, f.Value, f.From)
		}
		return text, nil
	})
}

func (s *server) doctor(w http.ResponseWriter, r *http.Request) {
	list := s.o.Doctor(r.Context())
	for i := range list {
		if f := &list[i]; f.Cluster != "" && hidden(r) {
			f.Cluster, f.Text = s.names.of("cluster", f.Cluster), hiddenText
		}
	}
	write(w, r, list, func() ([]byte, error) { return []byte(doctor.Text(list)), nil })
}

func (s *server) log(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	s.o.Log.write(w, hidden(r))
}

func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	from := s.o.Metrics
	if hidden(r) {
		from = s.names.gatherer(from)
	}
	promhttp.HandlerFor(from, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
}

// write writes v as JSON to a client that accepts it, and its text to any other.
func write(w http.ResponseWriter, r *http.Request, v any, text func() ([]byte, error)) {
	media := "text/plain; charset=utf-8"
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		media, text = "application/json", func() ([]byte, error) { return json.MarshalIndent(v, "", "  ") }
	}
	body, err := text()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(body)
}
