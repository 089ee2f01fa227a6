package store

import (
	"slices"
	"time"
)

// What was done to an object or to a priority class.
const (
	Applied = "apply"
	Deleted = "delete"
)

// RevisionObject is an object that a revision changed.
type RevisionObject struct {
	Action                     string // Applied or Deleted
	Kind, Namespace, Name, UID string
	Node                       string // that the pod got, or came with
	// Changed is a JSON list of the paths that differ from the object before, some of them; nil
	// where the object is new or was deleted.
	Changed []byte
}

// ClassFacts are what of a priority class decides about pods.
type ClassFacts struct {
	Value         int32
	Policy        string // of preemption
	GlobalDefault bool
}

// ClassChange is a change of a priority class. Old is nil where it was created, New where it was
// deleted.
type ClassChange struct {
	Name     string
	Old, New *ClassFacts
}

// Facts returns what of the class is kept in the log of its changes.
func (c *PriorityClass) Facts() *ClassFacts {
	return &ClassFacts{Value: c.Value, Policy: c.PreemptionPolicy, GlobalDefault: c.GlobalDefault}
}

// Where the priority class of a change is kept.
const (
	ClassOfStore    = "store"    // by itself
	ClassOfSnapshot = "snapshot" // in a revision
)

// ClassRecord is a row of the log of priority classes.
type ClassRecord struct {
	Cluster string
	Seq     int64 // from 1, without a gap
	ClassChange
	Source    string
	Revision  int64 // of a snapshot; 0 else
	Asked     Asked
	CreatedAt time.Time
}

// Values returns what the columns hold, in the order of seal.ClassColumns.
func (c *ClassRecord) Values(instant func(time.Time) any) []any {
	action := "update"
	switch {
	case c.Old == nil:
		action = "create"
	case c.New == nil:
		action = "delete"
	}
	values := []any{c.Cluster, c.Seq, action, c.Name}
	of := func(facts *ClassFacts) (value, policy, isDefault any) {
		if facts == nil {
			return nil, nil, nil
		}
		n := int64(0)
		if facts.GlobalDefault {
			n = 1
		}
		return int64(facts.Value), facts.Policy, n
	}
	oldValue, oldPolicy, oldDefault := of(c.Old)
	newValue, newPolicy, newDefault := of(c.New)
	values = append(values, oldValue, newValue, oldPolicy, newPolicy, oldDefault, newDefault, c.Source)
	var revision any
	if c.Revision > 0 {
		revision = c.Revision
	}
	return append(values, revision, orNull(c.Asked.By), orNull(c.Asked.Peer), orNull(c.Asked.RequestID), instant(c.CreatedAt))
}

// ObjectValues returns what the columns of a revision's objects hold, a row each, in the order of
// seal.ObjectColumns.
func (r *Revision) ObjectValues(instant func(time.Time) any) [][]any {
	rows := make([][]any, len(r.Objects))
	for i := range r.Objects {
		o := &r.Objects[i]
		var changed any
		if o.Changed != nil {
			changed = string(o.Changed)
		}
		rows[i] = []any{
			r.Cluster, r.Number, int64(i + 1), int64(r.Changes), o.Action, o.Kind, orNull(o.Namespace), o.Name, orNull(o.UID), orNull(o.Node),
			changed, r.Cause, orNull(r.Asked.By), instant(r.CreatedAt),
		}
	}
	return rows
}

// ValidateChanges returns why what the revision changed cannot be stored.
func (r *Revision) ValidateChanges() error {
	for i := range r.Objects {
		o := &r.Objects[i]
		if err := validateKeys("revision.objects", o.Namespace, o.Name, o.UID); err != nil {
			return err
		}
		if err := validateText("revision.objects", o.Action, o.Kind, o.Namespace, o.Name, o.UID, o.Node, string(o.Changed)); err != nil {
			return err
		}
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		if c.Old == nil && c.New == nil {
			return invalid("revision.classes", "has neither what was nor what is")
		}
		for _, f := range slices.DeleteFunc([]*ClassFacts{c.Old, c.New}, func(f *ClassFacts) bool { return f == nil }) {
			if err := validateText("revision.classes", c.Name, f.Policy); err != nil {
				return err
			}
		}
	}
	return nil
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
