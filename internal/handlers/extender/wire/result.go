package wire

import "berth/internal/jsonscan"

// Failure says of an asked node that it does not fit.
type Failure struct {
	// At is the node's place in args.Rows or args.Nodes.
	At int
	// Unresolvable nodes don't fit whatever is evicted: FailedAndUnresolvableNodes. Evicting pods
	// of lower priority may help the others: FailedNodes.
	Unresolvable bool
	// Reason is the message beside the node; kube-scheduler counts equal ones in its event.
	Reason string
}

// AppendFilterResult appends the ExtenderFilterResult that answers args in the form it was asked
// in: names if NodeNames was set, else the untouched bytes of the kept Nodes, else an empty list of
// names. failures are in the order asked, at most one for each asked node; all others are kept, so
// that no node is lost: one that is in neither result nor map would vanish from kube-scheduler's
// event. names is the table args was parsed with; nil if none. What is kept stays in the request's
// order, the maps are sorted by name, a node asked twice has its last failure there.
func AppendFilterResult(dst []byte, args *FilterArgs, names *Names, failures []Failure) []byte {
	if args.byNodes() {
		dst = args.appendKept(append(dst, `{"Nodes":{"metadata":{},"items":`...), nil, failures)
		dst = append(dst, `},"NodeNames":null`...)
	} else {
		dst = args.appendKept(append(dst, `{"Nodes":null,"NodeNames":`...), names, failures)
	}
	dst = appendFailed(dst, args, names, failures)
	return append(dst, `,"Error":""}`...)
}

// appendKept appends the list of what is kept.
func (a *FilterArgs) appendKept(dst []byte, names *Names, failures []Failure) []byte {
	start := len(dst)
	for i := range a.asked() {
		if len(failures) > 0 && failures[0].At == i {
			failures = failures[1:]
			continue
		}
		if dst = append(dst, ','); a.byNodes() {
			dst = append(dst, a.Nodes[i].Raw...)
		} else {
			dst = a.appendName(dst, names, i)
		}
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
	byNodes, start := args.byNodes(), len(dst)
	for i, score := range scores {
		dst = append(dst, `,{"Host":`...)
		if byNodes {
			dst = jsonscan.AppendString(dst, args.Nodes[i].Name)
		} else {
			dst = args.appendName(dst, names, i)
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
