package kubeobj

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readJSON reads JSON values one after another until the stream ends.
func (in *intake) readJSON(r io.Reader) error {
	s := newScanner(r, in.lim, in.where)
	s.tokens = in.tokens
	defer func() { in.tokens = s.tokens }()
	for {
		c, ok := s.next()
		if !ok {
			if errors.Is(s.readErr, io.EOF) {
				return nil
			}
			return s.fail("")
		}
		if err := in.value(s, c, listOf{}, 0); err != nil {
			return err
		}
	}
}

// value reads an object, or an array of them, that begins with c.
func (in *intake) value(s *scanner, c byte, within listOf, depth int) error {
	in.found = true
	switch {
	case c == '{':
		return in.object(s, within, depth+1)
	case c == '[' && depth == 0:
		if err := s.countToken(); err != nil {
			return err
		}
		return in.items(s, listOf{}, depth+1)
	}
	return s.unexpected("an object")
}

// items reads a list's array of objects; the scanner stands at its bracket.
func (in *intake) items(s *scanner, of listOf, depth int) error {
	if err := s.checkDepth(depth); err != nil {
		return err
	}
	s.pos++
	s.mark = -1
	in.path = append(in.path, 0)
	at := len(in.path) - 1
	defer func() { in.path = in.path[:at] }()
	if c, ok := s.next(); ok && c == ']' {
		s.pos++
		return nil
	}
	for {
		c, ok := s.next()
		if !ok || c != '{' {
			return s.unexpected("an object")
		}
		if err := in.object(s, of, depth+1); err != nil {
			return err
		}
		if more, err := s.more(']', "',' or ']'"); !more {
			return err
		}
		in.path[at]++
	}
}

// object reads one object that is either taken as a whole or, where it proves
// to be a list, item by item. Its bytes are held from its brace on until then.
func (in *intake) object(s *scanner, within listOf, depth int) error {
	if err := s.checkDepth(depth); err != nil {
		return err
	}
	if err := s.countToken(); err != nil {
		return err
	}
	s.mark = s.pos
	s.pos++
	var self listOf
	streamed, first, paged := false, true, false
	for {
		c, ok := s.next()
		if ok && c == '}' {
			s.pos++
			break
		}
		if !first {
			if !ok || c != ',' {
				return s.unexpected("',' or '}'")
			}
			s.pos++
			c, ok = s.next()
		}
		first = false
		if !ok || c != '"' {
			return s.unexpected("a key")
		}
		key, err := s.word()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		c, ok = s.next()
		switch {
		case ok && c == '"' && key == "kind" && self.kind == "":
			self.kind, err = in.header(s)
		case ok && c == '"' && key == "apiVersion" && self.apiVersion == "":
			self.apiVersion, err = in.header(s)
		case key == "cursor":
			paged = true
			err = s.skipValue(depth)
		case ok && key == "items" && (self.kind == "" || isList(self.kind)):
			if streamed {
				return s.fail("duplicate key %q", key)
			}
			streamed = true
			err = in.listItems(s, c, self, depth+1)
		case streamed:
			s.mark = s.pos
			err = s.skipValue(depth)
		default:
			err = s.skipValue(depth)
		}
		if err != nil {
			return err
		}
	}
	if s.mark >= 0 && s.pos-s.mark > s.lim.MaxObjectBytes {
		return s.tooLarge()
	}
	mark := s.mark
	s.mark = -1
	if !streamed && isList(self.kind) && self.apiVersion == "v1" && self.kind == "List" {
		return nil // a List without items is an empty one
	}
	if !streamed {
		return in.take(s.buf[mark:s.pos], within)
	}
	at := s.base + int64(s.pos)
	switch {
	case self.kind != "" && !isList(self.kind):
		return &SyntaxError{Offset: at, Msg: fmt.Sprintf("kind %s has items but isn't a list in %s", self.kind, s.where())}
	case self.kind == "" && (len(in.path) > 0 || self.apiVersion != ""):
		return &SyntaxError{Offset: at, Msg: "an object with items has no kind in " + s.where()}
	case self.kind == "" && paged:
		return &SyntaxError{Offset: at, Msg: "the list has a cursor: it is one page, and the body must hold all of them"}
	}
	return nil
}

func (in *intake) listItems(s *scanner, c byte, self listOf, depth int) error {
	if c == 'n' {
		return s.skipValue(depth - 1) // null: how Go writes an empty list
	}
	if c != '[' {
		return s.unexpected("items as an array")
	}
	if err := s.countToken(); err != nil {
		return err
	}
	return in.items(s, self, depth)
}

// header takes a string value that names a kind or a version.
func (in *intake) header(s *scanner) (string, error) {
	if err := s.countToken(); err != nil {
		return "", err
	}
	return s.word()
}

// word takes a string and returns it unescaped. The bytes stay where an outer
// mark holds them.
func (s *scanner) word() (string, error) {
	outer := s.mark
	if outer < 0 {
		s.mark = s.pos
	}
	// An outer mark moves with the buffer, and so does the distance to it.
	from := s.pos - s.mark
	if err := s.skipString(); err != nil {
		return "", err
	}
	raw := s.buf[s.mark+from : s.pos]
	if outer < 0 {
		s.mark = -1
	}
	var w string
	if err := json.Unmarshal(raw, &w); err != nil {
		return "", fmt.Errorf("decode key: %w", err)
	}
	return w, nil
}
