package planted

// Faults of preemption.
const (
	// PreemptEquals evicts pods of the same priority too.
	PreemptEquals Fault = "preempt-equals"
	// EvictEverybody puts nobody back who could stay.
	EvictEverybody Fault = "evict-everybody"
	// ForgetBudgets counts no eviction against a budget.
	ForgetBudgets Fault = "forget-budgets"
	// KeepNominations leaves lower nominations to the chosen node in place.
	KeepNominations Fault = "keep-nominations"
	// FailureKeepsNomination leaves a pod nominated to its node that fits nowhere.
	FailureKeepsNomination Fault = "failure-keeps-nomination"
	// DropUnknownVictims leaves out of /preempt's answer who is not in the snapshot.
	DropUnknownVictims Fault = "drop-unknown-victims"
	// UndigestedVictims leaves the victims out of the answer's digest.
	UndigestedVictims Fault = "undigested-victims"
)

func init() {
	All = append(All,
		Plant{PreemptEquals, "a pod evicts its equals", "./internal/engine", "TestNobodyOfEqualOrHigherPriorityGoes"},
		Plant{EvictEverybody, "the choice among nodes counts pods that could have stayed", "./internal/engine", "TestTheChoiceIsByTheVictimsThatAreNamed"},
		Plant{ForgetBudgets, "an eviction that a budget forbids counts as allowed", "./internal/engine", "TestBudgetsAreBestEffort"},
		Plant{KeepNominations, "a pod of lower priority goes on waiting for a node that was given away", "./internal/audit", "TestNominationsAreWrittenAndHonoured"},
		Plant{FailureKeepsNomination, "a pod that fits nowhere goes on holding the node that it is nominated to", "./internal/audit", "TestFailedAttemptsAreWritten"},
		Plant{DropUnknownVictims, "a pod that kube-scheduler would evict is forgotten", "./internal/handlers", "TestPreemptByUID"},
		Plant{UndigestedVictims, "two answers with other victims have one digest", "./internal/engine", "TestDigestTellsAnswersApart"},
	)
}
