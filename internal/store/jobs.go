package store

import "fmt"

// JobLimits bound the jobs of a kind that have not ended; 0: no bound.
type JobLimits struct {
	// Unfinished bounds all of them, PerCluster those of one cluster.
	Unfinished, PerCluster int
}

// The kinds of jobs, in words.
const (
	BatchReplays   = "batch replays"
	SimulationJobs = "jobs"
)

// BusyError is the error where as many jobs have not ended as may, in all or of a cluster.
type BusyError struct {
	Jobs       string // their kind
	Cluster    string // empty: in all
	Unfinished int64
}

func (e *BusyError) Error() string {
	of := ""
	if e.Cluster != "" {
		of = " of cluster " + e.Cluster
	}
	return fmt.Sprintf("%d %s%s have not ended: wait for one, or cancel it", e.Unfinished, e.Jobs, of)
}

// Check returns a *BusyError where one more job of a cluster would be too many. all and own are how
// many there are.
func (l JobLimits) Check(jobs, cluster string, all, own int64) error {
	switch {
	case l.Unfinished > 0 && all >= int64(l.Unfinished):
		return &BusyError{jobs, "", all}
	case l.PerCluster > 0 && own >= int64(l.PerCluster):
		return &BusyError{jobs, cluster, own}
	}
	return nil
}
