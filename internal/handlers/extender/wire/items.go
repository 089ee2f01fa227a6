package wire

import "berth/internal/jsonscan"

// NodeItem is one node of a request in Nodes mode.
type NodeItem struct {
	// Raw is the node's JSON as it came, an object, or null where the list holds one.
	Raw []byte
	// Name is metadata.name, unescaped; empty if there is none. It is what encoding/json would put
	// there.
	Name []byte

	// known is set if KnownNodes recognised the item.
	known any
	// depth and tokens are what the item costs of the limits.
	depth, tokens int
}

// KnownNode is what a KnownNodes remembers of an item.
type KnownNode struct {
	// Size is the item's length in bytes.
	Size int
	// Name is the item's metadata.name.
	Name []byte

	known         any
	depth, tokens int
}

// KnownNodes recognises items that were scanned before. NodeCache implements it.
type KnownNodes interface {
	// Match reports whether rest begins with exactly the bytes of an item that is remembered under
	// name, or under another name if the implementation likes. name is only a hint read off the
	// item's beginning.
	Match(rest, name []byte) (KnownNode, bool)
}

// nodes reads Nodes.
func (p *Parser) nodes(s *scanner, args *FilterArgs) error {
	args.HasNodes, args.Nodes = false, args.Nodes[:0]
	if null, err := s.Null(); null || err != nil {
		return err
	}
	args.HasNodes = true
	return s.members("Nodes", "an object or null", func(key []byte) error {
		if !is(key, "items") {
			return s.Skip()
		}
		args.Nodes = args.Nodes[:0]
		if null, err := s.Null(); null || err != nil {
			return err
		}
		return s.elements("Nodes.items", "an array or null", func() error { return p.node(s, args) })
	})
}

// nodeSteps is how many steps a node counts for: its scan takes some ten microseconds.
const nodeSteps = 128

// node reads one item.
func (p *Parser) node(s *scanner, args *FilterArgs) error {
	if err := p.Steps.Take(nodeSteps); err != nil {
		return err
	}
	if p.Limits.Nodes > 0 && len(args.Nodes) == p.Limits.Nodes {
		return &LimitError{Limit: "nodes", Max: p.Limits.Nodes, Offset: s.Offset()}
	}
	c := s.Peek()
	if c == 'n' {
		s.Hold()
		_, err := s.Null()
		args.Nodes = append(args.Nodes, NodeItem{Raw: s.Release()})
		return err
	}
	if c != '{' {
		return s.want("Nodes.items", "objects")
	}
	if p.Known != nil {
		if hint := hintName(s.Rest()); hint != nil {
			if k, ok := p.Known.Match(s.Rest(), hint); ok {
				return s.takeKnown(k, args)
			}
		}
	}
	tokens, deepest := s.Tokens, s.Deepest
	s.Deepest = s.Depth
	s.Hold()
	name, err := s.item()
	if err != nil {
		return err
	}
	args.Nodes = append(args.Nodes, NodeItem{
		Raw: s.Release(), Name: name, depth: s.Deepest - s.Depth, tokens: s.Tokens - tokens,
	})
	s.Deepest = max(s.Deepest, deepest)
	return nil
}

// takeKnown moves past an item that needs no scan, charging it to the limits all the same.
func (s *scanner) takeKnown(k KnownNode, args *FilterArgs) error {
	if err := s.Count(k.tokens); err != nil {
		return err
	}
	if err := s.CheckDepth(k.depth); err != nil {
		return err
	}
	args.Nodes = append(args.Nodes, NodeItem{
		Raw: s.Rest()[:k.Size:k.Size], Name: k.Name, known: k.known, depth: k.depth, tokens: k.tokens,
	})
	s.Advance(k.Size)
	return nil
}

// item moves past a Node and gives its metadata.name. encoding/json decodes a second metadata over
// the first and leaves a name alone where it meets null, so the last string counts.
func (s *scanner) item() (name []byte, err error) {
	err = s.members("Nodes.items", "objects", func(key []byte) error {
		if !is(key, "metadata") || s.Peek() != '{' {
			return s.Skip()
		}
		return s.members("metadata", "an object", func(key []byte) (err error) {
			if !is(key, "name") || s.Peek() != '"' {
				return s.Skip()
			}
			if err := s.Count(1); err != nil {
				return err
			}
			name, err = s.Text()
			return err
		})
	})
	return name, err
}

// nodeStart is how a Node begins when Go marshals it.
const nodeStart = `{"metadata":{"name":"`

// hintName reads the name off the beginning of an item if the item begins as Go writes it, else
// gives nil. It proves nothing: an item may have a second name further on.
func hintName(rest []byte) []byte {
	if len(rest) < len(nodeStart) || string(rest[:len(nodeStart)]) != nodeStart {
		return nil
	}
	end := jsonscan.PlainEnd(rest, len(nodeStart))
	if end >= len(rest) || rest[end] != '"' {
		return nil
	}
	return rest[len(nodeStart):end]
}
