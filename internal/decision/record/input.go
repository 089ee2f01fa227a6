package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"berth/internal/engine/state"
	"berth/internal/jsonscan"
	"berth/internal/revision"
)

// inputVersion is the form of stored inputs. It grows when a reader of the form
// before would misread the new one: placedVersion is that of records of placements, which an older
// program would replay on the snapshot alone.
const inputVersion, placedVersion = 1, 2

// fewNames is up to how many names a set of candidates is written as a list.
const fewNames = 16

// input is a record's kind as it is stored. The order of the fields is part of the form.
type input struct {
	Version int `json:"v"`
	Evaluated
	Result *BindResult `json:"result,omitempty"`
	// Bind is the node of a LedgerBind.
	Bind string `json:"bind,omitempty"`
	// Effects is the digest of what was written beside the pod.
	Effects string `json:"along,omitempty"`
}

// kind returns what the record is of.
func (in *input) kind() Kind {
	switch {
	case in.Result != nil:
		return in.Result
	case in.Bind != "":
		return &LedgerBind{in.Bind, in.Effects}
	}
	in.Evaluated.effectsDigest = in.Effects
	return &in.Evaluated
}

func (e *Evaluated) input() *input {
	in := &input{Version: inputVersion, Evaluated: *e, Effects: e.effectsDigest}
	if e.Placed != nil {
		in.Version = placedVersion
	}
	return in
}

func (b *LedgerBind) input() *input {
	return &input{Version: inputVersion, Bind: b.Node, Effects: b.Effects}
}
func (b *BindResult) input() *input { return &input{Version: inputVersion, Result: b} }

// candidates is a subset of the nodes in the shortest of three forms: names,
// the names left out, or a bit for each node of the state in order of name.
type candidates struct {
	Names   []string `json:"names,omitempty"`
	Without []string `json:"without,omitempty"`
	Bits    []byte   `json:"bits,omitempty"`
}

func (in *input) encode() ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if in.PodJSON != nil { // canonical JSON, which goes in as it is
		head := inputHead
		if in.Version == placedVersion {
			head = placedHead
		}
		buf.Write(head)
		buf.Write(in.PodJSON)
	}
	if in.usual() {
		js := buf.AvailableBuffer()
		if in.Explain != "" {
			js = jsonscan.AppendString(append(js, `,"explain":`...), in.Explain)
		}
		buf.Write(append(js, '}'))
		return pack(buf.Bytes()), nil
	}
	head := buf.Len()
	rest := *in
	rest.PodJSON = nil
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&rest); err != nil {
		return nil, fmt.Errorf("encode input: %w", err)
	}
	js := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if head > 0 {
		js = append(js[:head], js[head+len(`{"v":1`):]...)
	}
	return pack(js), nil
}

// usual reports whether the input is a pod and at most how much of the answer was written, which
// takes no encoder.
func (in *input) usual() bool {
	return in.PodJSON != nil && in.Only == nil && in.Nodes == nil && !in.NoPreemption && !in.ScoreAlways && !in.Suggest && !in.Fallback &&
		in.Victims == nil && in.Class == nil && in.Excluded == nil && in.Placed == nil && in.Result == nil && in.Bind == "" && in.Effects == ""
}

// pick returns a subset of a state's nodes.
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

// names returns the names of the subset; nodes are those of the state it was taken from.
func (c *candidates) names(nodes *state.NodeSet) ([]string, error) {
	if len(c.Without) == 0 && len(c.Bits) == 0 {
		return append([]string{}, c.Names...), nil // none at all is a set too
	}
	order := nodes.Order()
	if c.Bits != nil && len(c.Bits) != (len(order)+7)/8 {
		return nil, fmt.Errorf("%w: candidates of %d bytes for %d nodes", revision.ErrCorrupt, len(c.Bits), len(order))
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

func decodeInput(payload []byte) (Kind, error) {
	js, err := InputText(payload)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if at := len(inputHead); bytes.HasPrefix(js, inputHead) && at < len(js) && js[at] == '{' {
		if in := new(input); in.quick(js, jsonscan.ValueEnd(js, at), new(ending)) {
			return in.kind(), nil
		}
	}
	in := &input{}
	if err := json.Unmarshal(js, in); err != nil {
		return nil, fmt.Errorf("input: %w (%w)", revision.ErrCorrupt, err)
	}
	if in.Version != inputVersion && in.Version != placedVersion {
		return nil, fmt.Errorf("input has form %d, and this version reads forms %d and %d", in.Version, inputVersion, placedVersion)
	}
	return in.kind(), nil
}

var inputHead, placedHead = fmt.Appendf(nil, `{"v":%d,"pod":`, inputVersion), fmt.Appendf(nil, `{"v":%d,"pod":`, placedVersion)

// ending is what follows the pod of an input, and what it says: callers ask for much the same each
// time.
type ending struct {
	text []byte
	says input
}

// quick reads the input that begins with a pod, which most do, as encode writes it: the pod, which
// ends at end, is most of it and stays as it is. It is false where the input is another. What
// follows is read unless it is as in the input before.
func (in *input) quick(js []byte, end int, before *ending) bool {
	if end < 0 || end >= len(js) {
		return false
	}
	switch rest := js[end:]; {
	case string(rest) == "}":
	case rest[0] != ',':
		return false
	case bytes.Equal(rest, before.text):
		*in = before.says
	default:
		if err := json.Unmarshal(append([]byte{'{'}, rest[1:]...), in); err != nil || in.PodJSON != nil || in.Version != 0 {
			return false
		}
		if in.Victims == nil { // what else there is stays as it was read
			before.text, before.says = rest, *in
		}
	}
	in.Version, in.PodJSON = inputVersion, js[len(inputHead):end:end]
	return true
}
