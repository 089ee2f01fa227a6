package podlife

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// LifeEvent is something that happens to a pod at an instant: a probe of a
// container answers otherwise, a container ends by itself, or the node dies.
type LifeEvent struct {
	At time.Time `json:"at"`
	// Container names whose probe or end it is.
	Container string `json:"container,omitempty"`
	// Probe answers with Result from At on, until another event or Until.
	Probe  string     `json:"probe,omitempty" enums:"startup,liveness,readiness"`
	Result string     `json:"result,omitempty" enums:"Success,Failure"`
	Until  *time.Time `json:"until,omitempty"`
	// ExitCode ends the container at At.
	ExitCode *int32 `json:"exitCode,omitempty"`
	// Node is lost: its kubelet dies at At.
	Node string `json:"node,omitempty" enums:"lost"`
} // @name PodLifeEvent

// mostEvents bounds a question.
const mostEvents = 100

// checkEvents judges the events of a question, in any order.
func (q *LifeQuestion) checkEvents() (errs field.ErrorList) {
	path := field.NewPath("events")
	switch {
	case len(q.Events) > mostEvents:
		return field.ErrorList{field.TooMany(path, len(q.Events), mostEvents)}
	case len(q.Events) == 0 && q.Until != nil:
		return field.ErrorList{field.Forbidden(field.NewPath("until"), "it bounds the timeline of events; give events")}
	case q.Until != nil && q.Until.Before(q.Now):
		errs = append(errs, field.Invalid(field.NewPath("until"), q.Until.Format(time.RFC3339), "must not be before now"))
	}
	if len(q.Events) > 0 && (q.Pod.Spec.NodeName == "" || q.state() != NodeHealthy || q.Pod.DeletionTimestamp != nil || terminal(q.Pod.Status.Phase)) {
		return append(errs, field.Forbidden(path, "want a pod that is bound to a healthy node, is not being deleted and has not ended"))
	}
	known := containerNames(q.Pod)
	errs = append(errs, checkSeconds("preStopSeconds", q.PreStopSeconds, known)...)
	errs = append(errs, checkSeconds("exitSeconds", q.ExitSeconds, known)...)
	errs = append(errs, checkExitCodes(q.ExitCodes, q.ExitSeconds)...)
	for i := range q.Events {
		errs = append(errs, q.checkEvent(&q.Events[i], path.Index(i))...)
	}
	return errs
}

func (q *LifeQuestion) checkEvent(e *LifeEvent, at *field.Path) (errs field.ErrorList) {
	if e.At.IsZero() {
		errs = append(errs, field.Required(at.Child("at"), "want the time at which it happens"))
	} else if e.At.Before(q.Now) {
		errs = append(errs, field.Invalid(at.Child("at"), e.At.Format(time.RFC3339), "must not be before now"))
	}
	if e.Until != nil && (e.Probe == "" || !e.Until.After(e.At)) {
		errs = append(errs, field.Invalid(at.Child("until"), e.Until.Format(time.RFC3339), "must be after at, and ends the result of a probe"))
	}
	switch kinds := count(e.Probe != "", e.ExitCode != nil, e.Node != ""); {
	case kinds != 1:
		return append(errs, field.Required(at, "want one of probe, exitCode and node"))
	case e.Node != "":
		if e.Node != "lost" {
			errs = append(errs, field.NotSupported(at.Child("node"), e.Node, []string{"lost"}))
		}
		return errs
	}
	c := containerOf(q.Pod, e.Container)
	if c == nil {
		return append(errs, field.NotFound(at.Child("container"), e.Container))
	}
	if e.Probe == "" {
		return errs
	}
	if e.Result != probeSuccess && e.Result != probeFailure {
		errs = append(errs, field.NotSupported(at.Child("result"), e.Result, []string{probeSuccess, probeFailure}))
	}
	switch p, known := specProbes(c)[e.Probe]; {
	case !known:
		errs = append(errs, field.NotSupported(at.Child("probe"), e.Probe, probeKinds))
	case p == nil:
		errs = append(errs, field.Invalid(at.Child("probe"), e.Probe, "container "+e.Container+" has no such probe"))
	}
	return errs
}

// probeKinds are in the order in which a kubelet makes their workers.
var probeKinds = []string{"startup", "readiness", "liveness"}

func specProbes(c *corev1.Container) map[string]*corev1.Probe {
	return map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe}
}

func count(list ...bool) (n int) {
	for _, yes := range list {
		if yes {
			n++
		}
	}
	return n
}

// answers returns what a container's probe answers at a time: Success, unless the
// last event about it that has begun says otherwise.
func answers(events []LifeEvent, container, probe string, at time.Time) string {
	out := probeSuccess
	for i := range events { // in order of time
		e := &events[i]
		if e.Container == container && e.Probe == probe && !e.At.After(at) {
			if out = e.Result; e.Until != nil && !e.Until.After(at) {
				out = probeSuccess
			}
		}
	}
	return out
}

// LifeTimeline is what follows from events.
type LifeTimeline struct {
	Entries []LifeMoment `json:"entries"`
	// EndsAt is up to when the timeline goes, and EndRule why not further.
	EndsAt  time.Time `json:"endsAt"`
	EndRule Rule      `json:"endRule"`
	// Assumes is what holds where no event says otherwise.
	Assumes []string `json:"assumes"`
} // @name PodLifeTimeline

// LifeMoment is one entry of a timeline.
type LifeMoment struct {
	At time.Time `json:"at"`
	// WithinSeconds is how far upstream's chance may move it, counted from the entry
	// that it follows: a worker's beat before or after, a back-off after.
	WithinSeconds int64 `json:"withinSeconds,omitempty"`
	// Actor is application, kubelet, container-runtime, or a controller.
	Actor     string `json:"actor"`
	Event     string `json:"event"`
	Container string `json:"container,omitempty"`
	Rule      Rule   `json:"rule"`
	// ExitCode is that of a container that ended; timelines have it in the rule.
	ExitCode *int32 `json:"-"`
} // @name PodLifeMoment

const (
	actorApplication = "application"
	// Bounds of a timeline.
	timelineAfter, timelineEntries, timelineSteps = time.Hour, 200, 20000
)

// timeline plays the events.
func (q *LifeQuestion) timeline(longest time.Duration) *LifeTimeline {
	s := q.run(longest, false)
	until := s.now
	for _, t := range s.changes {
		until = later(until, t)
	}
	until = until.Add(timelineAfter)
	if q.Until != nil {
		until = *q.Until
	}
	for step := 0; s.over.ID == ""; step++ {
		at := s.next()
		switch {
		case at.IsZero():
			s.end("timeline/nothing-more", "Nothing more follows from the events.")
		case at.After(until):
			s.now = until
			s.end("timeline/until", "The timeline was asked for, or is made, up to here.")
		case step >= timelineSteps || len(s.entries) >= timelineEntries:
			s.end("timeline/entries", fmt.Sprintf("A timeline ends after %d entries.", timelineEntries))
		default:
			s.now = at
			s.step()
		}
	}
	return &LifeTimeline{Entries: s.entries, EndsAt: s.now.UTC(), EndRule: s.over, Assumes: []string{
		"Probes succeed and containers run on, unless an event says otherwise.",
		"A worker's beat counts from the pod's startTime; a readiness probe's from the start of its container.",
		"Images are there, starts take no time, and a container that is stopped uses all of its grace period, unless exitSeconds says otherwise.",
	}}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
