package planted

// Faults of the life of pods.
const (
	// CrashLoopPending takes a container that waits to run again for one that
	// never ran.
	CrashLoopPending Fault = "crash-loop-pending"
	// BackoffNeverReset keeps the delay of a container that ran for long.
	BackoffNeverReset Fault = "backoff-never-reset"
	// InitRevisited looks at init containers from the first on.
	InitRevisited Fault = "init-revisited"
	// NoDeadline lets a pod be active for as long as it likes.
	NoDeadline Fault = "no-deadline"
	// EndedIsEvicted ranks pods for eviction that are over.
	EndedIsEvicted Fault = "ended-is-evicted"
	// DyingRestarts restarts containers of a pod that is being deleted.
	DyingRestarts Fault = "dying-restarts"
)

func init() {
	All = append(All,
		Plant{CrashLoopPending, "a crash-looping pod is called Pending", "./internal/podlife", "TestPhase"},
		Plant{BackoffNeverReset, "a container that ran for an hour waits five minutes", "./internal/podlife", "TestBackoff"},
		Plant{InitRevisited, "an init container runs again beside a main one", "./internal/podlife", "TestNext"},
		Plant{NoDeadline, "a pod past its activeDeadlineSeconds is called Running", "./internal/podlife", "TestDeadline"},
		Plant{EndedIsEvicted, "a pod that is over is the first to be evicted", "./internal/podlife", "TestEndedPodsAreNotRanked"},
		Plant{DyingRestarts, "a container of a pod that is being deleted is started again", "./internal/podlife", "TestAfterAFailedProbe"},
	)
}
