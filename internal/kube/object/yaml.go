package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// YAMLToJSON converts a body that is one YAML document. It is bounded before
// anything is built of it: by lim.MaxYAMLTokens, lim.MaxAliases, and tokens where
// that is above zero and lower. Errors are *LimitError and *SyntaxError.
func YAMLToJSON(doc []byte, lim Limits, tokens int) ([]byte, error) {
	if text := bytes.TrimSpace(doc); len(text) > 0 && text[0] == '{' && json.Valid(text) {
		return text, nil // JSON is YAML
	}
	lim = lim.withDefaults()
	y := yamlDoc{lim: lim, where: func() string { return lim.Input }}
	if tokens > 0 {
		y.lim.MaxYAMLTokens = min(y.lim.MaxYAMLTokens, tokens)
	}
	return y.toJSON(doc)
}

// yamlDoc converts a YAML document within limits. where names it, lines is how many stand before it
// in the stream.
type yamlDoc struct {
	lim   Limits
	where func() string
	lines int
	// pass may be nil. It is called with the head of a document that has aliases, and reports
	// whether the document is passed over.
	pass func(h header) bool
}

// bad is the error for a document that is no YAML. The decoder counts lines from the document's
// own beginning; the error counts them from the stream's.
func (y yamlDoc) bad(why any) error {
	at := y.lines + 1
	text := yamlLine.ReplaceAllStringFunc(fmt.Sprint(why), func(line string) string {
		at = 0 // the text has it
		n, err := strconv.Atoi(line[len("line "):])
		if err != nil {
			return line
		}
		return "line " + strconv.Itoa(n+y.lines)
	})
	if y.lines == 0 {
		at = 0
	}
	return &SyntaxError{Offset: -1, Line: at, Msg: fmt.Sprintf("bad YAML in %s: %s", y.where(), text)}
}

// yamlLine is how the decoder names a line.
var yamlLine = regexp.MustCompile(`\bline [0-9]+`)

// toJSON converts a document; null where it holds nothing.
func (y yamlDoc) toJSON(doc []byte) (js []byte, err error) {
	if len(bytes.TrimSpace(doc)) == 0 {
		return []byte("null"), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = y.bad(p)
		}
	}()
	if bytes.HasPrefix(doc, []byte("\xff\xfe")) || bytes.HasPrefix(doc, []byte("\xfe\xff")) {
		return nil, y.bad("it is UTF-16; want UTF-8")
	}
	if max := y.lim.MaxYAMLTokens; yamlTokens(doc, max) > max {
		return nil, &LimitError{Limit: limitYAMLTokens, Max: int64(max), What: "the number of keys, values and lines of YAML in " + y.where()}
	}
	if furtherDocument(doc) {
		return nil, y.bad("a second document begins in it")
	}
	if passed, err := y.checkAliases(doc); err != nil || passed {
		return []byte("null"), err
	}
	if js, err = yaml.YAMLToJSONStrict(doc); err != nil {
		return nil, y.bad(err)
	}
	return bytes.TrimSpace(js), nil
}

// yamlTokens bounds the nodes of a document's tree from its bytes alone, since the
// tree takes a hundred times the room of its text: each node but the first few
// needs a line's end or one of these indicators before it, and none of them
// stands before more than three. Text that has them is counted for more than it
// is. The count stops above limit.
func yamlTokens(doc []byte, limit int) int {
	n := 0
	for i, c := range doc {
		switch c {
		case '\n', '\r', ',', '[', '{', ':':
			n++
		case '-', '?': // an indicator before white space only
			if i+1 == len(doc) || doc[i+1] <= ' ' {
				n++
			}
		case 0x85, 0xa8, 0xa9: // the last byte of Unicode's line ends
			n++
		default:
			continue
		}
		if n > limit {
			break
		}
	}
	return n
}

// furtherDocument reports whether something follows a document's mark that stands
// behind the first document. The decoder would read that one alone.
func furtherDocument(doc []byte) bool {
	began, marked := false, false
	for len(doc) > 0 {
		line := doc
		if i := bytes.IndexByte(doc, '\n'); i >= 0 {
			line = doc[:i+1]
		}
		doc = doc[len(line):]
		text := bytes.TrimSpace(line)
		if mark, rest, ok := cutMark(line); ok {
			marked = began
			if text = rest; mark == "..." {
				text = nil
			}
		}
		if len(text) == 0 || text[0] == '#' || text[0] == '%' && !began {
			continue
		}
		if marked {
			return true
		}
		began = true
	}
	return false
}

// cutMark takes a line that begins or ends a document apart.
func cutMark(line []byte) (mark string, rest []byte, ok bool) {
	if len(line) < 3 || string(line[:3]) != "---" && string(line[:3]) != "..." || len(line) > 3 && line[3] > ' ' {
		return "", nil, false
	}
	return string(line[:3]), bytes.TrimSpace(line[3:]), true
}

// checkAliases bounds what aliases make of a document, before anything expands them: their number,
// and the document's tree with them expanded, which may be no larger than that of a document
// without any. It reports whether the document is passed over.
func (y yamlDoc) checkAliases(doc []byte) (passed bool, err error) {
	if bytes.IndexByte(doc, '*') < 0 {
		return false, nil
	}
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(doc, &root); err != nil {
		return false, y.bad(err)
	}
	t := expansion{sizes: map[*yamlv3.Node]treeSize{}, max: treeSize{y.lim.MaxYAMLTokens, y.lim.fallbackBytes()}}
	size := t.size(&root)
	if t.aliases == 0 {
		return false, nil
	}
	if len(root.Content) == 1 && y.pass != nil && y.pass(headOf(root.Content[0])) {
		return true, nil
	}
	if n := t.aliases; n > y.lim.MaxAliases {
		return false, &LimitError{Limit: limitAliases, Max: int64(y.lim.MaxAliases), What: fmt.Sprintf("the number of aliases (%d) in %s", n, y.where())}
	}
	if size.nodes > t.max.nodes || size.bytes > t.max.bytes {
		return false, &LimitError{Limit: limitYAMLTokens, Max: int64(t.max.nodes), What: "the number of keys and values with each alias written out in " + y.where()}
	}
	return false, nil
}

// treeSize is how large a document's tree is.
type treeSize struct{ nodes, bytes int }

// expansion sizes a tree in which each alias is what it stands for. A size above max stays just
// above it.
type expansion struct {
	sizes   map[*yamlv3.Node]treeSize // of anchors
	max     treeSize
	aliases int // as they are written
}

func (e *expansion) size(n *yamlv3.Node) treeSize {
	if n.Kind == yamlv3.AliasNode {
		e.aliases++
		return e.sizes[n.Alias]
	}
	if n.Anchor != "" {
		e.sizes[n] = treeSize{e.max.nodes + 1, e.max.bytes + 1} // one that holds itself never ends
	}
	sum := treeSize{1, len(n.Value)}
	for _, c := range n.Content {
		of := e.size(c)
		sum = treeSize{min(sum.nodes+of.nodes, e.max.nodes+1), min(sum.bytes+of.bytes, e.max.bytes+1)}
	}
	if n.Anchor != "" {
		e.sizes[n] = sum
	}
	return sum
}

// headOf reads kind and apiVersion of a document.
func headOf(n *yamlv3.Node) (h header) {
	if n.Kind != yamlv3.MappingNode {
		return h
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key, value := n.Content[i], n.Content[i+1]; {
		case value.Kind != yamlv3.ScalarNode:
		case key.Value == "kind":
			h.Kind = value.Value
		case key.Value == "apiVersion":
			h.APIVersion = value.Value
		}
	}
	return h
}
