//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

const (
	lightCluster = "light" // so little to decide that it is not what is measured
	realCluster  = "real"
	boundCluster = "bound" // one that binds change
	// taintedCluster has nodes that a pod without tolerations is rejected from.
	taintedCluster = "tainted"
)

// system is the rooms of a server over a store.
type system struct {
	st    store.Store
	group *groupcommit.Group
	m     *revision.Manager
	log   *record.Log
	pod   *corev1.Pod
	js    []byte // of pod, canonical

	records, batches atomic.Int64
}

func openSystem(ctx context.Context, o options, st store.Store) (*system, error) {
	h := &system{st: st}
	_, embedded := st.(*sqlite.Store)
	h.group = groupcommit.NewGroup(st, groupcommit.Options{CallersWrite: embedded, ObserveFunc: func(n int, _ time.Duration, _ error) {
		h.records.Add(int64(n))
		h.batches.Add(1)
	}})
	var err error
	if h.m, err = revision.Open(ctx, st, h.group, revision.Options{ProfileOf: (&decision.Configuration{Profiles: config.Default(semantics.Default())}).Named}); err != nil {
		return nil, err
	}
	h.log = record.New(h.m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{})
	if h.pod, h.js, err = object.NewRequestPods(object.Limits{}, false).Decode([]byte(podJSON)); err != nil {
		return nil, err
	}
	if err := h.upload(ctx, lightCluster, 4, 0); err != nil {
		return nil, err
	}
	for _, name := range []string{realCluster, boundCluster, taintedCluster} {
		if err := h.upload(ctx, name, o.Nodes, o.Pods); err != nil {
			return nil, err
		}
	}
	// One record to copy for those who write without berth.
	return h, h.decide(ctx, realCluster, false)
}

func (h *system) close(ctx context.Context) error {
	return errors.Join(h.m.Close(), h.group.Close(ctx), h.st.Close())
}

const podJSON = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","labels":{"app":"a"}},
"spec":{"containers":[{"name":"main","image":"registry.example/app:1","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}],
"tolerations":[{"key":"batch","operator":"Exists"}],
"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"model","operator":"In","values":["m0","m1","m2"]}]}]}}}}}`

// smallPod is one of which many fit.
const smallPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","labels":{"app":"a"}},
"spec":{"containers":[{"name":"main","image":"registry.example/app:1","resources":{"requests":{"cpu":"10m","memory":"16Mi"}}}],
"tolerations":[{"key":"batch","operator":"Exists"}]}}`

// plainPod tolerates no taint.
const plainPod = `{"metadata":{"name":"p","namespace":"default"},
"spec":{"containers":[{"name":"main","image":"registry.example/app:1","resources":{"requests":{"cpu":"10m","memory":"16Mi"}}}]}}`

// upload makes a cluster of nodes in three zones and with five models, the pods
// spread over them. In one of them every twelfth node is tainted.
func (h *system) upload(ctx context.Context, name string, nodes, pods int) error {
	_, _, err := h.m.Upload(ctx, name, func(yield func(object.Object) error) (map[string]int, error) {
		put := func(format string, args ...any) error {
			o, err := object.Decode(fmt.Appendf(nil, format, args...), object.Limits{})
			if err != nil {
				return err
			}
			return yield(o)
		}
		for i := range nodes {
			spec := "{}"
			if name == taintedCluster && i%12 == 0 {
				spec = `{"taints":[{"key":"dedicated","value":"batch","effect":"NoSchedule"}]}`
			}
			err := put(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%05d","labels":{"kubernetes.io/hostname":"node-%05d","topology.kubernetes.io/zone":"z%d","model":"m%d"}},
				"spec":%s,"status":{"allocatable":{"cpu":"%d","memory":"256Gi","pods":"110"}}}`, i, i, i%3, i%5, spec, 32+i%96)
			if err != nil {
				return nil, err
			}
		}
		for i := range pods {
			err := put(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%06d","namespace":"default","labels":{"app":"app-%d"}},
				"spec":{"nodeName":"node-%05d","containers":[{"name":"main","resources":{"requests":{"cpu":"2","memory":"8Gi"}}}]}}`, i, i%50, i%nodes)
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

func (h *system) decide(ctx context.Context, name string, dry bool) error {
	_, err := h.log.Decide(ctx, decision.Question{Cluster: name, Pod: h.pod, PodJSON: h.js, Explain: engine.ExplainNone, DryRun: dry})
	return err
}

// durable gives decisions a second, each answered once it is safe.
func (h *system) durable(ctx context.Context, o options, name string) (float64, error) {
	return o.profiled(name, func() (float64, error) {
		return crowd(o.Callers, o.For, func() error { return h.decide(ctx, name, false) })
	})
}

// unrecorded gives decisions a second where none is written: what the engine leaves to be had.
func (h *system) unrecorded(ctx context.Context, o options, name string) (float64, error) {
	return crowd(o.Callers, o.For, func() error {
		defer runtime.Gosched() // a caller that never waits is stopped in the middle of a decision
		return h.decide(ctx, name, true)
	})
}

// crowd lets callers call for a while.
func crowd(callers int, while time.Duration, call func() error) (float64, error) {
	var calls atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(began) < while && failed.Load() == nil {
				if err := call(); err != nil {
					failed.Store(&err)
					return
				}
				calls.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(calls.Load()) / time.Since(began).Seconds(), nil
}

// recordBytes gives about the size of the newest record of the real cluster.
func (h *system) recordBytes(ctx context.Context) (int, error) {
	list, err := h.st.ListDecisions(ctx, store.DecisionFilter{Cluster: realCluster, Limit: 1})
	if err != nil {
		return 0, err
	}
	d, err := h.st.Decision(ctx, list[0].ID)
	if err != nil {
		return 0, err
	}
	js, err := json.Marshal(d)
	return len(js), err
}
