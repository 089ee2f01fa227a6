package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/semantics"
	"berth/test/conformance/gen"
	"berth/test/conformance/oracle"
	"berth/test/enginetest"
)

// hintCases is how many clusters TestHints draws: 400, or HINTS. HINTS_SEED is the first seed.
func hintCases(t *testing.T) (n int, seed uint64) {
	n, seed = 400, 1
	if text := os.Getenv("HINTS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("HINTS: %v", err)
		}
	}
	if text := os.Getenv("HINTS_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("HINTS_SEED: %v", err)
		}
	}
	return n, seed
}

// tally counts what upstream's hints of a plugin said.
type tally struct{ Queue, Skip, Differ int }

// TestHints holds each rule's queueing hints to those of kube-scheduler's plugin in both
// directions, over random clusters in which one object changes. berth answers as the release that
// is linked, or as HINTS_RELEASE, whose plugins are at HINTS_OF.
func TestHints(t *testing.T) {
	n, seed := hintCases(t)
	release := release
	if name := os.Getenv("HINTS_RELEASE"); name != "" {
		var err error
		if release, err = semantics.Parse(name); err != nil {
			t.Fatal(err)
		}
	}
	profile, err := rules.BuildUnder(rules.SpecOf(release), release)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	tallies, refused, silent := map[string]*tally{}, 0, 0
	seeds := make(chan uint64)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for s := range seeds {
				for i := range uint64(6) {
					h, err := drawChange(s, i)
					if err != nil {
						t.Errorf("seed %d.%d: %v", s, i, err)
						continue
					}
					ours, upstream, why, err := h.judge(t, profile)
					mu.Lock()
					switch {
					case err != nil:
						t.Errorf("seed %d.%d, %s of %+v: %v", s, i, h.how, h.changed, err)
					case why != "":
						refused++
					case len(upstream) == 0 && len(ours) == 0:
						silent++
					}
					for _, plugin := range slices.Sorted(maps.Keys(union(ours, upstream))) {
						c := tallies[plugin]
						if c == nil {
							c = &tally{}
							tallies[plugin] = c
						}
						if upstream[plugin] {
							c.Queue++
						} else {
							c.Skip++
						}
						if ours[plugin] != upstream[plugin] {
							c.Differ++
							t.Errorf("seed %d.%d, %s of %+v: %s: upstream's hint says %v, ours %v\n  before %s\n  after  %s\n  pod %s",
								s, i, h.how, h.changed, plugin, upstream[plugin], ours[plugin], h.was, h.is, h.pod)
						}
					}
					mu.Unlock()
				}
			}
		})
	}
	for s := range uint64(n) {
		seeds <- seed + s
	}
	close(seeds)
	wg.Wait()
	for _, plugin := range slices.Sorted(maps.Keys(tallies)) {
		c := tallies[plugin]
		t.Logf("%-32s %6d queue %6d skip %4d differ", plugin, c.Queue, c.Skip, c.Differ)
	}
	t.Logf("%d changes of %d clusters, %d refused, %d that no hint is for", 6*n, n, refused, silent)
	if n >= 400 && len(tallies) < 10 { // a few clusters, of a seed that is run again, come to few
		t.Errorf("hints of %d plugins alone were asked", len(tallies))
	}
}

func union(a, b map[string]bool) map[string]bool {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// change is one object that changes in a case.
type change struct {
	before, after *oracle.Case
	changed       oracle.Object
	how           string
	was, is, pod  []byte
}

// drawChange draws a cluster and a change of one of its objects: it comes, goes, or gets a part of
// another one of its kind, or another amount.
func drawChange(seed, i uint64) (*change, error) {
	r := rand.New(rand.NewPCG(seed, i))
	c, err := gen.Case(seed, gen.Options{MaxNodes: 6, MaxPods: 14, Storage: 45, Devices: 35, Wide: 30})
	if err != nil {
		return nil, err
	}
	objects := make([]map[string]any, len(c.Objects))
	byKind := map[string][]int{}
	for at, raw := range c.Objects {
		if err := json.Unmarshal(raw, &objects[at]); err != nil {
			return nil, err
		}
		kind := objects[at]["kind"].(string)
		byKind[kind] = append(byKind[kind], at)
	}
	kinds := slices.Sorted(maps.Keys(byKind))
	kind := kinds[r.IntN(len(kinds))]
	switch op := r.IntN(10); {
	case op < 4:
		kind = []string{"Pod", "Node"}[r.IntN(2)] // most rules have hints for these
	case op < 6:
		kind = "ResourceClaim" // of others, mostly, as the next one
	case op < 8:
		kind = []string{"PersistentVolumeClaim", "PersistentVolume"}[r.IntN(2)]
	}
	if len(byKind[kind]) == 0 {
		kind = "Pod"
	}
	at := byKind[kind][r.IntN(len(byKind[kind]))]
	name := objectOf(objects[at])
	waits := kind == "Pod" && name.Namespace == c.Pod.Namespace && name.Name == c.Pod.Name
	h := &change{before: &oracle.Case{Pod: c.Pod}, after: &oracle.Case{Pod: c.Pod}, changed: name}
	was, is := objects[at], clone(objects[at])
	rare := kind == "Node" && r.IntN(3) > 0 // most rules take any new node for a reason to try again
	switch op := r.IntN(10); {
	case op < 2 && !waits && !rare:
		h.how, was = "Add", nil
	case op < 4 && !waits:
		h.how, is = "Delete", nil
	default:
		h.how = alter(r, is, objects[byKind[kind][r.IntN(len(byKind[kind]))]])
		if r.IntN(2) == 0 {
			was, is = is, was // what went comes, and what rose falls
		}
	}
	for k, o := range objects {
		old, new := o, o
		if k == at {
			old, new = was, is
		}
		for to, v := range map[*oracle.Case]map[string]any{h.before: old, h.after: new} {
			if v == nil {
				continue
			}
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			to.Objects = append(to.Objects, raw)
			if to == h.after && objectOf(v).Kind == "Pod" && objectOf(v).Name == c.Pod.Name && objectOf(v).Namespace == c.Pod.Namespace {
				h.pod = raw
			}
		}
	}
	h.was, _ = json.Marshal(was)
	h.is, _ = json.Marshal(is)
	return h, nil
}

func objectOf(o map[string]any) oracle.Object {
	meta, _ := o["metadata"].(map[string]any)
	kind, _ := o["kind"].(string)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	switch kind {
	case "Pod", "Service", "ReplicationController", "ReplicaSet", "StatefulSet", "PodDisruptionBudget", "PersistentVolumeClaim", "ResourceClaim", "CSIStorageCapacity":
		if namespace == "" {
			namespace = corev1.NamespaceDefault
		}
	}
	return oracle.Object{Kind: kind, Namespace: namespace, Name: name}
}

func clone(o map[string]any) map[string]any {
	raw, _ := json.Marshal(o)
	var out map[string]any
	_ = json.Unmarshal(raw, &out) // it was JSON before
	return out
}

// alter gives an object a part of another one of its kind, or none, or changes an amount, and
// returns how.
func alter(r *rand.Rand, o, like map[string]any) string {
	meta, _ := o["metadata"].(map[string]any)
	other, _ := clone(like)["metadata"].(map[string]any)
	switch op := r.IntN(10); {
	case op > 6 && o["kind"] == "Node":
		spec, _ := o["spec"].(map[string]any)
		if spec == nil {
			spec = map[string]any{}
			o["spec"] = spec
		}
		if op > 8 {
			spec["unschedulable"] = true
			return "a cordon"
		}
		taints, _ := spec["taints"].([]any)
		spec["taints"] = append(taints, map[string]any{
			"key": fmt.Sprint("k", r.IntN(9)), "value": "v", "effect": []string{"NoSchedule", "NoExecute", "PreferNoSchedule"}[r.IntN(3)],
		})
		return "a taint"
	case op < 2:
		labels, _ := meta["labels"].(map[string]any)
		if keys := slices.Sorted(maps.Keys(labels)); len(keys) > 0 && r.IntN(2) == 0 {
			delete(labels, keys[r.IntN(len(keys))])
			return "a label less"
		}
		setOrDelete(meta, "labels", other["labels"])
		return "labels"
	case op < 3:
		setOrDelete(meta, "annotations", other["annotations"])
		return "annotations"
	case op < 5 && amount(r, o):
		return "an amount"
	}
	var places []string
	for _, part := range []string{"spec", "status"} {
		for _, from := range []map[string]any{o, like} {
			fields, _ := from[part].(map[string]any)
			for f := range fields {
				if f != "nodeName" && f != "containers" && f != "phase" {
					places = append(places, part+"."+f)
				}
			}
		}
	}
	for f := range like { // kinds without spec
		if f != "metadata" && f != "kind" && f != "apiVersion" && f != "spec" && f != "status" {
			places = append(places, "."+f)
		}
	}
	if len(places) == 0 {
		return "nothing"
	}
	slices.Sort(places)
	places = slices.Compact(places)
	place := places[r.IntN(len(places))]
	part, field, to, from := "", place[1:], o, clone(like)
	if place[0] != '.' {
		for _, p := range []string{"spec", "status"} {
			if len(place) > len(p) && place[:len(p)] == p {
				part, field = p, place[len(p)+1:]
			}
		}
		from, _ = from[part].(map[string]any)
		if to, _ = o[part].(map[string]any); to == nil {
			to = map[string]any{}
			o[part] = to
		}
	}
	setOrDelete(to, field, from[field])
	return place
}

func setOrDelete(o map[string]any, key string, value any) {
	if o == nil {
		return
	}
	if value == nil {
		delete(o, key)
		return
	}
	o[key] = value
}

// amount changes one quantity somewhere below requests, allocatable and capacity.
func amount(r *rand.Rand, o any) bool {
	var lists []map[string]any
	var find func(v any)
	find = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if list, ok := v[key].(map[string]any); ok && len(list) > 0 && slices.Contains([]string{"requests", "allocatable", "capacity"}, key) {
					lists = append(lists, list)
				}
				find(v[key])
			}
		case []any:
			for _, e := range v {
				find(e)
			}
		}
	}
	find(o)
	if len(lists) == 0 {
		return false
	}
	list := lists[r.IntN(len(lists))]
	keys := slices.Sorted(maps.Keys(list))
	key := keys[r.IntN(len(keys))]
	values := []any{"0", "1", "2", "4", "500m", "1500m", "8", "64"}
	if key != "cpu" {
		values = []any{"0", "1", "2", "110", "512Mi", "2Gi", "16Gi"}
	}
	if r.IntN(6) == 0 {
		delete(list, key)
	} else {
		list[key] = values[r.IntN(len(values))]
	}
	return true
}

// judge returns what both answer to the change. refused is why one of the cases is not taken.
func (h *change) judge(t *testing.T, profile *engine.Profile) (ours, upstream map[string]bool, refused string, err error) {
	before, was, err := compile(h.before)
	if err != nil {
		return nil, nil, err.Error(), nil
	}
	after, is, err := compile(h.after)
	if err != nil {
		return nil, nil, err.Error(), nil
	}
	waiting := after.Pod(h.after.Pod.Namespace, h.after.Pod.Name)
	if waiting == nil || waiting.NodeName != "" || len(waiting.Gates) > 0 || waiting.Terminating || waiting.Scheduler != corev1.DefaultSchedulerName {
		return nil, nil, "the pod does not wait", nil
	}
	if upstream, err = h.upstream(t); err != nil {
		return nil, nil, err.Error(), nil
	}
	of := func(objects map[object.Key]any) func(object.Key) (any, error) {
		return func(k object.Key) (any, error) { return objects[k], nil }
	}
	ours = map[string]bool{}
	profileOf := func(scheduler string) *engine.Profile {
		if scheduler == corev1.DefaultSchedulerName {
			return profile
		}
		return nil
	}
	k := object.Key{Kind: h.changed.Kind, Namespace: h.changed.Namespace, Name: h.changed.Name}
	err = engine.Wakes(t.Context(), profileOf, before, after, []object.Key{k}, engine.Objects{Before: of(was), After: of(is)},
		func(p *state.Pod, plugin string, _ *engine.Event) {
			if p.Namespace == h.after.Pod.Namespace && p.Name == h.after.Pod.Name {
				ours[plugin] = true
			}
		})
	return ours, upstream, "", err
}

// upstream returns the hints of the plugins that are linked, or of those of another release at
// HINTS_OF (test/conformance/cmd/conformance -serve).
func (h *change) upstream(t *testing.T) (hints map[string]bool, err error) {
	at := os.Getenv("HINTS_OF")
	if at == "" {
		return oracle.Hints(t.Context(), h.before, h.after, h.changed)
	}
	body, err := json.Marshal(map[string]any{"before": h.before, "after": h.after, "changed": h.changed})
	if err != nil {
		return nil, err
	}
	resp, err := http.Post(at+"/hints", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(string(raw))
	}
	return hints, json.Unmarshal(raw, &hints)
}

func compile(c *oracle.Case) (*state.State, map[object.Key]any, error) {
	objects := map[object.Key]any{}
	var list []any
	for _, raw := range c.Objects {
		o, err := object.Decode(raw, object.Limits{})
		if err != nil {
			return nil, nil, err
		}
		if _, twice := objects[o.Key]; twice {
			return nil, nil, fmt.Errorf("%v twice", o.Key)
		}
		objects[o.Key] = o.Value
		list = append(list, o.Value)
	}
	s, err := enginetest.State(list...)
	return s, objects, err
}
