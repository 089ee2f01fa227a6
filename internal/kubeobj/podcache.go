package kubeobj

import (
	"bytes"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/jsonscan"
)

// maxTemplates bounds the templates of a PodCache, and maxTemplateBytes their text.
const (
	maxTemplates     = 4096
	maxTemplateBytes = 8 << 20
)

// fewTemplates is how many templates of late a pod is held against before it is read for its key.
const fewTemplates = 8

// PodCache decodes pods in canonical form. Pods of one workload differ in name,
// UID and node alone: what else they say is decoded once, and the pods share
// it. It is for one goroutine.
type PodCache struct {
	templates map[string]*template    // by the JSON without those three
	recent    [fewTemplates]*template // the last ones, the newest first
	key       []byte
	bytes     int // of the keys
}

// template is a pod with its key.
type template struct {
	pod   *corev1.Pod
	parts []string // of the key: what stands before, between and behind a pod's own values
	uid   bool     // the pods have one
}

// cut returns the own values of a pod of the template that js begins with, and where that ends; -1
// where it begins otherwise. Strings that need no escape between the same texts make the same key.
func (t *template) cut(js []byte) (own Own, end int) {
	last := len(t.parts) - 1
	var values [3][]byte
	for i, part := range t.parts {
		if len(js)-end < len(part) || string(js[end:end+len(part)]) != part {
			return own, -1
		}
		if end += len(part); i == last {
			break
		}
		n := bytes.IndexByte(js[end:], '"')
		if n < 0 || bytes.IndexByte(js[end:end+n], '\\') >= 0 {
			return own, -1
		}
		values[i] = js[end : end+n]
		end += n
	}
	if own.Name = string(values[0]); t.uid {
		own.UID, own.Node = string(values[1]), string(values[2])
	} else {
		own.Node = string(values[1])
	}
	return own, end
}

// NewPodCache makes one.
func NewPodCache() *PodCache { return &PodCache{templates: map[string]*template{}} }

// blank is a string value that is left out of a template's key: its place in
// the JSON, quotes excluded.
type blank struct{ from, to int }

func (b blank) text(js []byte) string { return string(js[b.from:b.to]) }

// Own is what a pod does not share with its template.
type Own struct{ Name, UID, Node string }

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
	if t, own, end := c.SplitFirst(js); end == len(js) {
		return t, own, nil
	}
	return c.SplitByKey(js)
}

// SplitByKey is Split for a pod that SplitFirst does not know.
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
		if ok {
			c.add(t, uid.from > 0, node.from > 0)
		}
		return t, Own{t.Name, string(t.UID), t.Spec.NodeName}, nil
	}
	c.met(known)
	own.Name = name.text(js)
	if uid.from > 0 {
		own.UID = uid.text(js)
	}
	if node.from > 0 {
		own.Node = node.text(js)
	}
	return known.pod, own, nil
}

// SplitFirst is Split for the pod that js begins with, where that is of a template of late. end is
// where the pod ends; -1 where it is another one, or none.
func (c *PodCache) SplitFirst(js []byte) (t *corev1.Pod, own Own, end int) {
	for i, known := range &c.recent {
		if known == nil {
			break
		}
		if own, end := known.cut(js); end >= 0 {
			if i > 0 {
				c.met(known)
			}
			return known.pod, own, end
		}
	}
	return nil, own, -1
}

// add adds a template of the key at hand.
func (c *PodCache) add(pod *corev1.Pod, uid, node bool) {
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
	if c.bytes += len(key); len(c.templates) >= maxTemplates || c.bytes > maxTemplateBytes {
		clear(c.templates)
		clear(c.recent[:])
		c.bytes = len(key)
	}
	c.templates[key] = t
	c.met(t)
}

// met makes a template the newest.
func (c *PodCache) met(t *template) {
	for i, moved := 0, t; i < fewTemplates && moved != nil; i++ {
		c.recent[i], moved = moved, c.recent[i]
		if moved == t {
			break
		}
	}
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
