package kubeobj

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These walk over JSON whose syntax was checked, or which Encode wrote.

// Members calls f for the members of the object at an index, each with its key and
// where its value begins, and returns the index behind the object; -1 where f says
// no or the JSON has spaces or damage.
func Members(js []byte, at int, f func(key []byte, at int) bool) int {
	if at >= len(js) || js[at] != '{' {
		return -1
	}
	at++
	for at < len(js) && js[at] == '"' {
		end := ValueEnd(js, at)
		if end < 0 || end+1 >= len(js) || js[end] != ':' {
			return -1
		}
		value := end + 1
		if !f(js[at+1:end-1], value) {
			return -1
		}
		if at = ValueEnd(js, value); at < 0 || at >= len(js) {
			return -1
		}
		if js[at] == ',' {
			at++
		}
	}
	if at < len(js) && js[at] == '}' {
		return at + 1
	}
	return -1
}

// ValueEnd returns the index behind the JSON value that begins at an index; -1 if the value does
// not end. Its content is not checked.
func ValueEnd(js []byte, at int) int {
	if at >= len(js) {
		return -1
	}
	switch js[at] {
	case '"':
		return stringEnd(js, at)
	case '{', '[':
	default:
		for at < len(js) && js[at] > ' ' && js[at] != ',' && js[at] != '}' && js[at] != ']' {
			at++
		}
		return at
	}
	depth := 0
	for at < len(js) {
		switch js[at] {
		case '"':
			if at = stringEnd(js, at); at < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
	return -1
}

// stringEnd returns the index behind the string that begins at an index; -1 if it does not end.
func stringEnd(js []byte, at int) int {
	for i := at + 1; i < len(js); i++ {
		for plainByte[js[i]] {
			if i++; i == len(js) {
				return -1
			}
		}
		switch js[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// ControllerKind returns the kind of the controller that owns an object in canonical JSON; empty
// without one.
func ControllerKind(js []byte) (kind string) {
	var list []byte
	Members(js, 0, func(key []byte, at int) bool {
		if string(key) != "metadata" {
			return true
		}
		Members(js, at, func(key []byte, at int) bool {
			if string(key) == "ownerReferences" {
				list = js[at:max(ValueEnd(js, at), at)]
			}
			return list == nil
		})
		return false
	})
	var owners []metav1.OwnerReference
	if len(list) == 0 || json.Unmarshal(list, &owners) != nil {
		return ""
	}
	for _, o := range owners {
		if o.Controller != nil && *o.Controller {
			return o.Kind
		}
	}
	return ""
}
