package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

var odd = []string{
	``, ` `, `null`, `true`, `[]`, `{}`, `{`, `}`, `{}{}`, `{} x`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `[1,]`, `[,1]`, `[1 2]`,
	`{"a":01}`, `{"a":-}`, `{"a":-0.5e+07}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":+1}`, `{"a":NaN}`, `{"a":tru}`, `{"a":nulll}`,
	`{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12G4"}`, `{"a":"\ud83d\ude00\ud83d\ud83dx\ude00"}`, "{\"a\":\"\x01\"}", "{\"a\":\"\xff\xc3\"}",
	`{"a":"`, `{"a":"\`, `{"a":"\"`, `[[[[{"a":[{}]}]]]]`, `[{]}`, "\ufeff{}", "{}\x00", "\t\r\n {} ", "{}\v", `[12345678901,0.125e-3,"0123456789abcdefgh"]`,
	`{"Nodes":{"items":[{"metadata":{"name":"a"},"metadata":{"name":null},"spec":{}}]}}`, `{"\u004eodeNames":["a","b\"c","é","\ud800"]}`,
	strings.Repeat("[", 10001), strings.Repeat("[", 70) + strings.Repeat("]", 70),
}

// readers are how a scanner may get a text: whole, or bit by bit into a buffer that is too small.
var readers = map[string]func(s *Scanner, text []byte, lim Limits){
	"memory": (*Scanner).Reset,
	"bytes": func(s *Scanner, text []byte, lim Limits) {
		s.ResetStream(iotest.OneByteReader(bytes.NewReader(text)), lim)
		s.buf = make([]byte, 0, 1)
	},
	"parts": func(s *Scanner, text []byte, lim Limits) {
		s.ResetStream(iotest.DataErrReader(bytes.NewReader(text)), lim)
		s.buf = make([]byte, 0, 7)
	},
}

// scan moves over one value and to the end.
func scan(s *Scanner) error {
	if err := s.Skip(); err != nil {
		return err
	}
	if !s.Ended() {
		return s.Fail("data after the value")
	}
	return nil
}

// FuzzScanner compares with encoding/json, and the texts in memory with streams.
func FuzzScanner(f *testing.F) {
	for _, text := range odd {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var whole Scanner
		whole.Reset(text, Limits{})
		err := scan(&whole)
		if valid := json.Valid(text); valid != (err == nil) {
			t.Fatalf("json.Valid says %v, we say %v, of %q", valid, err, text)
		}
		for name, reset := range readers {
			var s Scanner
			reset(&s, text, Limits{})
			s.Hold()
			other := scan(&s)
			if (other == nil) != (err == nil) || err != nil && other.Error() != err.Error() || s.Tokens != whole.Tokens || s.Deepest != whole.Deepest {
				t.Fatalf("%s: %v, %d tokens, depth %d; at once %v, %d, %d of %q", name, other, s.Tokens, s.Deepest, err, whole.Tokens, whole.Deepest, text)
			}
			if held := s.Release(); err == nil && !bytes.Equal(held, text[:len(held)]) || s.Offset() > len(text) {
				t.Fatalf("%s: held %q of %q", name, held, text)
			}
		}
		if err != nil {
			if syntax, ok := errors.AsType[*SyntaxError](err); ok && (syntax.Ends != (syntax.Offset == len(text)) || !syntax.Ends && syntax.Found != text[syntax.Offset]) {
				t.Fatalf("%+v of %q", syntax, text)
			}
			return
		}
		depth, tokens, keys := count(t, text)
		for name, reset := range readers {
			with := func(lim Limits) error {
				var s Scanner
				reset(&s, text, lim)
				return scan(&s)
			}
			if err := errors.Join(with(Limits{Depth: max(depth, 1), Tokens: tokens}), with(Limits{Tokens: tokens - keys, ValuesOnly: true})); err != nil {
				t.Fatalf("%s: depth %d, %d tokens: %v", name, depth, tokens, err)
			}
			if depth > 1 && with(Limits{Depth: depth - 1}) == nil || tokens > 1 && with(Limits{Tokens: tokens - 1}) == nil ||
				tokens-keys > 1 && with(Limits{Tokens: tokens - keys - 1, ValuesOnly: true}) == nil {
				t.Fatalf("%s: a limit below depth %d, %d tokens, %d keys is not kept", name, depth, tokens, keys)
			}
		}
		walk(t, text)
	})
}

// walk compares the functions for checked texts with encoding/json.
func walk(t *testing.T, text []byte) {
	t.Helper()
	var flat bytes.Buffer
	if err := json.Compact(&flat, text); err != nil {
		t.Fatal(err)
	}
	js := flat.Bytes()
	if end := ValueEnd(js, 0); end != len(js) {
		t.Fatalf("the value ends at %d of %q", end, js)
	}
	joined := []byte{}
	for i := 0; ; {
		kind, from, to := Token(text, i)
		if kind == 0 {
			break
		}
		joined = append(joined, text[from:to]...)
		i = to
	}
	if !bytes.Equal(joined, js) {
		t.Fatalf("tokens %q of %q", joined, js)
	}
	if js[0] != '{' {
		return
	}
	d := json.NewDecoder(bytes.NewReader(js))
	_, _ = d.Token()
	end := Members(js, 0, func(key []byte, at int) bool {
		token, err := d.Token()
		if err != nil || token != string(Unquote(append(append([]byte{'"'}, key...), '"'))) {
			t.Fatalf("key %q, want %v (%v) of %q", key, token, err, js)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil || !bytes.Equal(value, js[at:ValueEnd(js, at)]) {
			t.Fatalf("value %q, want %q (%v)", js[at:ValueEnd(js, at)], value, err)
		}
		return true
	})
	if end != len(js) {
		t.Fatalf("the object ends at %d of %q", end, js)
	}
}

// count returns the depth and the number of keys and values of a valid text, and of its keys alone.
func count(t *testing.T, text []byte) (depth, tokens, keys int) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var objects []bool // of the open levels
	key := false       // the next token of an object is a key
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return depth, tokens, keys
		}
		if err != nil {
			t.Fatal(err)
		}
		inObject := len(objects) > 0 && objects[len(objects)-1]
		switch token {
		case json.Delim('}'), json.Delim(']'):
			objects = objects[:len(objects)-1]
			key = true
			continue
		}
		tokens++
		if inObject && key {
			keys++
			key = false
			continue
		}
		key = true
		switch token {
		case json.Delim('{'), json.Delim('['):
			objects = append(objects, token == json.Delim('{'))
			depth = max(depth, len(objects))
		}
	}
}

// FuzzUnchecked walks over texts that are no JSON: indexes stay within the text.
func FuzzUnchecked(f *testing.F) {
	for _, text := range odd {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for i := 0; i < len(text); {
			kind, from, to := Token(text, i)
			if kind == 0 {
				break
			}
			if from < i || to <= from || to > len(text) {
				t.Fatalf("token %q at %d to %d after %d of %q", kind, from, to, i, text)
			}
			i = to
		}
		for at := range text {
			if end := ValueEnd(text, at); end > len(text) || end >= 0 && end < at {
				t.Fatalf("the value at %d ends at %d of %q", at, end, text)
			}
		}
		Members(text, 0, func(_ []byte, at int) bool { return at <= len(text) })
	})
}

// FuzzAppendString compares with encoding/json, and reads back what was written.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "node-1", "<&>", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é\u2028\u2029😀\ufffd", "\xff\xed\xa0\x80\xc3", "abcdefg\xc3\xa9ijklmnop\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := AppendString(nil, text)
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, bytes.TrimSuffix(want.Bytes(), []byte("\n"))) {
			t.Fatalf("%q: got %s, want %s", text, got, want.Bytes())
		}
		if other := AppendString(nil, []byte(text)); !bytes.Equal(got, other) {
			t.Fatalf("%q: bytes give %s, a string %s", text, other, got)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || utf8.ValidString(text) && back != text {
			t.Fatalf("%q reads back as %q: %v", text, back, err)
		}
		for name, reset := range readers {
			var s Scanner
			reset(&s, got, Limits{})
			s.Peek()
			if ours, err := s.Text(); err != nil || string(ours) != back {
				t.Fatalf("%s: %s: we read %q (%v), encoding/json %q", name, got, ours, err, back)
			}
		}
	})
}
