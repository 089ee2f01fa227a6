package podlife

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// TestUnmounted: what a kubelet waits for that starts a pod with a claim.
func TestUnmounted(t *testing.T) {
	wait, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	classes := map[string]*storagev1.StorageClass{"wait": {Provisioner: "x", VolumeBindingMode: &wait}, "now": {Provisioner: "x", VolumeBindingMode: &now}}
	claim := func(class, volume string, phase corev1.PersistentVolumeClaimPhase, annotations ...string) *corev1.PersistentVolumeClaim {
		c := &corev1.PersistentVolumeClaim{}
		c.Spec.StorageClassName, c.Spec.VolumeName, c.Status.Phase = &class, volume, phase
		c.Annotations = map[string]string{}
		for _, a := range annotations {
			c.Annotations[a] = "n1"
		}
		return c
	}
	for what, c := range map[string]struct {
		claim   *corev1.PersistentVolumeClaim
		lines   string
		says    string
		forever bool
	}{
		"bound":                       {claim("wait", "v", corev1.ClaimBound), "main a none", "", false},
		"bound, and no phase":         {claim("wait", "v", "", annBindCompleted), "main a none", "", false},
		"no scheduler chose a node":   {claim("wait", "", corev1.ClaimPending), "main a wait:ContainerCreating", "nothing will make one", true},
		"the scheduler chose one":     {claim("wait", "", corev1.ClaimPending, annSelectedNode), "main a none", "x makes it for node n1", false},
		"being made":                  {claim("now", "", corev1.ClaimPending), "main a none", "its provisioner x makes it", false},
		"no class":                    {claim("", "", corev1.ClaimPending), "main a none", "it has no class", false},
		"an unknown class":            {claim("other", "", corev1.ClaimPending), "main a none", "its class other is not known", false},
		"a volume that is not bound":  {claim("now", "v", corev1.ClaimPending), "main a none", "to volume v yet", false},
		"missing":                     {nil, "main a none", "does not exist", true},
		"started before it went":      {nil, "main a run", "", false},
		"stopped: it had its volumes": {nil, "main a exit:1", "", false},
	} {
		p := drawn(t, "Always", c.lines)
		p.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}
		s := Storage{
			Claim: func(string, string) *corev1.PersistentVolumeClaim { return c.claim },
			Class: func(name string) *storagev1.StorageClass { return classes[name] },
		}
		_, why, forever := s.Unmounted(p)
		if forever != c.forever || (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%s: %q %v", what, why, forever)
		}
		l := live(t, LifeQuestion{Pod: p, Storage: s})
		if waits := l.Containers[0].Next.Rule.ID == "next/volumes"; waits != (c.says != "") {
			t.Errorf("%s: %+v", what, l.Containers[0].Next)
		}
	}
}
