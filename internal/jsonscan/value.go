package jsonscan

// Open takes the opening bracket c, which is the next byte.
func (s *Scanner) Open(c byte) error {
	if err := s.Count(1); err != nil {
		return err
	}
	return s.open(c == '{')
}

func (s *Scanner) open(object bool) error {
	if s.Depth >= s.maxDepth {
		return &LimitError{Limit: "depth", Max: s.maxDepth, Offset: s.base + s.pos}
	}
	bit := uint64(1) << (s.Depth & 63)
	if object {
		s.object[s.Depth>>6] |= bit
	} else {
		s.object[s.Depth>>6] &^= bit
	}
	if s.Depth++; s.Depth > s.Deepest {
		s.Deepest = s.Depth
	}
	s.pos++
	return nil
}

func (s *Scanner) inObject() bool {
	d := s.Depth - 1
	return s.object[d>>6]>>(d&63)&1 != 0
}

// More reports whether another member or element follows. It takes the comma before it, or the
// closing bracket.
func (s *Scanner) More(closing byte, first bool) (bool, error) {
	switch c := s.Peek(); {
	case c == closing:
		s.pos++
		s.Depth--
		return false, nil
	case first:
		return true, nil
	case c == ',':
		s.pos++
		return true, nil
	}
	return false, s.Fail(wantMore)
}

// The reasons that stand in more than one place.
const (
	wantMore  = "want a comma or the end of the object or array"
	wantKey   = "want a key"
	wantColon = "want a colon"
	wantDigit = "want a digit"
)

// Key takes a member's key, which it returns unescaped, and the colon. The result is valid until
// the next call.
func (s *Scanner) Key() ([]byte, error) {
	if s.Peek() != '"' {
		return nil, s.Fail(wantKey)
	}
	if err := s.countKey(); err != nil {
		return nil, err
	}
	key, err := s.Text()
	if err != nil {
		return nil, err
	}
	if s.src != nil { // the colon may be in the next part of the stream
		key = append([]byte(nil), key...)
	}
	if s.Peek() != ':' {
		return nil, s.Fail(wantColon)
	}
	s.pos++
	return key, nil
}

func (s *Scanner) countKey() error {
	if s.valuesOnly {
		return nil
	}
	return s.Count(1)
}

// Skip moves past one value. The usual steps, which need no more of a stream, are written out.
func (s *Scanner) Skip() error {
	base := s.Depth
value:
	c := s.ahead()
	if c <= ' ' {
		c = s.peekFar()
	}
	if err := s.Count(1); err != nil {
		return err
	}
	switch c {
	case '"':
		if err := s.skipString(); err != nil {
			return err
		}
	case '{', '[':
		if err := s.open(c == '{'); err != nil {
			return err
		}
		switch next := s.Peek(); {
		case next == c+2: // the closing bracket
			s.pos++
			s.Depth--
		case c == '{':
			goto key
		default:
			goto value
		}
	default:
		if err := s.skipScalar(c); err != nil {
			return err
		}
	}
	for s.Depth > base {
		if c = s.ahead(); c <= ' ' {
			c = s.peekFar()
		}
		object := s.inObject()
		switch {
		case c == ',' && object:
			s.pos++
			goto key
		case c == ',':
			s.pos++
			goto value
		case c == '}' && object, c == ']' && !object:
			s.pos++
			s.Depth--
		default:
			return s.Fail(wantMore)
		}
	}
	return nil
key:
	if c = s.ahead(); c <= ' ' {
		c = s.peekFar()
	}
	if c != '"' {
		return s.Fail(wantKey)
	}
	if err := s.countKey(); err != nil {
		return err
	}
	if err := s.skipString(); err != nil {
		return err
	}
	if c = s.ahead(); c <= ' ' {
		c = s.peekFar()
	}
	if c != ':' {
		return s.Fail(wantColon)
	}
	s.pos++
	goto value
}

// Null takes a null if one is next.
func (s *Scanner) Null() (bool, error) {
	if s.Peek() != 'n' {
		return false, nil
	}
	if err := s.Count(1); err != nil {
		return false, err
	}
	return true, s.literal("null")
}

// skipScalar moves past a number, true, false or null that begins with c.
func (s *Scanner) skipScalar(c byte) error {
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

func (s *Scanner) literal(word string) error {
	if rest := s.buf[s.pos:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
		s.pos += len(word)
		return nil
	}
	for i := range len(word) {
		if s.at() != word[i] {
			return s.Fail("want " + word)
		}
		s.pos++
	}
	return nil
}

// skipNumber moves past a number in JSON's own grammar: no leading zeros, no plus, no NaN.
func (s *Scanner) skipNumber() error {
	if s.at() == '-' {
		s.pos++
	}
	if s.at() == '0' {
		s.pos++
		if c := s.at(); '0' <= c && c <= '9' {
			return s.Fail("a number must not begin with 0")
		}
	} else if !s.digits() {
		return s.Fail("want a value")
	}
	if s.at() == '.' {
		if s.pos++; !s.digits() {
			return s.Fail(wantDigit)
		}
	}
	if c := s.at(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.at(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.Fail(wantDigit)
		}
	}
	return nil
}

// digits moves past a run of digits and reports whether there was one.
func (s *Scanner) digits() bool {
	for found := false; ; {
		b, i := s.buf, s.pos
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		found = found || i > s.pos
		if s.pos = i; i < len(b) || !s.fill() {
			return found
		}
	}
}
