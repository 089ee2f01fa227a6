package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Differences visits the fields in which two objects differ, in order of their paths. A value that
// one side lacks is nil there. Elements of lists are told apart by the fields that name them.
func Differences(before, after []byte, visit func(path string, from, to any)) error {
	var a, b any
	for _, side := range []struct {
		js   []byte
		into *any
	}{{before, &a}, {after, &b}} {
		dec := json.NewDecoder(bytes.NewReader(side.js))
		dec.UseNumber()
		if err := dec.Decode(side.into); err != nil {
			return fmt.Errorf("compare objects: %w", err)
		}
	}
	walkDifferences("", a, b, visit)
	return nil
}

// walkDifferences walks two values of one place side by side.
func walkDifferences(path string, a, b any, visit func(path string, from, to any)) {
	ao, aIs := a.(map[string]any)
	bo, bIs := b.(map[string]any)
	if aIs && bIs {
		for _, key := range keysOf(ao, bo) {
			walkDifferences(fieldPath(path, key), ao[key], bo[key], visit)
		}
		return
	}
	if al, bl, ok := namedElements(a, b); ok {
		for _, name := range keysOf(al, bl) {
			walkDifferences(path+"["+name+"]", al[name], bl[name], visit)
		}
		return
	}
	if !reflect.DeepEqual(a, b) {
		visit(path, a, b)
	}
}

func fieldPath(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// keysOf returns the keys of two maps, each once, sorted.
func keysOf(a, b map[string]any) []string {
	all := make(map[string]struct{}, len(a)+len(b))
	for k := range a {
		all[k] = struct{}{}
	}
	for k := range b {
		all[k] = struct{}{}
	}
	return slices.Sorted(maps.Keys(all))
}

// lists are told apart by the fields that name their elements, as in server-side
// apply.
var listKeys = []string{"name", "type", "key", "topologyKey"}

// namedElements returns the elements of two lists by their names, where every element has a
// name of its own.
func namedElements(a, b any) (x, y map[string]any, ok bool) {
	al, aIs := a.([]any)
	bl, bIs := b.([]any)
	if !aIs || !bIs {
		return nil, nil, false
	}
	for _, key := range listKeys {
		x, y = elements(al, key), elements(bl, key)
		if x != nil && y != nil {
			return x, y, true
		}
	}
	return nil, nil, false
}

func elements(list []any, key string) map[string]any {
	out := make(map[string]any, len(list))
	for _, e := range list {
		o, _ := e.(map[string]any)
		name, is := o[key].(string)
		if _, twice := out[name]; !is || twice {
			return nil
		}
		out[name] = e
	}
	return out
}
