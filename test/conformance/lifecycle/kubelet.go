package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/prober"
	"k8s.io/kubernetes/pkg/kubelet/status"

	strategic "k8s.io/apimachinery/pkg/util/strategicpatch"
)

// newKubelet is a kubelet with what generateAPIPodStatus asks and nothing else.
func newKubelet(probes prober.Manager) (*kubelet.Kubelet, error) {
	kl := &kubelet.Kubelet{}
	return kl, SetFields(kl, map[string]any{
		"statusManager": statusManager{}, "probeManager": probes, "reasonCache": kubelet.NewReasonCache(), "containerManager": newContainerManager(),
	})
}

// SetFields sets fields of a kubelet that upstream does not export.
func SetFields(kl *kubelet.Kubelet, fields map[string]any) error {
	for name, value := range fields {
		f := reflect.ValueOf(kl).Elem().FieldByName(name)
		if !f.IsValid() || !reflect.TypeOf(value).AssignableTo(f.Type()) {
			return fmt.Errorf("a kubelet of this release has no field %s of this type", name)
		}
		reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(value))
	}
	return nil
}

// statusManager knows nothing beyond the API.
type statusManager struct{ status.Manager }

func (statusManager) GetPodStatus(types.UID) (v1.PodStatus, bool)               { return v1.PodStatus{}, false }
func (statusManager) GetPodResizeConditions(types.UID) []*v1.PodCondition       { return nil }
func (statusManager) ClearPodResizeInProgressCondition(types.UID) (int64, bool) { return 0, false }

// probeManager says of each container what the statuses of a pod said.
type probeManager struct {
	prober.Manager
	started, ready map[string]bool
}

func (p *probeManager) of(pod *v1.Pod) {
	p.started, p.ready = map[string]bool{}, map[string]bool{}
	each(pod, func(c *v1.Container, _ string, st *v1.ContainerStatus) {
		if st != nil {
			p.started[c.Name], p.ready[c.Name] = st.Started != nil && *st.Started, st.Ready
		}
	})
}

func (p *probeManager) UpdatePodStatus(_ context.Context, _ *v1.Pod, s *v1.PodStatus) {
	for _, list := range [][]v1.ContainerStatus{s.ContainerStatuses, s.InitContainerStatuses} {
		for i := range list {
			started := p.started[list[i].Name]
			list[i].Started, list[i].Ready = &started, p.ready[list[i].Name]
		}
	}
}

func (*probeManager) StopLivenessAndStartup(*v1.Pod) {}
func (*probeManager) RemovePod(*v1.Pod)              {}

// reasons tells the kubelet why containers that stopped are not started.
func reasons(kl *kubelet.Kubelet, pod *v1.Pod) {
	cache := kubelet.NewReasonCache()
	var result kubecontainer.PodSyncResult
	each(pod, func(c *v1.Container, _ string, st *v1.ContainerStatus) {
		if st != nil && st.State.Waiting != nil && st.State.Waiting.Reason != "" {
			r := kubecontainer.NewSyncResult(kubecontainer.StartContainer, c.Name)
			r.Fail(errors.New(st.State.Waiting.Reason), st.State.Waiting.Message)
			result.AddSyncResult(r)
		}
	})
	cache.Update(pod.UID, result)
	f := reflect.ValueOf(kl).Elem().FieldByName("reasonCache")
	reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(cache))
}

// Write lets a kubelet write the pod's status, from what a runtime would have.
func (o *Oracle) Write(pod *v1.Pod) {
	o.probes.of(pod)
	reasons(o.kl, pod)
	reason, message, began, deadline := pod.Status.Reason, pod.Status.Message, pod.Status.StartTime, pod.Spec.ActiveDeadlineSeconds
	pod.Spec.ActiveDeadlineSeconds = nil // it is judged at a time that is not known yet
	pod.Status = generateAPIPodStatus(o.kl, o.ctx, pod.DeepCopy(), runtimeOf(pod), pod.DeletionTimestamp != nil)
	if pod.Status.Reason == "" {
		pod.Status.Reason, pod.Status.Message = reason, message
	}
	pod.Status.StartTime, pod.Spec.ActiveDeadlineSeconds = began, deadline // the status manager keeps it
}

// patched applies the status patch that a client was sent.
func patched(client *fake.Clientset, pod *v1.Pod) (*v1.Pod, error) {
	js, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	for _, action := range client.Actions() {
		if p, ok := action.(k8stesting.PatchAction); ok {
			if js, err = strategic.StrategicMergePatch(js, p.GetPatch(), v1.Pod{}); err != nil {
				return nil, err
			}
		}
	}
	after := &v1.Pod{}
	return after, json.Unmarshal(js, after)
}
