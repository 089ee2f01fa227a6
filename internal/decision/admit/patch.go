package admit

import (
	"bytes"
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"berth/internal/kube/object"
	"berth/internal/revision"
)

// Bounds of a JSON patch. Upstream has maxOperations (apiserver/pkg/endpoints/handlers/patch.go
// maxJSONPatchOperations) and maxCopied (pkg/server/config.go JSONPatchMaxCopyBytes). An operation
// on a list moves its elements, so that the operations times the elements are what a patch takes:
// ten nanoseconds each. A change may have many patches: allCopied is for all of them.
const (
	maxOperations = 10_000
	maxMoved      = 128 << 20
	maxCopied     = 3 << 20  // bytes
	allCopied     = 32 << 20 // bytes
)

func init() { jsonpatch.AccumulatedCopySizeLimit = maxCopied }

// patch changes the stored fields of an object, and admits what comes of it.
func (w *work) patch(s *step) error {
	held, ok, err := w.held(s.key)
	if err != nil {
		return err
	}
	if !ok {
		return &revision.InvalidError{Field: s.field, Detail: fmt.Sprintf("%s is not in %s", nameOf(s.key), w.v.ID()), Absent: true}
	}
	js, err := w.patched(s, held)
	if err != nil {
		return err
	}
	o, err := w.c.Read(s.field, js)
	if err != nil {
		return err
	}
	if o.Key != s.key {
		return &revision.InvalidError{Field: s.field + ".patch", Detail: fmt.Sprintf("a patch cannot make %s of %s", nameOf(o.Key), nameOf(s.key))}
	}
	return w.update(s, o, js, held)
}

// patched returns the object's JSON under the patch.
func (w *work) patched(s *step, held object.Object) (js []byte, err error) {
	p := s.patch
	defer func() {
		// Upstream panics on some directives, such as an order of a list without a merge key.
		if r := recover(); r != nil {
			err = &revision.InvalidError{Field: s.field + ".patch", Detail: fmt.Sprintf("no %s patch that can be applied to %s: a list cannot be patched like that", p.Type, nameOf(s.key))}
		}
	}()
	if len(p.Patch) == 0 || string(p.Patch) == "null" {
		return nil, &revision.InvalidError{Field: s.field + ".patch", Detail: "a patch is needed"}
	}
	switch p.Type {
	case "merge":
		if js, err = jsonpatch.MergePatch(held.JSON, p.Patch); err == nil {
			err = wantObject(p.Patch)
		}
	case "json":
		var list jsonpatch.Patch
		if list, err = jsonpatch.DecodePatch(p.Patch); err == nil {
			err = w.bound(list, held.JSON, len(p.Patch))
		}
		if err == nil {
			js, err = list.Apply(held.JSON)
		}
	case "strategic":
		js, err = strategicpatch.StrategicMergePatch(held.JSON, p.Patch, held.Value)
	default:
		return nil, &revision.InvalidError{Field: s.field + ".type", Detail: fmt.Sprintf("%.40q is none of merge, json and strategic", p.Type)}
	}
	if err != nil {
		return nil, &revision.InvalidError{Field: s.field + ".patch", Detail: fmt.Sprintf("no %s patch that can be applied to %s: %v", p.Type, nameOf(s.key), err)}
	}
	return js, nil
}

// bound refuses a JSON patch that would take long, or that would with those before it.
func (w *work) bound(list jsonpatch.Patch, held []byte, size int) error {
	if len(list) > maxOperations {
		return fmt.Errorf("it may have %d operations, not %d", maxOperations, len(list))
	}
	elements := bytes.Count(held, []byte(",")) + len(list)
	size += len(held)
	copied := 0
	for _, op := range list {
		if v := op["value"]; v != nil {
			elements += bytes.Count(*v, []byte(","))
		}
		if op.Kind() == "copy" && copied < maxCopied {
			copied += size // of all that is there at most, which that doubles
			size *= 2
		}
	}
	if len(list)*elements > maxMoved {
		return fmt.Errorf("it has %d operations on lists of up to %d elements, which would take too long", len(list), elements)
	}
	if w.copied += min(copied, maxCopied); w.copied > allCopied {
		return fmt.Errorf("with the patches before it, it may copy more than %d bytes: want fewer copies in a change", allCopied)
	}
	return nil
}

func wantObject(patch json.RawMessage) error {
	var m fields
	return json.Unmarshal(patch, &m)
}
