package scenario

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/world"
)

// ContainerExit is a container that ends by itself.
type ContainerExit struct {
	PodNamed
	// Container is the pod's first one if absent.
	Container string `json:"container,omitempty"`
	ExitCode  *int32 `json:"exitCode" minimum:"0" maximum:"255" example:"1"`
	// Every has it end again so long after each later start.
	Every *metav1.Duration `json:"every,omitempty" swaggertype:"string" example:"30s"`
} // @name SimulationContainerExit

// ProbeFailure is a probe of a container that fails.
type ProbeFailure struct {
	PodNamed
	// Container is the first one with such a probe if absent.
	Container string `json:"container,omitempty"`
	Probe     string `json:"probe" enums:"readiness,liveness,startup"`
	// For is how long it fails; for ever if absent.
	For *metav1.Duration `json:"for,omitempty" swaggertype:"string" example:"2m"`
} // @name SimulationProbeFailure

// PodTakes is how long pods take to start or to end, from then on.
type PodTakes struct {
	// Kind is that of the workload whose pods are meant; a pod if absent.
	Kind      string `json:"kind,omitempty" enums:"Pod,Deployment,ReplicaSet,StatefulSet,DaemonSet,Job"`
	Namespace string `json:"namespace,omitempty" default:"default" example:"shop"`
	Name      string `json:"name" example:"web"`
	Seconds   *int64 `json:"seconds" minimum:"0" example:"90"`
} // @name SimulationPodTakes

// RebootOf are nodes that stop and start again.
type RebootOf struct {
	NodeChoice
	// Takes is how long a node does not answer; a minute if absent.
	Takes *metav1.Duration `json:"takes,omitempty" swaggertype:"string" default:"1m" example:"90s"`
} // @name SimulationReboot

// onKubelets reads the events that are about containers and their kubelets.
func (x *scheduling) onKubelets(field string, e *Event, add func(given bool, read func() (func() error, error))) {
	add(e.ContainerExits != nil, func() (func() error, error) { return x.containerExits(field+".containerExits", e.ContainerExits) })
	add(e.ProbeFails != nil, func() (func() error, error) { return x.probeFails(field+".probeFails", e.ProbeFails) })
	add(e.StartsIn != nil, func() (func() error, error) { return x.takes(field+".startsIn", e.StartsIn, false) })
	add(e.EndsIn != nil, func() (func() error, error) { return x.takes(field+".endsIn", e.EndsIn, true) })
	add(e.RebootNodes != nil, func() (func() error, error) { return x.reboot(field+".rebootNodes", e.RebootNodes) })
}

func (x *scheduling) containerExits(field string, e *ContainerExit) (func() error, error) {
	if e.ExitCode == nil || *e.ExitCode < 0 || *e.ExitCode > 255 {
		return nil, decision.Errorf(decision.Invalid, field+".exitCode", "want a number from 0 to 255")
	}
	every, err := wholeSeconds(field+".every", e.Every)
	if err != nil {
		return nil, err
	}
	return x.happens(field, "containerExits", &e.PodNamed, &world.PodEvent{Container: e.Container, ExitCode: e.ExitCode, Every: every})
}

func (x *scheduling) probeFails(field string, e *ProbeFailure) (func() error, error) {
	if !slices.Contains([]string{"readiness", "liveness", "startup"}, e.Probe) {
		return nil, decision.Errorf(decision.Invalid, field+".probe", "want readiness, liveness or startup")
	}
	given, err := wholeSeconds(field+".for", e.For)
	if err != nil {
		return nil, err
	}
	ev := &world.PodEvent{Container: e.Container, Probe: e.Probe}
	if given != nil {
		ev.For = *given
	}
	return x.happens(field, "probeFails", &e.PodNamed, ev)
}

// happens is an event of a pod's container.
func (x *scheduling) happens(field, what string, p *PodNamed, e *world.PodEvent) (func() error, error) {
	return x.onPod(field, what, p, func(n world.PodName) (string, error) { return x.d.Happens(n, e) })
}

func (x *scheduling) takes(field string, t *PodTakes, ends bool) (func() error, error) {
	kinds := []string{"", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"}
	switch {
	case !slices.Contains(kinds, t.Kind):
		return nil, decision.Errorf(decision.Invalid, field+".kind", "want Pod, Deployment, ReplicaSet, StatefulSet, DaemonSet or Job")
	case t.Name == "":
		return nil, decision.Errorf(decision.Malformed, field+".name", "want the name of the pod or workload")
	case t.Seconds == nil || *t.Seconds < 0 || *t.Seconds > mostSeconds:
		return nil, decision.Errorf(decision.Invalid, field+".seconds", "want 0 to %d", mostSeconds)
	}
	kind, n := t.Kind, world.PodName{Namespace: cmp.Or(t.Namespace, corev1.NamespaceDefault), Name: t.Name}
	if kind == "Pod" {
		kind = ""
	}
	return func() error {
		x.d.Takes(kind, n, ends, time.Duration(*t.Seconds)*time.Second)
		return nil
	}, nil
}

func (x *scheduling) reboot(field string, of *RebootOf) (func() error, error) {
	takes, err := wholeSeconds(field+".takes", of.Takes)
	if err != nil {
		return nil, err
	}
	if takes == nil {
		takes = new(time.Minute)
	}
	return x.onNodes(field, &of.NodeChoice, func(names []string) error { return x.d.Reboot(names, *takes) })
}

// wholeSeconds reads a duration of an event; nil where it has none.
func wholeSeconds(field string, d *metav1.Duration) (*time.Duration, error) {
	if d == nil {
		return nil, nil
	}
	if d.Duration < time.Second || d.Duration > mostSeconds*time.Second || d.Duration%time.Second != 0 {
		return nil, decision.Errorf(decision.Invalid, field, "want whole seconds from 1s to %ds, such as 30s", int64(mostSeconds))
	}
	return &d.Duration, nil
}
