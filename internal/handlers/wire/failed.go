package wire

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"berth/internal/jsonscan"
)

// scratch is the memory for putting failures into the order of their names.
type scratch struct {
	// byRank[r] is one more than the index of the verdict on the node whose name has rank r; 0 if
	// there is none.
	byRank []int32
	named  []named
}

// named is a failure of a request that has names outside the table.
type named struct {
	name []byte
	i    int
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// appendFailed appends the two maps with the comma before each. Sorting 2,000 strings would cost
// more than the rest of the answer, so rows are put in order by the rank their table knows; only
// names without a row are sorted.
func appendFailed(dst []byte, args *FilterArgs, names *Names, verdicts []Verdict) []byte {
	x := scratches.Get().(*scratch)
	defer scratches.Put(x)
	if args.byNodes() || len(args.Unknown) > 0 {
		x.collect(args, names, verdicts)
		dst = append(dst, `,"FailedNodes":`...)
		dst = x.appendNamed(dst, verdicts, false)
		dst = append(dst, `,"FailedAndUnresolvableNodes":`...)
		dst = x.appendNamed(dst, verdicts, true)
		// The names share memory with the body.
		clear(x.named)
		return dst
	}
	failed, unresolvable := x.place(args, names, verdicts)
	dst = append(dst, `,"FailedNodes":`...)
	dst = x.appendRanked(dst, args, names, verdicts, false, failed)
	dst = append(dst, `,"FailedAndUnresolvableNodes":`...)
	dst = x.appendRanked(dst, args, names, verdicts, true, unresolvable)
	x.byRank = x.byRank[:0]
	return dst
}

// place puts the failures in order, and returns whether there are any of either kind.
func (x *scratch) place(args *FilterArgs, names *Names, verdicts []Verdict) (failed, unresolvable bool) {
	for i := range verdicts {
		outcome := verdicts[i].Outcome
		if outcome == Kept {
			continue
		}
		if !failed && !unresolvable {
			n := len(names.names)
			x.byRank = slices.Grow(x.byRank[:0], n)[:n]
			clear(x.byRank)
		}
		failed, unresolvable = failed || outcome == Failed, unresolvable || outcome != Failed
		x.byRank[names.rank[args.Rows[i]]] = int32(i) + 1
	}
	return failed, unresolvable
}

func (x *scratch) appendRanked(dst []byte, args *FilterArgs, names *Names, verdicts []Verdict, unresolvable, some bool) []byte {
	if !some {
		return append(dst, "{}"...)
	}
	o, start := names.current(), len(dst)
	reason, from, to := "", 0, 0 // the last reason written, and where: most nodes in a row have the same one
	for _, place := range x.byRank {
		if place == 0 {
			continue
		}
		v := &verdicts[place-1]
		if (v.Outcome != Failed) != unresolvable {
			continue
		}
		dst = append(dst, o.span(int(o.places[args.Rows[place-1]]), 1)...)
		if to > 0 && v.Reason == reason {
			dst = append(dst, dst[from:to]...)
			continue
		}
		from = len(dst)
		dst = jsonscan.AppendString(append(dst, ':'), v.Reason)
		reason, to = v.Reason, len(dst)
	}
	if len(dst) == start { // of a name with several verdicts the last counts
		return append(dst, "{}"...)
	}
	dst[start] = '{' // instead of the first comma
	return append(dst, '}')
}

func (x *scratch) collect(args *FilterArgs, names *Names, verdicts []Verdict) {
	x.named = x.named[:0]
	for i := range verdicts {
		if verdicts[i].Outcome == Kept {
			continue
		}
		var name []byte
		if args.byNodes() {
			name = args.Nodes[i].Name
		} else if row := args.Rows[i]; row < 0 {
			name = args.Unknown[^row]
		} else {
			name = []byte(names.Name(int(row)))
		}
		x.named = append(x.named, named{name, i})
	}
	slices.SortFunc(x.named, func(a, b named) int {
		if c := bytes.Compare(a.name, b.name); c != 0 {
			return c
		}
		return a.i - b.i
	})
}

func (x *scratch) appendNamed(dst []byte, verdicts []Verdict, unresolvable bool) []byte {
	dst = append(dst, '{')
	first := true
	for k, f := range x.named {
		if k+1 < len(x.named) && bytes.Equal(f.name, x.named[k+1].name) {
			continue
		}
		if v := &verdicts[f.i]; (v.Outcome != Failed) == unresolvable {
			dst = jsonscan.AppendString(comma(dst, &first), f.name)
			dst = jsonscan.AppendString(append(dst, ':'), v.Reason)
		}
	}
	return append(dst, '}')
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
