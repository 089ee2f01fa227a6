package object

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// fieldTree is what a Go type reads of a JSON value, by its json tags. A nil fieldTree
// is of a value without names of its own: a scalar, or a type that decodes itself.
type fieldTree struct {
	fields map[string]treeField // of a struct
	names  []string             // its fields in the order of the type
	elem   *fieldTree           // of a map's values or a list's items
	isMap  bool
	isList bool
}

type treeField struct {
	index int // a bit in seenFields
	of    *fieldTree
}

// fieldTrees holds a *fieldTree for each reflect.Type that was asked for: they are made once.
var fieldTrees sync.Map

// fieldsOf returns the fields of the type that a pointer type points to.
func fieldsOf(pointer reflect.Type) *fieldTree {
	t := pointer.Elem()
	if s, ok := fieldTrees.Load(t); ok {
		return s.(*fieldTree)
	}
	s, _ := fieldTrees.LoadOrStore(t, (&treeMaker{map[reflect.Type]*fieldTree{}}).of(t))
	return s.(*fieldTree)
}

// treeMaker remembers types while they are made, since a type may contain itself.
type treeMaker struct{ made map[reflect.Type]*fieldTree }

func (m *treeMaker) of(t reflect.Type) *fieldTree {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	if s, ok := m.made[t]; ok {
		return s
	}
	s := &fieldTree{}
	switch t.Kind() {
	case reflect.Struct:
		m.made[t] = s
		s.fields = map[string]treeField{}
		m.add(s, t)
		for i, name := range formerFields[t] { // not in names: no misspelt field means one of them
			s.fields[name] = treeField{index: len(s.names) + i}
		}
	case reflect.Map:
		s.isMap, s.elem = true, m.of(t.Elem())
	case reflect.Slice, reflect.Array:
		if s.elem = m.of(t.Elem()); s.elem == nil {
			return nil
		}
		s.isList = true
	default:
		return nil
	}
	return s
}

// add adds a struct's fields, those of embedded structs among them.
func (m *treeMaker) add(s *fieldTree, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			m.add(s, embedded)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if len(s.names) == len(seenFields{})*64 {
			panic(fmt.Sprintf("%v has more fields than fit into seenFields", t))
		}
		s.fields[name] = treeField{len(s.names), m.of(f.Type)}
		s.names = append(s.names, name)
	}
}

// seenFields is a set of a struct's fields.
type seenFields [2]uint64

// add reports whether the field was there before.
func (s *seenFields) add(i int) (before bool) {
	word, bit := &s[i/64], uint64(1)<<(i%64)
	before = *word&bit != 0
	*word |= bit
	return before
}
