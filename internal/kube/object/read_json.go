package object

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"berth/internal/jsonscan"
)

// scan returns the limits of a scanner.
func (l Limits) scan() jsonscan.Limits {
	return jsonscan.Limits{Depth: l.MaxDepth, Tokens: l.MaxTokens, ValuesOnly: true, Held: l.MaxObjectBytes}
}

// scanError words an error of the scanner; where names what was read. Other errors stay.
func (l Limits) scanError(err error, where func() string) error {
	if err == nil {
		return nil
	}
	var syntax *jsonscan.SyntaxError
	var limit *jsonscan.LimitError
	switch {
	case errors.As(err, &syntax):
		what := syntax.Reason
		if want, found := strings.CutPrefix(what, "want "); syntax.Ends {
			what = "unexpected end of JSON"
		} else if found {
			what = fmt.Sprintf("found %q where %s should be", syntax.Found, want)
		}
		return &SyntaxError{Offset: int64(syntax.Offset), Msg: what + " in " + where()}
	case errors.As(err, &limit) && limit.Limit == "tokens":
		return &LimitError{Limit: limitTokens, Max: int64(l.MaxTokens), What: "the number of JSON values"}
	case errors.As(err, &limit):
		return &LimitError{Limit: limitDepth, Max: int64(limit.Max), What: "the nesting depth of " + where()}
	case errors.Is(err, jsonscan.ErrHeld):
		return &LimitError{Limit: limitObjectBytes, Max: int64(l.MaxObjectBytes), What: "the size of " + where()}
	}
	return err
}

// readJSON reads JSON values one after another until the stream ends. So many lines were read
// before.
func (in *intake) readJSON(r io.Reader, lines int) error {
	s, from := &jsonscan.Scanner{}, &lineReader{in: r, before: lines}
	s.ResetStream(from, in.lim.scan())
	for n := 1; !s.Ended(); n++ {
		in.number(n)
		err := in.lim.scanError(in.value(s, listOf{}), in.where)
		if err != nil {
			return from.locate(err, s.Offset())
		}
	}
	return nil
}

// locate sets the line of an error in a stream that was read up to an offset. One without an offset
// is about the object that ends there.
func (r *lineReader) locate(err error, offset int) error {
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		at := int64(offset)
		if syntax.Offset >= 0 {
			at = syntax.Offset
		}
		syntax.Line = r.line(at)
	}
	return err
}

// value reads an object, or an array of them.
func (in *intake) value(s *jsonscan.Scanner, within listOf) error {
	in.found = true
	switch c := s.Peek(); {
	case c == '{':
		return in.object(s, within)
	case c == '[' && s.Depth == 0:
		return in.items(s, listOf{})
	}
	return s.Fail(wantObject)
}

const wantObject = "want an object"

// items reads a list's array of objects. What stands before it is held no longer.
func (in *intake) items(s *jsonscan.Scanner, of listOf) (err error) {
	if err := s.Open('['); err != nil {
		return err
	}
	if s.Holds() >= 0 {
		s.Release()
	}
	in.path = append(in.path, 0)
	at := len(in.path) - 1
	defer func() {
		err = in.lim.scanError(err, in.where)
		in.path = in.path[:at]
	}()
	for first := true; ; first = false {
		if more, err := s.More(']', first); !more {
			return err
		}
		if !first {
			in.path[at]++
		}
		if s.Peek() != '{' {
			return s.Fail(wantObject)
		}
		if err := in.object(s, of); err != nil {
			return err
		}
	}
}

// object reads one object that is either taken as a whole or, where it proves
// to be a list, item by item. Its bytes are held from its brace on until then.
func (in *intake) object(s *jsonscan.Scanner, within listOf) error {
	s.Hold()
	if err := s.Open('{'); err != nil {
		return err
	}
	var self listOf
	streamed, paged := false, false
	for first := true; ; first = false {
		more, err := s.More('}', first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		key, err := s.Key()
		if err != nil {
			return err
		}
		text := s.Peek() == '"'
		switch name := string(key); {
		case text && name == "kind" && self.kind == "":
			self.kind, err = textOf(s)
		case text && name == "apiVersion" && self.apiVersion == "":
			self.apiVersion, err = textOf(s)
		case name == "cursor":
			paged = true
			err = s.Skip()
		case name == "items" && (self.kind == "" || isList(self.kind)):
			if streamed {
				return s.Fail(`duplicate key "items"`)
			}
			streamed = true
			if self.kind == "" {
				self.held = &heldItems{}
			}
			err = in.listItems(s, self)
		case streamed:
			s.Hold() // no more than this value
			err = s.Skip()
		default:
			err = s.Skip()
		}
		if err != nil {
			return err
		}
	}
	size := s.Holds()
	if size > in.maxHeld {
		return jsonscan.ErrHeld
	}
	at := int64(s.Offset())
	var whole []byte
	if size >= 0 {
		whole = s.Release()
	}
	switch {
	case !streamed && self.apiVersion == "v1" && self.kind == "List":
		return nil // a List without items is an empty one
	case !streamed:
		return in.take(whole, within)
	case self.kind != "" && !isList(self.kind):
		return &SyntaxError{Offset: at, Msg: fmt.Sprintf("kind %s has items but isn't a list in %s", self.kind, in.where())}
	case self.kind == "" && (len(in.path) > 0 || self.apiVersion != ""):
		return &SyntaxError{Offset: at, Msg: "an object with items has no kind in " + in.where()}
	case self.kind == "":
		if in.unfinished = nil; paged {
			in.unfinished = &SyntaxError{Offset: -1, Msg: "the list has a cursor: it is one page, and the body must hold all of them"}
		}
	}
	return in.release(self)
}

func (in *intake) listItems(s *jsonscan.Scanner, self listOf) error {
	switch s.Peek() {
	case 'n':
		return s.Skip() // null: how Go writes an empty list
	case '[':
		return in.items(s, self)
	}
	return s.Fail("want items as an array")
}

// textOf takes a string that names a kind or a version.
func textOf(s *jsonscan.Scanner) (string, error) {
	if err := s.Count(1); err != nil {
		return "", err
	}
	text, err := s.Text()
	return string(text), err
}
