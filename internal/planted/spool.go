package planted

// Faults of the spool and of the relaxed mode.
const (
	SpoolAcksBeforeFsync   Fault = "spool-acks-before-fsync"
	SpoolRetriesFsync      Fault = "spool-retries-fsync"
	SpoolTruncates         Fault = "spool-truncates"
	SpoolDeletesFirst      Fault = "spool-deletes-before-commit"
	SpoolReorders          Fault = "spool-reorders"
	SpoolDoublesOnHang     Fault = "spool-doubles-on-hang"
	SpoolDropsRefused      Fault = "spool-drops-refused"
	SpoolWaitsForHang      Fault = "spool-waits-for-hang"
	SpoolForgetsLimit      Fault = "spool-forgets-limit"
	RelaxedDropsUncounted  Fault = "relaxed-drops-uncounted"
	RelaxedForgetsItsDeath Fault = "relaxed-forgets-its-death"
	CommitQueueUnbounded   Fault = "commit-queue-unbounded"
)

const spoolPackage, commitPackage = "./internal/store/spool", "./internal/store/commit"

func init() {
	All = append(All,
		Plant{SpoolAcksBeforeFsync, "a record is acknowledged when it is written, not when it is on disk", spoolPackage, "TestPowerLoss"},
		Plant{SpoolRetriesFsync, "a failed fsync is tried again and believed", spoolPackage, "TestEveryFailure"},
		Plant{SpoolTruncates, "a damaged record ends its segment, and the good ones behind it go unseen", spoolPackage, "TestDamageIsLoudAndBounded"},
		Plant{SpoolDeletesFirst, "a segment is removed before the database has committed it", spoolPackage, "TestSimulation"},
		Plant{SpoolReorders, "new records take the straight way while older ones wait in the spool", spoolPackage, "TestSimulation"},
		Plant{SpoolDoublesOnHang, "a record whose write hangs goes to the spool under another id", spoolPackage, "TestSimulation"},
		Plant{SpoolDropsRefused, "a record that the database refuses for good vanishes", spoolPackage, "TestRefusedIsSetAside"},
		Plant{SpoolWaitsForHang, "a database that hangs is waited for", spoolPackage, "TestHangIsAsHarmlessAsAnError"},
		Plant{SpoolForgetsLimit, "the spool grows beyond its limit", spoolPackage, "TestFullSpoolRefuses"},
		Plant{RelaxedDropsUncounted, "a record is dropped from a full queue and nobody counts it", commitPackage, "TestRelaxedCountsWhatItDrops"},
		Plant{RelaxedForgetsItsDeath, "a killed process leaves no trace of what it may have lost", commitPackage, "TestMarkerOutlivesAKill"},
		Plant{CommitQueueUnbounded, "a store that stalls lets the queue grow", commitPackage, "TestStalledStoreHoldsCallersBack"},
	)
}
