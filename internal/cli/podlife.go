package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"berth/internal/objects"
	"berth/internal/podlife"
)

// lifeHere answers as the REST API does, in the process.
func lifeHere(pod, node json.RawMessage, now time.Time) (json.RawMessage, error) {
	p := &corev1.Pod{}
	if err := decodeWhole(pod, p); err != nil {
		return nil, err
	}
	state := podlife.NodeHealthy
	switch {
	case node == nil:
	case string(node) == "null":
		state = podlife.NodeGone
	default:
		n := &corev1.Node{}
		if err := decodeWhole(node, n); err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		state = podlife.NodeStateOf(n)
	}
	return json.Marshal(podlife.Lifecycle(p, state, now))
}

// decodeWhole reads an object of which nothing is left out.
func decodeWhole(raw json.RawMessage, object any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("want an object")
	}
	if errs := objects.BoundQuantities(raw, object); len(errs) > 0 {
		return errs.ToAggregate()
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, object)
}
