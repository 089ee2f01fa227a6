package wire

import (
	"bytes"
	"strconv"

	"berth/internal/jsonscan"
)

// scanner reads a body by the protocol's fields.
type scanner struct{ jsonscan.Scanner }

func (s *scanner) init(body []byte, lim Limits) error {
	s.Reset(body, jsonscan.Limits{Depth: lim.Depth, Tokens: lim.Tokens})
	if lim.Bytes > 0 && len(body) > lim.Bytes {
		return &LimitError{Limit: "bytes", Max: lim.Bytes, Offset: lim.Bytes}
	}
	return nil
}

// end accepts nothing but white space up to the end of the body.
func (s *scanner) end() error {
	if !s.Ended() {
		return s.Fail("data after the value")
	}
	return nil
}

// want is the error for a value of the wrong type, or the syntax error if there is no value at all.
func (s *scanner) want(field, what string) error {
	offset := s.Offset()
	if err := s.Skip(); err != nil {
		return err
	}
	return &TypeError{Offset: offset, Field: field, Want: what}
}

// open takes the opening bracket c of the value called field, or fails with the value's type.
func (s *scanner) open(c byte, field, want string) error {
	if s.Peek() != c {
		return s.want(field, want)
	}
	return s.Open(c)
}

// members calls member for each key of the object called field, which has to consume the key's
// value.
func (s *scanner) members(field, want string, member func(key []byte) error) error {
	if err := s.open('{', field, want); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.More('}', first)
		if err != nil || !more {
			return err
		}
		key, err := s.Key()
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
		more, err := s.More(']', first)
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

// rawObject takes an object and returns its bytes, or nil for null.
func (s *scanner) rawObject(field string) ([]byte, error) {
	if null, err := s.Null(); null || err != nil {
		return nil, err
	}
	if s.Peek() != '{' {
		return nil, s.want(field, "an object or null")
	}
	s.Hold()
	if err := s.Skip(); err != nil {
		return nil, err
	}
	return s.Release(), nil
}

// str reads a string into *to; a null leaves it as it is.
func (s *scanner) str(field string, to *string) error {
	if null, err := s.Null(); null || err != nil {
		return err
	}
	if s.Peek() != '"' {
		return s.want(field, "a string")
	}
	if err := s.Count(1); err != nil {
		return err
	}
	text, err := s.Text()
	*to = string(text)
	return err
}

// integer reads an int64 into *to; a null leaves it as it is, a fraction or an exponent is an
// error.
func (s *scanner) integer(field string, to *int64) error {
	if null, err := s.Null(); null || err != nil {
		return err
	}
	c := s.Peek()
	start := s.Offset()
	s.Hold()
	if c != '-' && (c < '0' || c > '9') {
		return s.want(field, "an integer")
	}
	if err := s.Skip(); err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(s.Release()), 10, 64)
	if err != nil {
		return &TypeError{Offset: start, Field: field, Want: "an integer of 64 bits"}
	}
	*to = n
	return nil
}
