package wire

// PreemptionArgs is the request of /preempt, ExtenderPreemptionArgs in extender/v1.
type PreemptionArgs struct {
	// Pod is the JSON of the preemptor, an object; nil if it is null or absent. It is a part of the
	// body.
	Pod []byte
	// HasVictims reports that NodeNameToVictims, the form with whole pods, is an object; false
	// means null or absent.
	HasVictims bool
	// Victims are its nodes in the body's order, each name once.
	Victims []NodeVictims
	// HasMetaVictims reports that NodeNameToMetaVictims, the form with UIDs, is an object; false
	// means null or absent.
	HasMetaVictims bool
	// MetaVictims are its nodes in the body's order, each name once.
	MetaVictims []MetaVictims
}

// NodeVictims are the pods that would be evicted from one node, as whole objects.
type NodeVictims struct {
	// Node is the node's name.
	Node string
	// Null reports that null stood where the victims should.
	Null bool
	// Pods are the pods' JSON in the given order, parts of the body; nil for a null among them.
	Pods [][]byte
	// NumPDBViolations is the number of disruption budgets' violations, as the sender counted it.
	NumPDBViolations int64
}

// MetaVictims are the pods that would be evicted from one node, by UID.
type MetaVictims struct {
	// Node is the node's name.
	Node string
	// Null reports that null stood where the victims should. It is of no meaning in an answer.
	Null bool
	// UIDs are the pods' UIDs in the given order, highest priority first; empty for a null among
	// them.
	UIDs []string
	// NumPDBViolations is the number of disruption budgets' violations.
	NumPDBViolations int64
}

// preemption is a PreemptionArgs being read.
type preemption struct {
	scanner
	args    PreemptionArgs
	lim     Limits
	victims int
}

// ParsePreemptionArgs reads the body of /preempt in either form. Limits.Nodes bounds each form by
// itself, Limits.Victims both together. The error is a *SyntaxError, *TypeError or *LimitError.
func ParsePreemptionArgs(body []byte, lim Limits) (PreemptionArgs, error) {
	p := preemption{lim: lim}
	if err := p.init(body, lim); err != nil {
		return PreemptionArgs{}, err
	}
	err := p.members("body", "an object", func(key []byte) (err error) {
		switch {
		case is(key, "Pod"):
			p.args.Pod, err = p.rawObject("Pod")
		case is(key, "NodeNameToVictims"):
			err = p.victimsMap()
		case is(key, "NodeNameToMetaVictims"):
			err = p.metaVictimsMap()
		default:
			err = p.Skip()
		}
		return err
	})
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return PreemptionArgs{}, err
	}
	p.args.Victims = lastOfEach(p.args.Victims, func(v *NodeVictims) string { return v.Node })
	p.args.MetaVictims = lastOfEach(p.args.MetaVictims, func(v *MetaVictims) string { return v.Node })
	return p.args, nil
}

func (p *preemption) victimsMap() error {
	const field = "NodeNameToVictims"
	if null, err := p.Null(); null || err != nil {
		p.args.HasVictims, p.args.Victims = false, nil
		return err
	}
	p.args.HasVictims = true
	return p.members(field, "an object or null", func(key []byte) error {
		v := NodeVictims{Node: string(key)}
		pods := func() error {
			pod, err := p.rawObject(field + ".Pods")
			v.Pods = append(v.Pods, pod)
			return err
		}
		reset := func() { v.Pods = nil }
		if err := p.nodeVictims(field, len(p.args.Victims), &v.Null, &v.NumPDBViolations, reset, pods); err != nil {
			return err
		}
		p.args.Victims = append(p.args.Victims, v)
		return nil
	})
}

func (p *preemption) metaVictimsMap() error {
	const field = "NodeNameToMetaVictims"
	if null, err := p.Null(); null || err != nil {
		p.args.HasMetaVictims, p.args.MetaVictims = false, nil
		return err
	}
	p.args.HasMetaVictims = true
	return p.members(field, "an object or null", func(key []byte) error {
		v := MetaVictims{Node: string(key)}
		pods := func() error {
			uid, err := p.metaPod(field + ".Pods")
			v.UIDs = append(v.UIDs, uid)
			return err
		}
		reset := func() { v.UIDs = nil }
		if err := p.nodeVictims(field, len(p.args.MetaVictims), &v.Null, &v.NumPDBViolations, reset, pods); err != nil {
			return err
		}
		p.args.MetaVictims = append(p.args.MetaVictims, v)
		return nil
	})
}

// nodeVictims reads the value beside a node's name. reset empties the pods, pod reads one; nodes is
// the number of nodes read before this one.
func (p *preemption) nodeVictims(field string, nodes int, isNull *bool, pdb *int64, reset func(), pod func() error) error {
	if p.lim.Nodes > 0 && nodes >= p.lim.Nodes {
		return &LimitError{Limit: "nodes", Max: p.lim.Nodes, Offset: p.Offset()}
	}
	null, err := p.Null()
	if *isNull = null; null || err != nil {
		return err
	}
	return p.members(field, "objects", func(key []byte) error {
		switch {
		case is(key, "Pods"):
			reset()
			if null, err := p.Null(); null || err != nil {
				return err
			}
			onNode := 0
			return p.elements(field+".Pods", "an array or null", func() error {
				onNode++
				p.victims++
				if p.lim.VictimsPerNode > 0 && onNode > p.lim.VictimsPerNode {
					return &LimitError{Limit: "victimsPerNode", Max: p.lim.VictimsPerNode, Offset: p.Offset()}
				}
				if p.lim.Victims > 0 && p.victims > p.lim.Victims {
					return &LimitError{Limit: "victims", Max: p.lim.Victims, Offset: p.Offset()}
				}
				return pod()
			})
		case is(key, "NumPDBViolations"):
			return p.integer(field+".NumPDBViolations", pdb)
		}
		return p.Skip()
	})
}

func (p *preemption) metaPod(field string) (uid string, err error) {
	if null, err := p.Null(); null || err != nil {
		return "", err
	}
	err = p.members(field, "objects", func(key []byte) error {
		if is(key, "UID") {
			return p.str(field+".UID", &uid)
		}
		return p.Skip()
	})
	return uid, err
}

// lastOfEach drops all but the last entry of each name, keeping the order. kube-scheduler writes
// maps sorted, which proves without a map that there is nothing to drop.
func lastOfEach[T any](list []T, name func(*T) string) []T {
	sorted := true
	for i := 1; i < len(list) && sorted; i++ {
		sorted = name(&list[i-1]) < name(&list[i])
	}
	if sorted {
		return list
	}
	last := make(map[string]int, len(list))
	for i := range list {
		last[name(&list[i])] = i
	}
	kept := list[:0]
	for i := range list {
		if last[name(&list[i])] == i {
			kept = append(kept, list[i])
		}
	}
	return kept
}
