package lifecycle

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	apitest "k8s.io/cri-api/pkg/apis/testing"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	core "k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/controller/podgc"
	nodeutil "k8s.io/kubernetes/pkg/controller/util/node"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	containertest "k8s.io/kubernetes/pkg/kubelet/container/testing"
	"k8s.io/kubernetes/pkg/kubelet/status"
	"k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
)

// Oracle answers with upstream's code. It is for one goroutine.
type Oracle struct {
	ctx    context.Context
	log    klog.Logger
	m      *manager
	kl     *kubelet.Kubelet
	probes *probeManager
	ends   *deadlines
	table  *printers.HumanReadableGenerator
}

// NewOracle builds the parts of upstream that are called.
func NewOracle() (*Oracle, error) {
	log := logr.Discard()
	ctx := klog.NewContext(context.Background(), log)
	m, err := newManager(ctx, apitest.NewFakeRuntimeService(), apitest.NewFakeImageService(), &containertest.FakeOS{}, &containertest.FakeRuntimeHelper{}, noop.Tracer{})
	if err != nil {
		return nil, err
	}
	o := &Oracle{ctx: ctx, log: log, m: m, probes: &probeManager{}, table: printers.NewTableGenerator().With(printersinternal.AddHandlers)}
	m.liveness = probed{}
	if o.kl, err = newKubelet(o.probes); err != nil {
		return nil, err
	}
	if o.ends, err = newDeadlines(); err != nil {
		return nil, err
	}
	o.kl.AddPodSyncHandler(o.ends)
	return o, nil
}

// Judge answers a case.
func (o *Oracle) Judge(c *Case) (v Verdict, err error) {
	if err := o.columns(c, &v); err != nil {
		return v, err
	}
	pod := c.Pod
	switch {
	case pod.Spec.NodeName == "":
		o.unbound(c, &v)
	case c.Node == Gone:
		err = o.gone(c, &v)
	case c.Node == Lost:
		err = o.lost(c, &v)
	default:
		err = o.synced(c, &v)
	}
	if err != nil {
		return v, err
	}
	o.states(c, &v)
	return v, o.forecast(c, &v)
}

// columns are kubectl's, from its own printer. It measures ages with the clock,
// so the case's now becomes the clock's. A gated pod is printed as it is stored,
// which is with the condition.
func (o *Oracle) columns(c *Case, v *Verdict) error {
	internal, pod := &core.Pod{}, c.Pod.DeepCopy()
	if _, has := podutil.GetPodCondition(&pod.Status, v1.PodScheduled); has == nil && pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) > 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonSchedulingGated})
	}
	if err := corev1.Convert_v1_Pod_To_core_Pod(pod, internal, nil); err != nil {
		return err
	}
	for {
		c.Now = time.Now().UTC()
		table, err := o.table.GenerateTable(internal, printers.GenerateOptions{})
		if err != nil {
			return err
		}
		if time.Now().Unix() != c.Now.Unix() {
			continue // ages may have changed in between
		}
		cells := table.Rows[0].Cells
		v.Ready, v.Status, v.Restarts = fmt.Sprint(cells[1]), fmt.Sprint(cells[2]), fmt.Sprint(cells[3])
		return nil
	}
}

// unbound: no upstream code runs on a pod without a node; the expected columns follow the contract.
func (o *Oracle) unbound(c *Case, v *Verdict) {
	v.Phase = string(c.Pod.Status.Phase)
	if v.Phase == "" {
		v.Phase = string(v1.PodPending)
	}
	v.posted(c)
	conditions := c.Pod.Status.DeepCopy()
	if len(c.Pod.Spec.SchedulingGates) > 0 {
		podutil.UpdatePodCondition(conditions, &v1.PodCondition{
			Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonSchedulingGated, Message: "Scheduling is blocked due to non-empty scheduling gates",
		})
	}
	v.conditions(c, conditions.Conditions)
}

// gone asks PodGC for its patch.
func (o *Oracle) gone(c *Case, v *Verdict) error {
	client := fake.NewClientset(c.Pod.DeepCopy())
	f := informers.NewSharedInformerFactory(client, 0)
	gcc := podgc.NewPodGCInternal(o.ctx, client, f.Core().V1().Pods(), f.Core().V1().Nodes(), 0, 0, 0)
	var after *v1.Pod
	pod := c.Pod.DeepCopy()
	err := markFailedAndDelete(gcc, o.ctx, pod, &v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
		ObservedGeneration: podutil.CalculatePodConditionObservedGeneration(&pod.Status, pod.Generation, v1.DisruptionTarget),
	})
	if err != nil {
		return fmt.Errorf("PodGC: %w", err)
	}
	after, err = patched(client, c.Pod)
	if err != nil {
		return err
	}
	v.Phase = string(after.Status.Phase)
	v.Reason, v.Message = after.Status.Reason, after.Status.Message
	v.conditions(c, after.Status.Conditions)
	return nil
}

// lost calls the node lifecycle controller.
func (o *Oracle) lost(c *Case, v *Verdict) error {
	client := fake.NewClientset(c.Pod.DeepCopy())
	if err := nodeutil.MarkPodsNotReady(o.ctx, client, record.NewFakeRecorder(100), []*v1.Pod{c.Pod.DeepCopy()}, c.Pod.Spec.NodeName); err != nil {
		return err
	}
	after, err := client.CoreV1().Pods(c.Pod.Namespace).Get(o.ctx, c.Pod.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if v.Phase = string(after.Status.Phase); v.Phase == "" {
		v.Phase = string(v1.PodPending)
	}
	v.Reason, v.Message = after.Status.Reason, after.Status.Message
	v.conditions(c, after.Status.Conditions)
	return nil
}

// synced calls the kubelet's exported generators and getPhase, and, where the
// statuses are a kubelet's own, the whole of generateAPIPodStatus as well: both
// have to agree.
func (o *Oracle) synced(c *Case, v *Verdict) error {
	pod, runtime := c.Pod, runtimeOf(c.Pod)
	all := append(append([]v1.ContainerStatus{}, pod.Status.ContainerStatuses...), pod.Status.InitContainerStatuses...)
	phase := getPhase(o.log, pod, all, pod.DeletionTimestamp != nil, kubecontainer.HasAnyActiveRegularContainerStarted(&pod.Spec, runtime))
	o.ends.clock.SetTime(c.Now)
	switch past := o.ends.ShouldEvict(pod); {
	case terminal(pod.Status.Phase): // no worker syncs it any more
		phase = pod.Status.Phase
		v.posted(c)
	case past.Evict:
		phase, v.Reason, v.Message = v1.PodFailed, past.Reason, past.Message
	case phase == pod.Status.Phase:
		v.posted(c)
	}
	var list []v1.PodCondition
	for _, condition := range pod.Status.Conditions {
		if !types.PodConditionByKubelet(condition.Type) {
			list = append(list, condition)
		}
	}
	// As the kubelet's lists are nil where they have nothing in them.
	statuses := append(append([]v1.ContainerStatus(nil), pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
	old := &pod.Status
	list = append(list, status.GeneratePodReadyToStartContainersCondition(pod, old, runtime),
		status.GeneratePodInitializedCondition(pod, old, statuses, phase))
	list = append(list, status.GeneratePodReadyCondition(pod, old, list, statuses, phase))
	list = append(list, status.GenerateContainersReadyCondition(pod, old, statuses, phase),
		v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue, ObservedGeneration: podutil.CalculatePodConditionObservedGeneration(old, pod.Generation, v1.PodScheduled)})
	if utilfeature.DefaultFeatureGate.Enabled(features.RestartAllContainersOnContainerExits) && podutil.AllContainersCouldRestart(&pod.Spec) {
		list = append(list, status.GenerateAllContainersRestartingCondition(pod, runtime, old, phase))
	}
	v.Phase = string(phase)
	v.conditions(c, list)
	v.sandbox = c.Kubelet || runs(runtime) || terminal(pod.Status.Phase) || rebooted(pod)
	if !c.Kubelet {
		return nil
	}
	o.probes.of(pod)
	reasons(o.kl, pod)
	whole := generateAPIPodStatus(o.kl, o.ctx, pod.DeepCopy(), runtime, pod.DeletionTimestamp != nil)
	if whole.Phase != phase {
		return fmt.Errorf("upstream disagrees with itself: getPhase says %s and generateAPIPodStatus %s", phase, whole.Phase)
	}
	if !terminal(pod.Status.Phase) && (whole.Reason != v.Reason || whole.Message != v.Message) {
		return fmt.Errorf("upstream disagrees with itself: want %q %q, and generateAPIPodStatus says %q %q", v.Reason, v.Message, whole.Reason, whole.Message)
	}
	var w Verdict
	w.conditions(c, whole.Conditions)
	if !reflect.DeepEqual(w.Conditions, v.Conditions) {
		return fmt.Errorf("upstream disagrees with itself:\nthe generators     %+v\ngenerateAPIPodStatus %+v", v.Conditions, w.Conditions)
	}
	return nil
}

// posted takes over what the pod says of its phase.
func (v *Verdict) posted(c *Case) { v.Reason, v.Message = c.Pod.Status.Reason, c.Pod.Status.Message }

// conditions writes conditions down. A transition is now unless the pod has the
// condition with the same status, as status_manager.go sees to it; upstream's
// own now is the clock's.
func (v *Verdict) conditions(c *Case, list []v1.PodCondition) {
	for _, condition := range list {
		out := Condition{
			Type: string(condition.Type), Status: string(condition.Status), Reason: condition.Reason, Message: condition.Message,
			ObservedGeneration: condition.ObservedGeneration, LastTransitionTime: shown(c.Now.Truncate(time.Second)),
		}
		if _, old := podutil.GetPodCondition(&c.Pod.Status, condition.Type); old != nil && old.Status == condition.Status {
			out.LastTransitionTime = shown(old.LastTransitionTime.Time)
		}
		v.Conditions = append(v.Conditions, out)
	}
}
