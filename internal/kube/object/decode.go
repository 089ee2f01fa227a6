package object

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// header is what names an object before anything else of it is decoded.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
		Namespace    string `json:"namespace"`
	} `json:"metadata"`
}

var headerTrie = compile(keep{
	"apiVersion": all, "kind": all, "metadata": {"name": all, "generateName": all, "namespace": all},
})

// readHeader reads an object's names; src is valid JSON and an object.
func readHeader(src []byte) (h header, err error) {
	pruned, err := prune(make([]byte, 0, 256), src, headerTrie)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(pruned, &h); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return h, &SyntaxError{Offset: -1, Msg: fmt.Sprintf("%s must be a %s, not a %s", wrong.Field, jsonName(wrong.Type), wrong.Value)}
		}
		return h, &SyntaxError{Offset: -1, Msg: err.Error()}
	}
	return h, nil
}

// peekKind reads kind and apiVersion of an object whose syntax was checked, and
// stops as soon as it has both, which kubectl prints first. It is false where
// they are not there as plain strings, which readHeader then words.
func peekKind(src []byte) (h header, ok bool) {
	p := pruner{src: src, i: 1}
	for {
		p.space()
		switch p.src[p.i] {
		case '}':
			return h, false
		case ',':
			p.i++
			p.space()
		}
		key := string(p.key())
		p.space()
		p.i++ // the colon
		p.space()
		if p.src[p.i] != '"' || (key != "kind" && key != "apiVersion") {
			p.skip()
			continue
		}
		value := string(p.key())
		if key == "kind" {
			h.Kind = value
		} else {
			h.APIVersion = value
		}
		if h.Kind != "" && h.APIVersion != "" {
			return h, true
		}
	}
}

func (h header) key(k *kind) Key {
	key := Key{Kind: h.Kind, Name: h.Metadata.Name}
	if k.namespaced {
		if key.Namespace = h.Metadata.Namespace; key.Namespace == "" {
			key.Namespace = corev1.NamespaceDefault
		}
	}
	return key
}

// build makes an Object of kind k from one JSON object whose syntax was
// checked: prune, decode, default, validate, encode.
func build(k *kind, src []byte, path func() string, scratch *[]byte, counts Counts) (Object, error) {
	pruned, err := prune((*scratch)[:0], src, k.keep)
	*scratch = pruned
	if err != nil {
		return Object{}, inPath(err, path())
	}
	if !utf8.Valid(pruned) {
		return Object{}, inPath(&SyntaxError{Offset: -1, Msg: "a string isn't UTF-8"}, path())
	}
	if err := counts.checkItems(pruned, path()); err != nil {
		return Object{}, err
	}
	v := k.alloc()
	errs, err := unmarshal(pruned, v)
	if err != nil {
		if errs = locate(pruned, v); len(errs) == 0 {
			errs = field.ErrorList{field.Invalid(field.NewPath("metadata"), "", err.Error())}
		}
	}
	if len(errs) > 0 {
		h, err := readHeader(src)
		if err != nil {
			return Object{}, inPath(err, path())
		}
		h.Kind = k.name
		return Object{}, &InvalidError{Key: h.key(k), Path: path(), Errors: errs}
	}
	// Before anything whose work depends on them.
	if err := counts.check(v, path()); err != nil {
		return Object{}, err
	}
	o, err := k.finish(v, path)
	var invalid *InvalidError
	if v.GetName() == "" && errors.As(err, &invalid) {
		if h, err := readHeader(src); err == nil && h.Metadata.GenerateName != "" {
			invalid.needsName()
		}
	}
	return o, err
}

// needsName says of an object that has a generateName that it needs a name.
func (e *InvalidError) needsName() {
	for _, f := range e.Errors {
		if f.Type == field.ErrorTypeRequired && f.Field == "metadata.name" {
			f.Detail = "an object that is stored is found by its name: generateName is taken where a pod is judged"
		}
	}
}

// finish defaults, validates and encodes a decoded value.
func (k *kind) finish(v typed, path func() string) (Object, error) {
	k.setDefaults(v)
	key := Key{Kind: k.name, Namespace: v.GetNamespace(), Name: v.GetName()}
	errs := k.validateMeta(v)
	if k.validate != nil {
		errs = append(errs, k.validate(v)...)
	}
	if len(errs) > 0 {
		return Object{}, &InvalidError{Key: key, Path: path(), Errors: errs}
	}
	js, err := Encode(v)
	if err != nil {
		return Object{}, &InvalidError{Key: key, Path: path(), Errors: field.ErrorList{field.Invalid(field.NewPath("metadata"), key.Name, err.Error())}}
	}
	return Object{Key: key, Value: v, JSON: js}, nil
}

// inPath says in which object of the body an error lies.
func inPath(err error, path string) error {
	var syntax *SyntaxError
	if path != "" && errors.As(err, &syntax) {
		return &SyntaxError{Offset: syntax.Offset, Msg: path + ": " + syntax.Msg}
	}
	return err
}
