package wire

import (
	"bytes"

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
	// Rows has one entry for each name in the request's order: the row that Names gave, or
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
	Names *Names
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
	var text []byte // from the first name on
	again := 0      // how many bytes of it are the list that came last
	err := s.elements("NodeNames", "an array or null", func() error {
		if len(args.Rows) == 0 {
			s.Peek()
			text = s.Rest()
			if again = p.repeated(s, args); again > 0 {
				return nil
			}
		}
		if p.Limits.Names > 0 && len(args.Rows) == p.Limits.Names {
			return &LimitError{Limit: "names", Max: p.Limits.Names, Offset: s.Offset()}
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		if row, ok := p.Names.Lookup(name); ok {
			args.Rows = append(args.Rows, int32(row))
			return nil
		}
		args.Rows = append(args.Rows, ^int32(len(args.Unknown)))
		args.Unknown = append(args.Unknown, name)
		return nil
	})
	if err == nil && p.Names != nil && len(args.Unknown) == 0 && len(args.Rows) > 0 {
		if text = text[:len(text)-len(s.Rest())]; bytes.LastIndexByte(text, '"') >= again {
			p.Names.keep(text, args.Rows)
		}
	}
	return err
}

// repeated reads the names of the list that came last, where it comes again, and returns how many
// bytes they are; 0 where another list comes.
func (p *Parser) repeated(s *scanner, args *FilterArgs) (size int) {
	if p.Names == nil {
		return 0
	}
	room := s.Room()
	if most := p.Limits.Names; most > 0 {
		room = min(room, most)
	}
	args.Rows, size = p.Names.last.again(args.Rows, s.Rest(), room)
	s.Advance(size)
	s.Tokens += len(args.Rows)
	return size
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
	row := a.Rows[i]
	if row < 0 {
		return jsonscan.AppendString(dst, a.Unknown[^row])
	}
	return append(dst, names.quoted(row)...)
}
