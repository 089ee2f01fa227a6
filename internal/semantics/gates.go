package semantics

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Gates are the feature gates that a decision reads, by the names that kube-scheduler has for them
// (pkg/features/kube_features.go). A release has them at its defaults.
type Gates struct {
	DRAConsumableCapacity      bool
	DRADeviceBindingConditions bool
	DRADeviceTaintRules        bool
	DRADeviceTaints            bool
	DRAExtendedResource        bool
	DRAPartitionableDevices    bool
	// GenericWorkload is on where pods are scheduled in groups. Decisions are about a pod alone.
	GenericWorkload                         bool
	InPlacePodLevelResourcesVerticalScaling bool
	NodeDeclaredFeatures                    bool
	StorageCapacityScoring                  bool
	VolumeLimitScaling                      bool
}

// fixed are gates that decisions are made as if they stood at, in every release: their defaults.
var fixed = map[string]bool{
	"CompositePodGroup": false, "DRAAdminAccess": true, "DRADerivedAttributes": false,
	"DRADeviceCompatibilityGroups": false, "DRAFractionalCapacityRange": false,
	"DRAListTypeAttributes": false, "DRANodeAllocatableResources": false,
	"DRAOptionalNodeOperations": false, "DRAPrioritizedList": true, "DRAResourceClaimDeviceStatus": true,
	"DRASchedulerFilterTimeout": true, "DRAWorkloadResourceClaims": false,
	"DynamicResourceAllocation": true, "InPlacePodVerticalScaling": true,
	"InPlacePodVerticalScalingSchedulerPreemption": false, "MatchLabelKeysInPodTopologySpread": true,
	"NodeInclusionPolicyInPodTopologySpread": true, "PodGroupPreemptionPolicy": false,
	"PodLevelResources": true, "TaintTolerationComparisonOperators": false,
	"TopologyAwareWorkloadScheduling": false, "VolumeAttributesClass": true,
}

// emulated is what Parse takes instead of a gate, for the gates of an older release.
const emulated = "emulated"

// withGates returns the release with gates set as a text says: gates such as
// StorageCapacityScoring=false, and emulated=v1.36 for those of an older release, which count
// first (kube-scheduler's --feature-gates and --emulated-version).
func (r *Release) withGates(list []string) (*Release, error) {
	set := *r
	set.code = r
	for _, first := range []bool{true, false} {
		for _, text := range list {
			name, value, _ := strings.Cut(text, "=")
			if (name == emulated) != first {
				continue
			}
			if err := set.set(name, value); err != nil {
				return nil, err
			}
		}
	}
	if set.Gates == r.Gates {
		return r, nil
	}
	set.stamp = strings.Join(append([]string{r.Name}, set.changed()...), " ")
	return &set, nil
}

// OfFlags returns the release that kube-scheduler is of by its version, its --emulated-version and
// its --feature-gates. Gates that no decision reads count for nothing.
func OfFlags(version, emulates, gates string) (*Release, error) {
	list := []string{minor(version)}
	if emulates != "" { // 1.36, v1.36 and kube=1.36
		_, own, named := strings.Cut(emulates, "=")
		if !named {
			own = emulates
		}
		list = append(list, emulated+"=v"+strings.TrimPrefix(own, "v"))
	}
	for _, g := range strings.FieldsFunc(gates, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, _ := strings.Cut(g, "=")
		_, as := fixed[name]
		if as || slices.Contains(gateNames(), name) || strings.HasPrefix(name, "All") {
			list = append(list, name+"="+strings.ToLower(value))
		}
	}
	return Parse(strings.Join(list, " "))
}

// set changes one gate, or all of them to those of another release.
func (r *Release) set(name, value string) error {
	if name == emulated {
		i := slices.IndexFunc(releases, func(o *Release) bool { return o.Minor() == minor(value) })
		if i < 0 || i > slices.Index(releases, r.code) {
			return fmt.Errorf("%s=%.64s: %s emulates releases up to itself, of %s", emulated, value, r.code.Minor(), Known())
		}
		r.Gates = releases[i].Gates
		return nil
	}
	on := value == "true"
	if !on && value != "false" {
		return fmt.Errorf("gate %.64s: %.64q is neither true nor false, as in StorageCapacityScoring=false", name, value)
	}
	if as, ok := fixed[name]; ok {
		if as != on {
			return fmt.Errorf("gate %s=%v: decisions here are as with %v alone", name, on, as)
		}
		return nil
	}
	f := reflect.ValueOf(&r.Gates).Elem().FieldByName(name)
	if f.IsValid() && slices.Contains(r.Fixed, name) && f.Bool() != on {
		return fmt.Errorf("gate %s=%v: decisions of %s here are as with %v alone", name, on, r.code.Minor(), f.Bool())
	}
	if !f.IsValid() {
		return fmt.Errorf("gate %.64s: no decision reads it; those that can be set: %s", name, strings.Join(gateNames(), ", "))
	}
	if slices.Contains(r.Locked, name) && f.Bool() != on {
		return fmt.Errorf("gate %s=%v: %s has it locked to %v", name, on, r.code.Minor(), f.Bool())
	}
	f.SetBool(on)
	return nil
}

// On reports whether a gate is on. Those that cannot be set are off.
func (r *Release) On(gate string) bool {
	f := reflect.ValueOf(r.Gates).FieldByName(gate)
	return f.IsValid() && f.Bool()
}

// gateNames lists the gates that can be set.
func gateNames() (list []string) {
	for f := range reflect.TypeFor[Gates]().Fields() {
		list = append(list, f.Name)
	}
	return list
}

// changed lists the gates that do not stand at the release's defaults, in order of name.
func (r *Release) changed() (list []string) {
	now, were := reflect.ValueOf(r.Gates), reflect.ValueOf(r.code.Gates)
	for i, name := range gateNames() {
		if now.Field(i).Bool() != were.Field(i).Bool() {
			list = append(list, fmt.Sprintf("%s=%v", name, now.Field(i).Bool()))
		}
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}
