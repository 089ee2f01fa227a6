package wire

import (
	"bytes"
	"strconv"
)

// isNull consumes a null if there is one. A null leaves a field as it is or empties it, never is an
// error.
func (s *scanner) isNull() (bool, error) {
	if s.peek() != 'n' {
		return false, nil
	}
	if err := s.token(); err != nil {
		return false, err
	}
	return true, s.literal("null")
}

// open consumes the opening bracket c of the value called field, or fails with the value's type.
func (s *scanner) open(c byte, field, want string) error {
	if s.peek() != c {
		return s.want(field, want)
	}
	if err := s.token(); err != nil {
		return err
	}
	if err := s.push(c == '{'); err != nil {
		return err
	}
	s.pos++
	return nil
}

// more reports whether another member or element follows, consuming the comma before it or the
// closing bracket.
func (s *scanner) more(closing byte, first bool) (bool, error) {
	switch c := s.peek(); {
	case c == closing:
		s.pos++
		s.depth--
		return false, nil
	case first:
		return true, nil
	case c == ',':
		s.pos++
		return true, nil
	}
	return false, s.syntax("want a comma or the end of the object or array")
}

// key reads a member's key and the colon.
func (s *scanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.syntax("want a key")
	}
	if err := s.token(); err != nil {
		return nil, err
	}
	key, err := s.text()
	if err != nil {
		return nil, err
	}
	if s.peek() != ':' {
		return nil, s.syntax("want a colon")
	}
	s.pos++
	return key, nil
}

// members calls member for each key of the object called field, which has to consume the key's
// value.
func (s *scanner) members(field, want string, member func(key []byte) error) error {
	if err := s.open('{', field, want); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.more('}', first)
		if err != nil || !more {
			return err
		}
		key, err := s.key()
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
	}
}

// elements calls element for each element of the array called field, which has to consume it.
func (s *scanner) elements(field, want string, element func() error) error {
	if err := s.open('[', field, want); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.more(']', first)
		if err != nil || !more {
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// is reports whether key names field as encoding/json sees it: in any case, Unicode's folding
// included.
func is(key []byte, field string) bool {
	return string(key) == field || bytes.EqualFold(key, []byte(field))
}

// rawObject consumes an object and gives its bytes, or nil for null.
func (s *scanner) rawObject(field string) ([]byte, error) {
	if null, err := s.isNull(); null || err != nil {
		return nil, err
	}
	if s.peek() != '{' {
		return nil, s.want(field, "an object or null")
	}
	start := s.pos
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.pos:s.pos], nil
}

// str reads a string into *to; a null leaves it as it is.
func (s *scanner) str(field string, to *string) error {
	if null, err := s.isNull(); null || err != nil {
		return err
	}
	if s.peek() != '"' {
		return s.want(field, "a string")
	}
	if err := s.token(); err != nil {
		return err
	}
	text, err := s.text()
	*to = string(text)
	return err
}

// integer reads an int64 into *to; a null leaves it as it is, a fraction or an exponent is an
// error.
func (s *scanner) integer(field string, to *int64) error {
	if null, err := s.isNull(); null || err != nil {
		return err
	}
	c := s.peek()
	start := s.pos
	if c != '-' && (c < '0' || c > '9') {
		return s.want(field, "an integer")
	}
	if err := s.skip(); err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(s.b[start:s.pos]), 10, 64)
	if err != nil {
		return &TypeError{Offset: start, Field: field, Want: "an integer of 64 bits"}
	}
	*to = n
	return nil
}
