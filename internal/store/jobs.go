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

// JobCounts are how many jobs have not ended.
type JobCounts struct {
	All, Cluster int64
	// Caller counts those of the caller whose job would be one more.
	Caller int64
}

// Check returns a *BusyError where one more job of a cluster would be too many. A caller without a
// job has a place beyond the limits, up to twice as many: no other caller can take all of them.
func (l JobLimits) Check(jobs, cluster string, n JobCounts) error {
	places := int64(1)
	if n.Caller == 0 {
		places = 2
	}
	switch {
	case l.Unfinished > 0 && n.All >= places*int64(l.Unfinished):
		return &BusyError{jobs, "", n.All}
	case l.PerCluster > 0 && n.Cluster >= places*int64(l.PerCluster):
		return &BusyError{jobs, cluster, n.Cluster}
	}
	return nil
}
