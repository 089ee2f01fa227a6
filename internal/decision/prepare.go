package decision

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// Scheduler evaluates questions under a server's configuration. It is safe for concurrent use.
type Scheduler struct {
	*Configuration
	// Classes has the stored priority classes; none where it is nil.
	Classes Classes
	// TolerationSeconds admits pods that a bind creates with the plugin DefaultTolerationSeconds.
	TolerationSeconds bool
	// MaxSteps bounds the work of a decision, except in a replay; 0: no bound.
	MaxSteps int64

	overlays overlayCache
}

// Prepared is a question made ready for the engine, on one view.
type Prepared struct {
	Question
	View  *revision.View
	State *state.State // the view's, or one made from it for this question
	Pod   *corev1.Pod  // with its priority, without a node
	// Stored is the pod of PodRef as the view has it.
	Stored  *corev1.Pod
	Profile *engine.Profile
	// PodJSON is the pod of the question in canonical JSON; InSnapshot is set where the view has it
	// so.
	PodJSON    []byte
	InSnapshot bool
	// Candidates are the names of the nodes considered; nil: all.
	Candidates []string
	// Replaced are the nodes that differ from the view's, in canonical JSON.
	Replaced [][]byte
	// Excluded are the question's excluded pods that the state had.
	Excluded []Excluded
	// Class is the stored class that gave the pod its priority; nil where none did.
	Class *StoredClass

	// Fallback is the pod's schedulerName where no profile has that name, so that the first one
	// judges the pod, which kube-scheduler would leave alone.
	Fallback string

	podDigest string // once it is worked out
	boundTo   string // the node that the pod was taken from; empty: it had none
	steps     int64
	ours      bool // the profile is one of the scheduler's
}

// Prepare makes a normalized question ready.
func (s *Scheduler) Prepare(ctx context.Context, v *revision.View, q Question) (*Prepared, error) {
	p := new(Prepared)
	if err := s.PrepareIn(ctx, p, v, q); err != nil {
		return nil, err
	}
	return p, nil
}

// PrepareIn is Prepare in the memory of a question that is no longer read.
func (s *Scheduler) PrepareIn(ctx context.Context, p *Prepared, v *revision.View, q Question) (err error) {
	*p = Prepared{Question: q, View: v, State: v.State, Candidates: q.NodeNames, steps: s.MaxSteps}
	if err := p.checkNodeNames(); err != nil {
		return err
	}
	if q.Recorded == nil {
		if err := p.bindStored(); err != nil {
			return err
		}
		s.admit(p)
	} else {
		p.steps = 0 // it was answered once
	}
	if err := p.findPod(); err != nil {
		return err
	}
	if err := p.excludePods(); err != nil {
		return err
	}
	switch {
	case q.Recorded == nil || !q.Recorded.Owned:
		p.Pod, p.Class, err = ResolvePriority(v.State, p.Pod, s.classes(&q))
	case p.Pod.Spec.Priority == nil:
		p.Class, err = resolvePriority(v.State, p.Pod, s.classes(&q))
	}
	if err != nil {
		return err
	}
	profiles := q.Profiles
	if p.ours = len(profiles) == 0; p.ours {
		profiles = s.Of(v.Cluster)
	}
	if p.Profile, err = ChooseProfile(profiles, q.Profile, p.Pod.Spec.SchedulerName); err != nil {
		return err
	}
	if q.Profile == "" && p.Profile.Name != p.Pod.Spec.SchedulerName || q.Recorded != nil && q.Recorded.Fallback {
		p.Fallback = p.Pod.Spec.SchedulerName
	}
	if err := s.replaceNodes(ctx, p); err != nil {
		return err
	}
	switch {
	case q.Recorded != nil:
		if c := q.Recorded.Candidates; c != nil {
			p.Candidates, err = c(p.State.Nodes())
		}
	case q.Bind:
		err = bindable(p.Pod)
	}
	return err
}

// classes returns where the classes are looked up that the snapshot lacks.
func (s *Scheduler) classes(q *Question) ClassSource {
	if q.Recorded != nil && q.Recorded.Class != nil {
		return q.Recorded.Class
	}
	if s.Classes == nil {
		return nil
	}
	return s.stored(q.Cluster)
}

// replaceNodes puts the question's nodes over those of the view.
func (s *Scheduler) replaceNodes(ctx context.Context, p *Prepared) error {
	nodes := p.Question.Nodes
	if nodes == nil {
		return nil
	}
	if p.Candidates == nil {
		p.Candidates = make([]string, len(nodes))
		for i, n := range nodes {
			p.Candidates[i] = n.Name
		}
	}
	overlaid := s.overlays.get
	if p.Recorded != nil { // the cache's few places are for callers that send the same nodes again
		overlaid = func(ctx context.Context, v *revision.View, nodes []*corev1.Node) (*overlay, error) {
			return makeOverlay(ctx, v, nodes, nil)
		}
	}
	o, err := overlaid(ctx, p.View, nodes)
	if err != nil {
		return err
	}
	p.Replaced = o.differs
	if o.state == p.View.State {
		return nil
	}
	// Pods may have been excluded: then once more, from the overlaid state.
	p.State = o.state
	return p.excludePods()
}

// checkNodeNames refuses names that the snapshot does not have: a misspelt name would read as a
// node that is full. An extender's caller may know nodes that the snapshot lacks, and a replay on
// another snapshot drops them.
func (p *Prepared) checkNodeNames() error {
	if p.Verb != VerbDecide || p.Nodes != nil || p.Recorded != nil {
		return nil
	}
	for i, n := range p.NodeNames {
		if p.State.Nodes().Row(n) < 0 {
			return Errorf(Invalid, fmt.Sprintf("nodeNames[%d]", i), "%s has no node %.253q", p.View.ID(), n)
		}
	}
	return nil
}

// ChooseProfile returns the profile for a pod: the one wanted, else the one that the pod names,
// else the first.
func ChooseProfile(profiles []*engine.Profile, wanted, scheduler string) (*engine.Profile, error) {
	if len(profiles) == 0 {
		return nil, Errorf(Invalid, "profile", "the configuration has no profile")
	}
	for _, name := range []string{wanted, scheduler} {
		for _, p := range profiles {
			if name != "" && p.Name == name {
				return p, nil
			}
		}
		if wanted != "" {
			names := make([]string, len(profiles))
			for i, p := range profiles {
				names[i] = p.Name
			}
			return nil, Errorf(Invalid, "profile", "there is no profile %q; there are %q", wanted, names)
		}
	}
	return profiles[0], nil
}

// FallbackText words that a profile judges pods whose schedulerName no profile has.
func FallbackText(scheduler, profile string) string {
	return fmt.Sprintf("no profile is named %q, which is the pod's schedulerName: %q judged it instead, and kube-scheduler with these profiles would leave it alone", clippedName(scheduler), profile)
}

// clippedName is a name as texts have it: no longer than names may be.
func clippedName(s string) string { return s[:min(len(s), 253)] }

func podKey(ns, name string) object.Key { return object.Key{Kind: "Pod", Namespace: ns, Name: name} }

// RunsOf returns which schedulers a configuration has, and which of them wait for
// scheduling gates.
func RunsOf(profiles []*engine.Profile) state.Runs {
	return func(scheduler string) (ours, gates bool) {
		i := slices.IndexFunc(profiles, func(p *engine.Profile) bool { return p.Name == scheduler })
		return i >= 0, i >= 0 && profiles[i].Gates
	}
}
