package object

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Key names an object within a cluster. Namespace is empty for kinds without
// one.
type Key struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
} // @name ObjectName

// String returns the kind and namespace/name; the name alone for kinds without one.
func (k Key) String() string {
	if k.Name == "" {
		return k.Kind + " without a name"
	}
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}

// Compare orders by kind, namespace, name.
func (k Key) Compare(o Key) int {
	switch { // not cmp.Or, which would compare the others as well
	case k.Kind != o.Kind:
		return strings.Compare(k.Kind, o.Kind)
	case k.Namespace != o.Namespace:
		return strings.Compare(k.Namespace, o.Namespace)
	}
	return strings.Compare(k.Name, o.Name)
}

// Object is one Kubernetes object, reduced to what decisions read, defaulted
// and valid.
type Object struct {
	Key
	// Value is the typed object: *corev1.Node, *corev1.Pod, …
	Value any
	// JSON is the canonical encoding of Value: the same content always has the
	// same bytes.
	JSON []byte
}

// Format is how a body is written.
type Format int

// The formats that Read takes.
const (
	JSON Format = iota
	YAML
)

// Limits bounds what Read accepts. Zero fields take the defaults.
type Limits struct {
	MaxDepth       int // nesting of arrays, objects
	MaxTokens      int // JSON values in all
	MaxObjectBytes int // one object as sent
	MaxNodes       int
	MaxPods        int
	MaxObjects     int // kept objects of all kinds
	MaxAliases     int // YAML aliases of a document; zero is none at all
	MaxYAMLTokens  int // of one YAML document, or of one item of a list that is streamed
	Counts         Counts
	// Input is what errors call the whole input; "the body" where empty.
	Input string
	// Fields judges each object's fields before it is decoded; nil passes everything.
	// path is the object's place in the body.
	Fields func(kind, path string, unknown []UnknownField, total int) error
	// Weigh is told what an object takes at most, before it is decoded; nil passes everything.
	Weigh func(bytes int64) error
	// Skip is told of each invalid object, which then is left out; nil ends Read with
	// the error instead.
	Skip func(*InvalidError)
}

// LimitError describes which limit an input broke. Limit is the setting's name.
type LimitError struct {
	Limit string
	Max   int64
	What  string // what exceeded it, such as "nesting depth of items[3]"
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s is over the limit %s=%d", e.What, e.Limit, e.Max)
}

// Plain is Error for a caller that has no settings: without the setting's name.
func (e *LimitError) Plain() string {
	return fmt.Sprintf("%s is over %d, the most that is read", e.What, e.Max)
}

// SyntaxError describes where an input stops being JSON or YAML.
type SyntaxError struct {
	Offset int64 // bytes from the start of the JSON; -1 where unknown, as in YAML
	Line   int   // counted from 1; 0 where unknown
	Msg    string
}

func (e *SyntaxError) Error() string {
	switch {
	case e.Line > 0 && e.Offset >= 0:
		return fmt.Sprintf("%s (at line %d, byte %d)", e.Msg, e.Line, e.Offset)
	case e.Line > 0:
		return fmt.Sprintf("%s (at line %d)", e.Msg, e.Line)
	case e.Offset < 0:
		return e.Msg
	}
	return fmt.Sprintf("%s (at byte %d)", e.Msg, e.Offset)
}

// InvalidError lists what is wrong with one object, as an apiserver words it.
type InvalidError struct {
	Key    Key
	Path   string // where in the body, such as items[3]
	Errors field.ErrorList
	// Remedy is what to do instead, as a sentence; empty where nothing is known.
	Remedy string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s is invalid: %v", e.Key, FewProblems(e.Errors.ToAggregate()))
}

// Reader is the signature of Read, which others take as a source of objects.
type Reader func(yield func(Object) error) (ignored map[string]int, err error)

var _ = func(r io.Reader, f Format, lim Limits) Reader {
	return func(yield func(Object) error) (map[string]int, error) { return Read(r, f, lim, yield) }
}
