package object

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/jsonscan"
)

// ControllerKind returns the kind of the controller that owns an object in canonical JSON; empty
// without one.
func ControllerKind(js []byte) (kind string) {
	var list []byte
	jsonscan.Members(js, 0, func(key []byte, at int) bool {
		if string(key) != "metadata" {
			return true
		}
		jsonscan.Members(js, at, func(key []byte, at int) bool {
			if string(key) == "ownerReferences" {
				list = js[at:max(jsonscan.ValueEnd(js, at), at)]
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
