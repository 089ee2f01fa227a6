package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/semantics"
)

// LifeQuestion asks where a pod stands and what comes next.
type LifeQuestion struct {
	Pod *corev1.Pod // not written
	// Node is the pod's node. Given and nil, it has no object any more; not given, it
	// is healthy.
	Node      *corev1.Node
	NodeGiven bool
	// NodeLostSince is the last sign of life of the node's kubelet, or when the node
	// went; nil: its Ready condition says it.
	NodeLostSince *time.Time
	// Storage finds the claims of the pod's volumes; empty: nothing is known of them.
	Storage Storage
	// MaxContainerRestartPeriod is the kubelet's
	// crashLoopBackOff.maxContainerRestartPeriod, such as "60s"; "" is its default.
	MaxContainerRestartPeriod string
	// Events are what happens from Now on; the timeline goes up to Until, by default
	// an hour beyond the last.
	Events []LifeEvent
	Until  *time.Time
	// PreStopSeconds, ExitSeconds and ExitCodes are as in Ending.
	PreStopSeconds, ExitSeconds map[string]int64
	ExitCodes                   map[string]int32
	Now                         time.Time
	// Release is the one whose kubelet leads the pod's life where the node tells none; nil: the
	// default one.
	Release *semantics.Release
	by      semantics.Life
}

// Live answers where a pod stands at a time and what comes next. Errors name the
// fields of the question that have no good value.
func Live(q LifeQuestion) (*Life, field.ErrorList) {
	longest, errs := restartPeriod(q.MaxContainerRestartPeriod)
	if errs = append(errs, q.checkEvents()...); len(errs) > 0 {
		return nil, errs
	}
	by, follows := followed(q.Node, q.Release)
	q.Pod, q.by = heeded(q.Pod, by), by
	r := readPod(q.Pod, q.state(), q.Now, by)
	r.longest = longest
	_, r.unmounted, _ = q.Storage.Unmounted(q.Pod)
	l := r.life()
	l.Followed = follows
	if q.Pod.Spec.NodeName != "" && (q.NodeGiven || q.NodeLostSince != nil) {
		q.deletion(&l)
	}
	if len(q.Events) > 0 {
		l.Timeline = q.timeline(longest)
	}
	return &l, nil
}

// restartPeriod reads the kubelet's longest delay
// (pkg/kubelet/apis/config/validation ValidateKubeletConfiguration).
func restartPeriod(text string) (time.Duration, field.ErrorList) {
	if text == "" {
		return longestBackoff, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d.Milliseconds() < 1000 || d.Milliseconds() > longestBackoff.Milliseconds() {
		return 0, field.ErrorList{field.Invalid(field.NewPath("maxContainerRestartPeriod"), text, "must be a duration between 1s and 300s, such as 60s")}
	}
	return d, nil
}

// state is the node's; one that is lost from now or before on is not Ready for
// its pods, whatever its condition still says.
func (q *LifeQuestion) state() NodeState {
	switch {
	case q.NodeGiven && q.Node == nil:
		return NodeGone
	case q.NodeLostSince != nil && !q.NodeLostSince.After(q.Now):
		return NodeLost
	case q.NodeGiven:
		return NodeStateOf(q.Node)
	}
	return NodeHealthy
}

// deletion adds when the control plane deletes the pod because of its node.
func (q *LifeQuestion) deletion(l *Life) {
	node := q.Node
	if !q.NodeGiven {
		node = &corev1.Node{}
	}
	d := DeletionByNode(q.Pod, node, q.NodeLostSince, q.Now)
	l.NodeDeletion = &d
}
