package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// emptyTimes are fields that the Go types write as null where they are unset.
// The patterns cannot occur inside a string, where quotes are escaped.
var emptyTimes = [][]byte{
	[]byte(`,"lastHeartbeatTime":null`), []byte(`,"lastTransitionTime":null`), []byte(`,"lastProbeTime":null`),
	[]byte(`,"startedAt":null`), []byte(`,"finishedAt":null`), []byte(`,"lastUpdateTime":null`),
}

// dropEmptyTimes removes them in place.
func dropEmptyTimes(js []byte) []byte {
	out := js[:0]
	for {
		i := bytes.Index(js, []byte(":null"))
		if i < 0 {
			return append(out, js...)
		}
		i += len(":null")
		keep := i
		for _, t := range emptyTimes {
			if bytes.HasSuffix(js[:i], t) {
				keep = i - len(t)
			}
		}
		out = append(out, js[:keep]...)
		js = js[i:]
	}
}

var emptyStatus = []byte(`,"status":{}}`)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Encode returns the canonical JSON of a typed object of a kept kind: kind and
// apiVersion first, fields in the order of the Go type, keys of maps sorted,
// quantities in canonical form, unset times and an empty status left out. The
// value isn't changed. Encode of a value that Read yielded is that Object's
// JSON.
func Encode(v any) ([]byte, error) {
	o, ok := v.(typed)
	if !ok {
		return nil, fmt.Errorf("encode object: %T isn't a kept kind", v)
	}
	k := kindOf(o)
	if k == nil {
		return nil, fmt.Errorf("encode object: %T isn't a kept kind", v)
	}
	want := schema.FromAPIVersionAndKind(k.apiVersion, k.name)
	if o.GetObjectKind().GroupVersionKind() != want {
		o = o.DeepCopyObject().(typed)
		o.GetObjectKind().SetGroupVersionKind(want)
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", k.name, o.GetName(), err)
	}
	js := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	js = dropEmptyTimes(js)
	if bytes.HasSuffix(js, emptyStatus) {
		js = append(js[:len(js)-len(emptyStatus)], '}')
	}
	return bytes.Clone(js), nil
}

// Of returns a typed object of a kept kind as Read would have yielded it. The value
// is neither copied nor changed.
func Of(v any) (Object, error) {
	js, err := Encode(v)
	if err != nil {
		return Object{}, err
	}
	o := v.(typed) // as Encode has found
	return Object{Key: Key{Kind: kindOf(o).name, Namespace: o.GetNamespace(), Name: o.GetName()}, Value: v, JSON: js}, nil
}
