package planted

// Faults of the ledger.
const (
	// ApplyUnbinds drops the node of a bound pod whose manifest names none.
	ApplyUnbinds Fault = "apply-unbinds"
	// StatusEmptied drops the status of an object whose manifest has none.
	StatusEmptied Fault = "status-emptied"
)

func init() {
	All = append(All,
		Plant{ApplyUnbinds, "a bound pod's own manifest is refused as one that takes it off its node", "./internal/ledger", "TestApplyKeepsTheBind"},
		Plant{StatusEmptied, "a running pod is pending once its manifest is applied again", "./internal/ledger", "TestApplyKeepsTheBind"},
	)
}
