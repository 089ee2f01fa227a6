package controllers

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Minimise takes objects and events out of a case that differs as long as it does without an
// explanation.
func (p *Part) Minimise(c *Client, k *Case) (*Case, []string, error) {
	lines, err := p.Try(c, k)
	if err != nil {
		return nil, nil, err
	}
	differs := func(less *Case) bool {
		found, err := p.Try(c, less)
		if err != nil || len(found) == 0 || Explain(p, less, found) != "" {
			return false
		}
		k, lines = less, found
		return true
	}
	for smaller := true; smaller; {
		smaller = false
		for i := len(k.Events) - 1; i >= 0 && len(k.Events) > 1; i-- {
			less := *k
			less.Events = slices.Delete(slices.Clone(k.Events), i, i+1)
			smaller = differs(&less) || smaller
		}
		for i := len(k.Objects) - 1; i >= 0; i-- {
			if _, pod := k.Objects[i].(*corev1.Pod); !pod {
				continue
			}
			less := *k
			less.Objects = slices.Delete(slices.Clone(k.Objects), i, i+1)
			smaller = differs(&less) || smaller
		}
	}
	return k, lines, nil
}

// Describe tells a case in a few words: its events.
func (k *Case) Describe() string {
	js, _ := json.Marshal(k.Events)
	return string(js)
}
