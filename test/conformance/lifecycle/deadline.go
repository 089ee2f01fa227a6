package lifecycle

import (
	"time"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/status"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// deadlines is the kubelet's own handler of activeDeadlineSeconds, at a time that
// is set.
type deadlines struct {
	handler *activeDeadlineHandler
	clock   *clocktesting.FakeClock
}

func newDeadlines() (*deadlines, error) {
	d := &deadlines{clock: clocktesting.NewFakeClock(time.Time{})}
	var err error
	d.handler, err = newActiveDeadlineHandler(statusManager{}, &record.FakeRecorder{}, d.clock)
	return d, err
}

// ShouldEvict makes it one of a kubelet's handlers.
func (d *deadlines) ShouldEvict(pod *v1.Pod) lifecycle.ShouldEvictResponse {
	return shouldEvict(d.handler, pod)
}

// activeDeadlineHandler stands for upstream's, of which no field is read.
type activeDeadlineHandler struct{ _ byte }

//go:linkname newActiveDeadlineHandler k8s.io/kubernetes/pkg/kubelet.newActiveDeadlineHandler
func newActiveDeadlineHandler(provider status.PodStatusProvider, recorder record.EventRecorder, clock clock.Clock) (*activeDeadlineHandler, error)

//go:linkname shouldEvict k8s.io/kubernetes/pkg/kubelet.(*activeDeadlineHandler).ShouldEvict
func shouldEvict(m *activeDeadlineHandler, pod *v1.Pod) lifecycle.ShouldEvictResponse
