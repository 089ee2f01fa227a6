package object

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a body as UTF-8 without a byte order mark, behind what kubectl may have written to
// stderr before it: UTF-16 is what PowerShell's > makes of any output, and 2>&1 puts warnings into
// a file. lines is how many lines were left out. A body that begins with an error of kubectl is
// refused: what follows lacks something.
func Text(r io.Reader) (in *bufio.Reader, lines int, err error) {
	in = bufio.NewReaderSize(r, readBuffer)
	switch head, _ := in.Peek(3); {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		in = bufio.NewReaderSize(&utf16Reader{in: in, order: binary.LittleEndian}, readBuffer)
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		in = bufio.NewReaderSize(&utf16Reader{in: in, order: binary.BigEndian}, readBuffer)
	}
	if head, _ := in.Peek(3); string(head) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3) // they were peeked
	}
	for ; lines < maxNoise; lines++ {
		head, _ := in.Peek(noiseHead)
		switch {
		case kubectlError.Match(head):
			text, _, _ := bytes.Cut(head, []byte("\n"))
			return in, lines, &SyntaxError{Offset: -1, Line: lines + 1, Msg: fmt.Sprintf("what comes first is an error of kubectl, not an object: %q", bytes.TrimSpace(text))}
		case !kubectlNoise.Match(head):
			return in, lines, nil
		}
		for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; { //nolint:errorlint // never wrapped
			_, err = in.ReadSlice('\n')
		}
	}
	return in, lines, nil
}

// maxNoise bounds the lines of kubectl's that are passed over, noiseHead what tells one.
const (
	maxNoise  = 100
	noiseHead = 256
)

var (
	// kubectlNoise is a warning of an apiserver, or a line of klog.
	kubectlNoise = regexp.MustCompile(`^(Warning: |[IWE][0-9]{4} [0-9:.]+ +[0-9]+ \S+\.go:[0-9]+\])`)
	kubectlError = regexp.MustCompile(`^(Error from server|error: |Unable to connect to the server)`)
)

// utf16Reader reads UTF-16, its mark included, as UTF-8. Half a character becomes U+FFFD.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	rest  []byte // that did not fit
	room  [utf8.UTFMax]byte
}

// Read implements io.Reader.
func (r *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			if n > 0 && r.in.Buffered() < 4 {
				break // do not wait for more than there is
			}
			c, err := r.next()
			if err != nil {
				return n, err
			}
			r.rest = utf8.AppendRune(r.room[:0], c)
		}
		k := copy(p[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	return n, nil
}

func (r *utf16Reader) next() (rune, error) {
	head, err := r.in.Peek(2)
	if len(head) < 2 {
		if len(head) == 1 {
			err = &SyntaxError{Offset: -1, Msg: "UTF-16 ends within a character"}
		}
		return 0, err
	}
	c := rune(r.order.Uint16(head))
	_, _ = r.in.Discard(2) // they were peeked
	if !utf16.IsSurrogate(c) {
		return c, nil
	}
	if head, _ = r.in.Peek(2); len(head) == 2 {
		if pair := utf16.DecodeRune(c, rune(r.order.Uint16(head))); pair != utf8.RuneError {
			_, _ = r.in.Discard(2)
			return pair, nil
		}
	}
	return utf8.RuneError, nil
}

// lineReader tells on which line of a stream a byte is, as long as it is among those that were read
// last.
type lineReader struct {
	in     io.Reader
	before int    // lines before the last part
	at     int64  // bytes before it
	last   []byte // the last part
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if n > 0 {
		r.before += bytes.Count(r.last, []byte("\n"))
		r.at += int64(len(r.last))
		r.last = append(r.last[:0], p[:n]...)
	}
	return n, err
}

// line returns the line of a byte, from 1; 0 where it is not known.
func (r *lineReader) line(offset int64) int {
	if offset < r.at || offset > r.at+int64(len(r.last)) {
		return 0
	}
	return 1 + r.before + bytes.Count(r.last[:offset-r.at], []byte("\n"))
}
