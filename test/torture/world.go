//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	nodesPerCluster = 24
	zones           = 3
)

// clusterNames are what clients work on, all of them through every replica.
var clusterNames = []string{"ant", "bee", "cat"}

// world is what all clients share: where to ask, and what was last heard of.
type world struct {
	place *place
	meter *meter
	meet  chan meeting
	newest
}

// newest remembers, by cluster, the newest revision that a client was told of and
// when, so that it can be seen how far a replica lags behind.
type newest struct {
	mu   sync.Mutex
	seen map[string][]sighting // ascending by revision
	by   map[string]int64      // newest that a replica decided on, by its name and the cluster's
}

type sighting struct {
	revision int64
	at       time.Time
}

func newWorld(p *place) *world {
	names := make([]string, len(p.replicas))
	for i, r := range p.replicas {
		names[i] = r.name
	}
	return &world{place: p, meter: newMeter(names), meet: make(chan meeting), newest: newest{seen: map[string][]sighting{}, by: map[string]int64{}}}
}

// note keeps the moment at which a revision became known.
func (n *newest) note(cluster string, revision int64, at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.seen[cluster]
	if len(list) > 0 && list[len(list)-1].revision >= revision {
		return
	}
	if len(list) > 2000 {
		list = append(list[:0], list[1000:]...)
	}
	n.seen[cluster] = append(list, sighting{revision, at})
}

// decidedOn keeps how far a replica has come.
func (n *newest) decidedOn(replica, cluster string, revision int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.by[replica+" "+cluster] = max(n.by[replica+" "+cluster], revision)
}

// known returns the newest revision of each cluster that a client was told of.
func (n *newest) known() map[string]int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]int64{}
	for cluster, list := range n.seen {
		all[cluster] = list[len(list)-1].revision
	}
	return all
}

// caughtUp reports whether a replica has decided on these revisions or newer ones.
func (n *newest) caughtUp(replica string, with map[string]int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for cluster, revision := range with {
		if n.by[replica+" "+cluster] < revision {
			return false
		}
	}
	return true
}

// lag says for how long another client had known a newer revision when a call
// that began at that moment was answered with this one.
func (n *newest) lag(cluster string, revision int64, began time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.seen[cluster] {
		if s.revision > revision {
			return max(began.Sub(s.at), 0)
		}
	}
	return 0
}

// object is a Kubernetes object in the making.
type object = map[string]any

// slot is a resource of which a cluster has one in all: the room that callers race for.
const slot = "example.com/slot"

func nodeName(i int) string { return fmt.Sprintf("node-%02d", i) }

// nodeOf is a node; mark changes with each of its versions.
func nodeOf(i int, mark string) object {
	name := nodeName(i)
	n := object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": name, "labels": object{
			"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprintf("z%d", i%zones), "mark": mark,
		}},
		"status": object{"allocatable": object{"cpu": fmt.Sprint(4 + i%5), "memory": "16Gi", "pods": "1000"}},
	}
	if i == 1 {
		n["status"].(object)["allocatable"].(object)[slot] = "1"
	}
	if i%6 == 0 {
		n["spec"] = object{"taints": []any{object{"key": "dedicated", "value": "db", "effect": "NoSchedule"}}}
	}
	return n
}

// podOf is a pod that requests so many thousandths of a processor. Every third
// wants its kind spread over the zones.
func podOf(name string, n int, milli int) object {
	spec := object{"containers": []any{object{
		"name": "main", "image": "registry.example/app:1",
		"resources": object{"requests": object{"cpu": fmt.Sprintf("%dm", milli)}},
	}}}
	app := fmt.Sprintf("app-%d", n%7)
	if n%3 == 0 {
		spec["topologySpreadConstraints"] = []any{object{
			"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
			"labelSelector": object{"matchLabels": object{"app": app}},
		}}
	}
	return object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": name, "namespace": "default", "uid": "uid-" + name, "labels": object{"app": app}}, "spec": spec,
	}
}

// wholeState is what an upload holds: nodes, and no pod at all.
func wholeState(mark string) object {
	items := []any{object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "default"}}}
	for i := range nodesPerCluster {
		items = append(items, nodeOf(i, mark))
	}
	return object{"apiVersion": "v1", "kind": "List", "items": items}
}

// upload makes the clusters, before anything breaks.
func (w *world) upload(ctx context.Context) error {
	for i, c := range clusterNames {
		r := w.place.replicas[i%len(w.place.replicas)]
		status, body, _, err := send(ctx, http.DefaultClient, r.address(), http.MethodPost, "/v1/snapshots?cluster="+c, wholeState("start"))
		if err != nil || status != http.StatusCreated {
			return fmt.Errorf("upload %s: status %d: %w %s", c, status, err, body)
		}
	}
	return nil
}

var requests atomic.Int64

// send sends a request and reads the whole answer; only then it is one.
func send(ctx context.Context, c *http.Client, base, method, path string, body any) (status int, out []byte, head http.Header, err error) {
	return sendKeyed(ctx, c, base, method, path, "", body)
}

// sendKeyed is send with an Idempotency-Key, unless that is empty. A body of bytes is sent as it
// is.
func sendKeyed(ctx context.Context, c *http.Client, base, method, path, key string, body any) (status int, out []byte, head http.Header, err error) {
	var in io.Reader
	raw, whole := body.([]byte)
	if body != nil && !whole {
		if raw, err = json.Marshal(body); err != nil {
			return 0, nil, nil, err
		}
	}
	if body != nil {
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, in)
	if err != nil {
		return 0, nil, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	requests.Add(1)
	res, err := c.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	out, err = io.ReadAll(res.Body)
	return res.StatusCode, out, res.Header, err
}
