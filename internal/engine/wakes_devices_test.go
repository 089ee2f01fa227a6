package engine_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// TestTaintRulesWake: a rule that taints or no longer taints a device wakes pods with claims, as an
// update of its slice does, where the release has such rules.
func TestTaintRulesWake(t *testing.T) {
	claims := func(p *corev1.Pod) {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: new("c")}}
	}
	of := func(pool string, edit ...func(*resourcev1.DeviceTaintRule)) *resourcev1.DeviceTaintRule {
		r := et.TaintRule("r", "", pool, "")
		for _, f := range edit {
			f(r)
		}
		return r
	}
	labels := func(r *resourcev1.DeviceTaintRule) { r.Labels = map[string]string{"a": "b"} }
	value := func(r *resourcev1.DeviceTaintRule) { r.Spec.Taint.Value = "very" }
	claim := et.DeviceClaim("c")
	claim.Namespace = "d"
	for name, c := range map[string]struct {
		was, is *resourcev1.DeviceTaintRule
		wakes   bool
	}{
		"a new rule":                   {is: of("s"), wakes: true},
		"one that goes":                {was: of("s"), wakes: true},
		"one for no device":            {is: of("t")},
		"one that now selects devices": {was: of("t"), is: of("s"), wakes: true},
		"one that no longer does":      {was: of("s"), is: of("t"), wakes: true},
		"other labels":                 {was: of("s"), is: of("s", labels)},
		"another taint":                {was: of("s"), is: of("s", value), wakes: true},
		"another taint of no device":   {was: of("t"), is: of("t", value)},
	} {
		t.Run(name, func(t *testing.T) {
			world := world{}.with(t, []any{hintNode("n1", 4), claim, et.Slice("s", "n1", et.Device("d")), hintPod("waits", 1, claims)})
			before, after := world, world
			if c.was != nil {
				before = world.with(t, []any{c.was})
			}
			if c.is != nil {
				after = world.with(t, []any{c.is})
			}
			for _, on := range []bool{false, true} {
				r := *semantics.Default()
				r.DRADeviceTaintRules = on
				profile, err := rules.BuildUnder(rules.DefaultSpec(), &r)
				if err != nil {
					t.Fatal(err)
				}
				want := ""
				if on && c.wakes {
					want = "waits DynamicResources resource.k8s.io/ResourceSliceUpdate"
				}
				if got := strings.Join(wakes(t, profile, before, after, object.Key{Kind: "DeviceTaintRule", Name: "r"}), ", "); got != want {
					t.Errorf("rules count %v: %q, want %q", on, got, want)
				}
			}
		})
	}
}

// TestDeletedClaimsWake: where the release says so, the end of a claim that has devices wakes pods
// that wait for some, and that of one without any wakes none.
func TestDeletedClaimsWake(t *testing.T) {
	mine := et.DeviceClaim("mine", et.Wants("r", "gpu", 1))
	mine.Namespace = "d"
	for _, c := range []struct {
		allocated, wakes bool
		want             string
	}{
		{allocated: true, wakes: true, want: "waits DynamicResources resource.k8s.io/ResourceClaimDelete"},
		{allocated: true},
		{wakes: true},
	} {
		theirs := et.DeviceClaim("theirs", et.Wants("r", "gpu", 1))
		if c.allocated {
			theirs = et.Given(theirs, "n1", "s/d")
		}
		theirs.Namespace = "d"
		before := world{}.with(t, []any{
			hintNode("n1", 4), et.DeviceClass("gpu"), mine, theirs, et.Slice("s", "n1", et.Device("d")),
			hintPod("waits", 1, func(p *corev1.Pod) {
				p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: new("mine")}}
			}),
		})
		r := *semantics.Default()
		r.DeletedClaimsWake = c.wakes
		profile, err := rules.BuildUnder(rules.DefaultSpec(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(wakes(t, profile, before, before.with(t, nil, keyOf(theirs)), keyOf(theirs)), ", "); got != c.want {
			t.Errorf("allocated %v, wakes %v: %q, want %q", c.allocated, c.wakes, got, c.want)
		}
	}
}

// TestNewClassesWake: a class that is named like what a pod requests wakes it for its amounts where
// devices may provide extended resources, and else for its devices alone.
func TestNewClassesWake(t *testing.T) {
	before := world{}.with(t, []any{hintNode("n1", 4), hintPod("waits", 1, func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests["deviceclass.resource.kubernetes.io/gpu"] = resource.MustParse("1")
	})})
	class := et.DeviceClass("gpu")
	for release, want := range map[string]string{
		"v1.34":                           "",
		"v1.35":                           "",
		"v1.35 DRAExtendedResource=true":  "waits NodeResourcesFit resource.k8s.io/DeviceClassAdd",
		"v1.36":                           "waits NodeResourcesFit resource.k8s.io/DeviceClassAdd",
		"v1.36 DRAExtendedResource=false": "",
		"v1.37":                           "waits NodeResourcesFit resource.k8s.io/DeviceClassAdd",
	} {
		r, err := semantics.Parse(release)
		if err != nil {
			t.Fatal(err)
		}
		profile, err := rules.BuildUnder(rules.SpecOf(r), r)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(wakes(t, profile, before, before.with(t, []any{class}), keyOf(class)), func(s string) bool {
			return !strings.Contains(s, "NodeResourcesFit")
		})
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %q, want %q", release, text, want)
		}
	}
}
