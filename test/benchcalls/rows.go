package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// binds, waiting and revisions are the sizes of rows that no cluster's size changes.
const (
	binds     = 10_000
	waiting   = 1_000
	revisions = 10_000
	nominated = 500
)

const spreadHard = `,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"new"}}}]`

// rows are the calls that decide about a trick, at each size where the size matters.
func rows(sizes []int) (list []*row) {
	for _, n := range sizes {
		all := func(s *side) error { return s.upload("c", cluster(n, 30*n, "1", "")) }
		add := func(r *row) { r.nodes = n; list = append(list, r) }
		decide := func(more string) func(s *side, i int) error {
			return func(s *side, i int) error {
				return s.decided(fmt.Sprintf(`{"snapshot":"c@latest",%s"pod":%s}`, more, pod(fmt.Sprint("new-", i), "100m", "")), "Scheduled")
			}
		}
		add(&row{name: "a recorded decision, explained", prepare: all, call: decide(`"explain":"full",`)})
		add(&row{name: "a dry decision", prepare: all, call: decide(`"dryRun":true,"explain":"none",`)})
		add(&row{name: "recorded decisions on 64 connections", prepare: all, call: decide(`"explain":"none",`), connections: 64})
		add(&row{name: "decide and bind", prepare: all, call: decide(`"bind":true,"explain":"none",`)})
		add(&row{name: "a placement of 100, bound", prepare: all, call: func(s *side, i int) error {
			copies := pod(fmt.Sprint("new-", i), "100m", "")
			_, err := s.post("/v1/placements", `{"snapshot":"c@latest","bind":true,"atomic":true,"count":100,"template":`+copies+`}`)
			return err
		}})
		filter := func(path string) func(s *side, i int) error {
			names := strings.Join(names(n), ",")
			return func(s *side, i int) error {
				return s.filtered(path, fmt.Sprintf(`{"Pod":%s,"NodeNames":[%s]}`, pod(fmt.Sprint("new-", i), "100m", ""), names))
			}
		}
		add(&row{name: "/filter of all names, recorded", prepare: all, call: filter("/clusters/c/filter")})
		add(&row{name: "/filter in shadow", prepare: all, call: filter("/clusters/c/shadow/filter")})
		add(&row{
			name:    "a kind's first decision, which preempts",
			prepare: func(s *side) error { return s.upload("full", cluster(n, 4*n, "8", "")) },
			call: func(s *side, i int) error {
				p := pod(fmt.Sprint("new-", i), fmt.Sprintf("%dm", 2000+i%4000), `,"priority":1000`)
				return s.decided(fmt.Sprintf(`{"snapshot":"full@latest","dryRun":true,"explain":"none","pod":%s}`, p), "Preempting")
			},
		})
		add(&row{
			name:    fmt.Sprintf("a decision beside %d nominated pods", nominated),
			prepare: func(s *side) error { return s.upload("c", cluster(n, 4*n, "1", nominations())) },
			call:    decide(`"dryRun":true,"explain":"none",`),
		})
		ask := func(path, body string) func(s *side, _ int) error {
			return func(s *side, _ int) error { _, err := s.ended(path, body); return err }
		}
		add(&row{name: "fit of 10,000 with hard spread", prepare: all, call: ask("/v1/clusters/c/fit", `{"max":10000,"pod":`+pod("new", "100m", spreadHard)+`}`)})
		add(&row{name: "drain of a node", prepare: all, call: ask("/v1/clusters/c/drains", `{"nodes":["n0"]}`)})
		add(&row{name: "drain of a twentieth", prepare: all, call: ask("/v1/clusters/c/drains", `{"nodes":[`+strings.Join(names(n)[:n/20], ",")+`]}`)})
		add(&row{name: "loss of a zone", prepare: all, call: ask("/v1/clusters/c/losses", `{"zone":"z0"}`)})
		var states [2]string // an equal one would be no revision
		add(&row{
			name: "an upload",
			prepare: func(s *side) error {
				states = [2]string{cluster(n, 30*n, "1", ""), cluster(n, 30*n, "2", "")}
				return nil
			},
			call: func(s *side, i int) error { return s.upload("up", states[i%2]) },
		})
		add(&row{name: "resident memory", prepare: all, memory: true})
	}
	for _, n := range []int{100, 30_000} {
		list = append(list, &row{
			name:    fmt.Sprintf("1,000 arrivals on a node with %d pods", n),
			prepare: func(s *side) error { return s.upload("c", dense(n)) },
			call: func(s *side, _ int) error {
				_, err := s.ended("/v1/simulations", `{"base":"c@latest","arrivals":{"workloads":[{"count":1000,"pod":`+pod("new", "1m", "")+`}]}}`)
				return err
			},
		})
	}
	return append(list,
		&row{name: "a batch replay of 10,000 binds", prepare: bound, call: func(s *side, _ int) error { return s.replayed("c", binds) }},
		&row{name: "the queue of 1,000 pods after 10,000 changes", prepare: queued, call: func(s *side, _ int) error {
			_, err := s.get("/v1/clusters/c/queue")
			return err
		}},
		&row{name: "berth explain on a dump of 40 nodes", prepare: dumped, call: func(s *side, _ int) error { return s.explain(filepath.Join(s.dir, dumpFile)) }},
	)
}

// upload makes a revision of a cluster.
func (s *side) upload(name, state string) error {
	_, err := s.post("/v1/snapshots?cluster="+name, state)
	return err
}

// bound decides and binds pods one by one.
func bound(s *side) error {
	if err := s.upload("c", cluster(500, 0, "1", "")); err != nil {
		return err
	}
	for i := range binds {
		body := fmt.Sprintf(`{"snapshot":"c@latest","bind":true,"explain":"none","pod":%s}`, pod(fmt.Sprint("b-", i), "100m", ""))
		if err := s.decided(body, "Scheduled"); err != nil {
			return err
		}
	}
	return nil
}

// queued has pods that waited and failed, and then many changes of the cluster.
func queued(s *side) error {
	var pending strings.Builder
	for i := range waiting {
		pending.WriteString(podObject(pod(fmt.Sprint("w-", i), "900", "")) + ",")
	}
	if err := s.upload("c", cluster(100, 3000, "1", pending.String())); err != nil {
		return err
	}
	for i := range waiting {
		if err := s.decided(fmt.Sprintf(`{"snapshot":"c@latest","explain":"none","podRef":{"namespace":"default","name":"w-%d"}}`, i), "Unschedulable"); err != nil {
			return err
		}
	}
	for i := range revisions {
		p := podObject(pod("changed", "1m", fmt.Sprintf(`,"nodeName":"n1","activeDeadlineSeconds":%d`, 2*revisions-i)))
		if _, err := s.post("/v1/snapshots/c@latest/changes", `{"apply":[`+p+`]}`); err != nil {
			return err
		}
	}
	return nil
}

const dumpFile = "dump.json"

// dumped writes a file for the command line.
func dumped(s *side) error {
	return os.WriteFile(filepath.Join(s.dir, dumpFile), []byte(cluster(40, 400, "1", podObject(pod("waits", "1", ""))+",")), 0o600)
}

// pod returns a pod's metadata and spec as JSON; more is the rest of the spec.
func pod(name, cpu, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"default","labels":{"app":"new"}},"spec":{"containers":[{"name":"c","image":"registry.example/app:1","resources":{"requests":{"cpu":%q,"memory":"64Mi"}}}]%s}}`, name, cpu, more)
}

// podObject returns a pod with its kind.
func podObject(raw string) string { return `{"apiVersion":"v1","kind":"Pod",` + raw[1:] }

func names(nodes int) []string {
	out := make([]string, nodes)
	for i := range out {
		out[i] = fmt.Sprintf("%q", fmt.Sprint("n", i))
	}
	return out
}

// cluster returns a list of nodes in three zones and of pods that run, of 500 apps; more are
// further objects, each with a comma behind it.
func cluster(nodes, pods int, cpu, more string) string {
	var b strings.Builder
	b.WriteString(`{"apiVersion":"v1","kind":"List","items":[` + more)
	for i := range pods {
		_, _ = fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"p%d","uid":"p%d","labels":{"app":"a%d"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"a%d","uid":"a%d","controller":true}]},"spec":{"nodeName":"n%d","containers":[{"name":"c","image":"registry.example/a%d:1","resources":{"requests":{"cpu":%q,"memory":"256Mi"}}}]},"status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:20Z"}]}},`,
			i, i, i%500, i%500, i%500, i%nodes, i%500, cpu)
	}
	for i := range nodes {
		if i > 0 {
			b.WriteByte(',')
		}
		_, _ = fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%d","labels":{"kubernetes.io/hostname":"n%d","topology.kubernetes.io/zone":"z%d"}},"status":{"allocatable":{"cpu":"32","memory":"128Gi","pods":"110"}}}`, i, i, i%3)
	}
	b.WriteString("]}")
	return b.String()
}

// dense returns one node with many pods.
func dense(pods int) string {
	text := strings.ReplaceAll(cluster(1, pods, "1m", ""), `"memory":"256Mi"`, `"memory":"1Mi"`)
	return strings.Replace(text, `"cpu":"32","memory":"128Gi","pods":"110"`, `"cpu":"3200","memory":"12800Gi","pods":"110000"`, 1)
}

// nominations are pods that wait for a node which they were given by preemption.
func nominations() string {
	var b strings.Builder
	for i := range nominated {
		var p map[string]any
		if err := json.Unmarshal([]byte(podObject(pod(fmt.Sprint("nominee-", i), "1", `,"priority":100`))), &p); err != nil {
			panic(err) // it is ours
		}
		p["status"] = map[string]any{"phase": "Pending", "nominatedNodeName": fmt.Sprint("n", i)}
		raw, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		b.Write(append(raw, ','))
	}
	return b.String()
}
