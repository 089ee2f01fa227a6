package object

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/jsonscan"
)

// maxTemplates bounds the templates of a PodCache, maxTemplateBytes their text, and maxDecodedBytes
// what they take decoded: a list of volumes with nothing but a name takes twenty times its text.
const (
	maxTemplates     = 4096
	maxTemplateBytes = 8 << 20
	maxDecodedBytes  = 64 << 20
)

// decodedBytes is about what a pod takes decoded, from above for all but containers. It costs next
// to nothing beside decoding, which Weight does not.
func decodedBytes(js []byte) int { return 4*len(js) + weightObject*bytes.Count(js, []byte{'{'}) }

// PodCache decodes pods in canonical form. Pods of one workload differ in name,
// UID and node alone: what else they say is decoded once, and the pods share
// it. It is for one goroutine.
type PodCache struct {
	templates map[string]*template // by the JSON without those three
	hashed    map[uint64]*template // the last of each hash
	seed      maphash.Seed
	key       []byte
	bytes     int // of the keys
	held      int // what the templates take decoded
	decoded   int // what all pods took that were decoded
}

// template is a pod with its key.
type template struct {
	pod   *corev1.Pod
	parts []string // of the key: what stands before, between and behind a pod's own values
	uid   bool     // the pods have one
}

// cut returns the own values of a pod of the template; false where it is another pod. Strings that
// need no escape between the same texts make the same key.
func (t *template) cut(js []byte) (own Own, ok bool) {
	last, end := len(t.parts)-1, 0
	var values [3][]byte
	for i, part := range t.parts {
		if len(js)-end < len(part) || string(js[end:end+len(part)]) != part {
			return own, false
		}
		if end += len(part); i == last {
			break
		}
		n := bytes.IndexByte(js[end:], '"')
		if n < 0 || bytes.IndexByte(js[end:end+n], '\\') >= 0 {
			return own, false
		}
		values[i] = js[end : end+n]
		end += n
	}
	if end != len(js) {
		return own, false
	}
	if !t.uid {
		values[1], values[2] = nil, values[1]
	}
	var room [128]byte
	all := string(append(append(append(room[:0], values[0]...), values[1]...), values[2]...))
	name, uid := len(values[0]), len(values[0])+len(values[1])
	return Own{Name: all[:name], UID: all[name:uid], Node: all[uid:]}, true
}

// NewPodCache makes one.
func NewPodCache() *PodCache {
	return &PodCache{templates: map[string]*template{}, hashed: map[uint64]*template{}, seed: maphash.MakeSeed()}
}

// blank is a string value that is left out of a template's key: its place in
// the JSON, quotes excluded.
type blank struct{ from, to int }

func (b blank) text(js []byte) string { return string(js[b.from:b.to]) }

// Own is what a pod does not share with its template.
type Own struct{ Name, UID, Node string }

// Decoded is about what the pods that were decoded so far took in memory, in bytes: those that were
// like one before took nothing.
func (c *PodCache) Decoded() int { return c.decoded }

// Decode is FromCanonical for pods. Nothing that the pod refers to may be
// written.
func (c *PodCache) Decode(js []byte) (Object, error) {
	t, own, err := c.Split(js)
	if err != nil {
		return Object{}, err
	}
	pod := own.Of(t)
	return Object{Key: own.Key(t), Value: &pod, JSON: js}, nil
}

// Of returns a pod of the template.
func (o *Own) Of(t *corev1.Pod) corev1.Pod {
	pod := *t
	pod.Name, pod.UID, pod.Spec.NodeName = o.Name, types.UID(o.UID), o.Node
	return pod
}

// Key returns the key of a pod of the template.
func (o *Own) Key(t *corev1.Pod) Key {
	return Key{Kind: "Pod", Namespace: t.Namespace, Name: o.Name}
}

// Split is Decode for callers that need no pod of its own: it returns the template, which is not to
// be written and has some pod's values, and the values of this one.
func (c *PodCache) Split(js []byte) (t *corev1.Pod, own Own, err error) {
	if t, own := c.Known(js); t != nil {
		return t, own, nil
	}
	return c.SplitByKey(js)
}

// SplitByKey is Split for a pod that Known does not find.
func (c *PodCache) SplitByKey(js []byte) (t *corev1.Pod, own Own, err error) {
	key, name, uid, node, ok := templateKey(c.key[:0], js)
	c.key = key
	var known *template
	if ok {
		known = c.templates[string(c.key)]
	}
	if known == nil {
		o, err := decodePod(js)
		if err != nil {
			return nil, own, err
		}
		t = o.Value.(*corev1.Pod)
		c.decoded += decodedBytes(js)
		if ok {
			c.add(t, js, uid.from > 0, node.from > 0)
		}
		return t, Own{t.Name, string(t.UID), t.Spec.NodeName}, nil
	}
	c.remember(js, known) // another one may have taken its place
	own.Name = name.text(js)
	if uid.from > 0 {
		own.UID = uid.text(js)
	}
	if node.from > 0 {
		own.Node = node.text(js)
	}
	return known.pod, own, nil
}

// Known is Split for a pod whose template is found without reading the JSON; t is nil where none
// is.
func (c *PodCache) Known(js []byte) (t *corev1.Pod, own Own) {
	if known := c.hashed[c.hash(js)]; known != nil {
		if own, ok := known.cut(js); ok {
			return known.pod, own
		}
	}
	return nil, own
}

// remember lets Known find the template of js.
func (c *PodCache) remember(js []byte, t *template) {
	if len(c.hashed) >= maxTemplates { // pods with odd texts have a hash each
		clear(c.hashed)
	}
	c.hashed[c.hash(js)] = t
}

// hash is over the JSON without the first strings behind "name":, "uid": and "nodeName":, in this
// order. In most pods these are the pod's own values, so that those of one template have one hash.
func (c *PodCache) hash(js []byte) (sum uint64) {
	for _, find := range [...]func([]byte) int{behindName, behindUID, behindNode} {
		if n := find(js); n >= 0 {
			sum = sum*31 + maphash.Bytes(c.seed, js[:n])
			js = js[n+max(bytes.IndexByte(js[n:], '"'), 0):]
		}
	}
	return sum*31 + maphash.Bytes(c.seed, js)
}

func behindName(js []byte) int { return behind(js, `"name":"`, 1) }
func behindUID(js []byte) int  { return behind(js, `"uid":"`, 2) }
func behindNode(js []byte) int { return behind(js, `"nodeName":"`, 5) }

// behind returns the index behind a text; -1 where there is none. rare is the place in the text of
// a byte that is rare in pods, and looked for.
func behind(js []byte, text string, rare int) int {
	for at := rare; at < len(js); at++ {
		n := bytes.IndexByte(js[at:], text[rare])
		if n < 0 {
			break
		}
		at += n
		if from := at - rare; len(js)-from >= len(text) && string(js[from:from+len(text)]) == text {
			return from + len(text)
		}
	}
	return -1
}

// add adds a template of the key at hand, which is that of js.
func (c *PodCache) add(pod *corev1.Pod, js []byte, uid, node bool) {
	parts := 2
	for _, has := range []bool{uid, node} {
		if has {
			parts++
		}
	}
	key := string(c.key)
	t := &template{pod: pod, parts: strings.Split(key, "\x00"), uid: uid}
	if len(t.parts) != parts {
		return // the JSON has such bytes itself
	}
	size := decodedBytes(js)
	c.bytes, c.held = c.bytes+len(key), c.held+size
	if len(c.templates) >= maxTemplates || c.bytes > maxTemplateBytes || c.held > maxDecodedBytes {
		clear(c.templates)
		clear(c.hashed)
		c.bytes, c.held = len(key), size
	}
	c.templates[key] = t
	c.remember(js, t)
}

// templateKey appends to dst a pod's JSON without its name, UID and node, and returns where they
// stand. ok is as of blanks.
func templateKey(dst, js []byte) (key []byte, name, uid, node blank, ok bool) {
	if name, uid, node, ok = blanks(js); !ok {
		return dst, name, uid, node, false
	}
	// A byte that no JSON has stands for each value, so that another pod with the same key has the
	// same three at the same places.
	key = append(append(dst, js[:name.from]...), 0)
	at := name.to
	for _, b := range []blank{uid, node} {
		if b.from > 0 {
			key = append(append(key, js[at:b.from]...), 0)
			at = b.to
		}
	}
	return append(key, js[at:]...), name, uid, node, true
}

func decodePod(js []byte) (Object, error) {
	o, err := FromCanonical("Pod", js)
	if err != nil {
		return o, err
	}
	if _, ok := o.Value.(*corev1.Pod); !ok {
		return o, fmt.Errorf("decode canonical Pod: %T is none", o.Value)
	}
	return o, nil
}

// blanks finds metadata.name, metadata.uid and spec.nodeName, which come in this
// order. It is false where the JSON is not what Encode writes, or a value has an
// escape.
func blanks(js []byte) (name, uid, node blank, ok bool) {
	ok = jsonscan.Members(js, 0, func(key []byte, at int) bool {
		switch string(key) {
		case "metadata":
			return js[at] == '{' && jsonscan.Members(js, at, func(key []byte, at int) bool {
				switch string(key) {
				case "name":
					return take(js, at, &name)
				case "uid":
					return name.from > 0 && take(js, at, &uid)
				}
				return true
			}) > 0
		case "spec":
			return name.from > 0 && js[at] == '{' && jsonscan.Members(js, at, func(key []byte, at int) bool {
				return string(key) != "nodeName" || take(js, at, &node)
			}) > 0
		}
		return true
	}) == len(js)
	return name, uid, node, ok && name.from > 0
}

// take notes a string that has no escapes; once.
func take(js []byte, at int, b *blank) bool {
	end := jsonscan.ValueEnd(js, at)
	if js[at] != '"' || end < 0 || b.from > 0 || bytes.IndexByte(js[at:end], '\\') >= 0 {
		return false
	}
	*b = blank{at + 1, end - 1}
	return true
}
