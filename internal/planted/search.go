package planted

// Faults of how a search for devices ends early.
const (
	DevicesCutShort Fault = "devices-cut-short"
	AlikeTooSoon    Fault = "alike-too-soon"
	StopRemembered  Fault = "stop-remembered"
)

const devicesPackage = "./internal/engine/devices"

func init() {
	All = append(
		All,
		Plant{DevicesCutShort, "a search for devices that was stopped says that there are none", devicesPackage, "TestAStoppedSearchIsNoAnswer"},
		Plant{AlikeTooSoon, "devices count as alike that constraints tell apart", devicesPackage, "TestNothingIsMissedByLeavingOut"},
		Plant{StopRemembered, "what a selector failed with because the caller was gone is remembered", devicesPackage, "TestAStoppedSearchIsNoAnswer"},
	)
}
