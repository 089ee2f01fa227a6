package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	swarOnes  = 0x0101010101010101
	swarHighs = 0x8080808080808080
)

// special marks the bytes of w that end the plain run of a JSON string: a quote, a backslash, a
// control character. Only the lowest mark is certain, borrows may set false ones above it.
func special(w uint64) uint64 {
	quote := w ^ swarOnes*'"'
	slash := w ^ swarOnes*'\\'
	return ((quote-swarOnes)&^quote | (slash-swarOnes)&^slash | (w-swarOnes*' ')&^w) & swarHighs
}

// PlainEnd returns the index of the first byte of b at or after i that a JSON string cannot hold as
// it is: a quote, a backslash or a control character; len(b) if there is none.
func PlainEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// skipString moves past the string whose opening quote is the next byte.
func (s *Scanner) skipString() error {
	i := PlainEnd(s.buf, s.pos+1)
	if i < len(s.buf) && s.buf[i] == '"' {
		s.pos = i + 1
		return nil
	}
	return s.skipStringFrom(i)
}

// skipStringFrom moves past a string of which the bytes before an index were read.
func (s *Scanner) skipStringFrom(i int) error {
	b := s.buf
	for {
		if i = PlainEnd(b, i); i >= len(b) {
			if s.pos = len(b); !s.fill() {
				return s.Fail("the string doesn't end")
			}
			b, i = s.buf, s.pos
			continue
		}
		switch b[i] {
		case '"':
			s.pos = i + 1
			return nil
		case '\\':
			s.pos = i
			for len(s.buf)-s.pos < longestEscape && s.fill() {
			}
			n := escape(s.buf[s.pos:])
			if n == 0 {
				return s.Fail("no valid escape")
			}
			b, i = s.buf, s.pos+n
		default:
			s.pos = i
			return s.Fail("control character in a string")
		}
	}
}

// longestEscape is the length of \u0000.
const longestEscape = 6

// escape returns the length of the escape sequence that b begins with, 0 if it is none of JSON's.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return longestEscape
		}
	}
	return 0
}

// hex4 reads the `\uXXXX` that b begins with, -1 if it is none.
func hex4(b []byte) rune {
	if len(b) < longestEscape || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:longestEscape] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Text takes the string whose opening quote is the next byte, and returns it unescaped. The result
// is a part of the text unless it has escapes or invalid UTF-8; of a stream it is valid until the
// next call.
func (s *Scanner) Text() ([]byte, error) {
	start := s.pos + 1
	if end := PlainEnd(s.buf, start); end < len(s.buf) && s.buf[end] == '"' {
		s.pos = end + 1
		raw := s.buf[start:end:end]
		if !utf8.Valid(raw) {
			raw = unescape(raw)
		}
		return raw, nil
	}
	alone := s.held < 0
	if alone {
		s.held = s.pos
	}
	from := s.pos - s.held // the held bytes may move
	err := s.skipString()
	raw := s.buf[s.held+from : s.pos : s.pos]
	if alone {
		s.held = -1
	}
	if err != nil {
		return nil, err
	}
	return Unquote(raw), nil
}

// Unquote decodes a string literal that was checked, quotes included. The result is a part of it
// unless it has escapes or invalid UTF-8.
func Unquote(literal []byte) []byte {
	raw := literal[1 : len(literal)-1 : len(literal)-1]
	var high byte
	for _, c := range raw {
		if c == '\\' {
			return unescape(raw)
		}
		high |= c
	}
	if high >= utf8.RuneSelf && !utf8.Valid(raw) {
		return unescape(raw)
	}
	return raw
}

// unescape decodes the inside of a string literal. As encoding/json has it, a lone surrogate and
// each invalid byte become U+FFFD.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+2*utf8.UTFMax)
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\' && raw[i+1] == 'u':
			r := hex4(raw[i:])
			i += longestEscape
			if utf16.IsSurrogate(r) {
				// Of two escapes that make no pair only the first is replaced here; the second gets
				// its own turn.
				if r = utf16.DecodeRune(r, hex4(raw[i:])); r != utf8.RuneError {
					i += longestEscape
				}
			}
			out = utf8.AppendRune(out, r)
		case c == '\\':
			out = append(out, unescaped(raw[i+1]))
			i += 2
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return out
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
