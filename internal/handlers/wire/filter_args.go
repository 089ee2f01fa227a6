package wire

import (
	"berth/internal/jsonscan"
	"berth/internal/steps"
)

// FilterArgs is the request of /filter and /prioritize, ExtenderArgs in extender/v1. A value can be
// parsed into again and then keeps its slices' memory. It shares memory with the body.
type FilterArgs struct {
	// Pod is the JSON of the pod, an object; nil if it is null or absent.
	Pod []byte
	// HasNames reports that NodeNames is an array, even an empty one; false means null or absent.
	HasNames bool
	// Rows has one entry for each name in the request's order: the row that the NameTable gave, or
	// ^k for the name Unknown[k] that it didn't know. A null among the names is the empty name.
	Rows []int32
	// Unknown holds the names without a row, unescaped, in the request's order.
	Unknown [][]byte
	// HasNodes reports that Nodes is an object; false means null or absent.
	HasNodes bool
	// Nodes are the items of the NodeList in their order; empty if items is null, absent or empty.
	Nodes []NodeItem
}

// Parser reads ExtenderArgs. Its fields are read only, so that one Parser serves concurrent calls.
type Parser struct {
	// Limits bounds the body.
	Limits Limits
	// Names resolves NodeNames. Without it every name is unknown.
	Names NameTable
	// Known recognises Nodes that came before, usually a *NodeCache. Nil scans every one.
	Known KnownNodes
	// Steps ends the scan of whole nodes once its context has ended. Nil never does.
	Steps *steps.Counter
}

// FilterArgs reads the body of /filter or /prioritize into args, whose old content is dropped. The
// error is a *SyntaxError, *TypeError, *LimitError or that of the context of Steps; args then is
// half-filled and of no use.
func (p *Parser) FilterArgs(body []byte, args *FilterArgs) error {
	clear(args.Unknown)
	clear(args.Nodes)
	*args = FilterArgs{Rows: args.Rows[:0], Unknown: args.Unknown[:0], Nodes: args.Nodes[:0]}
	var s scanner
	if err := s.init(body, p.Limits); err != nil {
		return err
	}
	err := s.members("body", "an object", func(key []byte) (err error) {
		switch {
		case is(key, "Pod"):
			args.Pod, err = s.rawObject("Pod")
		case is(key, "NodeNames"):
			err = p.nodeNames(&s, args)
		case is(key, "Nodes"):
			err = p.nodes(&s, args)
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.end()
}

func (p *Parser) nodeNames(s *scanner, args *FilterArgs) error {
	args.HasNames, args.Rows, args.Unknown = false, args.Rows[:0], args.Unknown[:0]
	if null, err := s.Null(); null || err != nil {
		return err
	}
	args.HasNames = true
	table, _ := p.Names.(*Names)
	predicted := 0
	return s.elements("NodeNames", "an array or null", func() error {
		if p.Limits.Names > 0 && len(args.Rows) == p.Limits.Names {
			return &LimitError{Limit: "names", Max: p.Limits.Names, Offset: s.Offset()}
		}
		if table != nil {
			if row, size, ok := table.match(s.Rest(), predicted); ok {
				if err := s.Count(1); err != nil {
					return err
				}
				s.Advance(size)
				args.Rows = append(args.Rows, int32(row))
				predicted = p.guessed(s, args, table, row+1)
				return nil
			}
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		if p.Names != nil {
			if row, ok := p.Names.Lookup(name, predicted); ok {
				args.Rows = append(args.Rows, int32(row))
				predicted = row + 1
				return nil
			}
		}
		args.Rows = append(args.Rows, ^int32(len(args.Unknown)))
		args.Unknown = append(args.Unknown, name)
		return nil
	})
}

// guessed reads on for as long as each name is the guessed one, with a comma and nothing else
// before it, and returns what predicts the name after them. That is how kube-scheduler writes, and
// takes half of what reading name by name does. Whatever else comes next, an error or a limit too,
// is left to the caller.
func (p *Parser) guessed(s *scanner, args *FilterArgs, table *Names, predicted int) int {
	room, rest := s.Room(), s.Rest()
	if most := p.Limits.Names; most > 0 {
		room = min(room, most-len(args.Rows))
	}
	at, names := 0, 0
	for names < room && at < len(rest) && rest[at] == ',' {
		row, size, ok := table.match(rest[at+1:], predicted)
		if !ok {
			break
		}
		at += 1 + size
		names++
		args.Rows = append(args.Rows, int32(row))
		predicted = row + 1
	}
	s.Advance(at)
	s.Tokens += names
	return predicted
}

// name reads one element of NodeNames.
func (s *scanner) name() ([]byte, error) {
	if null, err := s.Null(); null || err != nil {
		return nil, err
	}
	if s.Peek() != '"' {
		return nil, s.want("NodeNames", "strings")
	}
	if err := s.Count(1); err != nil {
		return nil, err
	}
	return s.Text()
}

// appendName appends the i-th asked name to dst as a JSON string.
func (a *FilterArgs) appendName(dst []byte, names *Names, i int) []byte {
	if row := a.Rows[i]; row < 0 {
		return jsonscan.AppendString(dst, a.Unknown[^row])
	} else {
		return append(dst, names.Quoted(int(row))...)
	}
}
