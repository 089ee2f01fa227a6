package decisionlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/objects"
)

// inputVersion is the form of stored inputs. It grows when a reader of the form
// before would misread the new one.
const inputVersion = 1

// fewNames is up to how many names a set of candidates is written as a list.
const fewNames = 16

// input is what a replay needs beside the record's columns.
type input struct {
	Version int `json:"v"`
	// Pod is the pod as asked about; absent where the snapshot holds it so.
	Pod          json.RawMessage   `json:"pod,omitempty"`
	Only         *candidates       `json:"only,omitempty"` // absent: all nodes
	Nodes        []json.RawMessage `json:"nodes,omitempty"`
	Explain      engine.Explain    `json:"explain,omitempty"`
	NoPreemption bool              `json:"noPreemption,omitempty"`
	ScoreAlways  bool              `json:"scoreAlways,omitempty"`
	Suggest      bool              `json:"suggest,omitempty"`
	// Victims is what /preempt was asked about; absent otherwise.
	Victims *[]engine.NodeVictims `json:"victims,omitempty"`
	// Class is the stored class that gave the pod its priority.
	Class *storedClass `json:"class,omitempty"`
	// Gone are pods that did not count.
	Gone []Gone `json:"gone,omitempty"`
	// Result is what the apiserver said of a bind, which is no question.
	Result *bindResult `json:"result,omitempty"`
	// Bind is the node of a ledger bind, which asks the engine nothing.
	Bind string `json:"bind,omitempty"`
	// Along is the digest of what was bound along; absent where that is nothing, and
	// in records of a time when it was never anything.
	Along string `json:"along,omitempty"`
}

// candidates is a subset of the nodes in the shortest of three forms: names,
// the names left out, or a bit for each node of the state in order of name.
type candidates struct {
	Names   []string `json:"names,omitempty"`
	Without []string `json:"without,omitempty"`
	Bits    []byte   `json:"bits,omitempty"`
}

// encodeInput writes the input of a matter that considered so many nodes.
func (c *matter) encodeInput(considered int) ([]byte, error) {
	in := input{
		Version: inputVersion, Explain: c.q.Explain, NoPreemption: c.q.NoPreemption, ScoreAlways: c.q.ScoreAlways, Suggest: c.q.Suggest, Class: c.class, Gone: c.gone,
	}
	if c.q.Victims != nil {
		in.Victims = &c.q.Victims
	}
	if c.along != nil {
		in.Along = c.along.digest
	}
	if in.Explain == engine.ExplainFailures {
		in.Explain = ""
	}
	if !c.byRef {
		in.Pod = c.asked
	}
	if c.overlay != nil {
		for _, js := range c.overlay.differs {
			in.Nodes = append(in.Nodes, js)
		}
	}
	if c.names != nil && considered < c.state.Nodes().Count() {
		in.Only = pick(c.state.Nodes(), c.names)
	}
	return in.encode()
}

func (in *input) encode() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(in); err != nil {
		return nil, fmt.Errorf("encode input: %w", err)
	}
	return pack(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// pick writes a subset of a state's nodes.
func pick(nodes *state.NodeSet, names []string) *candidates {
	order := nodes.Order()
	in := state.NewBits(nodes.Len())
	for _, n := range names {
		if row := nodes.Row(n); row >= 0 {
			in.Set(row)
		}
	}
	n := in.Count()
	list := func(want bool) []string {
		out := make([]string, 0, fewNames)
		for _, row := range order {
			if in.Has(int(row)) == want {
				out = append(out, nodes.Node(int(row)).Name)
			}
		}
		return out
	}
	switch {
	case n <= fewNames:
		return &candidates{Names: list(true)}
	case len(order)-n <= fewNames:
		return &candidates{Without: list(false)}
	}
	bits := make([]byte, (len(order)+7)/8)
	for i, row := range order {
		if in.Has(int(row)) {
			bits[i>>3] |= 1 << (i & 7)
		}
	}
	return &candidates{Bits: bits}
}

// names gives the subset back; order is that of the state it was taken from.
func (c *candidates) names(nodes *state.NodeSet) ([]string, error) {
	if len(c.Without) == 0 && len(c.Bits) == 0 {
		return append([]string{}, c.Names...), nil // none at all is a set too
	}
	order := nodes.Order()
	if c.Bits != nil && len(c.Bits) != (len(order)+7)/8 {
		return nil, fmt.Errorf("%w: candidates of %d bytes for %d nodes", cluster.ErrCorrupt, len(c.Bits), len(order))
	}
	out := make([]string, 0, len(order))
	for i, row := range order {
		name := nodes.Node(int(row)).Name
		if c.Bits != nil && c.Bits[i>>3]>>(i&7)&1 == 1 || c.Bits == nil && !slices.Contains(c.Without, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

func decodeInput(payload []byte) (*input, error) {
	js, err := InputText(payload)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if in := quickInput(js); in != nil {
		return in, nil
	}
	in := &input{}
	if err := json.Unmarshal(js, in); err != nil {
		return nil, fmt.Errorf("input: %w (%w)", cluster.ErrCorrupt, err)
	}
	if in.Version != inputVersion {
		return nil, fmt.Errorf("input has form %d, and this version reads form %d", in.Version, inputVersion)
	}
	return in, nil
}

var inputHead = fmt.Appendf(nil, `{"v":%d,"pod":`, inputVersion)

// quickInput reads the input that begins with a pod, which most do, as encode
// writes it: the pod is most of it and stays as it is. It is nil where the input
// is another.
func quickInput(js []byte) *input {
	at := len(inputHead)
	if !bytes.HasPrefix(js, inputHead) || at >= len(js) || js[at] != '{' {
		return nil
	}
	end := objects.ValueEnd(js, at)
	if end < 0 || end >= len(js) {
		return nil
	}
	in := &input{}
	if rest := js[end:]; rest[0] == ',' {
		if err := json.Unmarshal(append([]byte{'{'}, rest[1:]...), in); err != nil || in.Pod != nil || in.Version != 0 {
			return nil
		}
	} else if string(rest) != "}" {
		return nil
	}
	in.Version, in.Pod = inputVersion, js[at:end:end]
	return in
}

// question makes the question again that a record was of, on its own view.
func (in *input) question(v *cluster.View, pod *corev1.Pod) (Question, error) {
	q := Question{
		Cluster: v.Cluster, Revision: v.Revision, Pod: pod, Explain: in.Explain,
		NoPreemption: in.NoPreemption, ScoreAlways: in.ScoreAlways, Suggest: in.Suggest, Gone: in.Gone, recorded: true,
	}
	if in.Victims != nil {
		q.Victims = *in.Victims
	}
	if q.Explain == "" {
		q.Explain = engine.ExplainFailures
	}
	for i, js := range in.Nodes {
		o, err := objects.FromCanonical("Node", js)
		if err != nil {
			return q, fmt.Errorf("input's node %d: %w (%w)", i, cluster.ErrCorrupt, err)
		}
		q.Nodes = append(q.Nodes, o.Value.(*corev1.Node))
	}
	return q, nil
}

// pod gives the pod that a record is about.
func (in *input) pod(v *cluster.View, namespace, name string) (*corev1.Pod, error) {
	if in.Pod == nil {
		return v.Pod(namespace, name)
	}
	o, err := objects.FromCanonical("Pod", in.Pod)
	if err != nil {
		return nil, fmt.Errorf("input's pod: %w (%w)", cluster.ErrCorrupt, err)
	}
	return o.Value.(*corev1.Pod), nil
}
