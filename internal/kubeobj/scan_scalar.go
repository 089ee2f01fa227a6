package kubeobj

// plainByte marks the bytes that need no look inside a string.
var plainByte = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// skipString takes a string; pos is at its opening quote.
func (s *scanner) skipString() error {
	s.pos++
	for {
		buf := s.buf
		i := s.pos
		for i < len(buf) && plainByte[buf[i]] {
			i++
		}
		s.pos = i
		if i == len(buf) {
			if !s.fill() {
				return s.fail("unfinished string")
			}
			continue
		}
		switch buf[i] {
		case '"':
			s.pos++
			return nil
		case '\\':
			if err := s.skipEscape(); err != nil {
				return err
			}
		default:
			return s.fail("control character %#02x in a string", buf[i])
		}
	}
}

// skipEscape takes an escape; pos is at its backslash.
func (s *scanner) skipEscape() error {
	c, ok := s.byteAt(1)
	if !ok {
		return s.fail("unfinished string")
	}
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return nil
	case 'u':
		for i := 2; i < 6; i++ {
			if c, ok := s.byteAt(i); !ok || !isHex(c) {
				return s.fail("bad \\u escape")
			}
		}
		s.pos += 6
		return nil
	}
	return s.fail("bad escape %q", c)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// byteAt looks i bytes ahead of pos.
func (s *scanner) byteAt(i int) (byte, bool) {
	for s.pos+i >= len(s.buf) {
		if !s.fill() {
			return 0, false
		}
	}
	return s.buf[s.pos+i], true
}

func (s *scanner) skipWord(word string) error {
	for i := range len(word) {
		if c, ok := s.byteAt(i); !ok || c != word[i] {
			return s.fail("bad word, want %s", word)
		}
	}
	s.pos += len(word)
	return nil
}

// skipNumber takes a number in JSON's own grammar: no leading zeros, no plus,
// no NaN.
func (s *scanner) skipNumber() error {
	n := 0
	at := func() byte {
		c, _ := s.byteAt(n)
		return c
	}
	digits := func() bool {
		from := n
		for isDigit(at()) {
			n++
		}
		return n > from
	}
	if at() == '-' {
		n++
	}
	if at() == '0' {
		n++
	} else if !digits() {
		return s.unexpected("a value")
	}
	if at() == '.' {
		n++
		if !digits() {
			return s.fail("bad number")
		}
	}
	if c := at(); c == 'e' || c == 'E' {
		n++
		if c := at(); c == '+' || c == '-' {
			n++
		}
		if !digits() {
			return s.fail("bad number")
		}
	}
	if isDigit(at()) {
		return s.fail("a number must not begin with 0")
	}
	s.pos += n
	return nil
}
