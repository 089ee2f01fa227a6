package store

import "context"

// CauseFork is the cause of a revision with an Origin.
const CauseFork = "fork"

// Origin is where the content of a copy's first revision is: at a revision of another cluster. A
// revision with one comes without a change and without a checkpoint, so that it costs the same
// however large the cluster is. A checkpoint that is added to it later takes the origin's place.
type Origin struct {
	// Cluster and Number name the revision, the first of its cluster.
	Cluster string
	Number  int64
	// Source and SourceNumber name the revision that has the content. Token is that revision's as
	// the writer read it; lists are without.
	Source       string
	SourceNumber int64
	Token        string
}

// Origins reads what Append wrote of origins. A revision that is one stays: Prune passes it over,
// and its deletion and that of its cluster are refused with ErrInUse as long as a copy has no
// checkpoint of its own there.
type Origins interface {
	// Origin returns what a cluster began as a copy of; ErrNotFound where it is none.
	Origin(ctx context.Context, cluster string) (*Origin, error)
	// Copies lists the origins of copies of a cluster that have no checkpoint at their first
	// revision, by name; of those of one revision, where number is not 0.
	Copies(ctx context.Context, source string, number int64) ([]*Origin, error)
}

// validateOrigin wants an origin to fit the revision that it comes with.
func (e *Entry) validateOrigin() error {
	o := e.Origin
	if o == nil {
		return nil
	}
	r := e.Revision
	switch {
	case r == nil:
		return invalid("origin", "comes without its revision")
	case o.Cluster != r.Cluster || o.Number != r.Number:
		return invalid("origin", "is not the revision's")
	case r.Cause != CauseFork:
		return invalid("revision.cause", "is not that of a copy")
	case r.Change != nil || e.Checkpoint != nil:
		return invalid("origin", "comes with other content")
	case r.ParentToken != "":
		return invalid("origin", "is of a revision that is not the first")
	case o.Source == "" || o.Source == o.Cluster:
		return invalid("origin.source", "is not another cluster")
	case o.SourceNumber < 1:
		return invalid("origin.sourceNumber", "is below 1")
	}
	if err := validateKeys("origin", o.Source, o.Token); err != nil {
		return err
	}
	return validateText("origin", o.Source, o.Token)
}
