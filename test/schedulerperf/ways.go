package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"berth/test/process"
)

// isPod reports whether a manifest is a pod's.
func isPod(manifest string) bool { return strings.Contains(manifest, `"kind":"Pod"`) }

// stage is a server with a scene on it: a cluster that has what is there before.
type stage struct {
	*scene
	*process.Server
	o       options
	client  *http.Client
	cluster string
	forks   int
}

// set starts a server and builds a scene on it, in a cluster of that name.
func (o options) set(s *scene, program, dir, database, cluster string) (*stage, error) {
	ready := filepath.Join(dir, "ready")
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--ready-file", ready, "--log-level", "error"}
	if database != "" {
		args = append(args, "--database-url", database)
	}
	server, err := process.Start(exec.Command(program, args...), ready)
	if err != nil {
		return nil, err
	}
	st := &stage{scene: s, Server: server, o: o, client: &http.Client{}, cluster: cluster}
	list := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(s.objects, ",") + `]}`
	if _, err = st.post("/v1/snapshots?cluster="+cluster, list); err == nil {
		for i := range s.before {
			for from := 0; from < s.before[i].count && err == nil; from += 1000 {
				_, err = st.place(cluster, &s.before[i], from, min(1000, s.before[i].count-from))
			}
		}
	}
	if err != nil {
		server.Stop()
		return nil, err
	}
	return st, nil
}

func (st *stage) post(path, body string) ([]byte, error) {
	return st.Send(st.client, http.MethodPost, path, body)
}

// fork makes a copy of the cluster as the scene begins.
func (st *stage) fork() (string, error) {
	st.forks++
	name := fmt.Sprintf("%s-%d", st.cluster, st.forks)
	_, err := st.post("/v1/clusters/"+name+"/fork", fmt.Sprintf(`{"from":"%s@latest"}`, st.cluster))
	return name, err
}

// place binds some pods of a batch in one placement, and returns how many got a node.
func (st *stage) place(cluster string, b *batch, from, n int) (int, error) {
	pods := make([]string, n)
	for i := range pods {
		pods[i] = b.pod(from + i)
	}
	raw, err := st.post("/v1/placements", fmt.Sprintf(`{"snapshot":"%s@latest","bind":true,"pods":[%s]}`, cluster, strings.Join(pods, ",")))
	var a struct{ Placed int }
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	return a.Placed, err
}

// recorded measures a way that writes: take places so many pods from one on, and what happens
// beside them happens once as many have been taken as would have come by then.
func (st *stage) recorded(ctx context.Context, cluster string, workers, each int, take func(worker, from, n int) (int, error)) (float64, error) {
	var taken, placed atomic.Int64
	var all, beside sync.WaitGroup
	var failed atomic.Pointer[error]
	fail := func(err error) bool {
		if err != nil {
			failed.CompareAndSwap(nil, &err)
		}
		return failed.Load() != nil || ctx.Err() != nil
	}
	due := make(chan event, len(st.beside))
	next, mu := 0, sync.Mutex{}
	began := time.Now()
	beside.Go(func() {
		for e := range due {
			if fail(st.happen(cluster, e)) {
				return
			}
		}
	})
	for w := range workers {
		all.Go(func() {
			for {
				from := int(taken.Add(int64(each))) - each
				if from >= st.measure.count {
					return
				}
				mu.Lock()
				for next < len(st.beside) && st.beside[next].at.Seconds()*st.threshold <= float64(from) {
					due <- st.beside[next]
					next++
				}
				mu.Unlock()
				n, err := take(w, from, min(each, st.measure.count-from))
				if placed.Add(int64(n)); fail(err) {
					return
				}
			}
		})
	}
	all.Wait()
	close(due)
	beside.Wait()
	took := time.Since(began)
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return st.rate(int(placed.Load()), took, ctx.Err())
}

// rate is pods a second, of a measurement in which each pod got a node.
func (st *stage) rate(placed int, took time.Duration, err error) (float64, error) {
	if err == nil && placed != st.measure.count {
		err = fmt.Errorf("%d of %d pods got a node", placed, st.measure.count)
	}
	return float64(placed) / took.Seconds(), err
}

// single decides and binds each pod by a call of its own.
func (st *stage) single(ctx context.Context) (float64, error) {
	cluster, err := st.fork()
	conns := make([]*process.Conn, st.o.Connections)
	for i := range conns {
		c, dialErr := process.Dial(st.Host)
		if err = errors.Join(err, dialErr); err != nil {
			return 0, err
		}
		defer func() { _ = c.Close() }()
		conns[i] = c
	}
	return st.recorded(ctx, cluster, len(conns), 1, func(w, i, _ int) (int, error) {
		body := fmt.Sprintf(`{"snapshot":"%s@latest","bind":true,"explain":"none","pod":%s}`, cluster, st.measure.pod(i))
		answer, err := conns[w].Call(process.Post("/v1/decisions", body), http.StatusCreated)
		if err != nil || !bytes.Contains(answer, []byte(`"outcome":"Scheduled"`)) {
			return 0, err
		}
		return 1, nil
	})
}

// placed binds the pods in placements, one after the other.
func (st *stage) placed(ctx context.Context) (float64, error) {
	cluster, err := st.fork()
	if err != nil {
		return 0, err
	}
	return st.recorded(ctx, cluster, 1, st.o.Batch, func(_, from, n int) (int, error) {
		return st.place(cluster, &st.measure, from, n)
	})
}

// happen does what happens beside the measured pods: as kube-scheduler and an apiserver would, a
// pod that preempts has its victims deleted and is tried again.
func (st *stage) happen(cluster string, e event) error {
	change := func(body any) error {
		js, err := json.Marshal(body)
		if err == nil {
			_, err = st.post("/v1/snapshots/"+cluster+"@latest/changes", string(js))
		}
		return err
	}
	if e.create == "" {
		return change(map[string]any{"delete": []object{e.remove}})
	}
	if !isPod(e.create) {
		return change(map[string]any{"apply": []json.RawMessage{json.RawMessage(e.create)}})
	}
	for {
		raw, err := st.post("/v1/decisions", fmt.Sprintf(`{"snapshot":"%s@latest","bind":true,"explain":"none","pod":%s}`, cluster, e.create))
		var a struct {
			Outcome    string
			Preemption struct{ Victims []object }
		}
		if err == nil {
			err = json.Unmarshal(raw, &a)
		}
		if err != nil || a.Outcome != "Preempting" {
			return err
		}
		for i := range a.Preemption.Victims {
			a.Preemption.Victims[i].Kind = "Pod"
		}
		if err := change(map[string]any{"delete": a.Preemption.Victims}); err != nil {
			return err
		}
	}
}
