package planted

// Bugs of batch replays.
const (
	ReplayAlwaysDiffers    Fault = "replay-always-differs"
	ReplayCountersLate     Fault = "replay-counters-late"
	ReplayLeaseIgnored     Fault = "replay-lease-ignored"
	ReplayResumesLate      Fault = "replay-resumes-late"
	ReplayDifferenceLost   Fault = "replay-difference-lost"
	ReplayUnverified       Fault = "replay-unverified"
	ReplayCancelUnheard    Fault = "replay-cancel-unheard"
	ReplayOverrideForgot   Fault = "replay-override-forgotten"
	ReplayDeletesForgotten Fault = "replay-deletes-forgotten"
)
