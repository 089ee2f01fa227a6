package planted

// Faults of following the log.
const (
	// SeqOutsideLock numbers a record by what was there before its cluster's
	// lock was held.
	SeqOutsideLock Fault = "seq-outside-lock"
	// FollowByTime gives those who follow the log the earliest records first.
	FollowByTime Fault = "follow-by-time"
)

func init() {
	All = append(All,
		Plant{SeqOutsideLock, "a record comes to be seen behind the place that a reader has reached", "./internal/store/postgres", "TestFollowTwoReplicas"},
		Plant{FollowByTime, "a page of the log as it is followed ends with a record that is not the last one", "./internal/store/sqlite", "TestStore/Following"},
	)
}
