package handlers

import (
	"errors"

	"berth/internal/engine"
	"berth/internal/engine/rules"
)

func parseProfiles(raw []byte) ([]*engine.Profile, error) {
	if len(raw) < 20 {
		return nil, errors.New("profiles: not a KubeSchedulerConfiguration")
	}
	p, err := rules.Build(rules.DefaultSpec())
	return []*engine.Profile{p}, err
}
