package planted

// Faults of priority classes, admission and the queue.
const (
	// StaleClassVersion takes an update of a class that somebody else has changed.
	StaleClassVersion Fault = "stale-class-version"
)

func init() {
	All = append(All,
		Plant{StaleClassVersion, "an update of a class overwrites another that it has not seen", "./internal/store/sqlite", "TestStore/PriorityClasses/StaleVersionIsRefused"},
	)
}
