package config

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// Config is a configuration that has been read.
type Config struct {
	// Profiles are the profiles in the order of the file, at least one.
	Profiles []*engine.Profile
	// Backoff is how long pods wait after rejections.
	Backoff state.Backoff
	// Ignored says, a sentence each, what stands in the file and has no part in
	// berth's decisions, with the path of the field first.
	Ignored []string
	// File is the configuration as it was read.
	File *configv1.KubeSchedulerConfiguration

	text []byte // it was read from; nil: it is upstream's default
}

// Parse is Read for those who need the profiles, and what of the text has no effect.
func Parse(raw []byte, under *semantics.Release) (list []*engine.Profile, ignored []string, err error) {
	c, err := Read(raw, under)
	if err != nil {
		return nil, nil, err
	}
	return c.Profiles, c.Ignored, nil
}

// Read reads a configuration, YAML or JSON, as a release does. Unknown and repeated fields, unknown
// plugins and values that kube-scheduler would refuse are errors that name the field.
func Read(raw []byte, under *semantics.Release) (*Config, error) {
	conf, ignored, err := decode(raw, under)
	if err != nil {
		return nil, err
	}
	r := &reader{release: under, known: pluginsOf(under), ignored: ignored}
	if !r.checkBounds(conf) {
		return nil, r.err()
	}
	specs := r.specs(conf)
	if err := r.err(); err != nil {
		return nil, err
	}
	out := &Config{text: raw, Ignored: r.ignored, Backoff: backoffOf(conf), File: conf}
	for _, s := range specs {
		p, err := rules.Build(s)
		if err != nil {
			return nil, err
		}
		out.Profiles = append(out.Profiles, p)
	}
	return out, nil
}

// Under returns the profiles of the same configuration as a release reads it.
func (c *Config) Under(r *semantics.Release) ([]*engine.Profile, error) {
	if c.text == nil {
		return Default(r), nil
	}
	other, err := Read(c.text, r)
	if err != nil {
		return nil, err
	}
	return other.Profiles, nil
}

// Default returns a release's default profile, alone.
func Default(r *semantics.Release) []*engine.Profile {
	p, err := rules.Build(rules.SpecOf(r))
	if err != nil {
		panic(fmt.Sprintf("the default profile does not build: %v", err)) // a bug: it has no input
	}
	return []*engine.Profile{p}
}

// reader collects what is wrong with a configuration and what is left out, so
// that a reader of the errors sees them all at once.
type reader struct {
	release  *semantics.Release
	known    []known // the release's plugins
	problems []error
	ignored  []string
}

func (r *reader) refuse(e ...*field.Error) {
	for _, one := range e {
		r.problems = append(r.problems, one)
	}
}

func (r *reader) ignore(path *field.Path, why string) {
	r.ignored = append(r.ignored, path.String()+": "+why)
}

// specs turns the configuration into one spec per profile
// (pkg/scheduler/apis/config/v1/defaults.go SetDefaults_KubeSchedulerConfiguration,
// validation/validation.go ValidateKubeSchedulerConfiguration).
func (r *reader) specs(conf *configv1.KubeSchedulerConfiguration) []rules.Spec {
	r.checkNumbers(conf)
	list := conf.Profiles
	if len(list) == 0 {
		list = []configv1.KubeSchedulerProfile{{}}
	}
	if len(list) == 1 && list[0].SchedulerName == nil {
		name := corev1.DefaultSchedulerName
		list[0].SchedulerName = &name
	}
	at := field.NewPath("profiles")
	overwrite := r.extenders(conf.Extenders)
	seen := map[string]int{}
	var names []string
	for i := range list {
		path := at.Index(i).Child("schedulerName")
		name := list[i].SchedulerName
		switch {
		case name == nil || *name == "":
			r.refuse(field.Required(path, "each profile needs a name where there are several, and none may be empty"))
			continue
		default:
			if first, ok := seen[*name]; ok {
				r.refuse(field.Invalid(path, *name, "is the name of "+at.Index(first).String()+" already"))
				continue
			}
			seen[*name] = i
			names = append(names, *name)
		}
	}
	var out []rules.Spec
	var ungated []string
	for i := range list {
		s := r.profile(at.Index(i), &list[i], overwrite)
		s.Siblings = names
		if !slices.Contains(s.PreEnqueue, "SchedulingGates") {
			ungated = append(ungated, s.SchedulerName)
		}
		out = append(out, s)
		if i > 0 && !apiequality.Semantic.DeepEqual(queueSortOf(&list[0]), queueSortOf(&list[i])) {
			r.refuse(field.Invalid(at.Index(i).Child("plugins", "queueSort"), "", "must be the same for all profiles, since they share one queue"))
		}
		if at, args := sortArgs(at.Index(i), &list[i]); i > 0 {
			if _, first := sortArgs(nil, &list[0]); args != first {
				r.refuse(field.Invalid(at, args, "must be the same for all profiles, since they share one queue"))
			}
		}
	}
	for i := range out {
		out[i].Ungated = ungated
	}
	return out
}

func queueSortOf(p *configv1.KubeSchedulerProfile) configv1.PluginSet {
	if p.Plugins == nil {
		return configv1.PluginSet{}
	}
	return p.Plugins.QueueSort
}

// sortArgs returns the arguments that a profile has for the plugin that sorts the queue, which has
// none; upstream compares them all the same (pkg/scheduler/profile/profile.go
// cfgValidator.validate).
func sortArgs(path *field.Path, p *configv1.KubeSchedulerProfile) (*field.Path, string) {
	for i := range p.PluginConfig {
		if c := &p.PluginConfig[i]; c.Name == "PrioritySort" {
			if raw := string(c.Args.Raw); raw != "null" {
				return path.Child("pluginConfig").Index(i).Child("args"), raw
			}
		}
	}
	return path.Child("pluginConfig"), ""
}

// profile computes one profile's spec.
func (r *reader) profile(path *field.Path, p *configv1.KubeSchedulerProfile, overwrite []string) rules.Spec {
	s := rules.Spec{Semantics: r.release.Written()}
	if p.SchedulerName != nil {
		s.SchedulerName = *p.SchedulerName
	}
	r.percentage(path.Child("percentageOfNodesToScore"), p.PercentageOfNodesToScore)
	if p.PercentageOfNodesToScore != nil {
		r.ignore(path.Child("percentageOfNodesToScore"), allNodes)
	}
	on := r.plugins(path.Child("plugins"), p.Plugins)
	on.fill(&s)
	var fit bool
	s.Args, fit = r.args(path.Child("pluginConfig"), p.PluginConfig)
	if len(overwrite) > 0 {
		if !fit && !on.named["NodeResourcesFit"] {
			r.refuse(field.Invalid(path, s.SchedulerName, "has neither the plugin NodeResourcesFit nor arguments for it, which extenders[].managedResources[].ignoredByScheduler needs"))
		}
		s.Args.NodeResourcesFit.IgnoredResources = overwrite
	}
	return s
}
