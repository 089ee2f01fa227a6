package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// Every hundredth cluster is a large one, which is uploaded at most once a minute.
const (
	largeEach  = 100
	largeNodes = 1000
	largePods  = 4000
	largeRest  = time.Minute
)

type object = map[string]any

func node(name string, allocatable object) object {
	all := object{"cpu": "16", "memory": "64Gi", "pods": "110"}
	for k, v := range allocatable {
		all[k] = v
	}
	return object{
		"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"kubernetes.io/hostname": name, "zone": name[len(name)-1:]}},
		"status": object{"allocatable": all},
	}
}

// pod has labels, a resource and a volume whose names were never used before.
func (t *traffic) pod(name string) object {
	app := t.word("app")
	requests := object{"cpu": "100m", "memory": "64Mi"}
	if t.words.Load()%4 == 0 {
		requests["example.com/"+t.word("resource")] = "1"
	}
	return object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name, "namespace": "shop", "labels": object{"app": app, t.word("label"): "x"}},
		"spec": object{
			"containers": []object{{"name": "c", "image": t.word("image"), "resources": object{"requests": requests, "limits": requests}}},
			"topologySpreadConstraints": []object{{
				"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": object{"matchLabels": object{"app": app}},
			}},
			"tolerations": []object{{"key": t.word("taint"), "operator": "Exists"}},
			"volumes":     []object{{"name": "disk", "awsElasticBlockStore": object{"volumeID": t.word("volume")}}},
		},
	}
}

// plain is a pod that fits.
func (t *traffic) plain() object {
	app := t.word("app")
	return object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": t.word("pod"), "namespace": "shop", "labels": object{"app": app}},
		"spec": object{"containers": []object{{"name": "c", "resources": object{"requests": object{"cpu": "10m"}}}}},
	}
}

func (t *traffic) upload(r *rand.Rand, i int, m member) {
	nodes, pods := 8, 12
	if i%largeEach == 0 {
		if m.name != "" && time.Since(m.last) < largeRest {
			t.dryRun(r, i, m)
			return
		}
		nodes, pods = largeNodes, largePods
	}
	name := m.name
	if name == "" {
		name = t.word("cluster")
	}
	var items []object
	for n := range nodes {
		items = append(items, node(fmt.Sprint("n", n), nil))
	}
	for n := range pods {
		p := t.pod(fmt.Sprint("p", n))
		p["spec"].(object)["nodeName"] = fmt.Sprint("n", n%nodes)
		items = append(items, p)
	}
	if status, _ := t.send(http.MethodPost, "/v1/snapshots?cluster="+name, object{"apiVersion": "v1", "kind": "List", "items": items}); status != http.StatusCreated {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := &t.clusters[i]; have.name == "" || have.name == name {
		have.name, have.last = name, time.Now()
	}
}

func (t *traffic) change(r *rand.Rand, _ int, m member) {
	name := fmt.Sprint("p", r.IntN(12))
	body := object{"replace": []object{t.pod(name)}}
	if r.IntN(2) == 0 {
		body = object{"delete": []object{{"kind": "Pod", "namespace": "shop", "name": name}}}
	}
	t.send(http.MethodPost, "/v1/snapshots/"+m.name+"@latest/changes", body)
}

func (t *traffic) decide(i int, m member, body object) {
	body["snapshot"] = m.name + "@latest"
	status, answer := t.send(http.MethodPost, "/v1/decisions", body)
	var made struct{ ID string }
	if status == http.StatusCreated && json.Unmarshal(answer, &made) == nil {
		t.set(i, m, func(m *member) { m.id = made.ID })
	}
}

func (t *traffic) dryRun(r *rand.Rand, i int, m member) {
	t.decide(i, m, object{"dryRun": true, "suggest": r.IntN(8) == 0, "pod": t.pod(t.word("pod"))})
}

func (t *traffic) bind(_ *rand.Rand, i int, m member) {
	t.decide(i, m, object{"bind": true, "pod": t.plain()})
}

// underConfig brings a configuration with a profile of a fresh name.
func (t *traffic) underConfig(r *rand.Rand, i int, m member) {
	t.decide(i, m, object{"dryRun": r.IntN(4) > 0, "pod": t.plain(), "config": object{
		"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []object{{"schedulerName": t.word("profile")}},
	}})
}

func (t *traffic) filterNames(_ *rand.Rand, _ int, m member) {
	t.send(http.MethodPost, "/clusters/"+m.name+"/filter", object{"Pod": t.plain(), "NodeNames": []string{"n0", "n1", "n2", "n3"}})
}

// filterNodes brings nodes that offer resources of fresh names.
func (t *traffic) filterNodes(_ *rand.Rand, _ int, m member) {
	var items []object
	for n := range 8 {
		items = append(items, node(fmt.Sprint("n", n), object{"example.com/" + t.word("offer"): "1"}))
	}
	t.send(http.MethodPost, "/clusters/"+m.name+"/filter", object{"Pod": t.pod(t.word("pod")), "Nodes": object{"items": items}})
}

func (t *traffic) filterUnknown(_ *rand.Rand, _ int, _ member) {
	t.send(http.MethodPost, "/clusters/"+t.word("unknown")+"/filter", object{"Pod": t.plain(), "NodeNames": []string{"n0"}})
}

// follow reads a cluster's log from where it was read last.
func (t *traffic) follow(_ *rand.Rand, i int, m member) {
	status, answer := t.send(http.MethodGet, fmt.Sprintf("/v1/decisions?cluster=%s&after=%d&limit=50", m.name, m.after), nil)
	var page struct{ Next int64 }
	if status == http.StatusOK && json.Unmarshal(answer, &page) == nil {
		t.set(i, m, func(m *member) { m.after = page.Next })
	}
}

func (t *traffic) read(r *rand.Rand, _ int, m member) {
	switch r.IntN(6) {
	case 0:
		t.send(http.MethodGet, "/v1/clusters?limit=100", nil)
	case 1:
		t.send(http.MethodGet, "/v1/clusters/"+m.name+"/pods/shop/"+url.PathEscape(fmt.Sprint("p", r.IntN(12))), nil)
	case 2:
		t.send(http.MethodGet, "/v1/snapshots/"+m.name+"@latest/objects?kind=Pod&limit=50", nil)
	case 3:
		t.send(http.MethodGet, "/v1/clusters/"+m.name+"/queue", nil)
	default:
		if m.id == "" {
			t.send(http.MethodGet, "/v1/snapshots?cluster="+m.name, nil)
		} else if r.IntN(2) == 0 {
			t.send(http.MethodGet, "/v1/decisions/"+m.id, nil)
		} else {
			t.send(http.MethodPost, "/v1/decisions/"+m.id+"/replay", object{})
		}
	}
}

// scenario asks what comes next, in a call or as a job that is read, cancelled or deleted.
func (t *traffic) scenario(r *rand.Rand, _ int, m member) {
	wait, path := []string{"1m", "0s"}[r.IntN(2)], "/v1/clusters/"+m.name+"/"
	var body object
	switch r.IntN(6) {
	case 0:
		path, body = path+"fit", object{"pod": t.pod(t.word("pod")), "max": 50}
	case 1:
		path, body = path+"drains", object{"find": 2, "force": true}
	case 2:
		path, body = path+"losses", object{"nodes": []string{"n0"}}
	case 3:
		path, body = path+"pools", object{"pools": []object{{"like": "n1", "max": 4}}}
	case 4:
		t.send(http.MethodGet, path+"capacity", nil)
		return
	default:
		path, body = "/v1/simulations", object{"base": m.name + "@latest", "arrivals": object{"placed": true, "workloads": []object{{"pod": t.pod(t.word("pod")), "count": 20}}}}
	}
	body["wait"] = wait
	status, answer := t.send(http.MethodPost, path, body)
	var job struct{ ID string }
	if status != http.StatusAccepted || json.Unmarshal(answer, &job) != nil {
		return
	}
	at := "/v1/simulations/" + job.ID
	switch r.IntN(4) {
	case 0:
		t.send(http.MethodPost, at+"/cancel", nil)
	case 1:
		t.send(http.MethodDelete, at, nil)
	case 2:
		t.send(http.MethodGet, "/v1/simulations?cluster="+m.name, nil)
	default:
		t.send(http.MethodGet, at, nil)
	}
}

// remove deletes a cluster. It is made again under another name, or, every other time, under the
// same.
func (t *traffic) remove(r *rand.Rand, i int, m member) {
	if status, _ := t.send(http.MethodDelete, "/v1/clusters/"+m.name, nil); status != http.StatusNoContent {
		return
	}
	t.set(i, m, func(have *member) { *have = member{} })
	if r.IntN(2) == 0 {
		t.upload(r, i, member{name: m.name})
	}
}
