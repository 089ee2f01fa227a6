package wire

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

// run returns the index of the first special byte of b at or after i, len(b) if there is none.
func run(b []byte, i int) int {
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

// skipString moves past the string whose opening quote is at s.pos.
func (s *scanner) skipString() error {
	b, i := s.b, s.pos+1
	for {
		if i = run(b, i); i >= len(b) {
			s.pos = len(b)
			return s.syntax("the string doesn't end")
		}
		switch b[i] {
		case '"':
			s.pos = i + 1
			return nil
		case '\\':
			n := escape(b[i:])
			if n == 0 {
				s.pos = i
				return s.syntax("no valid escape")
			}
			i += n
		default:
			s.pos = i
			return s.syntax("control character in a string")
		}
	}
}

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
			return 6
		}
	}
	return 0
}

// hex4 reads the `\uXXXX` that b begins with, -1 if it is none.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
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

// text reads the string whose opening quote is at s.pos. The result is a part of the body unless
// the string has escapes or invalid UTF-8.
func (s *scanner) text() ([]byte, error) {
	start := s.pos + 1
	if err := s.skipString(); err != nil {
		return nil, err
	}
	raw := s.b[start : s.pos-1 : s.pos-1]
	var high byte
	for _, c := range raw {
		if c == '\\' {
			return unescape(raw), nil
		}
		high |= c
	}
	if high >= utf8.RuneSelf && !utf8.Valid(raw) {
		return unescape(raw), nil
	}
	return raw, nil
}

// unescape decodes the inside of a string literal that skipString has accepted. As encoding/json
// has it, a lone surrogate and each invalid byte become U+FFFD.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+2*utf8.UTFMax)
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\' && raw[i+1] == 'u':
			r := hex4(raw[i:])
			i += 6
			if utf16.IsSurrogate(r) {
				// Of two escapes that make no pair only the first is replaced here; the second gets
				// its own turn.
				if r = utf16.DecodeRune(r, hex4(raw[i:])); r != utf8.RuneError {
					i += 6
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
