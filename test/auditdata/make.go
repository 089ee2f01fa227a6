package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// packed is the second half's configuration, with a second profile.
const packed = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}
- schedulerName: spread
`

// parts is how often the load pauses for what is done to all of it: uploads, other classes, and in
// the middle another configuration.
const parts = 6

func makeLog(program string, address []string, decisions int64, seed uint64) (err error) {
	dir, err := os.MkdirTemp("", "berth-auditdata-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := filepath.Join(dir, "packed.yaml")
	if err := os.WriteFile(config, []byte(packed), 0o600); err != nil {
		return err
	}
	s, err := open(program, dir, address)
	if err != nil {
		return err
	}
	defer func() { s.Stop() }()
	var names atomic.Int64
	var clusters []*cluster
	for i, name := range []string{"prod", "batch", "edge"} {
		clusters = append(clusters, &cluster{
			server: s, name: name, nodes: []int{120, 60, 24}[i], share: []int64{80, 12, 8}[i], customers: 1000, names: &names, r: rand.New(rand.NewPCG(seed, uint64(i))),
		})
		clusters[i].fill()
	}
	if _, err := s.send("sre", http.MethodPost, "/v1/priorityclasses", class("rush", 5000, "PreemptLowerPriority"), nil); err != nil {
		return err
	}
	for part := range int64(parts) {
		if part == parts/2 {
			s.Stop()
			if err := errors.Join(s.serve("--config", config), s.changeClass()); err != nil {
				return err
			}
			clusters[0].customers = 2000
		}
		if err := load(clusters, decisions*(part+1)/parts); err != nil {
			return err
		}
	}
	var made int64
	refused := 0
	for _, c := range clusters {
		made += c.made
		refused += c.refused
	}
	fmt.Printf("%d decisions were asked for, %d pods, %d calls were refused\n", made, names.Load(), refused)
	return s.replay(clusters)
}

// load has all clusters uploaded, and then asked until each made its share of so many decisions.
func load(clusters []*cluster, until int64) error {
	errs := make([]error, len(clusters))
	var group sync.WaitGroup
	for i, c := range clusters {
		group.Go(func() {
			errs[i] = c.upload()
			for errs[i] == nil && c.made < until*c.share/100 {
				errs[i] = c.turn()
			}
		})
	}
	group.Wait()
	// A scrape of the metrics measures the capacities.
	_, err := clusters[0].send("sre", http.MethodGet, "/metrics", nil, nil)
	if err != nil && err.Error() != "" {
		err = nil // its text is no JSON
	}
	return errors.Join(append(errs, err)...)
}

// changeClass makes the class rush anew with another value and policy.
func (s *server) changeClass() error {
	if _, err := s.send("sre", http.MethodDelete, "/v1/priorityclasses/rush", nil, nil); err != nil {
		return err
	}
	_, err := s.send("sre", http.MethodPost, "/v1/priorityclasses", class("rush", 9000, "Never"), nil)
	return err
}

// replay replays the clusters whole, as recorded and under another configuration, some decisions by
// themselves, and has a question about drains answered.
func (s *server) replay(clusters []*cluster) error {
	for i, c := range clusters {
		body := object{"cluster": c.name}
		if i == 1 {
			body["config"] = packed
		}
		var job struct{ ID, State string }
		if _, err := s.send("sre", http.MethodPost, "/v1/replays", body, &job); err != nil {
			return err
		}
		for range 1200 {
			if job.State != "queued" && job.State != "running" {
				break
			}
			time.Sleep(100 * time.Millisecond)
			if _, err := s.send("sre", http.MethodGet, "/v1/replays/"+url.PathEscape(job.ID), nil, &job); err != nil {
				return err
			}
		}
		if job.State != "done" {
			return fmt.Errorf("the replay of %s is %s", c.name, job.State)
		}
		var page struct{ Items []struct{ ID string } }
		if _, err := s.send("sre", http.MethodGet, "/v1/decisions?limit=20&cluster="+c.name, nil, &page); err != nil {
			return err
		}
		for _, d := range page.Items {
			if _, err := s.send("planner", http.MethodPost, "/v1/decisions/"+d.ID+"/replay", object{}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
