package object

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	k8svalidation "k8s.io/apimachinery/pkg/util/validation"
)

// The bounds of what a RequestPods keeps: templates, and the text of their keys.
const (
	maxRequestTemplates     = 2048
	maxRequestTemplateBytes = 2 << 20
)

// RequestPods decodes the pods of requests, each as DecodePod or DecodeScheduledPod does. Pods of
// one workload differ in name, UID and node alone, and an extender's calls for one pod not at all:
// what else they say is decoded, checked and encoded once, and the pods share it. It is safe for
// concurrent use.
type RequestPods struct {
	kind *kind
	lim  Limits

	mu        sync.Mutex
	templates map[string]*requestTemplate // guarded by mu; by the kept JSON without those three
	bytes     int                         // guarded by mu; of the keys
}

// requestTemplate is a valid pod with its canonical JSON, and where that has the three.
type requestTemplate struct {
	pod             *corev1.Pod
	js              []byte
	name, uid, node blank
}

// keyBuffer is the memory of one call, kept for the next.
type keyBuffer struct{ kept, key []byte }

var keyBuffers = sync.Pool{New: func() any { return new(keyBuffer) }}

// NewRequestPods makes one for DecodePod, or for DecodeScheduledPod if scheduled is set.
func NewRequestPods(lim Limits, scheduled bool) *RequestPods {
	k := kinds["Pod"]
	if scheduled {
		k = podOfScheduler
	}
	return &RequestPods{kind: k, lim: lim, templates: map[string]*requestTemplate{}}
}

// Forget drops what is kept.
func (c *RequestPods) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.templates)
	c.bytes = 0
}

// Decode returns a pod and its canonical JSON. Neither the pod nor what it refers to may be
// written.
func (c *RequestPods) Decode(raw []byte) (pod *corev1.Pod, canonical []byte, err error) {
	if err := checkObject(raw, c.lim); err != nil {
		return nil, nil, err
	}
	buf := keyBuffers.Get().(*keyBuffer)
	defer keyBuffers.Put(buf)
	if buf.kept, err = prune(buf.kept[:0], raw, c.kind.keep); err != nil {
		return c.miss(raw, nil)
	}
	js := buf.kept
	key, name, uid, node, ok := templateKey(buf.key[:0], js)
	buf.key = key
	if !ok || !spliceable(js, name, uid, node) {
		return c.miss(raw, nil)
	}
	c.mu.Lock()
	t := c.templates[string(key)]
	c.mu.Unlock()
	if t == nil {
		return c.miss(raw, key)
	}
	given := ""
	if uid.from > 0 {
		given = uid.text(js)
	}
	own := t.named(name.text(js), given)
	if node.from > 0 {
		own.Spec.NodeName = node.text(js)
	}
	return own, t.splice(own), nil
}

// named returns a copy of the template's pod under a name, with the UID that is derived from it
// where none is given.
func (t *requestTemplate) named(name, uid string) *corev1.Pod {
	own := *t.pod
	own.Name, own.UID = name, types.UID(uid)
	if uid == "" {
		own.UID = DerivedUID(Key{Kind: "Pod", Namespace: own.Namespace, Name: name})
	}
	return &own
}

// splice returns the template's JSON with a pod's own name, UID and node.
func (t *requestTemplate) splice(pod *corev1.Pod) []byte {
	out := make([]byte, 0, len(t.js)+len(pod.Name)+len(pod.UID)+len(pod.Spec.NodeName))
	out = append(append(out, t.js[:t.name.from]...), pod.Name...)
	out = append(append(out, t.js[t.name.to:t.uid.from]...), pod.UID...)
	at := t.uid.to
	if t.node.from > 0 {
		out = append(append(out, t.js[at:t.node.from]...), pod.Spec.NodeName...)
		at = t.node.to
	}
	return append(out, t.js[at:]...)
}

// spliceable reports whether the values may stand in any pod and in its JSON as they are.
func spliceable(js []byte, name, uid, node blank) bool {
	if !subdomain(js[name.from:name.to]) || node.from > 0 && !subdomain(js[node.from:node.to]) {
		return false
	}
	if uid.from == 0 {
		return true
	}
	for _, b := range js[uid.from:uid.to] {
		if b <= ' ' || b >= 0x7f {
			return false
		}
	}
	return uid.to > uid.from && uid.to-uid.from <= maxUID
}

// subdomain reports whether text may be a name of a pod or a node (apimachinery
// pkg/util/validation IsDNS1123Subdomain). Most are one label, which needs no regular expression.
func subdomain(text []byte) bool {
	letter := func(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
	n := len(text)
	if n == 0 || n > k8svalidation.DNS1123SubdomainMaxLength || !letter(text[0]) || !letter(text[n-1]) {
		return false
	}
	for _, c := range text {
		if !letter(c) && c != '-' {
			return len(validation.NameIsDNSSubdomain(string(text), false)) == 0
		}
	}
	return true
}

// miss decodes a pod whole, and keeps it where it has a key.
func (c *RequestPods) miss(raw, key []byte) (pod *corev1.Pod, canonical []byte, err error) {
	o, err := decodeChecked(raw, c.lim, c.kind)
	if err != nil {
		return nil, nil, err
	}
	pod = o.Value.(*corev1.Pod)
	t := &requestTemplate{pod: pod, js: o.JSON}
	var ok bool
	if t.name, t.uid, t.node, ok = blanks(o.JSON); !ok || t.uid.from == 0 || key == nil {
		return pod, o.JSON, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += len(key); len(c.templates) >= maxRequestTemplates || c.bytes > maxRequestTemplateBytes {
		clear(c.templates)
		c.bytes = len(key)
	}
	c.templates[string(key)] = t
	return pod, o.JSON, nil
}

// WithUID returns a pod's canonical JSON with another UID; nil where that takes Encode.
func WithUID(js []byte, uid types.UID) []byte {
	name, at, _, ok := blanks(js)
	if !ok || at.from == 0 || !spliceable(js, name, blank{}, blank{}) {
		return nil
	}
	out := make([]byte, 0, len(js)+len(uid))
	return append(append(append(out, js[:at.from]...), uid...), js[at.to:]...)
}
