package rules_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/semantics"
	et "berth/test/enginetest"
)

func TestImageLocality(t *testing.T) {
	const mib = 1 << 20
	with := func(image string) *corev1.Pod {
		p := et.Pod("p")
		p.Spec.Containers[0].Image = image
		return p
	}
	volume := with("absent")
	volume.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "web:1"}}}}
	nodes := list(et.Node("has", et.HoldsImage(600*mib, "web:1", "web@sha256:1")), et.Node("lacks"))
	check(t, "ImageLocality", []ruleCase{
		// 600 MiB on half of the nodes count as 300: (300-23)/(1000-23).
		{name: "size counts by the share of nodes that have it", objects: nodes, pod: with("web:1"), scores: map[string]string{"has": "28/28", "lacks": "0/0"}},
		{name: "a name without tag means latest", objects: list(et.Node("has", et.HoldsImage(1000*mib, "web:latest"))), pod: with("web"), scores: map[string]string{"has": "100/100"}},
		{name: "a port is no tag", objects: list(et.Node("has", et.HoldsImage(1000*mib, "host:5000/web:latest"))), pod: with("host:5000/web"), scores: map[string]string{"has": "100/100"}},
		{name: "image volumes count", objects: nodes, pod: volume, scores: map[string]string{"has": "28/28", "lacks": "0/0"}},
		{name: "image volumes count for nothing before v1.36", objects: nodes, pod: volume, scores: map[string]string{"has": "0/0", "lacks": "0/0"}, under: func(r *semantics.Release) { r.ImageVolumesScore = false }},
		// 300 of two images: (300-23)/(2000-23).
		{name: "image volumes raise the top from v1.37 on", objects: nodes, pod: volume, scores: map[string]string{"has": "14/14", "lacks": "0/0"}, under: func(r *semantics.Release) { r.ImageVolumesRaiseTop = true }},
		{name: "less than 23 MiB makes no difference", objects: list(et.Node("has", et.HoldsImage(22*mib, "web:1"))), pod: with("web:1"), scores: map[string]string{"has": "0/0"}},
		{name: "the first node by name says how large it is", objects: list(et.Node("b", et.HoldsImage(900*mib, "web:1")), et.Node("a", et.HoldsImage(200*mib, "web:1"))), pod: with("web:1"), scores: map[string]string{"a": "18/18", "b": "18/18"}},
	})
}
