package config

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// Bounds of a configuration. kube-scheduler has none, but it reads a file of its operator; berth
// reads what any caller sends, and building a profile costs far more than its text.
const (
	maxProfiles   = 32
	maxExtenders  = 32
	maxPlugins    = 200 // entries of one list of plugins, or of pluginConfig
	maxNameLength = 253 // bytes of a scheduler's or plugin's name

	maxYAML = 256 << 10 // bytes of a configuration in YAML, whose tree takes some hundred times as much
)

// checkBounds refuses what is larger than the bounds, before anything is made of it.
func (r *reader) checkBounds(conf *configv1.KubeSchedulerConfiguration) bool {
	count := func(at *field.Path, n, most int) {
		if n > most {
			r.refuse(field.TooMany(at, n, most))
		}
	}
	name := func(at *field.Path, s string) {
		if len(s) > maxNameLength {
			r.refuse(field.TooLong(at, "", maxNameLength))
		}
		if strings.ContainsRune(s, 0) { // records hold the scheduler's
			r.refuse(field.Invalid(at, s, "must not hold a NUL"))
		}
	}
	profiles := field.NewPath("profiles")
	count(profiles, len(conf.Profiles), maxProfiles)
	count(field.NewPath("extenders"), len(conf.Extenders), maxExtenders)
	for i := range conf.Profiles[:min(len(conf.Profiles), maxProfiles)] {
		p, at := &conf.Profiles[i], profiles.Index(i)
		if p.SchedulerName != nil {
			name(at.Child("schedulerName"), *p.SchedulerName)
		}
		count(at.Child("pluginConfig"), len(p.PluginConfig), maxPlugins)
		if p.Plugins == nil {
			continue
		}
		for _, point := range points {
			set, at := point.set(p.Plugins), at.Child("plugins", point.name)
			r.checkSet(at, set, count, name)
		}
		r.checkSet(at.Child("plugins", "multiPoint"), &p.Plugins.MultiPoint, count, name)
	}
	return len(r.problems) == 0
}

func (r *reader) checkSet(at *field.Path, set *configv1.PluginSet, count func(*field.Path, int, int), name func(*field.Path, string)) {
	for _, list := range []struct {
		at      *field.Path
		plugins []configv1.Plugin
	}{{at.Child("enabled"), set.Enabled}, {at.Child("disabled"), set.Disabled}} {
		count(list.at, len(list.plugins), maxPlugins)
		for i := range list.plugins[:min(len(list.plugins), maxPlugins)] {
			name(list.at.Index(i).Child("name"), list.plugins[i].Name)
		}
	}
}
