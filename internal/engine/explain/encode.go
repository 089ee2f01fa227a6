package explain

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/jsonscan"
)

// Encoded is the JSON of a decision's members as engine.Decision.WriteMembers writes them, in
// parts, most of which the answers about pods of one kind share. It is not to be written to.
type Encoded [6][]byte

// Append adds the members to an object.
func (e *Encoded) Append(b []byte) []byte {
	for _, part := range e {
		b = append(b, part...)
	}
	return b
}

// encodedKind is the JSON of what does not depend on which of equal nodes was chosen.
type encodedKind struct {
	decision engine.Decision // without lists of nodes
	best     []int32         // of the rows, as many as are listed
	names    []string        // of the nodes listed for every choice, in order
	verdicts []byte          // on these, each with a comma behind it
	starts   []int           // where each begins, and the end of all
	lists    []byte          // what WriteLists writes, behind the end of the list of nodes
	err      error
}

// bytes is about how much memory it takes, in bytes.
func (k *encodedKind) bytes() int {
	return 1024 + cap(k.verdicts) + cap(k.lists) + 24*cap(k.names)
}

// verdictBytes is about the JSON of a verdict on a node.
const verdictBytes = 300

// The levels at which decisions are encoded: the others list all nodes.
type (
	encodedNone     struct{}
	encodedFailures struct{}
)

// Encode writes a result at a level as Decision does, but for the lists of nodes, which are in the
// JSON alone. It returns nil at other levels.
func Encode(r *engine.Result, level engine.Explain) (*engine.Decision, *Encoded) {
	var key any = encodedNone{}
	switch level {
	case engine.ExplainNone:
	case engine.ExplainFailures:
		key = encodedFailures{}
	default:
		return nil, nil
	}
	k := engine.SharedByKind(r, key, func() (*encodedKind, int) {
		k := encodeKind(r, level)
		return k, k.bytes()
	})
	d := k.decision
	writeChoice(r, &d)
	w := &jsonscan.Writer{JSON: make([]byte, 0, 1024), Err: k.err}
	d.WriteHead(w)
	last, at := -1, len(k.names)
	if level != engine.ExplainNone && listsNodes(r) {
		last = lastListed(r, k.best)
	}
	if last >= 0 || at > 0 {
		w.JSON = append(w.JSON, `,"nodes":[`...)
	}
	head := len(w.JSON)
	var before, after []byte
	switch n := len(k.verdicts); {
	case last >= 0:
		v := Verdict(r, last)
		if at, _ = slices.BinarySearch(k.names, v.Name); at < len(k.names) {
			after = k.verdicts[k.starts[at] : n-1]
		}
		before = k.verdicts[:k.starts[at]]
		jsonscan.Object(w, &v, engine.WriteVerdict)
		if after != nil {
			w.JSON = append(w.JSON, ',')
		}
	case n > 0:
		before = k.verdicts[:n-1]
	}
	verdict := len(w.JSON)
	if d.WriteEnd(w); w.Err != nil {
		return nil, nil
	}
	return &d, &Encoded{w.JSON[:head], before, w.JSON[head:verdict], after, k.lists, w.JSON[verdict:]}
}

// encodeKind encodes what does not depend on which of equal nodes was chosen.
func encodeKind(r *engine.Result, level engine.Explain) *encodedKind {
	d := ofKind(r, level)
	k, w := &encodedKind{}, &jsonscan.Writer{}
	more := 0
	if level != engine.ExplainNone && listsNodes(r) {
		k.best = r.BestRows(bestListed)
		listed := listedOfKind(r, k.best)
		n := listed.Count()
		k.names, k.starts = make([]string, 0, n), make([]int, 0, n+1)
		w.JSON = make([]byte, 0, verdictBytes*n)
		names := namesOf(r, false)
		for row := range r.Nodes().ByName(listed) {
			k.names, k.starts = append(k.names, r.Nodes().Node(row).Name), append(k.starts, len(w.JSON))
			v := names.verdict(r, row)
			jsonscan.Object(w, &v, engine.WriteVerdict)
			w.JSON = append(w.JSON, ',')
		}
		if lastListed(r, k.best) >= 0 {
			more = 1
		}
		d.NodesOmitted = r.Considered() - len(k.names) - more
	}
	k.verdicts = w.JSON
	k.starts = append(k.starts, len(k.verdicts))
	w.JSON = make([]byte, 0, 512+16*r.Best.Count())
	if len(k.names)+more > 0 {
		w.JSON = append(w.JSON, ']')
	}
	d.WriteLists(w, func(w *jsonscan.Writer) { writeBest(w, r) })
	k.lists, k.err = w.JSON, w.Err
	d.Spread, d.Preemption = nil, nil
	k.decision = *d
	return k
}

// writeBest writes what best returns.
func writeBest(w *jsonscan.Writer, r *engine.Result) {
	label := `,"best":`
	switch {
	case r.Outcome != engine.Scheduled:
	case r.Scored && r.Row >= 0:
		w.JSON = r.Nodes().AppendNames(append(w.JSON, label...), r.Best)
	default:
		w.OptTexts(label, best(r))
	}
}
