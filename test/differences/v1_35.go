package differences

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	et "berth/test/enginetest"
)

func scenesOf135(int) []Scene {
	const noLonger, fails = "noLongerFits", "fails"
	missing, counting := slice("z5", et.Device("d")), slice("z6", et.Device("d"))
	missing.Spec.Pool.ResourceSliceCount = 2
	counting.Spec.SharedCounters = []resourcev1.CounterSet{{
		Name: "set", Counters: map[string]resourcev1.Counter{"a": {Value: resource.MustParse("3")}},
	}}
	return []Scene{
		{Name: "z1", Kind: "otherNode", Causes: []string{"ClaimsUnscored"}, Pod: "z1", Objects: []any{
			own("z1", "z1", et.Allocatable("cpu", "8")), own("z1", "z1-larger", et.Allocatable("cpu", "16")),
			asks("z1", et.Claims("z1"), et.Requests("cpu", "1")),
			et.DeviceClaim("z1", et.FirstOf("r", et.Wants("x", "any", 1, blue), et.Wants("y", "any", 1, red))),
			slice("z1", et.Device("blue", "color", "blue")), slice("z1-larger", et.Device("red", "color", "red")),
		}},
		claims("z2", fails, "AlphaAllocator", distinct(wants(et.Wants("r", "any", 1))), slice("z2", et.Device("d", "color", "red"))),
		claims("z4", fails, "InvalidPoolsFail", wants(et.Wants("r", "any", 1)), slice("z4", et.Device("d"), et.Device("d"))),
		claims("z5", noLonger, "PoolsByNode", wants(et.Wants("r", "any", 1)), missing),
		claims("z6", noLonger, "CountingSlicesGive", wants(et.Wants("r", "any", 1)), counting),
	}
}
