//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"

	"berth/internal/config"
	"berth/internal/decision/bind"
	"berth/internal/handlers"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/jobs"
	"berth/internal/jobs/replays"
	"berth/internal/store"
	"berth/test/process"
)

const (
	decisions = "/v1/decisions"
	dryRun    = `,"dryRun":true`
	bindNow   = `,"bind":true`
)

// body is a decision's body; more are fields beside the pod.
func body(cluster, pod, more string) string {
	return `{"snapshot":"` + cluster + `@latest"` + more + `,"pod":` + pod + `}`
}

func question(cluster, pod, more string) []byte {
	return process.Post(decisions, body(cluster, pod, more))
}

// server serves the API over a system, on loopback.
type server struct {
	*system
	address string
	http    *http.Server
	named   atomic.Int64 // pods that got a name
}

func (h *system) serve() (*server, error) {
	api, err := handlers.New(admit.Options{
		Clusters: h.m, Decisions: h.log, Binder: bind.New(h.m, h.log, bind.Options{}),
		ParseProfiles: config.Parse, Limits: limits.Default(),
	})
	if err != nil {
		return nil, err
	}
	return h.listen(api.Handler())
}

// listen serves a handler as cmd/server serves the API.
func (h *system) listen(handler http.Handler) (*server, error) {
	s := &server{system: h, http: &http.Server{Handler: handler}}
	limits := limits.Default()
	s.http.ReadHeaderTimeout, s.http.ReadTimeout, s.http.WriteTimeout, s.http.IdleTimeout = limits.Timeouts()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = l.Addr().String()
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// rate returns calls a second over some connections.
func (s *server) rate(o options, conns int, want int, request func() []byte) (float64, error) {
	all := make(chan *process.Conn, conns)
	for range conns {
		c, err := process.Dial(s.address)
		if err != nil {
			return 0, err
		}
		defer func() { _ = c.Close() }()
		all <- c
	}
	return crowd(conns, o.For, func() error {
		c := <-all
		defer func() { all <- c }()
		_, err := c.Call(request(), want)
		return err
	})
}

// ordinary returns calls a second by net/http's client, which takes as much of the processors that
// both share as the server does for /livez.
func (s *server) ordinary(o options, want int, method, path, content string) (float64, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Callers}}
	defer client.CloseIdleConnections()
	return crowd(o.Callers, o.For, func() error {
		request, err := http.NewRequest(method, "http://"+s.address+path, strings.NewReader(content))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		if _, err = io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode != want {
			err = fmt.Errorf("%s is answered with %s", path, answer.Status)
		}
		return errors.Join(err, answer.Body.Close())
	})
}

func always(request []byte) func() []byte { return func() []byte { return request } }

func (s *server) bind(more string) func() []byte {
	return s.fresh(boundCluster, smallPod, bindNow+more)
}

// fresh makes questions about pods of one kind that were not asked about before.
func (s *server) fresh(cluster, pod, more string) func() []byte {
	kind := question(cluster, strings.Replace(pod, `"name":"p"`, `"name":"p0000000"`, 1), more)
	digits := bytes.Index(kind, []byte("0000000"))
	return func() []byte {
		request := bytes.Clone(kind)
		_ = fmt.Appendf(request[:digits], "%07d", s.named.Add(1))
		return request
	}
}

// wire prints what HTTP leaves of the rates, beside an endpoint that does nothing.
func (h *system) wire(ctx context.Context, o options, b bench) (err error) {
	s, err := h.serve()
	if err != nil {
		return err
	}
	defer func() { _ = s.http.Close() }()
	if o.Only == "replay" {
		c, err := process.Dial(s.address)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		for request := s.bind(""); s.named.Load() < o.Binds; {
			if _, err := c.Call(request(), http.StatusCreated); err != nil {
				return err
			}
		}
		return h.replay(ctx, o)
	}
	var livez, dry, recorded, bound, unexplained, single series
	var freshDry, freshRecorded series             // each about another pod, with the default explanation
	var floorDry, floorRecorded, floorBound series // the same bytes and rows, and nothing decided
	var usualLivez, usualDry, usualRecorded series // by net/http's client
	floor, finish, err := s.floor(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, finish()) }()
	const unrecorded, recording = `,"explain":"none"` + dryRun, `,"explain":"none"`
	for range o.Rounds {
		for _, c := range []struct {
			into *series
			get  func() (float64, error)
		}{
			{&livez, func() (float64, error) {
				return s.rate(o, o.Callers, http.StatusOK, always([]byte("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")))
			}},
			{&dry, func() (float64, error) {
				return o.profiled("dry", func() (float64, error) {
					return s.rate(o, o.Callers, http.StatusOK, always(question(realCluster, podJSON, unrecorded)))
				})
			}},
			{&recorded, func() (float64, error) {
				return o.profiled("http", func() (float64, error) {
					return s.rate(o, o.Callers, http.StatusCreated, always(question(realCluster, podJSON, recording)))
				})
			}},
			{&freshDry, func() (float64, error) {
				return o.profiled("fresh-dry", func() (float64, error) {
					return s.rate(o, o.Callers, http.StatusOK, s.fresh(taintedCluster, plainPod, dryRun))
				})
			}},
			{&freshRecorded, func() (float64, error) {
				return o.profiled("fresh-http", func() (float64, error) {
					return s.rate(o, o.Callers, http.StatusCreated, s.fresh(taintedCluster, plainPod, ""))
				})
			}},
			{&floorDry, func() (float64, error) {
				return floor.rate(o, o.Callers, http.StatusOK, s.fresh(taintedCluster, plainPod, dryRun))
			}},
			{&floorRecorded, func() (float64, error) {
				return floor.rate(o, o.Callers, http.StatusCreated, s.fresh(taintedCluster, plainPod, ""))
			}},
			{&usualLivez, func() (float64, error) { return s.ordinary(o, http.StatusOK, http.MethodGet, "/livez", "") }},
			{&usualDry, func() (float64, error) {
				return s.ordinary(o, http.StatusOK, http.MethodPost, decisions, body(realCluster, podJSON, unrecorded))
			}},
			{&usualRecorded, func() (float64, error) {
				return s.ordinary(o, http.StatusCreated, http.MethodPost, decisions, body(realCluster, podJSON, recording))
			}},
			{&single, func() (float64, error) { return bareRate(ctx, b, 1, o.For) }},
			{&bound, func() (float64, error) {
				return o.profiled("bind", func() (float64, error) { return s.rate(o, 1, http.StatusCreated, s.bind("")) })
			}},
			{&unexplained, func() (float64, error) { return s.rate(o, 1, http.StatusCreated, s.bind(recording)) }},
			{&floorBound, func() (float64, error) { return floor.rate(o, 1, http.StatusCreated, s.bind("")) }},
		} {
			if o.Only == "bind" && c.into != &single && c.into != &bound && c.into != &unexplained && c.into != &floorBound {
				continue
			}
			if err := c.into.add(c.get); err != nil {
				return err
			}
		}
	}
	fmt.Printf("  over HTTP, %d connections, %d nodes; CPU with the client's\n", o.Callers, o.Nodes)
	show := func(name string, s, floor series, of string) {
		fmt.Printf("  %-34s %8.0f/s  %.2f of %s  %4.0f us CPU each\n", name, s.rate(), s.rate()/floor.rate(), of, s.cpu())
	}
	if o.Only != "bind" {
		show("/livez", livez, livez, "itself")
		show("dry", dry, livez, "/livez")
		show("recorded", recorded, livez, "/livez")
		show("dry, each a new pod, explained", freshDry, livez, "/livez")
		show("recorded, the same", freshRecorded, livez, "/livez")
		show("as many bytes, nothing decided", floorDry, livez, "/livez")
		show("the same with a bare row", floorRecorded, livez, "/livez")
		show("/livez, net/http's client", usualLivez, usualLivez, "itself")
		show("dry, the same", usualDry, usualLivez, "/livez")
		show("recorded, the same", usualRecorded, usualLivez, "/livez")
	}
	show("bare batches of 1", single, single, "itself")
	show("decide, bind, record, 1 connection", bound, single, "bare batches of 1")
	show("the same without an explanation", unexplained, single, "bare batches of 1")
	show("as many bytes, a bare row", floorBound, single, "bare batches of 1")
	return h.replay(ctx, o)
}

// replay answers all binds again, one batch after the other for a while.
func (h *system) replay(ctx context.Context, o options) error {
	jobs := replays.New(h.st, h.log, jobs.Options{})
	var answered series
	binds, w := int64(0), jobs.Worker()
	for range o.Rounds {
		err := answered.add(func() (float64, error) {
			return o.profiled("replay", func() (float64, error) {
				n, began := int64(0), time.Now()
				for time.Since(began) < o.For {
					job, err := jobs.Start(ctx, replays.Request{Cluster: boundCluster})
					for err == nil && !job.Ended() {
						if _, err = w.Step(ctx); err == nil {
							job, err = jobs.Get(ctx, job.ID)
						}
					}
					switch {
					case err != nil:
						return 0, err
					case job.State != store.JobDone || job.Identical != job.Done:
						return 0, fmt.Errorf("batch replay is %s: %d of %d decisions are identical", job.State, job.Identical, job.Done)
					}
					binds = job.Done
					n += binds
				}
				return float64(n) / time.Since(began).Seconds(), nil
			})
		})
		if err != nil {
			return err
		}
	}
	fmt.Printf("  batch replay of %6d binds        %8.0f/s  %4.0f us CPU each\n", binds, answered.rate(), answered.cpu())
	return nil
}

// profiled writes a CPU profile of a measurement, where one was wanted.
func (o options) profiled(what string, measure func() (float64, error)) (_ float64, err error) {
	if o.Profile == "" {
		return measure()
	}
	f, err := os.Create(o.Profile + "." + what)
	if err != nil {
		return 0, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return 0, err
	}
	rate, err := measure()
	pprof.StopCPUProfile()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return rate, err
}
