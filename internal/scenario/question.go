package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/revision"
	"berth/internal/steps"
	"berth/internal/world"
)

// Question is a question about what comes next in a cluster. Its fields are those of its request.
type Question interface {
	// Answer returns a pointer to the answer, such as a *Drain.
	Answer(ctx context.Context, s *Stage) (any, error)
}

// Stage is what a question is answered on: a revision with edits.
type Stage struct {
	*Edited
	Editor  *Editor
	Options world.Options
	Bounds  Bounds
}

// hotLoop words the error of a run that does not end.
func hotLoop(err error) error {
	var hot *world.HotLoopError
	if errors.As(err, &hot) {
		return decision.Errorf(decision.Invalid, "nodes", "%s: the question has no answer; a scenario with a clock shows what happens until then", hot.Error())
	}
	return err
}

// fork starts a fork on which the daemon pods of new nodes have had their turn.
func (s *Stage) fork(ctx context.Context) (*world.Fork, error) {
	v, err := s.WithDaemons(ctx, s.Options)
	if err != nil {
		return nil, err
	}
	return world.NewFork(v, s.Options), nil
}

// warnings are what the objects of the question are warned of, the pods that were judged, and the
// nodes that do not report.
func (s *Stage) warnings() []string {
	var read []string
	if s.Editor.Warnings != nil {
		read = s.Editor.Warnings()
	}
	return slices.Concat(read, s.Editor.warned, s.Options.Strangers.Warnings(s.View), unready(s.View.State.Nodes()))
}

// unready warns of nodes that are not Ready without a taint for it: of the first few by name.
func unready(nodes *state.NodeSet) (out []string) {
	const few = 3
	names := nodes.Unannounced()
	for _, name := range names[:min(len(names), few)] {
		out = append(out, decision.UnreadyNote(name))
	}
	if more := len(names) - few; more > 0 {
		out = append(out, fmt.Sprintf("nodes that are not Ready and have no taint for it, beside these: %d", more))
	}
	return out
}

// NodeChoice is which nodes a question is about: by name, by labels or by zone.
type NodeChoice struct {
	Nodes    []string `json:"nodes,omitempty" example:"worker-7"`
	Selector string   `json:"selector,omitempty" example:"pool=batch"`
	Zone     string   `json:"zone,omitempty" example:"eu-1a"`
}

// names returns the chosen nodes, each once; none chosen is no error.
func (c *NodeChoice) names(v *revision.View) ([]string, error) {
	given := 0
	for _, is := range []bool{len(c.Nodes) > 0, c.Selector != "", c.Zone != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector or a zone, and only one of them")
	case c.Selector != "":
		return selected(v, "selector", c.Selector)
	case c.Zone != "":
		out := nodesWith(v, func(n *state.Node) bool { return n.Labels[corev1.LabelTopologyZone] == c.Zone })
		if len(out) == 0 {
			return nil, decision.Errorf(decision.Invalid, "zone", "%s has no node in zone %.253q", v.ID(), c.Zone)
		}
		return out, nil
	}
	return named(v, "nodes", c.Nodes)
}

// DefaultStart is how many seconds a pod takes to start of which nothing is known.
const DefaultStart = 10

// mostSeconds is a week: the longest start, and the longest wait of a controller.
const mostSeconds = 7 * 24 * 60 * 60

// checkNumber refuses a number of a question that is below 0 or above most; nil is none.
func checkNumber(field string, n *int64, most int64) error {
	if n != nil && (*n < 0 || *n > most) {
		return decision.Errorf(decision.Invalid, field, "want 0 to %d", most)
	}
	return nil
}

// isNull reports whether a field of a request is absent, or null.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// digestOf is over an answer whose digest is still empty.
func digestOf(ctx context.Context, kind string, answer any) (string, error) {
	js, err := steps.Marshal(ctx, answer)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	s := newSum(kind)
	s.add(string(js))
	return s.text(), nil
}

// sum is a digest over texts. Each is preceded by its length, so that no two lists of texts give
// the same bytes.
type sum struct {
	h   hash.Hash
	buf []byte
}

// newSum begins a digest; kind distinguishes what it is of.
func newSum(kind string) sum {
	s := sum{h: sha256.New()}
	s.add(kind)
	return s
}

func (s *sum) add(texts ...string) {
	s.buf = s.buf[:0]
	for _, t := range texts {
		s.buf = append(binary.AppendUvarint(s.buf, uint64(len(t))), t...)
	}
	s.h.Write(s.buf)
}

func (s *sum) text() string { return "sha256:" + hex.EncodeToString(s.h.Sum(nil)) }
