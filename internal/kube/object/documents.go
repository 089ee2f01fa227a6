package object

import (
	"bytes"
	"fmt"
	"io"

	"berth/internal/jsonscan"
)

// Document is one of several JSON values or YAML documents in a file.
type Document struct {
	// JSON is the document; null for one that holds nothing.
	JSON []byte
	// Number counts the documents from 1, and Line is where this one begins.
	Number, Line int
}

// Documents calls f for each JSON value or YAML document of a file, of which each is held whole.
// The file may be as Text takes it. Errors name the document and its line.
func Documents(r io.Reader, lim Limits, f func(Document) error) error {
	in := &intake{lim: lim.withDefaults()}
	text, lines, err := Text(r)
	switch {
	case err != nil:
		return err
	case startsAsJSON(text):
		return in.jsonDocuments(text, lines, f)
	}
	return in.yamlDocuments(&yamlReader{intake: in, in: text, lines: lines}, f)
}

func (in *intake) jsonDocuments(r io.Reader, lines int, f func(Document) error) error {
	s, from := &jsonscan.Scanner{}, &lineReader{in: r, before: lines}
	s.ResetStream(from, in.lim.scan())
	for n := 1; !s.Ended(); n++ {
		in.number(n)
		line := from.line(int64(s.Offset()))
		s.Hold()
		if err := s.Skip(); err != nil {
			return from.locate(in.lim.scanError(err, in.where), s.Offset())
		}
		if err := f(Document{bytes.Clone(s.Release()), n, line}); err != nil {
			return err
		}
	}
	return nil
}

// number names the document that is read next; the first has no number, as it may be the only one.
func (in *intake) number(n int) {
	if n > 1 {
		in.root = fmt.Sprintf("document %d", n)
	}
}

func (in *intake) yamlDocuments(y *yamlReader, f func(Document) error) error {
	for n := 1; ; n++ {
		if n > 1 {
			in.root = fmt.Sprintf("%s, document %d", in.lim.Input, n)
		}
		y.start = y.lines
		var doc []byte
		for more := true; more; {
			line, err := y.line()
			switch {
			case err != nil:
				return err
			case len(line) == 0 || isMark(line):
				js, err := y.doc().toJSON(doc)
				if err != nil {
					return err
				}
				if string(js) != "null" {
					if err := f(Document{js, n, y.start + 1}); err != nil {
						return err
					}
				}
				if len(line) == 0 {
					return nil
				}
				more = false
			case len(line) > 2 && line[0] == '%' && len(bytes.TrimSpace(doc)) == 0:
			default:
				if doc = append(doc, line...); len(doc) > in.lim.MaxObjectBytes {
					return y.tooLarge()
				}
			}
		}
	}
}
