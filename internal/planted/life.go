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
)

func init() {
	All = append(All,
		Plant{CrashLoopPending, "a crash-looping pod is called Pending", "./internal/podlife", "TestPhase"},
		Plant{BackoffNeverReset, "a container that ran for an hour waits five minutes", "./internal/podlife", "TestBackoff"},
		Plant{InitRevisited, "an init container runs again beside a main one", "./internal/podlife", "TestNext"},
	)
}
