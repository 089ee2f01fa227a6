package rules

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/semantics"
)

// Args are the arguments of the plugins that have some, as a profile is recorded: a field more or
// another order changes the digest of every profile.
type Args struct {
	NodeAffinity      NodeAffinityArgs      `json:"nodeAffinity"`
	NodeResourcesFit  FitArgs               `json:"nodeResourcesFit"`
	Balanced          BalancedArgs          `json:"nodeResourcesBalancedAllocation"`
	PodTopologySpread SpreadArgs            `json:"podTopologySpread"`
	InterPodAffinity  InterPodAffinityArgs  `json:"interPodAffinity"`
	DefaultPreemption DefaultPreemptionArgs `json:"defaultPreemption"`
	// DynamicResources is nil for the defaults, so that profiles without it keep
	// their digest.
	DynamicResources *DynamicResourcesArgs `json:"dynamicResources,omitempty"`
	// VolumeBinding is nil for the default shape, and where nothing is scored by one.
	VolumeBinding *VolumeBindingArgs `json:"volumeBinding,omitempty"`
}

// DefaultArgs returns upstream's default arguments.
func DefaultArgs() (out Args) {
	for _, d := range registry {
		if d.Args != nil && d.Args.defaults != nil {
			d.Args.defaults(&out)
		}
	}
	return out
}

// ArgsCodec reads a plugin's arguments from a KubeSchedulerConfiguration. It is declared beside the
// rule and listed in its descriptor.
type ArgsCodec struct {
	// Kind is the kind of the arguments in upstream's version v1.
	Kind string
	// New returns an empty object of that kind.
	New func() any

	defaults func(*Args)
	read     func(in *argsInput, decoded any, out *Args)
}

// Read checks decoded arguments as a release does and writes them over the defaults in out. It
// returns what is wrong with them, and what of them has no part in a decision. given reports
// whether the configuration has the arguments at all.
func (c *ArgsCodec) Read(decoded any, under *semantics.Release, at *field.Path, given bool, out *Args) (problems []error, ignored []string) {
	in := argsInput{under: under, at: at, given: given}
	c.read(&in, decoded, out)
	return in.problems, in.ignored
}

// codecOf makes a codec; V is upstream's type of the arguments. defaults may be nil.
func codecOf[V any](defaults func(*Args), read func(in *argsInput, v *V, out *Args)) *ArgsCodec {
	return &ArgsCodec{
		Kind: reflect.TypeFor[V]().Name(), New: func() any { return new(V) }, defaults: defaults,
		read: func(in *argsInput, decoded any, out *Args) { read(in, decoded.(*V), out) },
	}
}

// argsInput is where arguments stand and which release reads them, and what was found there.
type argsInput struct {
	under    *semantics.Release
	at       *field.Path
	given    bool
	problems []error
	ignored  []string
}

func (in *argsInput) refuse(errs ...*field.Error) {
	for _, e := range errs {
		in.problems = append(in.problems, e)
	}
}

func (in *argsInput) ignore(path *field.Path, why string) {
	in.ignored = append(in.ignored, path.String()+": "+why)
}

// set sets a field where the configuration has a value for it.
func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
