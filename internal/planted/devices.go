package planted

// Faults of the search for devices.
const (
	DeviceTwice     Fault = "device-twice"
	DevicesNotAgain Fault = "devices-not-again"
	StaleInventory  Fault = "stale-inventory"
)

const rulesPackage = "./internal/engine/rules"

func init() {
	All = append(
		All,
		Plant{DeviceTwice, "two claims of a pod are given one device", rulesPackage, "TestDynamicResources"},
		Plant{DevicesNotAgain, "the search for devices does not go back once it has taken a wrong one", rulesPackage, "TestDynamicResources"},
		Plant{StaleInventory, "what was worked out from claims and slices outlives their change", rulesPackage, "TestDevicesFollowTheState"},
	)
}
