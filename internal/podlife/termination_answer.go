package podlife

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Termination is how a pod, or a container of it, ends.
type Termination struct {
	Cause Cause `json:"cause" swaggertype:"string"`
	// GracePeriodSeconds is what the API server writes for delete and preempt,
	// the kubelet's effective period for evictions and shutdown, and that of the
	// container with the probe for liveness and startup. Where causes follow, it is
	// the last period that the containers are stopped with.
	GracePeriodSeconds int64 `json:"gracePeriodSeconds"`
	// DeletionTimestamp is what the API server has or writes; for delete and
	// preempt only.
	DeletionTimestamp *metav1.Time `json:"deletionTimestamp,omitempty" swaggertype:"string" format:"date-time"`
	// Steps name the source of each number, in the order of the reckoning.
	Steps []Step `json:"steps"`
	// Containers are those that are stopped, sidecars last and in their order.
	Containers []Stop `json:"containers"`
	// NotRunning are the containers that need not be stopped.
	NotRunning []Idle `json:"notRunning,omitempty"`
	// Timeline is what happens if every container uses all the time it has.
	Timeline []Event `json:"timeline"`
	// EvictionTimeoutSeconds is how long the kubelet waits for an evicted pod to be
	// gone before it reports "timeout waiting to kill pod".
	EvictionTimeoutSeconds *int64    `json:"evictionTimeoutSeconds,omitempty"`
	Endpoints              Endpoints `json:"endpoints"`
	// GoneAfterSeconds is the longest time until the object is gone or, where the kubelet ends the
	// pod by itself, until the pod is over. Absent where it is unknown, or where the pod continues.
	GoneAfterSeconds *int64 `json:"goneAfterSeconds,omitempty"`
	// OverdueSince is when the object was to be gone at the latest, where that is past;
	// goneAfterSeconds is 0 then.
	OverdueSince *time.Time `json:"overdueSince,omitempty"`
	// StaysTerminating reports whether the pod's node does not answer: the object stays
	// until the node is back, out of service or deleted.
	StaysTerminating bool `json:"staysTerminating,omitempty"`
	// Eviction is how the Eviction API answers.
	Eviction *EvictionVerdict `json:"eviction,omitempty"`
	// Refused is why the kubelet does not evict the pod at all; absent where it does.
	Refused *Rule `json:"refused,omitempty"`
	// NodeDeletion is when and why the control plane deletes the pod; for taint only.
	NodeDeletion *NodeDeletion `json:"nodeDeletion,omitempty"`
	// Expected is the end with the exits of exitSeconds, beside the slowest one.
	Expected *ExpectedEnd `json:"expected,omitempty"`
	// Phase is the pod's at the end of the timeline; PhaseIfAllExitZero where it
	// would be another if all containers ended with exit code 0 in time.
	Phase              string `json:"phase"`
	PhaseIfAllExitZero string `json:"phaseIfAllExitZero,omitempty"`
	// Reason and Message go with Phase in the pod's status.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// LeftRunning are the containers that may still run when the object is gone.
	LeftRunning []string `json:"leftRunning,omitempty"`
	// Notes are what else is worth knowing.
	Notes []string `json:"notes,omitempty"`
	Followed
	// Snapshot is where a pod that was named was read; callers that read snapshots fill it in.
	Snapshot string `json:"snapshot,omitempty" example:"prod@1042"`
	// Warnings name the parts of the request that were ignored; callers that read requests fill
	// them in.
	Warnings []string `json:"warnings,omitempty"`
} // @name Termination

// ExpectedEnd is how a pod ends if its containers exit when the question says.
type ExpectedEnd struct {
	GoneAfterSeconds *int64         `json:"goneAfterSeconds,omitempty"`
	Phase            string         `json:"phase"`
	Reason           string         `json:"reason,omitempty"`
	Containers       []ExpectedStop `json:"containers"`
	Timeline         []Event        `json:"timeline"`
} // @name ExpectedEnd

// ExpectedStop is when a container really stops.
type ExpectedStop struct {
	Name     string `json:"name"`
	SignalAt int64  `json:"signalAtSeconds"`
	EndsAt   int64  `json:"endsAtSeconds"`
	// ExitCode is that of exitCodes, else 0, of one that exits by itself, and 137 of one that is
	// killed.
	ExitCode int32 `json:"exitCode"`
} // @name ExpectedStop

// Step is one number with where it comes from.
type Step struct {
	// Source is the field or the component that the value comes from.
	Source string `json:"source"`
	// Rule describes what is done with it.
	Rule  string `json:"rule"`
	Value int64  `json:"value"`
	// Container is set where the number is one container's.
	Container string `json:"container,omitempty"`
} // @name TerminationStep

// Stop is a container that is stopped. Offsets are seconds from now.
type Stop struct {
	Name string `json:"name"`
	// Kind is container, sidecar, init or ephemeral.
	Kind string `json:"kind"`
	// StopTimeoutSeconds is what the container runtime is given between the signal
	// and SIGKILL.
	StopTimeoutSeconds int64 `json:"stopTimeoutSeconds"`
	// PreStopSeconds is what its hook takes of the period; absent without a hook,
	// or where it is not run.
	PreStopSeconds *int64 `json:"preStopSeconds,omitempty"`
	// PreStopUnknown reports whether nothing tells how long its hook runs, so that
	// preStopSeconds is the most that it may take.
	PreStopUnknown bool `json:"preStopUnknown,omitempty"`
	// WaitSeconds is how long a sidecar waits for its turn.
	WaitSeconds   int64  `json:"waitSeconds,omitempty"`
	Signal        string `json:"signal"`
	SignalAt      int64  `json:"signalAtSeconds"`
	KillAt        int64  `json:"killAtSeconds"`
	hasHook       bool
	hook, started int64
	period        int64 // what it had for hook, wait and stop
	end           int64 // when nothing of it runs any more
	exits         bool  // by itself
	code          int32 // what it ends with
} // @name TerminationStop

// Idle is a container of which nothing has to be stopped.
type Idle struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	State string `json:"state"`
} // @name TerminationIdle

// Event is one moment of a timeline.
type Event struct {
	// At is absent where it is beyond the year 9999.
	At            *time.Time `json:"at,omitempty"`
	OffsetSeconds int64      `json:"offsetSeconds"`
	// Actor is who does it: api-server, scheduler, kubelet, container-runtime,
	// endpointslice-controller, taint-eviction-controller,
	// pod-garbage-collector-controller, or the controller that owns the pod, such as
	// replicaset-controller.
	Actor     string `json:"actor"`
	Event     string `json:"event"`
	Container string `json:"container,omitempty"`
	Detail    string `json:"detail,omitempty"`
	closing   bool   // of the pod's end, which a later cause may move
} // @name TerminationEvent

// Endpoints are the pod's conditions in EndpointSlices once it has begun.
type Endpoints struct {
	Ready       bool `json:"ready"`
	Serving     bool `json:"serving"`
	Terminating bool `json:"terminating"`
	// Removed reports whether no slice lists the pod any more.
	Removed bool   `json:"removed,omitempty"`
	Detail  string `json:"detail,omitempty"`
} // @name TerminationEndpoints

// Rule describes which rule made a statement about a pod. Every statement that this
// package makes about a pod's life carries one.
type Rule struct {
	// ID is stable and has the form "subject/what-applied", such as
	// "phase/init-failed". Clients may compare it; it never changes its
	// meaning.
	ID string `json:"id" example:"phase/waiting"`
	// Text is one sentence that names the reason the rule applied here, with the names
	// and numbers that made it apply. It is for people and may be worded better.
	Text string `json:"text" example:"Container web has never run and waits, so the pod is Pending."`
} // @name Rule
