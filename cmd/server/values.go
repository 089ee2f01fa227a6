package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/semantics"
)

// maxDays is the longest age in days: above it a time.Duration overflows.
const maxDays = 100_000

// age is a duration that may be given in days: 7d, 1.5d, or as Go writes it, 168h.
type age time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *age) UnmarshalText(text []byte) error {
	s := string(text)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < maxDays {
			*a = age(n * 24 * float64(time.Hour))
			return nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		*a = age(d)
		return nil
	}
	return fmt.Errorf("%q is not an age, such as 24h or 7d", text)
}

// String implements fmt.Stringer.
func (a age) String() string { return time.Duration(a).String() }

// release is a release of Kubernetes to decide as; nil: the default one.
type release struct{ *semantics.Release }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *release) UnmarshalText(text []byte) (err error) {
	r.Release, err = semantics.Parse(string(text))
	return err
}

// String names the release as the flag takes it.
func (r release) String() string {
	if v := r.value(); v.Stamp() != v.Name {
		return v.Stamp()
	}
	return r.value().Minor()
}

func (r release) value() *semantics.Release {
	if r.Release == nil {
		return semantics.Default()
	}
	return r.Release
}
