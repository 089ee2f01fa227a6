package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"berth/internal/kubeobj"
	"berth/internal/podlife"
)

// here answers as the REST API does, in the process.
func (l *lifecycle) here(pod, node json.RawMessage, now time.Time) (json.RawMessage, error) {
	q := podlife.LifeQuestion{
		Pod: &corev1.Pod{}, NodeGiven: node != nil, NodeLostSince: l.since,
		MaxContainerRestartPeriod: l.restartPeriod, Now: now,
	}
	if err := decodeWhole(pod, q.Pod); err != nil {
		return nil, err
	}
	if node != nil && string(node) != "null" {
		q.Node = &corev1.Node{}
		if err := decodeWhole(node, q.Node); err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
	}
	life, errs := podlife.Live(q)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	return json.Marshal(life)
}

// decodeWhole reads an object of which nothing is left out.
func decodeWhole(raw json.RawMessage, object any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("want an object")
	}
	if errs := kubeobj.BoundQuantities(raw, object); len(errs) > 0 {
		return errs.ToAggregate()
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, object)
}
