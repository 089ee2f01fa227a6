package wire

import "math"

// scanner walks over a body once, validating it as encoding/json does and counting depth and
// tokens.
type scanner struct {
	b         []byte
	pos       int
	depth     int
	tokens    int
	maxDepth  int
	maxTokens int
	// deepest is the largest depth seen since the caller last set it; NodeCache stores it with an
	// item.
	deepest int
	// object has one bit for each open level: set for an object, clear for an array.
	object [maxNesting/64 + 1]uint64
}

func (s *scanner) init(body []byte, lim Limits) error {
	s.b, s.maxDepth, s.maxTokens = body, maxNesting, math.MaxInt
	if lim.Depth > 0 && lim.Depth < maxNesting {
		s.maxDepth = lim.Depth
	}
	if lim.Tokens > 0 {
		s.maxTokens = lim.Tokens
	}
	if lim.Bytes > 0 && len(body) > lim.Bytes {
		return &LimitError{Limit: "bytes", Max: lim.Bytes, Offset: lim.Bytes}
	}
	return nil
}

// end accepts nothing but white space up to the end of the body.
func (s *scanner) end() error {
	if s.space(); s.pos < len(s.b) {
		return s.syntax("data after the value")
	}
	return nil
}

func (s *scanner) syntax(reason string) error { return &SyntaxError{Offset: s.pos, Reason: reason} }

// want is the error for a value of the wrong type, or the syntax error if there is no value at all.
func (s *scanner) want(field, what string) error {
	offset := s.pos
	if err := s.skip(); err != nil {
		return err
	}
	return &TypeError{Offset: offset, Field: field, Want: what}
}

// space moves to the next byte that isn't white space.
func (s *scanner) space() {
	b, i := s.b, s.pos
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	s.pos = i
}

// peek skips white space and returns the byte after it, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.b) && s.b[s.pos] > ' ' {
		return s.b[s.pos]
	}
	if s.space(); s.pos < len(s.b) {
		return s.b[s.pos]
	}
	return 0
}

func (s *scanner) token() error {
	if s.tokens++; s.tokens > s.maxTokens {
		return &LimitError{Limit: "tokens", Max: s.maxTokens, Offset: s.pos}
	}
	return nil
}

func (s *scanner) push(object bool) error {
	if s.depth >= s.maxDepth {
		return &LimitError{Limit: "depth", Max: s.maxDepth, Offset: s.pos}
	}
	bit := uint64(1) << (s.depth & 63)
	if object {
		s.object[s.depth>>6] |= bit
	} else {
		s.object[s.depth>>6] &^= bit
	}
	if s.depth++; s.depth > s.deepest {
		s.deepest = s.depth
	}
	return nil
}

func (s *scanner) inObject() bool {
	d := s.depth - 1
	return s.object[d>>6]>>(d&63)&1 != 0
}

// skip moves past one value.
func (s *scanner) skip() error {
	base := s.depth
value:
	c := s.peek()
	if err := s.token(); err != nil {
		return err
	}
	switch c {
	case '"':
		if err := s.skipString(); err != nil {
			return err
		}
	case '{':
		if err := s.push(true); err != nil {
			return err
		}
		s.pos++
		if s.peek() != '}' {
			goto key
		}
		s.pos++
		s.depth--
	case '[':
		if err := s.push(false); err != nil {
			return err
		}
		s.pos++
		if s.peek() != ']' {
			goto value
		}
		s.pos++
		s.depth--
	default:
		if err := s.skipScalar(c); err != nil {
			return err
		}
	}
after:
	if s.depth == base {
		return nil
	}
	switch c = s.peek(); {
	case c == ',':
		s.pos++
		if s.inObject() {
			goto key
		}
		goto value
	case c == '}' && s.inObject(), c == ']' && !s.inObject():
		s.pos++
		s.depth--
		goto after
	}
	return s.syntax("want a comma or the end of the object or array")
key:
	if s.peek() != '"' {
		return s.syntax("want a key")
	}
	if err := s.token(); err != nil {
		return err
	}
	if err := s.skipString(); err != nil {
		return err
	}
	if s.peek() != ':' {
		return s.syntax("want a colon")
	}
	s.pos++
	goto value
}

// skipScalar moves past a number, true, false or null that begins with c.
func (s *scanner) skipScalar(c byte) error {
	switch c {
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	return s.skipNumber()
}

func (s *scanner) literal(word string) error {
	for i := range len(word) {
		if s.pos >= len(s.b) || s.b[s.pos] != word[i] {
			return s.syntax("want " + word)
		}
		s.pos++
	}
	return nil
}

func (s *scanner) skipNumber() error {
	b := s.b
	at := func(i int) byte {
		if i < len(b) {
			return b[i]
		}
		return 0
	}
	if at(s.pos) == '-' {
		s.pos++
	}
	if at(s.pos) == '0' {
		s.pos++
	} else if !s.digits() {
		return s.syntax("want a value")
	}
	if at(s.pos) == '.' {
		if s.pos++; !s.digits() {
			return s.syntax("want a digit")
		}
	}
	if c := at(s.pos); c == 'e' || c == 'E' {
		s.pos++
		if c := at(s.pos); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.syntax("want a digit")
		}
	}
	return nil
}

// digits moves past a run of digits and reports whether there was one.
func (s *scanner) digits() bool {
	i := s.pos
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	found := i > s.pos
	s.pos = i
	return found
}
