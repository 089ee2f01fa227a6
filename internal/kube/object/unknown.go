package object

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"berth/internal/words"
)

// UnknownField is a member of a JSON object that its Go type does not have, or
// that is there a second time.
type UnknownField struct {
	// Path is where it stands, such as spec.containers[0].requests.
	Path string
	// Nearest is the field that was most likely meant: from the same object on
	// (resources.requests), or from the root where it belongs elsewhere (spec.tolerations).
	Nearest string
	// Duplicate tells a known field that is repeated from one that is not known.
	Duplicate bool
}

// Message returns what is wrong with the field, without its path.
func (u UnknownField) Message() string {
	switch {
	case u.Duplicate:
		return "duplicate field"
	case u.Nearest != "":
		return "unknown field: did you mean " + u.Nearest + "?"
	}
	return "unknown field"
}

// maxUnknown is how many unknown fields of one object are listed.
const maxUnknown = 20

// UnknownFields lists what the type that v points to does not have of a JSON
// object, at any depth, and what is there twice: what an apiserver refuses under
// fieldValidation=Strict (apimachinery pkg/runtime/serializer/json, strict
// decoding). Names are compared exactly. src must be one JSON value whose syntax
// was checked; what has another shape than its field is left to the decoder. The
// first 20 are listed, total counts all.
func UnknownFields(src []byte, v any) (list []UnknownField, total int) {
	return unknownFields(src, fieldsOf(reflect.TypeOf(v)))
}

func unknownFields(src []byte, t *fieldTree) (list []UnknownField, total int) {
	w := fieldWalkers.Get().(*fieldWalker)
	w.pruner, w.path, w.list, w.total = pruner{src: src}, w.room[:0], nil, 0
	w.value(t)
	list, total = w.list, w.total
	*w = fieldWalker{}
	fieldWalkers.Put(w)
	return list, total
}

var fieldWalkers = sync.Pool{New: func() any { return new(fieldWalker) }}

// fieldWalker walks over an object along a fieldTree. Nothing is built unless a
// field is unknown.
type fieldWalker struct {
	pruner
	path  []fieldStep
	room  [16]fieldStep
	list  []UnknownField
	total int
}

// fieldStep is a step from an object to a member, or from a list to an item.
type fieldStep struct {
	of    *fieldTree // the object; nil for a list
	key   []byte
	index int
}

func (w *fieldWalker) value(s *fieldTree) {
	w.space()
	c := w.src[w.i]
	switch {
	case s != nil && c == '{' && s.fields != nil:
		w.object(s)
	case s != nil && c == '{' && s.isMap:
		w.entries(s)
	case s != nil && c == '[' && s.isList:
		w.items(s)
	default:
		w.skip()
	}
}

// member reads the next key of an object up to its value; false at its end.
func (w *fieldWalker) member() ([]byte, bool) {
	w.space()
	if w.src[w.i] == ',' {
		w.i++
		w.space()
	}
	if w.src[w.i] == '}' {
		w.i++
		return nil, false
	}
	key := w.key()
	w.space()
	w.i++ // the colon
	return key, true
}

func (w *fieldWalker) object(s *fieldTree) {
	w.i++
	var seen seenFields
	for {
		key, more := w.member()
		if !more {
			return
		}
		f, known := s.fields[string(key)]
		switch {
		case !known:
			w.found(s, key, false)
			w.skip()
			continue
		case seen.add(f.index):
			w.found(s, key, true)
		}
		w.path = append(w.path, fieldStep{of: s, key: key})
		w.value(f.of)
		w.path = w.path[:len(w.path)-1]
	}
}

// entries walks over a map, whose keys are free, but for repetitions.
func (w *fieldWalker) entries(s *fieldTree) {
	w.i++
	var few [8][]byte
	keys, many := few[:0], map[string]struct{}(nil)
	for {
		key, more := w.member()
		if !more {
			return
		}
		again := false
		switch {
		case many != nil:
			_, again = many[string(key)]
			many[string(key)] = struct{}{}
		case len(keys) < len(few):
			for _, k := range keys {
				again = again || bytes.Equal(k, key)
			}
			keys = append(keys, key)
		default:
			many = make(map[string]struct{}, 4*len(few))
			for _, k := range append(keys, key) {
				_, again = many[string(k)]
				many[string(k)] = struct{}{}
			}
		}
		if again {
			w.found(s, key, true)
		}
		if s.elem == nil {
			w.skip()
			continue
		}
		w.path = append(w.path, fieldStep{of: s, key: key})
		w.value(s.elem)
		w.path = w.path[:len(w.path)-1]
	}
}

func (w *fieldWalker) items(s *fieldTree) {
	w.i++
	w.path = append(w.path, fieldStep{})
	last := len(w.path) - 1
	for {
		w.space()
		switch w.src[w.i] {
		case ']':
			w.i++
			w.path = w.path[:last]
			return
		case ',':
			w.i++
			w.path[last].index++
		default:
			w.value(s.elem)
		}
	}
}

func (w *fieldWalker) found(s *fieldTree, key []byte, duplicate bool) {
	if w.total++; w.total > maxUnknown {
		return
	}
	u := UnknownField{Duplicate: duplicate, Path: w.pathTo(string(key))}
	if !duplicate {
		u.Nearest = w.nearest(s, string(key))
	}
	w.list = append(w.list, u)
}

// pathTo writes the path of a member of the object that is being read. Keys are
// the sender's, so they are bounded and quoted where they are no plain names.
func (w *fieldWalker) pathTo(key string) string {
	var b strings.Builder
	for _, step := range w.path {
		if step.of == nil {
			b.WriteString("[" + strconv.Itoa(step.index) + "]")
			continue
		}
		writeKey(&b, string(step.key))
	}
	writeKey(&b, key)
	return b.String()
}

// maxKeyBytes bounds the keys of a path.
const maxKeyBytes = 64

func writeKey(b *strings.Builder, key string) {
	if len(key) > maxKeyBytes {
		key = key[:maxKeyBytes] + "..."
	}
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '.' || c == '/' || c == '[' {
			b.WriteString("[" + strconv.Quote(key) + "]")
			return
		}
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(key)
}

// nearest looks for the field that was meant: a similar name in the same object,
// the same name in an object within it, and then around it.
func (w *fieldWalker) nearest(s *fieldTree, key string) string {
	if name, ok := words.Nearest(key, s.names); ok {
		return name
	}
	if at := s.within(key, 2); at != "" {
		return at
	}
	for i := len(w.path) - 1; i >= 0; i-- {
		if w.path[i].of == nil || w.path[i].of.isMap {
			continue
		}
		if at := w.path[i].of.within(key, 2); at != "" {
			outer := *w
			outer.path = w.path[:i]
			if i == 0 {
				return at
			}
			return outer.pathTo(at)
		}
	}
	return ""
}

// within finds a name in a struct or in the structs that are its fields, up to a
// depth; empty where it is not there. Lists are left out: which of their items was
// meant is not known.
func (s *fieldTree) within(key string, depth int) string {
	for _, name := range s.names {
		if strings.EqualFold(name, key) {
			return name
		}
	}
	if depth == 0 {
		return ""
	}
	for _, name := range s.names {
		if of := s.fields[name].of; of != nil && of.fields != nil {
			if at := of.within(key, depth-1); at != "" {
				return name + "." + at
			}
		}
	}
	return ""
}

// Unknown is UnknownFields for an object of a kept kind or a workload, which raw
// names itself; kind is what it is where it does not. Of other kinds and versions
// nothing is known: they are the decoder's to refuse. raw must be JSON whose syntax
// was checked.
func Unknown(raw []byte, kind string) (list []UnknownField, total int) {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 || raw[0] != '{' {
		return nil, 0
	}
	h, _ := peekKind(raw) // what is no string there is the decoder's to refuse, too
	if h.Kind != "" {
		kind = h.Kind
	}
	k := kinds[kind]
	if h.APIVersion != "" {
		k = k.at(h.APIVersion)
	}
	if k != nil {
		return unknownFields(raw, fieldsOf(k.goType))
	}
	if w, ok := workloads[kind]; ok && h.APIVersion == w.apiVersion {
		return UnknownFields(raw, w.alloc())
	}
	return nil, 0
}
