package suggest

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Edit is a change of one object.
type Edit struct {
	Kind      string `json:"kind" enums:"Pod,Node,PodDisruptionBudget,PersistentVolumeClaim,PersistentVolume,ResourceClaim,CSINode,ResourceSlice"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Patch is a JSON patch (RFC 6902) of the object as it was decided on. A pod has its defaults
	// and its priority filled in.
	Patch []Op `json:"patch"`
}

// Op is one operation of a JSON patch.
type Op struct {
	Op    string `json:"op" enums:"add,replace,remove"`
	Path  string `json:"path" example:"/spec/nodeSelector/disk"`
	Value any    `json:"value,omitempty" swaggertype:"object"`
}

// UnmarshalJSON keeps the value as it is written.
func (o *Op) UnmarshalJSON(js []byte) error {
	var op struct {
		Op, Path string
		Value    json.RawMessage
	}
	err := json.Unmarshal(js, &op)
	if o.Op, o.Path, o.Value = op.Op, op.Path, nil; op.Value != nil {
		o.Value = op.Value
	}
	return err
}

func encode(o any) ([]byte, error) {
	js, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	return js, nil
}

// apply patches the object and decodes it.
func apply(object []byte, ops []Op, into any) error {
	if len(ops) == 0 {
		return decode(object, into)
	}
	js, err := json.Marshal(ops)
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	patch, err := jsonpatch.DecodePatch(js)
	if err != nil {
		return fmt.Errorf("read patch: %w", err)
	}
	if js, err = patch.Apply(object); err != nil {
		return fmt.Errorf("apply patch: %w", err)
	}
	return decode(js, into)
}

func decode(js []byte, into any) error {
	if err := json.Unmarshal(js, into); err != nil {
		return fmt.Errorf("decode object: %w", err)
	}
	return nil
}

// pointer makes a JSON pointer (RFC 6901).
func pointer(parts ...any) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(p)))
	}
	return b.String()
}
