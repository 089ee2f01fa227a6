package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// Clusters returns a revision; *revision.Manager does.
type Clusters interface {
	View(ctx context.Context, cluster string, rev int64) (*revision.View, error)
}

// Log is the decision log; *record.Log is one.
type Log interface {
	Decide(ctx context.Context, q decision.Question) (*decision.Answer, error)
	List(ctx context.Context, f store.DecisionFilter) ([]*record.Row, error)
	Record(ctx context.Context, id string) (*store.Decision, error)
	Queue(ctx context.Context, v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when record.When) (*record.Queue, error)
}

// Reader tells stories. It is safe for concurrent use.
type Reader struct {
	Clusters Clusters
	Log      Log
	// Runs reports whether a scheduler of that name is one of the server's, and
	// whether its pods wait for gates.
	Runs state.Runs
	// Class returns a stored priority class; it may be nil.
	Class func(cluster, name string) *schedulingv1.PriorityClass
	Clock func() time.Time
	// Release returns the release of a cluster, whose kubelets lead the lives of its pods where
	// their nodes do not tell another; it may be nil.
	Release func(cluster string) *semantics.Release
	// Sees reports whether the caller may see pods of a namespace; the others are counted, and not
	// named. Mask takes them out of a decision. Nil stands for a caller who may see all.
	Sees func(namespace string) bool
	Mask func(*decision.Answer)
}

func (t *Reader) hides(namespace string) bool { return t.Sees != nil && !t.Sees(namespace) }

// Ask describes how much is told.
type Ask struct {
	Attempts int // at most so many
	Suggest  bool
	// Revision is the one to tell of; 0: the newest. At is the time to tell at, and
	// bounds what is read of the log; zero: now, and the whole log.
	Revision int64
	At       time.Time
	// Named reports whether the caller named At: decisions count up to then by the time that their
	// questions named. Otherwise those that named one are no attempts.
	Named bool
}

// MaxAttempts bounds Ask.Attempts: each attempt reads a record.
const MaxAttempts = 100

// NotFoundError describes where a pod was looked for.
type NotFoundError struct{ Namespace, Name, Snapshot, Cluster, which string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("pod %s/%s is not in %s%s, nor in the decisions on record of cluster %s", e.Namespace, e.Name, e.Snapshot, e.which, e.Cluster)
}

// Unwrap returns store.ErrNotFound.
func (*NotFoundError) Unwrap() error { return store.ErrNotFound }

// telling is one story on its way.
type telling struct {
	*Reader
	view *revision.View
	at   time.Time
	ask  Ask
	pod  *state.Pod // of the view; nil for one that is gone
	full *corev1.Pod
	rows []*record.Row // newest first
	// tried are those of rows that count as attempts.
	tried []*record.Row
	out   *Story
}

// Tell tells a pod's story. A pod that neither the snapshot nor the log knows is a
// *NotFoundError.
func (t *Reader) Tell(ctx context.Context, name, namespace, pod string, ask Ask) (*Story, error) {
	v, err := t.Clusters.View(ctx, name, ask.Revision)
	if err != nil {
		return nil, err
	}
	at := ask.At
	if at.IsZero() {
		at = t.Clock()
	}
	at = at.UTC()
	s := &telling{Reader: t, view: v, at: at, ask: ask, pod: v.State.Pod(namespace, pod), out: &Story{
		Cluster: v.Cluster, Snapshot: v.ID(), Taken: v.CreatedAt.UTC(), At: at, Pod: Pod{Namespace: namespace, Name: pod}, Attempts: []Attempt{}, Next: []Event{},
	}}
	if err := s.readLog(ctx); err != nil {
		return nil, err
	}
	if err := s.evictedFor(ctx); err != nil {
		return nil, err
	}
	if s.pod == nil && len(s.rows) == 0 && len(s.out.EvictedFor) == 0 {
		which := ""
		if ask.Revision == 0 {
			which = ", the newest snapshot"
		}
		return nil, &NotFoundError{namespace, pod, v.ID(), v.Cluster, which}
	}
	if s.pod != nil {
		if s.full, err = v.Pod(namespace, pod); err != nil {
			return nil, err
		}
	}
	s.who()
	if err := s.attempts(ctx, ask.Attempts); err != nil {
		return nil, err
	}
	if err := s.preemptions(ctx); err != nil {
		return nil, err
	}
	s.binding()
	if err := s.present(ctx); err != nil {
		return nil, err
	}
	if err := s.decide(ctx, ask.Suggest); err != nil {
		return nil, err
	}
	s.next()
	s.out.Summary = s.summary()
	return s.out, nil
}

// who fills in the pod and its state.
func (s *telling) who() {
	o := s.out
	if s.pod == nil {
		o.State = StateGone
		if len(s.rows) > 0 {
			o.Pod.UID = s.rows[0].Pod.UID
		}
		return
	}
	p := s.pod
	priority := s.priority()
	o.Pod.UID, o.Pod.Priority, o.Pod.Class, o.Pod.Scheduler = p.UID, &priority, s.full.Spec.PriorityClassName, p.Scheduler
	if p.Created != 0 {
		at := time.Unix(p.Created, 0).UTC()
		o.Pod.Created = &at
	}
	ours, gates := s.Runs(p.Scheduler)
	switch {
	case p.Terminal:
		o.State = StateEnded
	case p.Terminating:
		o.State = StateDeleting
	case p.NodeName != "":
		o.State = StateBound
	case !ours:
		o.State = StateElsewhere
	case gates && len(p.Gates) > 0:
		o.State = StateGated
	case p.Nominated != "":
		o.State = StateNominated
	default:
		o.State = StatePending
	}
	if p.NodeName == "" && !p.Terminal {
		r := &Readiness{Schedulable: o.State == StatePending || o.State == StateNominated, Gates: p.Gates, Unscheduled: UnscheduledOf(s.full)}
		switch o.State {
		case StateGated:
			r.Why = "it has scheduling gates"
		case StateDeleting:
			r.Why = "it is being deleted"
		case StateElsewhere:
			r.Why = fmt.Sprintf("its scheduler %s is not one of this server's", p.Scheduler)
		default:
		}
		o.Readiness = r
	}
}

func (s *telling) class(name string) *schedulingv1.PriorityClass {
	if s.Class == nil {
		return nil
	}
	return s.Class(s.view.Cluster, name)
}

func (s *telling) priority() int32 {
	a, _ := s.view.State.ResolvePriority(s.full, s.class)
	return a.Priority
}

// StorageOf is the storage of a snapshot. One without any claim tells of none: it is a dump that
// was made without them.
func StorageOf(v *revision.View) podlife.Storage {
	if v.Summary.Objects["PersistentVolumeClaim"] == 0 {
		return podlife.Storage{}
	}
	return podlife.Storage{Claim: v.State.PersistentVolumeClaim, Class: v.State.StorageClass}
}

// present fills in what the snapshot says beside the decision: the queue, and the
// pod's life.
func (s *telling) present(ctx context.Context) error {
	if s.pod == nil {
		return nil
	}
	if s.out.State == StatePending || s.out.State == StateGated || s.out.State == StateNominated {
		if err := s.place(ctx); err != nil {
			return err
		}
	}
	life := podlife.LifeQuestion{Pod: s.full, Storage: StorageOf(s.view), Now: s.at}
	// What removes finalizers, such as the Job controller, is not imitated: they hold nothing here.
	free := *s.full
	free.Finalizers = nil
	end := podlife.Ending{Pod: &free, Cause: podlife.CauseDelete, Now: s.at}
	life.Node, life.NodeGiven = s.view.NodeOf(s.full)
	end.Node, end.NodeGiven = life.Node, life.NodeGiven
	if s.Release != nil {
		life.Release = s.Release(s.view.Cluster)
		end.Release = life.Release
	}
	// What a stored pod cannot say of its life and its end is not known: there are no
	// errors.
	s.out.Lifecycle, _ = podlife.Live(life)
	if s.pod.NodeName != "" && !s.pod.Terminal {
		s.out.Ending, _ = podlife.Terminate(end)
	}
	return nil
}

// decide asks where the pod would go now; not for one that is not to be placed.
func (s *telling) decide(ctx context.Context, suggest bool) error {
	switch s.out.State {
	case StatePending, StateGated, StateNominated, StateElsewhere:
	default:
		return nil
	}
	q := decision.Question{
		Cluster: s.view.Cluster, Revision: s.view.Revision, Now: s.at, DryRun: true, Explain: engine.ExplainGroups, Suggest: suggest,
		PodRef: &object.Key{Kind: "Pod", Namespace: s.pod.Namespace, Name: s.pod.Name},
	}
	now, ans, err := s.verdict(ctx, q)
	if err != nil {
		return err
	}
	s.out.Now = now
	if ans != nil {
		s.out.Suggestions = ans.Suggestions
	}
	if len(s.pod.Gates) == 0 {
		return nil
	}
	free := s.full.DeepCopy()
	free.Spec.SchedulingGates = nil
	q.PodRef, q.Pod = nil, free
	s.out.AfterGates, ans, err = s.verdict(ctx, q)
	if ans != nil && len(s.out.Suggestions) == 0 {
		s.out.Suggestions = ans.Suggestions
	}
	return err
}

// verdict decides. A question that cannot be answered is part of the story.
func (s *telling) verdict(ctx context.Context, q decision.Question) (*Verdict, *decision.Answer, error) {
	a, err := s.Log.Decide(ctx, q)
	var input *decision.Error
	switch {
	case errors.As(err, &input):
		return &Verdict{Error: input.Error()}, nil, nil
	case err != nil:
		return nil, nil, err
	}
	victims := 0
	if a.Preemption != nil {
		victims = len(a.Preemption.Victims)
	}
	if s.Mask != nil {
		s.Mask(a)
	}
	v := &Verdict{
		victims: victims, Outcome: a.Outcome, Node: a.Node, NominatedNode: a.NominatedNode, Message: a.Message, Profile: a.Profile, Counts: a.Counts,
		Groups: a.Groups, Narrowed: a.Narrowed, NotEvaluated: a.NotEvaluated,
	}
	if a.Preemption != nil {
		v.Victims, v.StartsWithinSeconds = a.Preemption.Victims, a.Preemption.StartsWithinSeconds
	}
	return v, a, nil
}
