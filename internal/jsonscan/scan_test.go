package jsonscan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		lim  Limits
		want string
	}{
		{``, Limits{}, "malformed JSON at byte 0: want a value"},
		{`{"a":{"b":"c`, Limits{}, "malformed JSON at byte 12: the string doesn't end"},
		{`{} {}`, Limits{}, "malformed JSON at byte 3: data after the value"},
		{`[1,tru]`, Limits{}, "malformed JSON at byte 6: want true"},
		{`[-01]`, Limits{}, "malformed JSON at byte 3: a number must not begin with 0"},
		{`[1.e3]`, Limits{}, "malformed JSON at byte 3: want a digit"},
		{`{"a" 1}`, Limits{}, "malformed JSON at byte 5: want a colon"},
		{`{"a":1,}`, Limits{}, "malformed JSON at byte 7: want a key"},
		{`[1 2]`, Limits{}, "malformed JSON at byte 3: want a comma or the end of the object or array"},
		{`["\q"]`, Limits{}, "malformed JSON at byte 2: no valid escape"},
		{"[\"\t\"]", Limits{}, "malformed JSON at byte 2: control character in a string"},
		{`[[[[]]]]`, Limits{Depth: 3}, "body exceeds the limit of 3 depth at byte 3"},
		{`[1,2,3,4]`, Limits{Tokens: 4}, "body exceeds the limit of 4 tokens at byte 7"},
		{strings.Repeat("[", 10001), Limits{}, "body exceeds the limit of 10000 depth at byte 10000"},
	} {
		for name, reset := range readers {
			var s Scanner
			reset(&s, []byte(c.text), c.lim)
			if err := scan(&s); err == nil || err.Error() != c.want {
				t.Errorf("%s: %.20s: %v, want %s", name, c.text, err, c.want)
			}
		}
	}
}

// TestHeldBytes: what is held stays below its limit and one read; a stream that fails is told from
// one that ends.
func TestHeldBytes(t *testing.T) {
	text := fmt.Sprintf(`["%s"]`, strings.Repeat("x", 100))
	for _, held := range []int{50, 200} {
		var s Scanner
		s.ResetStream(iotest.OneByteReader(strings.NewReader(text)), Limits{Held: held})
		s.buf = make([]byte, 0, 8)
		s.Hold()
		if err := s.Skip(); (held == 50) != errors.Is(err, ErrHeld) || held == 50 && cap(s.buf) > 128 {
			t.Errorf("%d held: %v, %d bytes in memory", held, err, cap(s.buf))
		}
	}
	broken := errors.New("connection lost")
	var s Scanner
	s.ResetStream(iotest.ErrReader(broken), Limits{})
	var read *ReadError
	if err := s.Skip(); !errors.Is(err, broken) || !errors.As(err, &read) || s.Ended() {
		t.Errorf("%v", err)
	}
}

func TestSkipDoesNotAllocate(t *testing.T) {
	text := []byte(`{"metadata":{"name":"n","labels":{"a":"b\u00e9"}},"spec":{"list":[1,-2.5e3,true,null,"x"]}}`)
	var s Scanner
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(text, Limits{Depth: 64, Tokens: 1000})
		if err := scan(&s); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMember(t *testing.T) {
	const js = `{"a":{"x":[1,2]},"b":"text","c":null}`
	for name, want := range map[string]string{"a": `{"x":[1,2]}`, "b": `"text"`, "c": "null", "x": "", "": ""} {
		if got := string(Member([]byte(js), name)); got != want {
			t.Errorf("%q is %s, not %s", name, got, want)
		}
	}
	for _, broken := range []string{"", "[1]", `{"a":`, `{"z" :1,"a":2}`, `"a"`} {
		if got := Member([]byte(broken), "a"); got != nil {
			t.Errorf("%s has %s", broken, got)
		}
	}
}
