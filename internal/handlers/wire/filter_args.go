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
	// Rows has one entry for each name in the request's order: the row that the NameTable gave, or
	// ^k for the name Unknown[k] that it didn't know. A null among the names is the empty name.
	Rows []int32
	// All is set where the names are all those of the table, each once. It may be false where they
	// are, but come in an order that the table did not foresee.
	All bool
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
	args.HasNames, args.All, args.Rows, args.Unknown = false, false, args.Rows[:0], args.Unknown[:0]
	if null, err := s.Null(); null || err != nil {
		return err
	}
	args.HasNames = true
	table, _ := p.Names.(*Names)
	o := table.current()
	place, breaks := 0, 0 // where in o the next name is foreseen, and how many came otherwise
	var text []byte       // from the first name on
	err := s.elements("NodeNames", "an array or null", func() error {
		if len(args.Rows) == 0 {
			s.Peek()
			text = s.Rest()
			if breaks = p.repeated(s, args, table); breaks > 0 {
				return nil
			}
		}
		if p.Limits.Names > 0 && len(args.Rows) == p.Limits.Names {
			return &LimitError{Limit: "names", Max: p.Limits.Names, Offset: s.Offset()}
		}
		more := func(at int) {
			next, others := p.foreseen(s, args, o, at)
			place, breaks = next, breaks+others
		}
		if s.Peek() == '"' && o != nil && len(o.rows) > 0 {
			if name := o.span(place, 1)[1:]; bytes.HasPrefix(s.Rest(), name) {
				if err := s.Count(1); err != nil {
					return err
				}
				s.Advance(len(name))
				args.Rows = append(args.Rows, o.rows[place])
				more(o.after(place))
				return nil
			}
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		if p.Names != nil {
			if row, ok := p.Names.Lookup(name); ok {
				if len(args.Rows) > 0 { // a list may begin anywhere
					breaks++
				}
				args.Rows = append(args.Rows, int32(row))
				if o != nil {
					more(o.after(int(o.places[row])))
				}
				return nil
			}
		}
		args.Rows = append(args.Rows, ^int32(len(args.Unknown)))
		args.Unknown = append(args.Unknown, name)
		return nil
	})
	if err == nil && table != nil && len(args.Rows) > 0 {
		args.All = len(args.Rows) == len(o.rows) && breaks == 0 && len(args.Unknown) == 0
		table.learn(args, breaks, text[:len(text)-len(s.Rest())])
	}
	return err
}

// foreseen reads on for as long as the names are the table's, with a comma and nothing else before
// each, which is how kube-scheduler writes: those of o from a place on many at once and, where they
// help little, some by themselves. It returns the place of the name after them, and how many came
// otherwise. Whatever else comes next, an error or a limit too, is left to the caller.
func (p *Parser) foreseen(s *scanner, args *FilterArgs, o *order, place int) (next, others int) {
	for {
		room := s.Room()
		if most := p.Limits.Names; most > 0 {
			room = min(room, most-len(args.Rows))
		}
		names, size := o.read(s.Rest(), place, room)
		args.Rows = append(args.Rows, o.rows[place:place+names]...)
		s.Advance(size)
		s.Tokens += names
		if place += names; place == len(o.rows) {
			place = 0
		}
		if names >= fewForeseen {
			continue
		}
		one := 0
		for room = min(room-names, byThemselves); one < room; one++ {
			at, size := o.other(s.Rest())
			if size == 0 {
				break
			}
			args.Rows = append(args.Rows, o.rows[at])
			s.Advance(size)
			if at != place {
				others++
			}
			place = o.after(at)
		}
		if s.Tokens += one; names+one == 0 {
			return place, others
		}
	}
}

// Up to fewForeseen names that come as foreseen, looking the next byThemselves up costs less than
// looking at each first whether it is foreseen.
const fewForeseen, byThemselves = 4, 32

// repeated reads the names of the list that the table keeps, where that comes again, and returns
// how many of them did not come as foreseen; 0 where another list comes.
func (p *Parser) repeated(s *scanner, args *FilterArgs, table *Names) (breaks int) {
	if table == nil {
		return 0
	}
	room := s.Room()
	if most := p.Limits.Names; most > 0 {
		room = min(room, most)
	}
	var size int
	args.Rows, size, breaks = table.last.again(args.Rows, s.Rest(), room)
	s.Advance(size)
	s.Tokens += len(args.Rows)
	return breaks
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

// appendName appends the i-th asked name to dst as a JSON string. o is nil without a table.
func (a *FilterArgs) appendName(dst []byte, o *order, i int) []byte {
	if row := a.Rows[i]; row < 0 {
		return jsonscan.AppendString(dst, a.Unknown[^row])
	} else {
		return append(dst, o.quoted(row)...)
	}
}
