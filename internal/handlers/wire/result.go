package wire

import "berth/internal/jsonscan"

// Outcome is what became of one asked node.
type Outcome uint8

const (
	// Kept nodes fit.
	Kept Outcome = iota
	// Failed nodes don't fit, and evicting pods of lower priority may change that: FailedNodes.
	Failed
	// Unresolvable nodes don't fit whatever is evicted: FailedAndUnresolvableNodes.
	Unresolvable
)

// Verdict is the outcome for one asked node.
type Verdict struct {
	// Outcome is the map the node goes into. An unknown value counts as Unresolvable, so that no
	// node is lost: one that is in neither result nor map would vanish from kube-scheduler's event.
	Outcome Outcome
	// Reason is the message beside a node that isn't kept; kube-scheduler counts equal ones in its
	// event.
	Reason string
}

// AppendFilterResult appends the ExtenderFilterResult that answers args in the form it was asked
// in: names if NodeNames was set, else the untouched bytes of the kept Nodes, else an empty list of
// names. verdicts are in the order of args.Rows or args.Nodes; len(verdicts) has to be equal. names
// is the table args was parsed with; nil if none. What is kept stays in the request's order, the
// maps are sorted by name, a node asked twice has its last verdict there.
func AppendFilterResult(dst []byte, args *FilterArgs, names *Names, verdicts []Verdict) []byte {
	if asked := args.asked(); len(verdicts) != asked {
		panic("wire: one verdict for each asked node is needed")
	}
	if args.byNodes() {
		dst = append(dst, `{"Nodes":{"metadata":{},"items":[`...)
		first := true
		for i, v := range verdicts {
			if v.Outcome == Kept {
				dst = append(comma(dst, &first), args.Nodes[i].Raw...)
			}
		}
		dst = append(dst, `]},"NodeNames":null`...)
	} else {
		dst = args.appendKept(append(dst, `{"Nodes":null,"NodeNames":`...), names.current(), verdicts)
	}
	dst = appendFailed(dst, args, names, verdicts)
	return append(dst, `,"Error":""}`...)
}

// appendKept appends the list of the names that are kept. o is nil without a table.
func (a *FilterArgs) appendKept(dst []byte, o *order, verdicts []Verdict) []byte {
	start := len(dst)
	for i := 0; i < len(verdicts); {
		if verdicts[i].Outcome != Kept {
			i++
			continue
		}
		row := a.Rows[i]
		if row < 0 {
			dst = jsonscan.AppendString(append(dst, ','), a.Unknown[^row])
			i++
			continue
		}
		place, n := int(o.places[row]), 1
		for i++; i < len(verdicts) && verdicts[i].Outcome == Kept && place+n < len(o.rows) && o.rows[place+n] == a.Rows[i]; i++ {
			n++
		}
		dst = append(dst, o.span(place, n)...)
	}
	if len(dst) == start {
		return append(dst, "[]"...)
	}
	dst[start] = '[' // instead of the first comma
	return append(dst, ']')
}

// AppendFilterError appends the ExtenderFilterResult of a call that failed as a whole.
// kube-scheduler shows message in the pod's event; it must not be empty, or the answer would read
// as "no node fits".
func AppendFilterError(dst []byte, message string) []byte {
	if message == "" {
		message = "unknown error"
	}
	dst = append(dst, `{"Nodes":null,"NodeNames":null,"FailedNodes":null,"FailedAndUnresolvableNodes":null,"Error":`...)
	return append(jsonscan.AppendString(dst, message), '}')
}

// AppendHostPriorityList appends the HostPriorityList that answers args: a bare array, one score
// for each asked node in the request's order. scores are in the order of args.Rows or args.Nodes;
// len(scores) has to be equal. kube-scheduler expects 0 to 10 and checks nothing.
func AppendHostPriorityList(dst []byte, args *FilterArgs, names *Names, scores []int64) []byte {
	if asked := args.asked(); len(scores) != asked {
		panic("wire: one score for each asked node is needed")
	}
	byNodes, start, o := args.byNodes(), len(dst), names.current()
	for i, score := range scores {
		dst = append(dst, `,{"Host":`...)
		if byNodes {
			dst = jsonscan.AppendString(dst, args.Nodes[i].Name)
		} else {
			dst = args.appendName(dst, o, i)
		}
		if uint64(score) < uint64(len(usualScores)) {
			dst = append(dst, usualScores[score]...)
		} else {
			dst = append(appendInt(append(dst, `,"Score":`...), score), '}')
		}
	}
	if len(dst) == start {
		return append(dst, "[]"...)
	}
	dst[start] = '[' // instead of the first comma
	return append(dst, ']')
}

// usualScores are the ends of HostPriorities, by score.
var usualScores = [...]string{
	`,"Score":0}`, `,"Score":1}`, `,"Score":2}`, `,"Score":3}`, `,"Score":4}`, `,"Score":5}`,
	`,"Score":6}`, `,"Score":7}`, `,"Score":8}`, `,"Score":9}`, `,"Score":10}`,
}

// byNodes reports whether the request is in Nodes mode. kube-scheduler sends one of the two;
// NodeNames wins.
func (a *FilterArgs) byNodes() bool { return a.HasNodes && !a.HasNames }

// asked is the number of nodes the answer is about.
func (a *FilterArgs) asked() int {
	if a.byNodes() {
		return len(a.Nodes)
	}
	return len(a.Rows)
}

// comma appends the comma before all but the first.
func comma(dst []byte, first *bool) []byte {
	if *first {
		*first = false
		return dst
	}
	return append(dst, ',')
}
