package planted

// Faults of priority classes, admission and the queue.
const (
	// StaleClassVersion takes an update of a class that somebody else has changed.
	StaleClassVersion Fault = "stale-class-version"
	// DefaultByMemory judges by the view in memory whether there is a default
	// class already, and not in the transaction that writes another.
	DefaultByMemory Fault = "default-class-by-memory"
	// MutableClass lets the value of a class change.
	MutableClass Fault = "mutable-class"
	// ReplayReadsClasses resolves a recorded pod's class anew when it is replayed.
	ReplayReadsClasses Fault = "replay-reads-classes"
	// LooserTerm lets a gated pod's node affinity change in any way.
	LooserTerm Fault = "looser-term"
	// MutablePod lets everything in a spec change.
	MutablePod Fault = "mutable-pod"
)

func init() {
	All = append(All,
		Plant{StaleClassVersion, "an update of a class overwrites another that it has not seen", "./internal/store/sqlite", "TestStore/PriorityClasses/StaleVersionIsRefused"},
		Plant{DefaultByMemory, "two replicas each make a default class", "./internal/classes", "TestOneDefaultAmongReplicas"},
		Plant{MutableClass, "the value of a class changes", "./internal/podlife", "TestClassUpdate"},
		Plant{ReplayReadsClasses, "a replay answers with a class as it is today", "./internal/audit", "TestReplayAfterTheClassChanged"},
		Plant{LooserTerm, "a gated pod's node affinity is loosened", "./internal/podlife", "TestGatedUpdate"},
		Plant{MutablePod, "a pod's spec changes", "./internal/podlife", "TestUpdate"},
	)
}
