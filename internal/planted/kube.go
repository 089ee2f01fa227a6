package planted

// Faults of following a cluster and binding in it.
const (
	// VictimsCountTwice counts pods that were agreed to be evicted.
	VictimsCountTwice Fault = "victims-count-twice"
	// BindUnchecked binds whatever the rules say by then.
	BindUnchecked Fault = "bind-unchecked"
	// OldAgreement believes what this server agreed to, though another agreed to something else since.
	OldAgreement Fault = "old-agreement"
	// BindUnasked binds pods that nobody asked about.
	BindUnasked Fault = "bind-unasked"
)

func init() {
	All = append(All,
		Plant{VictimsCountTwice, "who was evicted for a pod still stands in its way", "./internal/audit", "TestVictimsDoNotCount"},
		Plant{BindUnchecked, "a pod is bound though another was bound before it", "./internal/audit", "TestBindIsJudgedAgain"},
		Plant{OldAgreement, "victims that another server agreed to count for their preemptor", "./internal/audit", "TestNewestAgreementCounts"},
		Plant{BindUnasked, "a pod is bound to a node that no decision named", "./internal/audit", "TestBindNeedsADecision"},
	)
}
