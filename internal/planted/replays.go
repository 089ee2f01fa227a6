package planted

// Faults of batch replays.
const (
	ReplayCountersLate     Fault = "replay-counters-late"
	ReplayLeaseIgnored     Fault = "replay-lease-ignored"
	ReplayResumesLate      Fault = "replay-resumes-late"
	ReplayDifferenceLost   Fault = "replay-difference-lost"
	ReplayUnverified       Fault = "replay-unverified"
	ReplayCancelUnheard    Fault = "replay-cancel-unheard"
	ReplayOverrideForgot   Fault = "replay-override-forgotten"
	ReplayDeletesForgotten Fault = "replay-deletes-forgotten"
)

func init() {
	const room = "./internal/replays"
	All = append(All, []Plant{
		{ReplayCountersLate, "a part's cursor is committed before its counters, so that a kill between the two leaves decisions out", room, "TestKilledAnywhereCountsOnce"},
		{ReplayLeaseIgnored, "a part is handed out while another worker's lease lasts", "./internal/store/sqlite", "TestStore/Replays/LeaseThatRanOutIsTakenOver"},
		{ReplayResumesLate, "a part that is taken up again starts one decision late", room, "TestKilledAnywhereCountsOnce"},
		{ReplayDifferenceLost, "every second difference is counted and not kept", room, "TestOverrideIsFoundByPath"},
		{ReplayUnverified, "a walked state is never held against its digest", room, "TestDamagedChangeSpoilsNothingElse"},
		{ReplayCancelUnheard, "a worker does not hear that its job was cancelled", room, "TestCancelIsHeard"},
		{ReplayOverrideForgot, "a job's configuration is read and not used", room, "TestOverrideIsFoundByPath"},
		{ReplayDeletesForgotten, "a walk takes deleted objects off its books and not off its state", room, "TestEverythingReplaysIdentical"},
	}...)
}
