package object

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"berth/internal/jsonscan"
)

// yamlReader splits a YAML stream by its lines: into documents, and a document
// that is a block list as kubectl prints it ("items:" at the margin) into its
// items, so that one item is held at a time. What isn't written that way is
// held as a whole document.
type yamlReader struct {
	*intake
	in    *bufio.Reader
	lines int // that were read
	start int // lines before the document or item at hand
}

// readYAML reads documents until the stream ends. So many lines were read before.
func (in *intake) readYAML(r *bufio.Reader, lines int) error {
	in.maxHeld = in.lim.fallbackBytes() // JSON is no longer than its YAML, but for escapes
	y := &yamlReader{intake: in, in: r, lines: lines}
	for n := 1; ; n++ {
		in.number(n)
		more, err := y.document()
		if err != nil || !more {
			return err
		}
	}
}

// line reads a line with its end; nil at the end of the stream.
func (y *yamlReader) line() ([]byte, error) {
	var long []byte
	for {
		part, err := y.in.ReadSlice('\n')
		switch {
		case err == nil:
			y.lines++
			if long == nil {
				return part, nil
			}
			return append(long, part...), nil
		case errors.Is(err, io.EOF):
			return append(long, part...), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("read body: %w", err)
		}
		if long = append(long, part...); len(long) > y.lim.MaxObjectBytes {
			return nil, y.tooLarge()
		}
	}
}

func (in *intake) tooLarge() error {
	return &LimitError{Limit: limitObjectBytes, Max: int64(in.lim.MaxObjectBytes), What: "the size of " + in.where()}
}

// document reads up to the next document's mark; more is false at the end of
// the stream.
func (y *yamlReader) document() (more bool, err error) {
	var head []byte // the document without the items that were streamed
	y.start = y.lines
	for {
		line, err := y.line()
		if err != nil {
			return false, err
		}
		if len(line) == 0 || isMark(line) {
			if len(head) > y.lim.MaxObjectBytes && !isListText(head) {
				return false, y.tooLarge()
			}
			return len(line) > 0, y.convert(head, listOf{})
		}
		if len(line) > 2 && line[0] == '%' && len(bytes.TrimSpace(head)) == 0 {
			continue // a directive
		}
		if isItemsKey(line) {
			return y.list(head)
		}
		if head = append(head, line...); len(head) > y.lim.fallbackBytes() {
			return false, y.tooLarge()
		}
	}
}

// isListText reports whether a document may be a list in a form that isn't streamed,
// which may be larger than one object.
func isListText(doc []byte) bool { return bytes.Contains(doc, []byte("items")) }

// isMark reports whether a line ends or begins a document.
func isMark(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	return bytes.Equal(line, []byte("---")) || bytes.Equal(line, []byte("...")) || bytes.HasPrefix(line, []byte("--- #"))
}

// isItemsKey reports whether a line is "items:" at the margin with nothing but a
// comment behind it.
func isItemsKey(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("items:"))
	rest = bytes.TrimSpace(rest)
	return ok && (len(rest) == 0 || rest[0] == '#')
}

// list reads the items below "items:" one by one, and the keys behind them.
func (y *yamlReader) list(head []byte) (more bool, err error) {
	self, err := y.listHead(head)
	if err != nil {
		return false, err
	}
	y.found = true
	var held *heldItems
	if self.kind == "" {
		held = &heldItems{}
		self.held = held
	}
	y.path = append(y.path, 0)
	var item []byte
	indent, inItems := -1, true
	y.start = y.lines
	flush := func() error {
		defer func() { item = item[:0] }()
		if len(bytes.TrimSpace(item)) == 0 {
			return nil
		}
		if len(item) > y.lim.MaxObjectBytes {
			return y.tooLarge()
		}
		err := y.convert(item, self)
		y.path[len(y.path)-1]++
		return err
	}
	for {
		line, err := y.line()
		if err != nil {
			return false, err
		}
		end := len(line) == 0 || isMark(line)
		spaces := len(line) - len(bytes.TrimLeft(line, " "))
		text := bytes.TrimSpace(line)
		dash := len(text) > 0 && text[0] == '-' && (len(text) == 1 || text[1] == ' ')
		if inItems && (end || (len(text) > 0 && text[0] != '#' && spaces <= max(indent, 0) && (!dash || spaces < indent))) {
			if err := flush(); err != nil {
				return false, err
			}
			inItems = false
		}
		switch {
		case end:
			y.path = y.path[:len(y.path)-1]
			if len(head) > y.lim.MaxObjectBytes {
				return false, y.tooLarge()
			}
			y.start = y.lines - min(len(line), 1) - bytes.Count(head, []byte("\n")) // what is wrong is behind the items
			if self, err = y.listHead(head); err == nil && !isList(self.kind) {
				err = &SyntaxError{Offset: -1, Msg: fmt.Sprintf("kind %q has items but isn't a list, in %s", self.kind, y.where())}
			}
			if self.held = held; err == nil {
				err = y.release(self)
			}
			return len(line) > 0, err
		case !inItems:
			if head = append(head, line...); len(head) > y.lim.MaxObjectBytes {
				return false, y.tooLarge()
			}
		case dash && (indent < 0 || spaces == indent):
			if err := flush(); err != nil {
				return false, err
			}
			indent, y.start = spaces, y.lines-1
			item = append(item, line...)
			item[spaces] = ' ' // the item by itself is an ordinary document
		case indent < 0 && len(text) > 0 && text[0] != '#':
			return false, &SyntaxError{Offset: -1, Line: y.lines, Msg: "items must be an array, in " + y.where()}
		default:
			if item = append(item, line...); len(item) > y.lim.MaxObjectBytes {
				return false, y.tooLarge()
			}
		}
	}
}

// listHead reads kind and apiVersion from a list's keys other than items.
func (y *yamlReader) listHead(head []byte) (listOf, error) {
	js, err := y.doc().toJSON(head)
	if err != nil || len(js) == 0 || js[0] != '{' {
		return listOf{}, err
	}
	h, err := readHeader(js)
	return listOf{kind: h.Kind, apiVersion: h.APIVersion}, err
}

// convert takes one document, or one item of a list, through JSON.
func (y *yamlReader) convert(doc []byte, within listOf) error {
	d := y.doc()
	d.pass = func(h header) bool {
		if h.Kind == "" || isList(h.Kind) || kinds[h.Kind] != nil && !foreign(h.APIVersion) {
			return false
		}
		y.found = true
		y.ignore(ignoredName(h))
		return true
	}
	js, err := d.toJSON(doc)
	if err != nil || bytes.Equal(js, []byte("null")) {
		return err
	}
	s := &jsonscan.Scanner{}
	s.Reset(js, y.lim.scan())
	s.Depth, s.Tokens = len(y.path), y.tokens
	defer func() { y.tokens = s.Tokens }()
	if c := s.Peek(); c != '{' && c != '[' || c == '[' && len(y.path) > 0 {
		return &SyntaxError{Offset: -1, Line: y.start + 1, Msg: y.where() + " isn't an object"}
	}
	err = y.lim.scanError(y.value(s, within), y.where)
	var limit *LimitError
	if errors.As(err, &limit) && limit.Limit == limitObjectBytes {
		return y.tooLarge()
	}
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		return &SyntaxError{Offset: -1, Line: y.start + 1, Msg: syntax.Msg} // offsets in the JSON mean nothing to anyone
	}
	return err
}

func (y *yamlReader) doc() yamlDoc { return yamlDoc{lim: y.lim, where: y.where, lines: y.start} }
