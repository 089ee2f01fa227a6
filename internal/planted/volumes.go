package planted

// Faults of the rules about volumes.
const (
	VolumeTakenTwice Fault = "volume-taken-twice"
	VolumeIndexStale Fault = "volume-index-outlives-its-tables"
)

func init() {
	All = append(All,
		Plant{VolumeTakenTwice, "two claims of a pod are matched to one volume", "./internal/engine/rules", "TestVolumeBindingMatches"},
		Plant{VolumeIndexStale, "volumes that came or went since the first look are not seen", "./internal/engine", "TestVolumesComeAndGo"},
	)
}
