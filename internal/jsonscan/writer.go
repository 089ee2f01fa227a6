package jsonscan

import (
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
	for i := range len(s) {
		if !escaped[s[i]] {
			continue
		}
		if strings.ContainsAny(s, "<>&") {
			w.Value("", s)
		} else {
			w.JSON = AppendString(w.JSON, s)
		}
		return
	}
	w.JSON = append(append(append(w.JSON, '"'), s...), '"')
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
