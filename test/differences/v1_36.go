package differences

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	et "berth/test/enginetest"
)

func scenesOf136(nodes int) []Scene {
	const (
		noLonger, now, fails = "noLongerFits", "fitsNow", "fails"
		px                   = "pxd.portworx.com"
		extended             = "example.com/gpu"
	)
	plain := "DRAConsumableCapacity DRADeviceBindingConditions"
	everywhere := func(c *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
		c.Status.Allocation.NodeSelector = nil
		return c
	}
	tainted := slice("a5-taints", et.Device("d"))
	tainted.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	late := everywhere(et.Given(wants(et.Wants("r", "any", 1)), "", "a5-conditions/d"))
	late.Status.Allocation.Devices.Results[0].BindingConditions = []string{"ready"}
	portworx := func(name string) []any {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
		v.Spec.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: name}
		return []any{v, et.BoundClaim(name, name)}
	}
	return []Scene{
		{Name: "a1", Kind: "otherScores", Causes: []string{"Balance"}, Pod: "a1", Objects: []any{
			own("a1", "a1-even", et.Allocatable("cpu", "16", "memory", "16Gi")), own("a1", "a1-wide", et.Allocatable("cpu", "4", "memory", "64Gi")),
			runs("a1-runs", "a1-even", et.Requests("cpu", "1", "memory", "4Gi")), asks("a1", et.Requests("cpu", "1", "memory", "1Gi")),
		}},
		{Name: "a2", Kind: "otherNode", Causes: []string{"ImageVolumesScore"}, Pod: "a2", Objects: []any{
			own("a2", "a2-has", et.HoldsImage(int64(nodes)*1500<<20, "web:1")), own("a2", "a2-lacks"), asks("a2", imageVolume),
		}},
		{Name: "a3", Unrecorded: true, Kind: fails, Causes: []string{"ClaimsScoreInPlace"}, Pod: "a3", Objects: []any{
			own("a3", "a3"), own("a3", "a3-too"), asks("a3", et.Claims("a3-had", "a3-new")),
			everywhere(et.Given(et.DeviceClaim("a3-had", et.Wants("r", "any", 1)), "", "a3/old")), et.DeviceClaim("a3-new", et.Wants("r", "any", 1)),
			slice("a3", et.Device("d")), slice("a3-too", et.Device("d")),
		}},
		{Name: "a4", Kind: noLonger, Causes: []string{"NodeDeclaredFeatures"}, Pod: "a4", Objects: []any{own("a4", "a4"), asks("a4", func(p *corev1.Pod) {
			never := corev1.ContainerRestartPolicyNever
			p.Spec.Containers[0].RestartPolicy = &never
			p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
				Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
				ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{7}},
			}}
		})}},
		claims("a5-taints", noLonger, "DRADeviceTaints", wants(et.Wants("r", "any", 1)), tainted),
		claims("a5-counters", now, "DRAPartitionableDevices", wants(et.Wants("r", "any", 1)), drawing("a5-counters", et.Driver, 3, et.Device("d"))...),
		claims("a5-capacity", now, "DRAConsumableCapacity", wants(et.Wants("r", "any", 1)), slice("a5-capacity", shared("d")), share(held("a5-capacity", "d"), "")),
		claims("a5-conditions", noLonger, "DRADeviceBindingConditions", late),
		{Name: "a5-extended", Kind: now, Causes: []string{"DRAExtendedResource"}, Pod: "a5-extended", Objects: []any{
			own("a5-extended", "a5-extended"), asks("a5-extended", func(p *corev1.Pod) {
				one := corev1.ResourceList{extended: resource.MustParse("1")}
				p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: one, Limits: one}
			}), slice("a5-extended", et.Device("d")),
			with(et.DeviceClass("extended", `device.driver == "gpu.example.com"`), func(c *resourcev1.DeviceClass) {
				name := extended
				c.Spec.ExtendedResourceName = &name
			}),
		}},
		failed(claims("a7", fails, plain, distinct(wants(et.Wants("r", "any", 1))), slice("a7", et.Device("d", "color", "red")))),
		claims("a8", now, "MixesAlternatives", wants(et.FirstOf("r", et.Wants("x", "any", 0, blue), et.Wants("y", "any", 0, red))),
			slice("a8", et.Device("blue", "color", "blue"), et.Device("red", "color", "red")), held("a8", "blue")),
		{Name: "a10", Kind: noLonger, Causes: []string{"PortworxDeclared"}, Pod: "a10", Objects: slices.Concat(
			[]any{own("a10", "a10"), et.CSINode("a10", px, 1), asks("a10", et.Mounts("a10-1", "a10-2"))}, portworx("a10-1"), portworx("a10-2"))},
		{Name: "a11", Kind: noLonger, Causes: []string{"InPlacePodLevelResourcesVerticalScaling"}, Pod: "a11", Objects: []any{
			own("a11", "a11"), asks("a11", et.Requests("cpu", "2")), runs("a11-runs", "a11", et.PodLevel("cpu", "1"), func(p *corev1.Pod) {
				p.Status.AllocatedResources = corev1.ResourceList{"cpu": resource.MustParse("3")}
				p.Status.Resources = &corev1.ResourceRequirements{Requests: p.Status.AllocatedResources}
			}),
		}},
		{Name: "a13", Kind: "otherMessage", Causes: []string{"ClaimNotOwned"}, Pod: "a13", Objects: []any{own("a13", "a13"), asks("a13", et.FromTemplate("a13")), et.DeviceClaim("a13", et.Wants("r", "any", 1))}},
		{Name: "a17", Kind: "otherDevices", Causes: []string{"LastAllocationStands"}, Pod: "a17", Objects: []any{
			own("a17", "a17"), asks("a17", et.Claims("a17", "a17")), et.DeviceClaim("a17", et.Wants("r", "any", 1)), slice("a17", et.Device("d"), et.Device("e")),
		}},
	}
}
