package main

import "berth/internal/semantics"

// release is a release of Kubernetes to decide as; nil: the default one.
type release struct{ *semantics.Release }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *release) UnmarshalText(text []byte) (err error) {
	r.Release, err = semantics.Parse(string(text))
	return err
}

// String names the release as the flag takes it.
func (r release) String() string { return r.value().Minor() }

func (r release) value() *semantics.Release {
	if r.Release == nil {
		return semantics.Default()
	}
	return r.Release
}
