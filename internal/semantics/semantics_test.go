package semantics

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, r := range releases {
		for _, name := range []string{r.Name, r.Minor()} {
			if got, err := Parse(name); got != r || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
	for _, name := range []string{"", "v1", "1.36", "v1.3", "v1.36.1", "v1.99", "v1.36.3.1", "V1.36"} {
		_, err := Parse(name)
		if err == nil || !strings.Contains(err.Error(), Known()) {
			t.Errorf("%q: %v does not say which releases are known", name, err)
		}
	}
}

// TestStamps: a record is of a release's minor one, whatever its patch; a stored profile without a
// release is of the one before there was a choice.
func TestStamps(t *testing.T) {
	for stamp, want := range map[string]*Release{"v1.36.3": v136, "v1.36.0": v136, "v1.99.0": nil, "": nil, "v1": nil} {
		if got := OfStamp(stamp); got != want {
			t.Errorf("record %q: %v, want %v", stamp, got, want)
		}
	}
	for written, want := range map[string]*Release{"": v136, "v1.36.3": v136, "v1.99.0": nil} {
		if got := OfProfile(written); got != want {
			t.Errorf("profile %q: %v, want %v", written, got, want)
		}
	}
	for _, r := range releases {
		if got := OfProfile(r.Written()); got != r {
			t.Errorf("%s is written as %q, which is read as %v", r.Name, r.Written(), got)
		}
	}
	if Default().Written() != "" {
		t.Errorf("profiles of the default release have another digest than before: %q", Default().Written())
	}
}

// TestGates: what is set is in the stamp, in one form, and read from it again.
func TestGates(t *testing.T) {
	for text, want := range map[string]string{
		"v1.34 DRADeviceTaints=false": "v1.34.4", "v1.34 StorageCapacityScoring=true": "v1.34.4 StorageCapacityScoring=true",
		"v1.36": "v1.36.3", "v1.36 DRADeviceTaints=true": "v1.36.3", "v1.37,emulated=v1.37": "v1.37.2",
		"v1.37 VolumeLimitScaling=false,StorageCapacityScoring=false DRAAdminAccess=true": "v1.37.2 StorageCapacityScoring=false VolumeLimitScaling=false",
		"v1.37 StorageCapacityScoring=true emulated=v1.36":                                "v1.37.2 DRADeviceTaintRules=false VolumeLimitScaling=false",
		"v1.36 emulated=v1.35 DRADeviceTaints=true":                                       "v1.36.3 DRAConsumableCapacity=false DRADeviceBindingConditions=false DRAExtendedResource=false DRAPartitionableDevices=false InPlacePodLevelResourcesVerticalScaling=false NodeDeclaredFeatures=false",
	} {
		r, err := Parse(text)
		if err != nil || r.Stamp() != want {
			t.Errorf("%s: %v, %v, want %s", text, r.Stamp(), err, want)
			continue
		}
		for _, again := range []*Release{OfStamp(r.Stamp()), OfProfile(r.Written())} {
			if again == nil || again.Stamp() != want || again.Gates != r.Gates {
				t.Errorf("%s is read again as %+v", want, again)
			}
		}
	}
	if v136.Stamp() != "v1.36.3" || v137.Stamp() != "v1.37.2" || v136.DRADeviceTaintRules {
		t.Error("setting gates changed the release itself")
	}
	for text, says := range map[string]string{
		"v1.34 DRADeviceTaints=true":       "decisions of v1.34 here are as with false alone",
		"v1.36 emulated=v1.37":             "emulates releases up to itself",
		"v1.36 emulated=v1.2":              "emulates releases up to itself",
		"v1.36 DRADeviceTaints":            "neither true nor false",
		"v1.36 DRADeviceTaints=1":          "neither true nor false",
		"v1.36 Nope=true":                  "no decision reads it; those that can be set: DRAConsumableCapacity, ",
		"v1.36 PodLevelResources=false":    "are as with true alone",
		"v1.37 NodeDeclaredFeatures=false": "v1.37 has it locked to true",
	} {
		if r, err := Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v, want %q", text, r, err, says)
		}
	}
	if got := OfStamp("v1.36.3 Nope=true"); got != nil {
		t.Errorf("a stamp with a gate that is not known is read as %v", got)
	}
}

// TestReleasesAreComplete: a release that was copied has its own name, and a value in every field
// that is no bool.
func TestReleasesAreComplete(t *testing.T) {
	var names []string
	for _, r := range releases {
		if slices.Contains(names, r.Minor()) {
			t.Errorf("%s is there twice", r.Minor())
		}
		names = append(names, r.Minor())
		for f, v := range reflect.ValueOf(*r).Fields() {
			if f.IsExported() && f.Name != "Locked" && f.Name != "Fixed" && f.Name != "Gates" && f.Name != "Life" && v.Kind() != reflect.Bool && v.IsZero() {
				t.Errorf("%s has no %s", r.Name, f.Name)
			}
		}
	}
}
