package client

import (
	"encoding/json"
	"time"
)

// Object is a Kubernetes object: any value that encodes to its JSON, such as a *v1.Pod of
// k8s.io/api, a map, or json.RawMessage.
type Object = any

// PodName names a pod.
type PodName struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// ObjectName names an object.
type ObjectName struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Snapshot is a revision of a cluster's state.
type Snapshot struct {
	ID        string         `json:"id"`
	Cluster   string         `json:"cluster"`
	Revision  int64          `json:"revision"`
	CreatedAt time.Time      `json:"createdAt"`
	Digest    string         `json:"digest"`
	Cause     string         `json:"cause"`
	AskedBy   string         `json:"askedBy"`
	Objects   map[string]int `json:"objects"`
	Warnings  []string       `json:"warnings"`
	// Deleted, Ending and NotFound are what a change did with the objects that it was to delete.
	Deleted  []ObjectName `json:"deleted"`
	Ending   []ObjectName `json:"ending"`
	NotFound []ObjectName `json:"notFound"`
}

// ChangeRequest changes a snapshot; its parts are admitted as by an API server.
type ChangeRequest struct {
	Apply   []Object   `json:"apply,omitempty"`
	Patch   []Patch    `json:"patch,omitempty"`
	Replace []Object   `json:"replace,omitempty"`
	Delete  []Deletion `json:"delete,omitempty"`
	Strict  bool       `json:"strict,omitempty"`
}

// Patch changes some fields of an object; Type is merge, json or strategic.
type Patch struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	Patch     any    `json:"patch"`
}

// Deletion removes an object, a pod that runs after its grace period where that is given.
type Deletion struct {
	Kind               string `json:"kind"`
	Namespace          string `json:"namespace,omitempty"`
	Name               string `json:"name"`
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}

// DecisionRequest asks where a pod goes: one of the snapshot's (PodRef), or another one (Pod).
type DecisionRequest struct {
	Snapshot string   `json:"snapshot,omitempty"`
	Pod      Object   `json:"pod,omitempty"`
	PodRef   *PodName `json:"podRef,omitempty"`
	// Explain is full, failures (if empty), groups, all or none.
	Explain string `json:"explain,omitempty"`
	Preempt *bool  `json:"preempt,omitempty"`
	Suggest bool   `json:"suggest,omitempty"`
	DryRun  bool   `json:"dryRun,omitempty"`
	Bind    bool   `json:"bind,omitempty"`
}

// Decision is where a pod goes, and why.
type Decision struct {
	ID            string    `json:"id"`
	Snapshot      string    `json:"snapshot"`
	BoundSnapshot string    `json:"boundSnapshot"`
	CreatedAt     time.Time `json:"createdAt"`
	Verb          string    `json:"verb"`
	Pod           PodName   `json:"pod"`
	// Outcome is Scheduled, Preempting, Unschedulable or Gated.
	Outcome       string   `json:"outcome"`
	Node          string   `json:"node"`
	NominatedNode string   `json:"nominatedNode"`
	Priority      int32    `json:"priority"`
	Message       string   `json:"message"`
	Digest        string   `json:"digest"`
	Warnings      []string `json:"warnings"`
	// Whole is the answer with all that explains it, as /docs of a server describes it.
	Whole json.RawMessage `json:"-"`
}

// UnmarshalJSON reads a decision and keeps all of it.
func (d *Decision) UnmarshalJSON(raw []byte) error {
	type plain Decision
	if err := json.Unmarshal(raw, (*plain)(d)); err != nil {
		return err
	}
	d.Whole = append([]byte(nil), raw...)
	return nil
}

// PlacementRequest places many pods: Pods, Count copies of Template, those of a Workload, or those
// of a PodGroup ("ns/name") that wait. Without Bind and Hold it is dry.
type PlacementRequest struct {
	Snapshot string   `json:"snapshot,omitempty"`
	Pods     []Object `json:"pods,omitempty"`
	Template Object   `json:"template,omitempty"`
	Count    *int     `json:"count,omitempty"`
	Workload Object   `json:"workload,omitempty"`
	PodGroup string   `json:"podGroup,omitempty"`
	// Removals are sets of pods to be tried without, one after the other; dry runs alone have them.
	Removals [][]PodName `json:"removals,omitempty"`
	Order    string      `json:"order,omitempty"`
	Atomic   bool        `json:"atomic,omitempty"`
	MinCount *int        `json:"minCount,omitempty"`
	Bind     bool        `json:"bind,omitempty"`
	// Hold binds for a time, such as 30s, unless the hold is committed.
	Hold    string `json:"hold,omitempty"`
	Preempt *bool  `json:"preempt,omitempty"`
	Explain string `json:"explain,omitempty"`
}

// Placement is where many pods go.
type Placement struct {
	ID            string            `json:"id"`
	Snapshot      string            `json:"snapshot"`
	BoundSnapshot string            `json:"boundSnapshot"`
	Committed     bool              `json:"committed"`
	Placed        int               `json:"placed"`
	Failed        int               `json:"failed"`
	Results       []PlacementResult `json:"results"`
	StoppedBy     *PlacementStop    `json:"stoppedBy"`
	FirstSet      *int              `json:"firstSet"`
	MayReturn     []PodName         `json:"mayReturn"`
	Warnings      []string          `json:"warnings"`
	Hold          *PlacementHold    `json:"hold"`
}

// PlacementResult is where one pod of a placement goes.
type PlacementResult struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Outcome is Scheduled, Preempting, Unschedulable, Gated or NotTried.
	Outcome  string   `json:"outcome"`
	Node     string   `json:"node"`
	Decision string   `json:"decision"`
	Message  string   `json:"message"`
	Victims  []Victim `json:"victims"`
}

// PlacementStop is the pod by which a placement does not hold.
type PlacementStop struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Message   string `json:"message"`
}

// PlacementHold is the hold that a placement made.
type PlacementHold struct {
	ID      string    `json:"id"`
	Expires time.Time `json:"expires"`
}

// Victim is a pod to be evicted for another one.
type Victim struct {
	Namespace          string   `json:"namespace"`
	Name               string   `json:"name"`
	UID                string   `json:"uid"`
	Priority           int32    `json:"priority"`
	GracePeriodSeconds int64    `json:"gracePeriodSeconds"`
	ViolatesPDB        bool     `json:"violatesPDB"`
	Because            []string `json:"because"`
}

// Hold is pods that are bound for a time.
type Hold struct {
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	// State is held, committed, released or expired.
	State         string     `json:"state"`
	Created       time.Time  `json:"created"`
	Expires       time.Time  `json:"expires"`
	Ended         *time.Time `json:"ended"`
	BoundSnapshot string     `json:"boundSnapshot"`
	EndedSnapshot string     `json:"endedSnapshot"`
	AskedBy       string     `json:"askedBy"`
	EndedBy       string     `json:"endedBy"`
	Placed        int        `json:"placed"`
	Pods          []HeldPod  `json:"pods"` // absent from lists
}

// HeldPod is a pod of a hold.
type HeldPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node"`
	Decision  string `json:"decision"`
}

// Queue is the pods of a cluster that wait.
type Queue struct {
	Snapshot string      `json:"snapshot"`
	Now      time.Time   `json:"now"`
	Active   []QueuedPod `json:"active"`
	// Cursor is where the lists go on; empty: they are whole.
	Cursor string `json:"cursor"`
}

// QueuedPod is a pod that waits, in the order in which they are tried.
type QueuedPod struct {
	Namespace   string     `json:"namespace"`
	Name        string     `json:"name"`
	Priority    int32      `json:"priority"`
	Queue       string     `json:"queue"`
	Attempts    int        `json:"attempts"`
	Since       *time.Time `json:"since"`
	LastAttempt *time.Time `json:"lastAttempt"`
	NextTry     *time.Time `json:"nextTry"`
}

// DecisionRow is a record of the log.
type DecisionRow struct {
	ID        string    `json:"id"`
	Seq       int64     `json:"seq"`
	CreatedAt time.Time `json:"createdAt"`
	Cluster   string    `json:"cluster"`
	Verb      string    `json:"verb"`
	Outcome   string    `json:"outcome"`
	Node      string    `json:"node"`
}

// AuditReport is what a check of the log found.
type AuditReport struct {
	Cluster  string         `json:"cluster"`
	FromSeal int64          `json:"fromSeal"`
	ToSeal   int64          `json:"toSeal"`
	Rows     map[string]int `json:"rows"`
	// Findings is empty where the log is as it was written.
	Findings []AuditFinding `json:"findings"`
	More     bool           `json:"more"` // seals behind ToSeal are left
}

// AuditFinding is a place where the log is not as it was written.
type AuditFinding struct {
	What   string `json:"what"`
	Table  string `json:"table"`
	ID     string `json:"id"`
	Detail string `json:"detail"`
}

// PriorityClass is a class that a cluster has beside its snapshots.
type PriorityClass struct {
	Metadata         PriorityClassMeta `json:"metadata"`
	Value            int32             `json:"value"`
	GlobalDefault    bool              `json:"globalDefault,omitempty"`
	PreemptionPolicy string            `json:"preemptionPolicy,omitempty"`
	Description      string            `json:"description,omitempty"`
}

// PriorityClassMeta names a class.
type PriorityClassMeta struct {
	Name string `json:"name"`
}
