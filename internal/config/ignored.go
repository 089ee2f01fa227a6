package config

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine/state"
)

const (
	allNodes = "berth looks at all nodes and scores all that are feasible"
	workers  = "says how fast kube-scheduler works, not what it decides"
	process  = "concerns the process of kube-scheduler"
)

// idle are the fields that are accepted and have no part in a decision.
var idle = []struct{ name, why string }{
	{"parallelism", workers},
	{"leaderElection", process},
	{"clientConnection", process},
	{"enableProfiling", process},
	{"enableContentionProfiling", process},
	{"delayCacheUntilActive", process},
	{"percentageOfNodesToScore", allNodes},
	{"extenders", "berth calls no extenders, so what they would filter or score is not in its answers; only managedResources[].ignoredByScheduler is applied"},
}

// checkNumbers holds the numbers that are not used to upstream's limits all the
// same, so that a file that kube-scheduler refuses is refused here too
// (apis/config/validation/validation.go ValidateKubeSchedulerConfiguration).
func (r *reader) checkNumbers(c *configv1.KubeSchedulerConfiguration) {
	if p := c.Parallelism; p != nil && *p <= 0 {
		r.refuse(field.Invalid(field.NewPath("parallelism"), *p, "must be greater than 0"))
	}
	r.percentage(field.NewPath("percentageOfNodesToScore"), c.PercentageOfNodesToScore)
	r.checkProcess(c)
	first, most := backoffSeconds(c)
	if first <= 0 {
		r.refuse(field.Invalid(field.NewPath("podInitialBackoffSeconds"), first, "must be greater than 0"))
	}
	if most < first {
		r.refuse(field.Invalid(field.NewPath("podMaxBackoffSeconds"), most, "must not be less than podInitialBackoffSeconds"))
	}
}

// backoffSeconds returns the two numbers, with upstream's defaults.
func backoffSeconds(c *configv1.KubeSchedulerConfiguration) (first, most int64) {
	d := state.DefaultBackoff()
	first, most = int64(d.Initial/time.Second), int64(d.Max/time.Second)
	if c.PodInitialBackoffSeconds != nil {
		first = *c.PodInitialBackoffSeconds
	}
	if c.PodMaxBackoffSeconds != nil {
		most = *c.PodMaxBackoffSeconds
	}
	return first, most
}

// backoffOf bounds both to what a Duration holds.
func backoffOf(c *configv1.KubeSchedulerConfiguration) state.Backoff {
	first, most := backoffSeconds(c)
	const bound = math.MaxInt64 / int64(time.Second)
	return state.Backoff{Initial: time.Duration(min(first, bound)) * time.Second, Max: time.Duration(min(most, bound)) * time.Second}
}

func (r *reader) percentage(path *field.Path, v *int32) {
	if v != nil && (*v < 0 || *v > 100) {
		r.refuse(field.Invalid(path, *v, "must be in [0, 100]"))
	}
}

// extenders checks the extenders and returns the resources that they tell the
// scheduler to leave to them. Where there are any they replace ignoredResources
// of NodeResourcesFit in every profile (validateExtenders;
// pkg/scheduler/scheduler.go buildExtenders).
func (r *reader) extenders(list []configv1.Extender) []string {
	at := field.NewPath("extenders")
	var out []string
	seen := map[string]bool{}
	binders := 0
	for i := range list {
		e := &list[i]
		if e.PrioritizeVerb != "" && e.Weight <= 0 {
			r.refuse(field.Invalid(at.Index(i).Child("weight"), e.Weight, "must be positive where there is a prioritizeVerb"))
		}
		if e.BindVerb != "" {
			binders++
		}
		r.checkTLS(at.Index(i).Child("tlsConfig"), e.TLSConfig)
		for k, res := range e.ManagedResources {
			path := at.Index(i).Child("managedResources").Index(k).Child("name")
			if len(validation.IsQualifiedName(res.Name)) > 0 || !state.IsExtended(corev1.ResourceName(res.Name)) {
				r.refuse(field.Invalid(path, res.Name, "is not the name of an extended resource"))
			}
			if seen[res.Name] {
				r.refuse(field.Duplicate(path, res.Name))
			}
			seen[res.Name] = true
			if res.IgnoredByScheduler {
				out = append(out, res.Name)
			}
		}
	}
	if binders > 1 {
		r.refuse(field.Invalid(at, binders, "only one extender may bind"))
	}
	return out
}
