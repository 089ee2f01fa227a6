// Package play puts recorded scenarios to a running berth: it makes of the calls
// of a test a cluster, a pod and a configuration in which only the plugin is on,
// and compares what berth says with what the plugin said.
package play

import (
	"encoding/json"
	"slices"

	"berth/test/conformance/oracle"
	"berth/test/conformance/tables/record"
)

// phase is the part of a decision that a method belongs to.
type phase int

const (
	filtering phase = iota
	scoring
	preempting
)

var phases = map[string]phase{
	"PreEnqueue": filtering, "PreFilter": filtering, "Filter": filtering,
	"PreScore": scoring, "Score": scoring, "NormalizeScore": scoring,
	"PostFilter": preempting, "SelectVictimsOnNode": preempting, "PodEligibleToPreemptOthers": preempting,
}

// question is what one request to berth answers: calls of one phase for one pod
// over one cluster.
type question struct {
	phase phase
	calls []*record.Call
	world *world
	// only are the nodes that are asked about; nil for all.
	only []string
	kase *oracle.Case
}

// questions groups the calls of a scenario. A call joins the question before it
// unless the pod, the plugin or an object of the cluster has changed.
func questions(s *record.Scenario) []*question {
	var out []*question
	for _, c := range s.Calls {
		p := phases[c.Method]
		if n := len(out); n > 0 {
			q := out[n-1]
			f := q.calls[0]
			same := q.phase == p && f.Plugin == c.Plugin && string(f.Args) == string(c.Args) && (c.Pod == nil || f.Pod == nil || string(f.Pod) == string(c.Pod))
			again := slices.ContainsFunc(q.calls, func(o *record.Call) bool {
				return o.Method == c.Method && o.Node == c.Node && o.Method != "NormalizeScore"
			})
			if same && !again && q.world.join(c.Objects) {
				q.calls = append(q.calls, c)
				continue
			}
		}
		q := &question{phase: p, calls: []*record.Call{c}, world: newWorld()}
		q.world.join(c.Objects)
		out = append(out, q)
	}
	return out
}

// world is the cluster of a question: objects by what tells them apart, in the
// order that they came in.
type world struct {
	keys    []string
	objects map[string]json.RawMessage
}

func newWorld() *world { return &world{objects: map[string]json.RawMessage{}} }

// join adds the objects that a call saw; false where one of them was another
// before, and then nothing is added.
func (w *world) join(list []json.RawMessage) bool {
	type item struct {
		key string
		raw json.RawMessage
	}
	var fresh []item
	seen := map[string]int{}
	for _, raw := range list {
		var o struct {
			Kind     string
			Metadata oracle.Key
			Spec     struct{ NodeName string }
		}
		if json.Unmarshal(raw, &o) != nil {
			continue
		}
		key := o.Kind + "/" + o.Metadata.Namespace + "/" + o.Metadata.Name + "@" + o.Spec.NodeName
		if o.Kind == "Pod" { // tests give several the same name
			seen[key]++
			key += string(rune('0' + seen[key]))
		}
		if have, ok := w.objects[key]; ok && string(have) != string(raw) {
			return false
		} else if !ok {
			fresh = append(fresh, item{key, raw})
		}
	}
	for _, i := range fresh {
		w.keys = append(w.keys, i.key)
		w.objects[i.key] = i.raw
	}
	return true
}
