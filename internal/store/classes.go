package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// ErrExists reports that a record of that name is there already.
var ErrExists = errors.New("already exists")

// DefaultTakenError reports that another class of the cluster is the default one.
// It is ErrConflict to callers that do not look closer.
type DefaultTakenError struct {
	Cluster string
	Name    string // of the class that is the default; empty where it is not known
}

func (e *DefaultTakenError) Error() string {
	return fmt.Sprintf("cluster %s has the default class %q already", e.Cluster, e.Name)
}

// Unwrap returns ErrConflict.
func (e *DefaultTakenError) Unwrap() error { return ErrConflict }

// PriorityClass is a stored class. The columns are what people ask for in SQL;
// the program reads the payload.
type PriorityClass struct {
	Cluster string
	Name    string
	// Version is unique within the cluster and grows with each write to any of
	// its classes. The store sets it.
	Version          int64
	Value            int32
	GlobalDefault    bool
	PreemptionPolicy string
	Payload          []byte // JSON
}

// Validate returns why a class cannot be stored by every backend alike; the error
// wraps ErrInvalid and names the field.
func (c *PriorityClass) Validate() error {
	switch {
	case c.Cluster == "":
		return invalid("priorityClass.cluster", "is empty")
	case c.Name == "":
		return invalid("priorityClass.name", "is empty")
	case !validJSON(c.Payload):
		return invalid("priorityClass.payload", "is not JSON")
	}
	return validateText("priorityClass", c.Cluster, c.Name, c.PreemptionPolicy)
}

// PriorityClasses keeps the classes that do not come with a snapshot. Writes to
// one cluster's classes take turns, also those of several replicas.
type PriorityClasses interface {
	// PriorityClasses lists a cluster's classes by name as of one moment, with
	// the version that the cluster's classes had then; 0 for a cluster that
	// never had any. It never goes back, and grows with each write and delete.
	// Payloads are read if whole is set.
	PriorityClasses(ctx context.Context, cluster string, whole bool) ([]*PriorityClass, int64, error)
	// PriorityClassVersions returns that version for each cluster that has had classes: what a
	// replica polls.
	PriorityClassVersions(ctx context.Context) (map[string]int64, error)
	// PriorityClass returns one class; ErrNotFound without one.
	PriorityClass(ctx context.Context, cluster, name string) (*PriorityClass, error)
	// PutPriorityClass writes a class and gives its version. expect is the
	// version that is stored: ErrConflict for another, ErrNotFound for none. 0
	// expects that none is stored: ErrExists otherwise. A class whose GlobalDefault
	// is set while another's is set is a *DefaultTakenError. A class that is
	// stored with the same payload is left as it is, whatever is expected, so
	// that a retry after a lost answer is safe.
	PutPriorityClass(ctx context.Context, c *PriorityClass, expect int64) (version int64, err error)
	// DeletePriorityClass removes a class; ErrNotFound without one. expect is
	// the version that is stored, ErrConflict for another, 0 for any.
	DeletePriorityClass(ctx context.Context, cluster, name string, expect int64) error
}

// JudgePut reports whether a class may be written, given the one that is stored
// (nil: none) and the version that the caller expects to be: see
// PriorityClasses.PutPriorityClass. same reports that it is stored so already.
func (c *PriorityClass) JudgePut(had *PriorityClass, expect int64) (same bool, err error) {
	switch {
	case had == nil && expect != 0:
		return false, fmt.Errorf("priority class %s: %w", c.Name, ErrNotFound)
	case had == nil:
		return false, nil
	case bytes.Equal(had.Payload, c.Payload):
		return true, nil
	case expect == 0:
		return false, fmt.Errorf("priority class %s: %w", c.Name, ErrExists)
	}
	return false, had.expect(expect)
}

// JudgeDelete reports whether a stored class may be removed, as JudgePut does; 0
// expects any version.
func (c *PriorityClass) JudgeDelete(expect int64) error {
	if expect == 0 {
		return nil
	}
	return c.expect(expect)
}

func (c *PriorityClass) expect(version int64) error {
	if c.Version != version {
		return fmt.Errorf("priority class %s has version %d, not %d: %w", c.Name, c.Version, version, ErrConflict)
	}
	return nil
}
