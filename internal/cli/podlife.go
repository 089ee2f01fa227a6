package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"berth/internal/kube/object"
	"berth/internal/podlife"
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

// decodeTaken reads a pod that an API server has taken.
func decodeTaken(raw json.RawMessage) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := decodeWhole(raw, pod); err != nil {
		return nil, err
	}
	if bad := podlife.NotTaken(pod, field.NewPath("pod")); bad != nil {
		return nil, bad
	}
	return pod, nil
}

// decodeNode reads the node of a pod: nil and given for JSON null.
func decodeNode(raw json.RawMessage) (node *corev1.Node, given bool, err error) {
	if raw == nil || string(raw) == "null" {
		return nil, raw != nil, nil
	}
	node = &corev1.Node{}
	if err := decodeWhole(raw, node); err != nil {
		return nil, true, fmt.Errorf("node: %w", err)
	}
	return node, true, nil
}
