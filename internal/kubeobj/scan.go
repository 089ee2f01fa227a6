package kubeobj

import (
	"errors"
	"fmt"
	"io"
)

// scanBuffer is the read size: large enough that refills don't count, small
// enough to be nothing beside one object's own limit.
const scanBuffer = 256 << 10

// scanner walks a stream of JSON byte by byte and checks its syntax. What lies
// between mark and pos stays in the buffer, so that one object can be taken as
// a contiguous slice; nothing else is ever held.
type scanner struct {
	r       io.Reader
	buf     []byte // buf[pos:] is unread
	pos     int
	mark    int   // start of the bytes to keep; -1 where none are
	base    int64 // offset of buf[0] in the stream
	readErr error
	tokens  int
	lim     Limits
	where   func() string // names the place for errors
}

func newScanner(r io.Reader, lim Limits, where func() string) *scanner {
	return &scanner{r: r, buf: make([]byte, 0, scanBuffer), mark: -1, lim: lim, where: where}
}

// scanBytes scans what is in memory already, where it lies: a buffer as large as
// a stream's would cost a small pod more than all else.
func scanBytes(b []byte, lim Limits, where func() string) *scanner {
	return &scanner{buf: b[:len(b):len(b)], readErr: io.EOF, mark: -1, lim: lim, where: where}
}

// fill reads more behind what is buffered; it is false at the end of the
// stream or at a failure, which err tells apart.
func (s *scanner) fill() bool {
	if s.readErr != nil {
		return false
	}
	keep := s.pos
	if s.mark >= 0 && s.mark < keep {
		keep = s.mark
	}
	if keep > 0 && (len(s.buf) == cap(s.buf) || keep == len(s.buf)) {
		n := copy(s.buf, s.buf[keep:])
		s.buf = s.buf[:n]
		s.pos -= keep
		if s.mark >= 0 {
			s.mark -= keep
		}
		s.base += int64(keep)
	}
	if s.pos-max(s.mark, 0) > s.lim.MaxObjectBytes && s.mark >= 0 {
		s.readErr = s.tooLarge()
		return false
	}
	if len(s.buf) == cap(s.buf) {
		grown := make([]byte, len(s.buf), 2*cap(s.buf))
		copy(grown, s.buf)
		s.buf = grown
	}
	for range 100 {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err != nil {
			s.readErr = err
		}
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	s.readErr = io.ErrNoProgress
	return false
}

func (s *scanner) tooLarge() error {
	return &LimitError{Limit: limitObjectBytes, Max: int64(s.lim.MaxObjectBytes), What: "the size of " + s.where()}
}

// fail is the error for bad syntax at pos, or the stream's own failure.
func (s *scanner) fail(format string, args ...any) error {
	if s.pos >= len(s.buf) && s.readErr != nil {
		if !errors.Is(s.readErr, io.EOF) {
			var limit *LimitError
			if errors.As(s.readErr, &limit) {
				return limit
			}
			return fmt.Errorf("read body: %w", s.readErr)
		}
		return &SyntaxError{Offset: s.base + int64(s.pos), Msg: "unexpected end of JSON in " + s.where()}
	}
	return &SyntaxError{Offset: s.base + int64(s.pos), Msg: fmt.Sprintf(format, args...) + " in " + s.where()}
}

// next skips white space and returns the byte that follows without taking it.
// ok is false at the end of the stream.
func (s *scanner) next() (c byte, ok bool) {
	for {
		buf := s.buf
		for i := s.pos; i < len(buf); i++ {
			c := buf[i]
			if c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
				s.pos = i
				return c, true
			}
		}
		s.pos = len(buf)
		if !s.fill() {
			return 0, false
		}
	}
}

// expect takes the byte c.
func (s *scanner) expect(c byte) error {
	got, ok := s.next()
	if !ok || got != c {
		return s.unexpected(fmt.Sprintf("%q", c))
	}
	s.pos++
	return nil
}

func (s *scanner) unexpected(want string) error {
	if s.pos < len(s.buf) {
		return s.fail("found %q where %s should be", s.buf[s.pos], want)
	}
	return s.fail("want %s", want)
}

// skipValue takes one value of any kind; depth is the number of arrays and
// objects around it.
func (s *scanner) skipValue(depth int) error {
	c, ok := s.next()
	if !ok {
		return s.unexpected("a value")
	}
	if err := s.countToken(); err != nil {
		return err
	}
	switch c {
	case '"':
		return s.skipString()
	case '{':
		return s.skipObject(depth + 1)
	case '[':
		return s.skipArray(depth + 1)
	case 't':
		return s.skipWord("true")
	case 'f':
		return s.skipWord("false")
	case 'n':
		return s.skipWord("null")
	default:
		return s.skipNumber()
	}
}

func (s *scanner) countToken() error {
	if s.tokens++; s.tokens > s.lim.MaxTokens {
		return &LimitError{Limit: limitTokens, Max: int64(s.lim.MaxTokens), What: "the number of JSON values"}
	}
	return nil
}

func (s *scanner) checkDepth(depth int) error {
	if depth > s.lim.MaxDepth {
		return &LimitError{Limit: limitDepth, Max: int64(s.lim.MaxDepth), What: "the nesting depth of " + s.where()}
	}
	return nil
}

func (s *scanner) skipObject(depth int) error {
	if err := s.checkDepth(depth); err != nil {
		return err
	}
	s.pos++
	c, ok := s.next()
	if ok && c == '}' {
		s.pos++
		return nil
	}
	for {
		if !ok || c != '"' {
			return s.unexpected("a key")
		}
		if err := s.skipString(); err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := s.skipValue(depth); err != nil {
			return err
		}
		if more, err := s.more('}', "',' or '}'"); !more {
			return err
		}
		c, ok = s.next()
	}
}

func (s *scanner) skipArray(depth int) error {
	if err := s.checkDepth(depth); err != nil {
		return err
	}
	s.pos++
	if c, ok := s.next(); ok && c == ']' {
		s.pos++
		return nil
	}
	for {
		if err := s.skipValue(depth); err != nil {
			return err
		}
		if more, err := s.more(']', "',' or ']'"); !more {
			return err
		}
	}
}

// more moves past the comma or the closing bracket behind an element, and reports whether it was a
// comma. want names both for the error.
func (s *scanner) more(end byte, want string) (bool, error) {
	c, ok := s.next()
	if !ok || c != ',' && c != end {
		return false, s.unexpected(want)
	}
	s.pos++
	return c == ',', nil
}
