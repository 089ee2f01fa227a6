package jsonscan

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Writer writes the members of JSON objects, byte for byte as encoding/json does. Labels are a
// member's key with what is before it, such as `,"name":`. Err is the first error.
type Writer struct {
	JSON []byte
	Err  error
}

// Text writes a string.
func (w *Writer) Text(label, s string) {
	w.JSON = append(w.JSON, label...)
	w.text(s)
}

func (w *Writer) text(s string) {
	switch {
	case plainHTML(s):
		w.JSON = append(append(append(w.JSON, '"'), s...), '"')
	case strings.ContainsAny(s, "<>&"):
		w.Value("", s)
	default:
		w.JSON = AppendString(w.JSON, s)
	}
}

// plainHTML is plain where <, > and & are escaped too.
func plainHTML(s string) bool {
	i := len(s) - 8
	if i < 0 {
		for i := range len(s) {
			if escaped[s[i]] {
				return false
			}
		}
		return true
	}
	for ; i > 0; i -= 8 {
		if !plainWord(s[i:]) {
			return false
		}
	}
	return plainWord(s) // some bytes once more
}

// plainWord is plainHTML of the first eight bytes.
func plainWord(s string) bool {
	var word [8]byte
	copy(word[:], s)
	w := binary.LittleEndian.Uint64(word[:])
	angle := w&^(swarOnes*2) ^ swarOnes*'<' // > is < but for one bit
	and := w ^ swarOnes*'&'
	return (special(w)|w|(angle-swarOnes)&^angle|(and-swarOnes)&^and)&swarHighs == 0
}

// escaped are the bytes that encoding/json may write as others. Of those that are not ASCII it does
// so with few.
var escaped = func() (table [256]bool) {
	for c := range table {
		table[c] = c < ' ' || c >= utf8.RuneSelf || strings.IndexByte(`"\<>&`, byte(c)) >= 0
	}
	return table
}()

// Int writes a number.
func (w *Writer) Int(label string, n int64) {
	w.JSON = strconv.AppendInt(append(w.JSON, label...), n, 10)
}

// Bool writes true or false.
func (w *Writer) Bool(label string, v bool) {
	w.JSON = strconv.AppendBool(append(w.JSON, label...), v)
}

// Value writes what is rare, by encoding/json.
func (w *Writer) Value(label string, v any) {
	js, err := json.Marshal(v)
	if err != nil && w.Err == nil {
		w.Err = err
	}
	w.JSON = append(append(w.JSON, label...), js...)
}

// OptText is Text with omitempty.
func (w *Writer) OptText(label, s string) {
	if s != "" {
		w.Text(label, s)
	}
}

// OptInt is Int with omitempty.
func (w *Writer) OptInt(label string, n int64) {
	if n != 0 {
		w.Int(label, n)
	}
}

// OptRef is a pointer with omitempty.
func (w *Writer) OptRef(label string, n *int64) {
	if n != nil {
		w.Int(label, *n)
	}
}

// OptTexts is a list of strings with omitempty.
func (w *Writer) OptTexts(label string, list []string) {
	if len(list) == 0 {
		return
	}
	w.JSON = append(append(w.JSON, label...), '[')
	for i, s := range list {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.text(s)
	}
	w.JSON = append(w.JSON, ']')
}

// OptValues is Value of a list with omitempty.
func OptValues[T any](w *Writer, label string, list []T) {
	if len(list) > 0 {
		w.Value(label, list)
	}
}

// Object writes an object. write writes its members.
func Object[T any](w *Writer, v *T, write func(*Writer, *T)) {
	w.JSON = append(w.JSON, '{')
	write(w, v)
	w.JSON = append(w.JSON, '}')
}

// OptObjects is a list of objects with omitempty. write writes the members of one.
func OptObjects[T any](w *Writer, label string, list []T, write func(*Writer, *T)) {
	if len(list) == 0 {
		return
	}
	w.JSON = append(append(w.JSON, label...), '[')
	for i := range list {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		Object(w, &list[i], write)
	}
	w.JSON = append(w.JSON, ']')
}
