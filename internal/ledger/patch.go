package ledger

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"berth/internal/cluster"
	"berth/internal/kubeobj"
)

// maxCopied bounds what the copies of a JSON patch may add up to, in bytes
// (apiserver/pkg/endpoints/handlers/patch.go maxJSONPatchOperations is upstream's
// bound of the same harm).
const maxCopied = 8 << 20

func init() { jsonpatch.AccumulatedCopySizeLimit = maxCopied }

// patch changes the stored fields of an object, and admits what comes of it.
func (w *work) patch(s *step) error {
	held, ok, err := w.held(s.key)
	if err != nil {
		return err
	}
	if !ok {
		return &cluster.InvalidError{Field: s.field, Detail: fmt.Sprintf("%s is not in %s", nameOf(s.key), w.v.ID()), Absent: true}
	}
	js, err := s.patched(held)
	if err != nil {
		return err
	}
	o, err := w.c.Read(s.field, js)
	if err != nil {
		return err
	}
	if o.Key != s.key {
		return &cluster.InvalidError{Field: s.field + ".patch", Detail: fmt.Sprintf("a patch cannot make %s of %s", nameOf(o.Key), nameOf(s.key))}
	}
	return w.update(s, o, held)
}

// patched returns the object's JSON under the patch.
func (s *step) patched(held kubeobj.Object) (js []byte, err error) {
	p := s.patch
	if len(p.Patch) == 0 || string(p.Patch) == "null" {
		return nil, &cluster.InvalidError{Field: s.field + ".patch", Detail: "a patch is needed"}
	}
	switch p.Type {
	case "merge":
		if js, err = jsonpatch.MergePatch(held.JSON, p.Patch); err == nil {
			err = wantObject(p.Patch)
		}
	case "json":
		var list jsonpatch.Patch
		if list, err = jsonpatch.DecodePatch(p.Patch); err == nil {
			js, err = list.Apply(held.JSON)
		}
	case "strategic":
		js, err = strategicpatch.StrategicMergePatch(held.JSON, p.Patch, held.Value)
	default:
		return nil, &cluster.InvalidError{Field: s.field + ".type", Detail: fmt.Sprintf("%.40q is none of merge, json and strategic", p.Type)}
	}
	if err != nil {
		return nil, &cluster.InvalidError{Field: s.field + ".patch", Detail: fmt.Sprintf("no %s patch that can be applied to %s: %v", p.Type, nameOf(s.key), err)}
	}
	return js, nil
}

func wantObject(patch json.RawMessage) error {
	var m fields
	return json.Unmarshal(patch, &m)
}
