package planted

// Faults of replicas on one store, and of what retention takes away.
const (
	SkipParentCheck        Fault = "skip-parent-check"
	StaleHeadAfterConflict Fault = "stale-head-after-conflict"
	GoneClusterKept        Fault = "gone-cluster-kept"
	CheckpointTwice        Fault = "checkpoint-twice"
	CheckpointUnchecked    Fault = "checkpoint-digest-unchecked"
	BindNotIdempotent      Fault = "bind-not-idempotent"
	PruneNeededChange      Fault = "prune-needed-change"
	PruneReferred          Fault = "prune-referred-revision"
	TurnIgnored            Fault = "turn-ignored"
	HealthyAtOnce          Fault = "reconnect-all-at-once"
)

func init() {
	const cluster, postgres, audit = "./internal/cluster", "./internal/store/postgres", "./internal/audit"
	All = append(All, []Plant{
		{SkipParentCheck, "a change on a parent that is not the newest is written all the same", cluster, "TestStaleParentIsAConflict"},
		{StaleHeadAfterConflict, "after a refused write the next one builds on the same stale head", cluster, "TestNoPodIsBoundTwice"},
		{GoneClusterKept, "a cluster that another replica deleted goes on being shown", cluster, "TestGoneClusterIsNoticed"},
		{CheckpointTwice, "each replica makes the checkpoint that one of them has made", cluster, "TestCheckpointOfAnotherCounts"},
		{CheckpointUnchecked, "what a checkpoint holds is not held against the recorded digest", cluster, "TestDamagedRows"},
		{BindNotIdempotent, "a bind through another replica, after the first one's answer was lost, is refused", audit, "TestBindIsIdempotentAcrossReplicas"},
		{PruneNeededChange, "retention deletes changes that a later revision is made of", postgres, "TestStore/Pruning"},
		{PruneReferred, "retention deletes revisions that binds made, which decisions refer to", postgres, "TestStore/Pruning"},
		{TurnIgnored, "revisions are appended while another replica has the turn", postgres, "TestOthersWaitForATurn"},
		{HealthyAtOnce, "a pool whose database is back connects with all it has at once", postgres, "TestReconnectsOneByOne"},
	}...)
}
