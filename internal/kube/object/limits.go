package object

import "cmp"

// The defaults of Limits. They hold a cluster at the size that Kubernetes
// supports (5,000 nodes, 150,000 pods) with room to spare; a body's size in
// bytes is the caller's to bound.
const (
	DefaultMaxDepth       = 64
	DefaultMaxTokens      = 200_000_000
	DefaultMaxObjectBytes = 4 << 20
	DefaultMaxNodes       = 15_000
	DefaultMaxPods        = 150_000
	DefaultMaxObjects     = 500_000
	DefaultMaxYAMLTokens  = 100_000
	DefaultMaxAliases     = 1000
)

// The names of the settings that a LimitError gives.
const (
	limitDepth       = "max-json-depth"
	limitTokens      = "max-json-tokens"
	limitObjectBytes = "max-object-bytes"
	limitNodes       = "max-nodes"
	limitPods        = "max-pods"
	limitObjects     = "max-objects"
	limitAliases     = "max-yaml-aliases"
	limitYAMLTokens  = "max-yaml-tokens"
)

// withDefaults fills the fields that are zero or empty. MaxAliases stays: its default
// is none at all.
func (l Limits) withDefaults() Limits {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	l.Input = cmp.Or(l.Input, "the body")
	set(&l.MaxDepth, DefaultMaxDepth)
	set(&l.MaxTokens, DefaultMaxTokens)
	set(&l.MaxObjectBytes, DefaultMaxObjectBytes)
	set(&l.MaxNodes, DefaultMaxNodes)
	set(&l.MaxPods, DefaultMaxPods)
	set(&l.MaxObjects, DefaultMaxObjects)
	set(&l.MaxYAMLTokens, DefaultMaxYAMLTokens)
	return l
}

// fallbackBytes bounds a YAML document that cannot be split into items, and so
// has to be held as a whole.
func (l Limits) fallbackBytes() int { return 16 * l.MaxObjectBytes }
