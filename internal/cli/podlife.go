package cli

import (
	"encoding/json"
	"errors"

	kjson "sigs.k8s.io/json"

	"berth/internal/kube/object"
)

// decodeWhole reads an object of which nothing is left out.
func decodeWhole(raw json.RawMessage, obj any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("want an object")
	}
	if errs := object.BoundQuantities(raw, obj); len(errs) > 0 {
		return errs.ToAggregate()
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, obj)
}
