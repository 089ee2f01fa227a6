package rules

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
)

// abstain stands for a plugin that this version does not evaluate: it rejects
// and scores nobody, and says so where the pod gives the plugin something to
// judge.
type abstain struct {
	name   string
	judges func(*engine.Query) string // what the plugin would have judged; "" for nothing
}

var _ engine.Abstainer = abstain{}

// Name is the plugin's name.
func (a abstain) Name() string { return a.name }

// NotEvaluated says what was left out.
func (a abstain) NotEvaluated(q *engine.Query) (string, bool) {
	what := a.judges(q)
	if what == "" {
		return "", false
	}
	return "this version of berth does not evaluate " + what, true
}

// claimed says that the pod mounts persistent volumes.
func claimed(q *engine.Query) bool {
	for i := range q.Pod.Spec.Volumes {
		if v := &q.Pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}

func judgesClaims(q *engine.Query) string {
	if claimed(q) {
		return "persistent volume claims, which the pod mounts"
	}
	return ""
}

// judgesVolumes is for plugins that read volumes given in the pod as well.
func judgesVolumes(q *engine.Query) string {
	for i := range q.Pod.Spec.Volumes {
		if v := &q.Pod.Spec.Volumes[i]; exclusive(v) {
			return "conflicts between volumes, of which the pod mounts one that may"
		}
	}
	return judgesClaims(q)
}

// exclusive says that a volume may conflict with the same one on a node.
func exclusive(v *corev1.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil
}

// judgesLimits is for NodeVolumeLimits, which counts CSI volumes.
func judgesLimits(q *engine.Query) string {
	for i := range q.Pod.Spec.Volumes {
		if q.Pod.Spec.Volumes[i].CSI != nil {
			return "limits on volumes per node, of which the pod mounts some"
		}
	}
	return judgesClaims(q)
}
