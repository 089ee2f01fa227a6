package explain

import (
	"bytes"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/jsonscan"
)

// maxMemory bounds the bytes of what a Memory keeps.
const maxMemory = 256 << 10

// Memory keeps the JSON of verdicts on rejected nodes for later results of the same kind of pod, as
// long as nothing changes that the verdicts follow from. It is for one goroutine at a time.
type Memory struct {
	live     []bool // by rule
	verdicts map[int]kept
	bytes    int
}

// kept is the verdict on a row.
type kept struct {
	plugin string // that rejects it
	json   []byte
}

// Use lets answers about a result use a memory, and add to it. Of the rules that are live, verdicts
// are not kept: they may follow from anything.
func (m *Memory) Use(r *engine.Result, live []bool) { r.Verdicts, m.live = m, live }

// Forget forgets verdicts on rows that changed.
func (m *Memory) Forget(rows state.Bits) {
	if len(m.verdicts) == 0 {
		return
	}
	for row := range rows.All() {
		m.drop(row)
	}
}

func (m *Memory) drop(row int) {
	if old, ok := m.verdicts[row]; ok {
		m.bytes -= old.size()
		delete(m.verdicts, row)
	}
}

// Bytes is about how many bytes the memory holds.
func (m *Memory) Bytes() int { return m.bytes }

func (k *kept) size() int { return cap(k.json) + 64 }

// writeVerdict writes the verdict on a row as JSON, from the result's memory where it has that.
func writeVerdict(w *jsonscan.Writer, r *engine.Result, row int) {
	m, _ := r.Verdicts.(*Memory)
	var rej *engine.Rejected
	if m != nil && r.PreFilter == nil {
		rej = r.RejectedBy(row)
	}
	if rej != nil {
		if have, ok := m.verdicts[row]; ok && have.plugin == rej.Plugin {
			w.JSON = append(w.JSON, have.json...)
			return
		}
	}
	v, from := Verdict(r, row), len(w.JSON)
	jsonscan.Object(w, &v, engine.WriteVerdict)
	if rej != nil && w.Err == nil {
		m.keep(r, row, kept{rej.Plugin, bytes.Clone(w.JSON[from:])})
	}
}

// keep keeps the verdict on a row, where it follows from that row.
func (m *Memory) keep(r *engine.Result, row int, k kept) {
	i := slices.IndexFunc(r.Query.Profile.Rules, func(p *engine.Plugin) bool { return p.Name == k.plugin })
	if i < 0 || m.live[i] || r.Narrowed || m.bytes+k.size() > maxMemory {
		return
	}
	if m.verdicts == nil {
		m.verdicts = map[int]kept{}
	}
	m.drop(row)
	m.verdicts[row] = k
	m.bytes += k.size()
}
