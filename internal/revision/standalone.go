package revision

import (
	"context"
	"time"

	"berth/internal/kube/object"
)

// Standalone makes a view of everything that read yields, in memory alone: no
// line of revisions, no store. It counts as revision 1 of a cluster of that
// name. Errors are those of read, and *InvalidError.
func Standalone(name string, read object.Reader, now time.Time) (*View, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	v, err := collectResolved(context.Background(), read, nil)
	if err != nil {
		return nil, err
	}
	v.Cluster, v.Revision, v.CreatedAt = name, 1, now.UTC()
	return v, nil
}
