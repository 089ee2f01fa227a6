package planted

// Faults of replicas on one store.
const (
	SkipParentCheck        Fault = "skip-parent-check"
	StaleHeadAfterConflict Fault = "stale-head-after-conflict"
	GoneClusterKept        Fault = "gone-cluster-kept"
	CheckpointTwice        Fault = "checkpoint-twice"
	TurnKept               Fault = "turn-kept"
)

func init() {
	All = append(All, []Plant{}...)
}
