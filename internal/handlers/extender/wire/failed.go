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
	// byRank[r] is one more than the index of the failure of the node whose name has rank r; 0
	// if it did not fail.
	byRank []int32
	named  []named
}

// named is a failure of a request that has names outside the table.
type named struct {
	name []byte
	i    int // in the failures
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// appendFailed appends the two maps with the comma before each. Sorting 2,000 strings would cost
// more than the rest of the answer, so rows are put in order by the rank their table knows; only
// names without a row are sorted.
func appendFailed(dst []byte, args *FilterArgs, names *Names, failures []Failure) []byte {
	x := scratches.Get().(*scratch)
	defer scratches.Put(x)
	if args.byNodes() || len(args.Unknown) > 0 {
		x.collect(args, names, failures)
		dst = append(dst, `,"FailedNodes":`...)
		dst = x.appendNamed(dst, failures, false)
		dst = append(dst, `,"FailedAndUnresolvableNodes":`...)
		dst = x.appendNamed(dst, failures, true)
		// The names share memory with the body.
		clear(x.named)
		return dst
	}
	failed, unresolvable := x.place(args, names, failures)
	dst = append(dst, `,"FailedNodes":`...)
	dst = x.appendRanked(dst, args, names, failures, false, failed)
	dst = append(dst, `,"FailedAndUnresolvableNodes":`...)
	return x.appendRanked(dst, args, names, failures, true, unresolvable)
}

// place puts the failures in order, and returns whether there are any of either kind.
func (x *scratch) place(args *FilterArgs, names *Names, failures []Failure) (failed, unresolvable bool) {
	if len(failures) == 0 {
		return false, false
	}
	n := len(names.names)
	x.byRank = slices.Grow(x.byRank[:0], n)[:n]
	clear(x.byRank)
	for i := range failures {
		f := &failures[i]
		failed, unresolvable = failed || !f.Unresolvable, unresolvable || f.Unresolvable
		x.byRank[names.rank[args.Rows[f.At]]] = int32(i) + 1
	}
	return failed, unresolvable
}

func (x *scratch) appendRanked(dst []byte, args *FilterArgs, names *Names, failures []Failure, unresolvable, some bool) []byte {
	if !some {
		return append(dst, "{}"...)
	}
	start := len(dst)
	reason, from, to := "", 0, 0 // the last reason written, and where: most nodes in a row have the same one
	for _, one := range x.byRank {
		if one == 0 {
			continue
		}
		f := &failures[one-1]
		if f.Unresolvable != unresolvable {
			continue
		}
		dst = append(append(dst, ','), names.quoted(args.Rows[f.At])...)
		if to > 0 && f.Reason == reason {
			dst = append(dst, dst[from:to]...)
			continue
		}
		from = len(dst)
		dst = jsonscan.AppendString(append(dst, ':'), f.Reason)
		reason, to = f.Reason, len(dst)
	}
	if len(dst) == start { // of a name with several failures the last counts
		return append(dst, "{}"...)
	}
	dst[start] = '{' // instead of the first comma
	return append(dst, '}')
}

func (x *scratch) collect(args *FilterArgs, names *Names, failures []Failure) {
	x.named = x.named[:0]
	for i, f := range failures {
		var name []byte
		if args.byNodes() {
			name = args.Nodes[f.At].Name
		} else if row := args.Rows[f.At]; row < 0 {
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

func (x *scratch) appendNamed(dst []byte, failures []Failure, unresolvable bool) []byte {
	dst = append(dst, '{')
	first := true
	for k, one := range x.named {
		if k+1 < len(x.named) && bytes.Equal(one.name, x.named[k+1].name) {
			continue
		}
		if f := &failures[one.i]; f.Unresolvable == unresolvable {
			dst = jsonscan.AppendString(comma(dst, &first), one.name)
			dst = jsonscan.AppendString(append(dst, ':'), f.Reason)
		}
	}
	return append(dst, '}')
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
