package object

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// readBuffer is the read size of YAML.
const readBuffer = 256 << 10

// Read yields the objects of a body in the order in which they stand there,
// one at a time: no more than one is held. JSON may be a List (its keys in any
// order, lists within lists), a list of one kind such as NodeList, one object,
// an array of objects, or several of these one after another; YAML a stream of
// documents of these. Both may be as Text takes them.
//
// A body that holds nothing at all is a SyntaxError: unlike an empty List, it does not state that a
// cluster is empty.
//
// Kinds that aren't kept are counted in ignored by kind (with the group, where
// it isn't one of Kubernetes' own). Errors are *LimitError, *SyntaxError,
// *InvalidError, what yield returned, or the reader's own, wrapped. Two objects
// of the same Key are an InvalidError. yield may keep what it gets.
func Read(r io.Reader, f Format, lim Limits, yield func(Object) error) (ignored map[string]int, err error) {
	in := &intake{lim: lim.withDefaults(), yield: yield, ignored: map[string]int{}, seen: map[[16]byte]struct{}{}}
	in.maxHeld = in.lim.MaxObjectBytes
	text, lines, err := Text(r)
	switch {
	case err != nil:
		return in.ignored, err
	case f == YAML && !startsAsJSON(text): // the JSON reader streams what the YAML one cannot
		err = in.readYAML(text, lines)
	default:
		err = in.readJSON(text, lines)
	}
	return in.ignored, in.whole(err)
}

// whole turns the end of a body in which nothing was found into an error.
func (in *intake) whole(err error) error {
	if err == nil && !in.found {
		return &SyntaxError{Offset: -1, Msg: in.lim.Input + " is empty: it holds neither a List nor an object"}
	}
	if err == nil {
		err = in.unfinished
	}
	return err
}

// startsAsJSON looks ahead over white space for a brace or bracket.
func startsAsJSON(r *bufio.Reader) bool {
	head, _ := r.Peek(4096)
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// intake takes objects in: it counts, bounds and builds them.
type intake struct {
	lim     Limits
	yield   func(Object) error
	ignored map[string]int
	// seen holds hashes of keys: names can be long, and 155,000 of them are kept.
	seen    map[[16]byte]struct{}
	nodes   int
	pods    int
	objects int
	tokens  int // of earlier YAML documents
	maxHeld int // bytes of one object as JSON
	scratch []byte
	found   bool  // an object or a list, be it an empty one
	path    []int // indices of the lists that are being read
	root    string
	// unfinished is the error of a page of a list that no further page followed.
	unfinished error
}

// where names the object that is being read, such as items[3].
func (in *intake) where() string {
	if len(in.path) == 0 {
		return cmp.Or(in.root, in.lim.Input)
	}
	return in.objectPath()
}

// objectPath is the place of the object for an InvalidError; empty for a body
// that is one object.
func (in *intake) objectPath() string {
	var b strings.Builder
	b.WriteString(in.root)
	for _, i := range in.path {
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		fmt.Fprintf(&b, "items[%d]", i)
	}
	return b.String()
}

// listOf is what a list says of its items.
type listOf struct {
	kind, apiVersion string
	held             *heldItems // nil: what it says is known before its items
}

// heldItems are items without a kind that stand before their list's own, as keys in order put them.
type heldItems struct {
	items []heldItem
	bytes int
}

type heldItem struct {
	at   int // index in the list
	json []byte
}

// hold keeps an item until the kind of its list is known. What is held is counted as if it were
// decoded.
func (in *intake) hold(h *heldItems, src []byte) error {
	if h.bytes += len(src); h.bytes > in.lim.fallbackBytes() {
		what := fmt.Sprintf("the items have no kind, and their list has its own behind more than %d bytes of them: put kind first (jq without -S)", in.lim.fallbackBytes())
		return inPath(&SyntaxError{Offset: -1, Msg: what}, in.objectPath())
	}
	if in.lim.Weigh != nil {
		if err := in.lim.Weigh(int64(len(src))); err != nil {
			return err
		}
	}
	h.items = append(h.items, heldItem{in.path[len(in.path)-1], bytes.Clone(src)})
	return nil
}

// release takes the items that were held, now that their list is known.
func (in *intake) release(self listOf) error {
	if self.held == nil {
		return nil
	}
	list := self.held.items
	self.held = nil
	in.path = append(in.path, 0)
	for _, item := range list {
		in.path[len(in.path)-1] = item.at
		if err := in.take(item.json, self); err != nil {
			return err
		}
	}
	in.path = in.path[:len(in.path)-1]
	return nil
}

// isList reports whether a kind is a list's.
func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// item is the kind of the items of a list of one kind; none for a plain List.
func (l listOf) item() string { return strings.TrimSuffix(l.kind, "List") }

// take builds and yields one object whose syntax was checked. within is the
// list around it.
func (in *intake) take(src []byte, within listOf) error {
	h, ok := peekKind(src)
	if !ok || kinds[h.Kind].at(h.APIVersion) == nil {
		var err error
		if h, err = readHeader(src); err != nil {
			return inPath(err, in.objectPath())
		}
	}
	if h.Kind == "" && h.APIVersion == "" && within.item() != "" {
		h.Kind, h.APIVersion = within.item(), within.apiVersion
	}
	if h.Kind == "" && within.held != nil {
		return in.hold(within.held, src)
	}
	k, err := h.resolve(in.objectPath())
	if err != nil {
		return in.skip(err)
	}
	if k == nil {
		in.ignore(ignoredName(h))
		return nil
	}
	if err := in.count(k); err != nil {
		return err
	}
	if in.lim.Fields != nil {
		if list, total := unknownFields(src, fieldsOf(k.goType)); total > 0 {
			if err := in.lim.Fields(k.name, in.objectPath(), list, total); err != nil {
				return err
			}
		}
	}
	if in.lim.Weigh != nil {
		if err := in.lim.Weigh(Weight(src)); err != nil {
			return err
		}
	}
	o, err := build(k, src, in.objectPath, &in.scratch, in.lim.Counts)
	if err != nil {
		return in.skip(err)
	}
	if err := in.once(o.Key); err != nil {
		return err
	}
	return in.yield(o)
}

// skip passes over an invalid object where the caller wants that; other errors
// stay.
func (in *intake) skip(err error) error {
	var invalid *InvalidError
	if in.lim.Skip == nil || !errors.As(err, &invalid) {
		return err
	}
	in.lim.Skip(invalid)
	return nil
}

func (in *intake) count(k *kind) error {
	add := func(n *int, maximum int, limit, what string) error {
		if *n++; *n > maximum {
			return &LimitError{Limit: limit, Max: int64(maximum), What: what}
		}
		return nil
	}
	switch k.name {
	case "Node":
		if err := add(&in.nodes, in.lim.MaxNodes, limitNodes, "the number of nodes"); err != nil {
			return err
		}
	case "Pod":
		if err := add(&in.pods, in.lim.MaxPods, limitPods, "the number of pods"); err != nil {
			return err
		}
	}
	return add(&in.objects, in.lim.MaxObjects, limitObjects, "the number of objects")
}

// once refuses a Key that was there before.
func (in *intake) once(key Key) error {
	// Names are judged later: until then one may hold a slash.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", key.Kind, key.Namespace, key.Name))
	id := [16]byte(sum[:16])
	if _, dup := in.seen[id]; dup {
		return &InvalidError{Key: key, Path: in.objectPath(), Errors: field.ErrorList{field.Duplicate(field.NewPath("metadata", "name"), key.Name)}}
	}
	in.seen[id] = struct{}{}
	return nil
}

// Bounds of what is told of kinds that are not kept, since it goes with each later revision.
const (
	maxIgnoredKinds = 100
	maxKindName     = 63
	otherKinds      = "(others)" // those beyond
)

// ignoredName is the kind of an object that is not kept, with its group where a kept kind has the
// same name.
func ignoredName(h header) string {
	if kinds[h.Kind] == nil {
		return h.Kind
	}
	group, _, _ := strings.Cut(h.APIVersion, "/")
	return h.Kind + "." + group
}

// ignore counts an object of a kind that is not kept.
func (in *intake) ignore(name string) {
	if _, known := in.ignored[name]; !known && (len(in.ignored) >= maxIgnoredKinds || len(name) > maxKindName) {
		name = otherKinds
	}
	in.ignored[name]++
}
