package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"

	kube "berth/internal/kube/object"
	"berth/test/differences"
)

// change is what is different about a decision under another release, and the behaviours that
// make it.
type change struct {
	Kind          string
	Before, After string
	Causes        []string
}

func (c *change) String() string { return fmt.Sprintln(c.Kind, c.Causes) }

// planted is a decision that is no task's, and what the report has to say of it.
type planted struct {
	rows    []string
	objects []any
	pod     string
	want    []string // changes
	task    int      // it comes before
	id      string   // of the decision
}

// plants draws which differences between two releases are planted, and before which tasks: each
// once before any comes again. Those that leave no record are left out.
func plants(n int, seed uint64, pair *differences.Pair, machines, tasks int) ([]*planted, error) {
	scenes := pair.Scenes(machines + 3) // a scene of images has two nodes, and there is one beside
	var kinds []planted
	for i := range scenes {
		s := &scenes[i]
		if s.Unrecorded {
			continue
		}
		c := change{Kind: s.Kind, Causes: s.Causes}
		if s.Objects == nil { // the pod of another one shows it
			i := slices.IndexFunc(kinds, func(k planted) bool { return k.pod == s.Pod })
			kinds[i].rows, kinds[i].want = append(kinds[i].rows, s.Row()), append(kinds[i].want, c.String())
			continue
		}
		objects := slices.Concat(differences.Surroundings(), s.Objects)
		kinds = append(kinds, planted{rows: []string{s.Row()}, objects: objects, pod: s.Pod, want: []string{c.String()}})
	}
	if n > tasks {
		return nil, fmt.Errorf("--plant is %d, want at most the %d tasks", n, tasks)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	places := r.Perm(tasks)[:n]
	var out []*planted
	for len(out) < n {
		for _, k := range r.Perm(len(kinds)) {
			if len(out) < n {
				p := kinds[k]
				p.task = places[len(out)]
				out = append(out, &p)
			}
		}
	}
	return out, nil
}

// plant puts the objects into the cluster, decides on the pod, and takes them out again.
func (p *planted) plant(ctx context.Context, c *client, cluster string) error {
	var replace []json.RawMessage
	var gone []object
	for _, o := range p.objects {
		known, err := kube.Of(o)
		if err != nil {
			return err
		}
		replace = append(replace, known.JSON)
		gone = append(gone, object{"kind": known.Kind, "namespace": known.Namespace, "name": known.Name})
	}
	path := "/v1/snapshots/" + cluster + "@latest/changes"
	if err := c.call(ctx, http.MethodPost, path, object{"replace": replace}, nil, http.StatusCreated); err != nil {
		return fmt.Errorf("plant %v: %w", p.rows, err)
	}
	d, _, err := c.decide(ctx, object{
		"snapshot": cluster + "@latest", "podRef": object{"namespace": "default", "name": p.pod}, "explain": "none",
	})
	if err != nil {
		return fmt.Errorf("plant %v: %w", p.rows, err)
	}
	p.id = d.ID
	return c.call(ctx, http.MethodPost, path, object{"delete": gone}, nil, http.StatusCreated)
}
