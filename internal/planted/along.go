package planted

// Faults of what a bind writes beside its pod.
const (
	DevicesLeftFree Fault = "devices-left-free"
	VolumeLeftFree  Fault = "volume-left-free"
)

func init() {
	All = append(All,
		Plant{DevicesLeftFree, "a bind reserves its pod's claims and does not say which devices they got", "./internal/audit", "TestBindCarriesDevicesAlong"},
		Plant{VolumeLeftFree, "a bind binds claims, and leaves their volumes to others as well", "./internal/audit", "TestBindCarriesVolumesAlong"},
	)
}
