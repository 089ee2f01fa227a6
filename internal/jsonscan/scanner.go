// Package jsonscan is the one tokenizer of JSON: it knows white space, strings and their escapes,
// numbers, nesting, and where a text stops being JSON.
//
// A Scanner checks a text that it has not seen, from memory or from a stream, as encoding/json
// does, and counts depth and tokens while it goes. What it has checked is walked over by functions
// that check nothing (ValueEnd, Members, Token).
package jsonscan

import (
	"errors"
	"io"
	"math"
)

// maxNesting is the depth at which encoding/json gives up; no limit goes beyond it.
const maxNesting = 10000

// streamBuffer is the read size: large enough that refills do not count, and small beside one
// object's own limit.
const streamBuffer = 256 << 10

// Limits bound what a Scanner accepts. A zero field sets no bound; Depth then is 10,000.
type Limits struct {
	// Depth bounds the nesting of objects and arrays; the outermost is depth 1.
	Depth int
	// Tokens bounds the number of keys and values; an object or array is one value more than what
	// is in it.
	Tokens int
	// ValuesOnly leaves the keys out of the tokens.
	ValuesOnly bool
	// Held bounds the bytes of a stream that are held since Hold.
	Held int
}

// Scanner walks over JSON once. The zero value is not usable: call Reset or ResetStream.
type Scanner struct {
	// Depth is the number of objects and arrays that are open, Deepest the largest depth since the
	// caller last set it.
	Depth, Deepest int
	// Tokens counts keys and values.
	Tokens int

	buf []byte // buf[pos:] is unread
	pos int

	maxDepth, maxTokens, maxHeld int
	valuesOnly                   bool

	src  io.Reader
	err  error // why src has no more
	base int   // offset of buf[0] in the stream
	held int   // start of the bytes to keep; -1: none are kept

	// object has one bit for each open level: set for an object, clear for an array.
	object [maxNesting/64 + 1]uint64
}

// Reset begins with a text in memory, which must not change as long as anything that was read from
// it is used.
func (s *Scanner) Reset(text []byte, lim Limits) {
	s.Depth, s.Deepest, s.Tokens, s.pos, s.base, s.held = 0, 0, 0, 0, 0, -1
	s.buf, s.src, s.err = text, nil, io.EOF
	s.maxDepth, s.maxTokens, s.maxHeld, s.valuesOnly = maxNesting, math.MaxInt, math.MaxInt, lim.ValuesOnly
	if lim.Depth > 0 {
		s.maxDepth = min(lim.Depth, maxNesting)
	}
	if lim.Tokens > 0 {
		s.maxTokens = lim.Tokens
	}
	if lim.Held > 0 {
		s.maxHeld = lim.Held
	}
}

// ResetStream begins with a stream. Only what Hold keeps stays in memory.
func (s *Scanner) ResetStream(r io.Reader, lim Limits) {
	s.Reset(make([]byte, 0, streamBuffer), lim)
	s.src, s.err = r, nil
}

// Offset is the number of bytes before the next one.
func (s *Scanner) Offset() int { return s.base + s.pos }

// Rest returns what is in memory of the text, from the next byte on.
func (s *Scanner) Rest() []byte { return s.buf[s.pos:] }

// Advance moves over n bytes of Rest that the caller has recognized.
func (s *Scanner) Advance(n int) { s.pos += n }

// Hold keeps what follows in memory, until Release.
func (s *Scanner) Hold() { s.held = s.pos }

// Holds returns how many bytes were held since Hold; -1 if none are held.
func (s *Scanner) Holds() int {
	if s.held < 0 {
		return -1
	}
	return s.pos - s.held
}

// Release returns the bytes since Hold, which are valid until the next call, and holds no longer.
func (s *Scanner) Release() []byte {
	b := s.buf[s.held:s.pos:s.pos]
	s.held = -1
	return b
}

// fill reads more of a stream behind what is buffered; false at its end or failure.
func (s *Scanner) fill() bool {
	if s.err != nil {
		return false
	}
	keep := s.pos
	if s.held >= 0 {
		keep = min(s.held, keep)
		if s.pos-s.held > s.maxHeld {
			s.err = ErrHeld
			return false
		}
	}
	if keep > 0 && (len(s.buf) == cap(s.buf) || keep == len(s.buf)) {
		s.buf = s.buf[:copy(s.buf, s.buf[keep:])]
		s.pos -= keep
		s.base += keep
		if s.held >= 0 {
			s.held -= keep
		}
	}
	if len(s.buf) == cap(s.buf) {
		grown := make([]byte, len(s.buf), 2*cap(s.buf))
		copy(grown, s.buf)
		s.buf = grown
	}
	for range 100 {
		n, err := s.src.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err != nil && !errors.Is(err, io.EOF) {
			err = &ReadError{err}
		}
		s.err = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	s.err = &ReadError{io.ErrNoProgress}
	return false
}

// Peek skips white space and returns the byte after it, 0 at the end.
func (s *Scanner) Peek() byte {
	c := s.ahead()
	if c <= ' ' {
		c = s.peekFar()
	}
	return c
}

// ahead returns the next byte if it is in memory, white space too; else 0.
func (s *Scanner) ahead() byte {
	if s.pos < len(s.buf) {
		return s.buf[s.pos]
	}
	return 0
}

// peekFar is Peek where white space, the end or the next part of a stream comes first.
func (s *Scanner) peekFar() byte {
	for {
		b, i := s.buf, s.pos
		for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
			i++
		}
		s.pos = i
		if i < len(b) {
			return b[i]
		}
		if !s.fill() {
			return 0
		}
	}
}

// at returns the next byte, white space too, and 0 at the end.
func (s *Scanner) at() byte {
	if s.pos < len(s.buf) || s.fill() {
		return s.buf[s.pos]
	}
	return 0
}

// Ended reports whether nothing but white space is left. A stream that failed has not ended.
func (s *Scanner) Ended() bool {
	s.Peek()
	return s.pos >= len(s.buf) && errors.Is(s.err, io.EOF)
}

// Count counts tokens that the caller moves over itself.
func (s *Scanner) Count(tokens int) error {
	if s.Tokens += tokens; s.Tokens > s.maxTokens {
		return &LimitError{Limit: "tokens", Max: s.maxTokens, Offset: s.Offset()}
	}
	return nil
}

// Room returns how many tokens the limit leaves.
func (s *Scanner) Room() int { return s.maxTokens - s.Tokens }

// CheckDepth returns an error if more levels below the open ones are too deep.
func (s *Scanner) CheckDepth(more int) error {
	if s.Depth+more > s.maxDepth {
		return &LimitError{Limit: "depth", Max: s.maxDepth, Offset: s.Offset()}
	}
	return nil
}
