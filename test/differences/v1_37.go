package differences

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	et "berth/test/enginetest"
)

func scenesOf137(nodes int) []Scene {
	const noLonger, now, fails = "noLongerFits", "fitsNow", "fails"
	budget := func(name, label, value string, allowed int32) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: et.Match(label, value)},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
		}
	}
	small := et.Allocatable("cpu", "2")
	cores := func(n string) et.PodOption { return et.Requests("cpu", n) }
	yes := true
	three := slice("b13", et.Device("d0", "color", "blue"), et.Device("d1", "color", "red"), et.Device("d2", "color", "blue"))
	elsewhere := slice("b17")
	elsewhere.Name, elsewhere.Spec.Pool.Generation, elsewhere.Spec.Pool.Name = "b17-elsewhere", 2, "b17"
	idle := "idle"
	elsewhere.Spec.NodeName = &idle
	elsewhere.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"a": {Value: resource.MustParse("3")}}}}
	grouped := drawing("b20-groups", et.Driver, 3, et.Device("d"))
	for _, o := range grouped {
		for _, d := range o.(*resourcev1.ResourceSlice).Spec.Devices {
			d.ConsumesCounters[0].CompatibilityGroups = []string{"x"}
		}
	}
	derived := wants(et.Wants("r", "any", 1))
	derived.Spec.Devices.Requests[0].Exactly.DerivedAttributes = []resourcev1.DeviceDerivedAttribute{{Name: "derived/x", Expression: "1"}}
	skips := et.Given(wants(et.Wants("r", "any", 1)), "b20-skips", "b20-skips/d")
	skips.Status.Allocation.Devices.Results[0].SkipNodeOperations = []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll}
	listed := et.Device("d")
	listed.Attributes["models"] = resourcev1.DeviceAttribute{StringValues: []string{"x", "y"}}
	volume := func(node, size string) *corev1.PersistentVolume {
		return et.Volume(node, "b4", size, et.ReachableFrom(corev1.LabelHostname, node))
	}
	counted := func(names ...string) (list []resourcev1.Device) {
		for _, n := range names {
			list = append(list, shared(n))
		}
		return list
	}
	outside := et.PodTerm(corev1.LabelHostname, et.Match("app", "b3"))
	outside.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x"}},
	}}
	return []Scene{
		{Name: "b3", Kind: noLonger, Causes: []string{"ExclusionMeansAll"}, Pod: "b3", Objects: []any{
			own("b3", "b3"), runs("b3-runs", "b3", et.Labels("app", "b3")), asks("b3", et.Near(outside)),
		}},
		{Name: "b4", Kind: "otherNode", Causes: []string{"StorageCapacityScoring"}, Pod: "b4", Objects: []any{
			own("b4", "b4-a"), own("b4", "b4-b"), et.Class("b4", "kubernetes.io/no-provisioner"), et.Claim("b4", "b4", "2Gi"), volume("b4-a", "4Gi"), volume("b4-b", "8Gi"), asks("b4", et.Mounts("b4")),
		}},
		{Name: "b5", Kind: noLonger, Causes: []string{"VolumeLimitScaling"}, Pod: "b5", Objects: []any{
			own("b5", "b5"), et.CSIVolume("b5", "b5.example.com", "b5"), et.BoundClaim("b5", "b5"), asks("b5", et.Mounts("b5")),
			&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "b5.example.com"}, Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: &yes}},
		}},
		{Name: "b6", Kind: "otherScores", Causes: []string{"ImageVolumesRaiseTop"}, Pod: "b6", Objects: []any{
			own("b6", "b6-has", et.HoldsImage(int64(nodes)*1500<<20, "web:1")), own("b6", "b6-lacks"), asks("b6", imageVolume),
		}},
		{Name: "b7", Kind: "otherMessage", Causes: []string{"SilentAboutClaims"}, Pod: "b7", Objects: []any{asks("b7")}},
		{Name: "b9", Kind: "otherVictims", Causes: []string{"FirstViolatedOnly"}, Pod: "b9", Objects: []any{
			own("b9", "b9-a", small), own("b9", "b9-b", small), budget("a", "app", "b9", 0), budget("b", "tier", "b9", 1), budget("c", "app", "b9-other", 0),
			runs("b9-x", "b9-a", cores("1"), et.Labels("app", "b9", "tier", "b9")), runs("b9-y", "b9-a", cores("1"), et.Labels("tier", "b9")),
			runs("b9-z", "b9-b", cores("2"), et.Labels("app", "b9-other"), et.Priority(1)), asks("b9", cores("2"), et.Priority(100)),
		}},
		{Name: "b8", Kind: "otherMessage", Causes: []string{"TellsPlacement"}, Pod: "b9"},
		{Name: "b11", Kind: noLonger, Causes: []string{"SumsOfWholePods"}, Pod: "b11", Objects: []any{
			own("b11", "b11"), asks("b11", cores("2")), runs("b11-runs", "b11", cores("1"), et.Overhead("cpu", "1"), func(p *corev1.Pod) {
				p.Status.AllocatedResources = corev1.ResourceList{"cpu": resource.MustParse("2")}
				p.Status.Resources = &corev1.ResourceRequirements{Requests: p.Status.AllocatedResources}
			}),
		}},
		claims("b12", now, "CountersByDriver", wants(et.Wants("r", "any", 1), et.Wants("q", "other", 1)),
			append(drawing("b12", et.Driver, 3, et.Device("d")), drawing("b12", "other.example.com", 9, et.Device("d"))...)...),
		claims("b13", noLonger, "DistinctFromAll", distinct(wants(et.Wants("r", "any", 2), et.Wants("b", "any", 1, red))), three),
		claims("b14", noLonger, "AllCountsFull", asking(wants(et.Wants("r", "any", 0)), "6Gi"), slice("b14", shared("d"), shared("e")), share(held("b14", "d"), "10Gi")),
		claims("b15", fails, "BadAmountsFail", asking(wants(et.Wants("r", "any", 1)), "-1Gi"), slice("b15", shared("d"))),
		claims("b16", now, "SharesUseCounters", asking(wants(et.Wants("r", "any", 1)), "4Gi"), append(drawing("b16", et.Driver, 3, counted("d", "e")...), share(held("b16", "d"), ""))...),
		claims("b17", now, "CountersStayLocal", wants(et.Wants("r", "any", 1)), slice("b17", et.Device("d")), elsewhere),
		failed(claims("b18", "otherMessage", "DeviceErrorsSayMore", wants(et.Wants("r", "any", 1, red)), slice("b18", et.Device("d")))),
		claims("b19", noLonger, "DRADeviceTaintRules", wants(et.Wants("r", "any", 1)), slice("b19", et.Device("d")), et.TaintRule("b19", et.Driver, "b19", "")),
		claims("b20-groups", noLonger, "GroupsAreHidden", wants(et.Wants("r", "any", 1)), grouped...),
		claims("b20-derived", fails, "DerivedAttributesFail", derived, slice("b20-derived", et.Device("d"))),
		claims("b20-skips", noLonger, "SkippingNeedsFeature", skips),
		{Name: "b23", Kind: noLonger, Causes: []string{"GatedNominationsCount"}, Pod: "b23", Objects: []any{
			own("b23", "b23"), et.Pod("b23-gated", et.NominatedTo("b23"), et.Gate("x"), cores("4")), asks("b23", cores("4")),
		}},
		failed(claims("b24", fails, "ListAttributes", wants(et.Wants("r", "any", 1)), slice("b24", listed))),
	}
}
