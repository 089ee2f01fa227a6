package admit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
	"berth/internal/podlife"
	"berth/internal/podlife/admission"
	"berth/internal/revision"
	"berth/internal/steps"
)

// work makes a change on one view.
type work struct {
	steps *steps.Counter

	l   *Ledger
	c   *Change
	v   *revision.View
	now time.Time

	copied int // bytes that JSON patches may have copied
	pods   int // that were created

	preempted []Preemption
	warnings  []string // of an API server, about what was created
	warned    int      // objects that were looked through for them

	usage map[string]*admission.Usage // of quotas, by namespace, with what the change made

	made map[object.Key]object.Object
	list []object.Key // of made, in the order in which they were
	gone map[object.Key]bool
}

// stepSteps is what one operation of a change takes beside a step a byte, in steps of a Counter.
const stepSteps = 500

// run applies the steps and returns their result; nil where they change nothing.
func (w *work) run(list []step) (*revision.Step, error) {
	for i := range list {
		if err := w.steps.Take(stepSteps + len(list[i].raw)); err != nil {
			return nil, err
		}
		if err := list[i].do(w, &list[i]); err != nil {
			return nil, err
		}
		if errs := state.AmountErrors(w.made[list[i].key].Value); len(errs) > 0 {
			return nil, w.refuse(&list[i], errs)
		}
	}
	out := &revision.Step{}
	for _, k := range w.list {
		o := w.made[k]
		if w.gone[k] { // it was patched before
			continue
		}
		if held, ok := w.v.Object(k); !ok || !bytes.Equal(held, o.JSON) {
			out.Apply = append(out.Apply, o)
		}
	}
	for i := range list {
		if k := list[i].key; list[i].deletes && w.gone[k] {
			out.Delete = append(out.Delete, k)
		}
	}
	if len(out.Apply)+len(out.Delete) == 0 {
		return nil, nil
	}
	return out, nil
}

// result returns what became of the deletions.
func (w *work) result(list []step) *Result {
	r := &Result{}
	for _, s := range list {
		if !s.deletes {
			continue
		}
		_, ends := w.made[s.key]
		switch {
		case w.gone[s.key]:
			r.Deleted = append(r.Deleted, s.key)
		case ends:
			r.Ending = append(r.Ending, s.key)
		default:
			r.Absent = append(r.Absent, s.key)
		}
	}
	return r
}

// put stores an object, and counts it in the place of the one of its name.
func (w *work) put(o object.Object) error {
	if err := w.count(o.Key, o); err != nil {
		return err
	}
	if _, again := w.made[o.Key]; !again {
		w.list = append(w.list, o.Key)
	}
	w.made[o.Key] = o
	return nil
}

// putPod stores an admitted pod.
func (w *work) putPod(pod *corev1.Pod) error {
	o, err := object.Of(pod)
	if err != nil {
		return err
	}
	return w.put(o)
}

// held returns the object that is there.
func (w *work) held(k object.Key) (object.Object, bool, error) {
	js, ok := w.v.Object(k)
	if !ok {
		return object.Object{}, false, nil
	}
	o, err := object.FromCanonical(k.Kind, js)
	return o, true, err
}

// apply updates an object that is there, and creates another.
func (w *work) apply(s *step) error {
	held, ok, err := w.held(s.key)
	if err != nil {
		return err
	}
	if !ok {
		return w.create(s)
	}
	raw, err := keepAbsent(s.key.Kind, s.raw, held.JSON)
	if err != nil {
		return fmt.Errorf("%s: %w", s.field, err)
	}
	o, err := object.Decode(raw, w.l.o.Limits)
	var invalid *object.InvalidError
	if errors.As(err, &invalid) {
		invalid.Path = s.field
	}
	if err != nil {
		return err
	}
	if pod, ok := o.Value.(*corev1.Pod); ok {
		old := held.Value.(*corev1.Pod)
		admission.KeepAdmitted(pod, old, w.admission())
		o.Value = keepTopology(pod, old)
	}
	return w.update(s, o, raw, held)
}

// keepTopology copies the zone and region labels that the bind wrote to the manifest of a bound
// pod, unless it has its own.
func keepTopology(pod, old *corev1.Pod) *corev1.Pod {
	if old.Spec.NodeName == "" {
		return pod
	}
	kept := object.TopologyOf(nil, old.Labels)
	for key := range pod.Labels {
		delete(kept, key)
	}
	return object.WithTopology(pod, kept)
}

// create admits an object that is not there.
func (w *work) create(s *step) error {
	switch x := s.object.Value.(type) {
	case *corev1.Pod:
		pod := *x
		if pod.UID == object.DerivedUID(s.key) {
			pod.UID = object.GivenUID(s.key, w.v.Revision+1)
		}
		verdict := admission.CreateStored(&pod, w.admission(), w.now)
		if len(verdict.Errors) > 0 {
			return w.refuseByPlugin(s, &verdict)
		}
		w.warn(s, func() []string { return apiserver.WarningsOf(s.raw, "") })
		return w.putPod(w.createdPod(object.WithTopology(verdict.Pod, w.nodeLabels(pod.Spec.NodeName))))
	case *schedulingv1.PriorityClass:
		if err := w.oneDefault(s, x); err != nil {
			return err
		}
	}
	if errs := apiserver.Validate(s.object, s.raw); len(errs) > 0 {
		return w.refuse(s, errs)
	}
	if refused := admission.CheckObject(s.object, object.Object{}, w.admission()); refused != nil {
		return w.refuseByPlugin(s, refused)
	}
	w.warn(s, func() []string { return apiserver.Warnings(s.object, s.raw) })
	return w.putCreated(s.object)
}

// mostWarned bounds the objects of a change of which an API server's warnings are worked out, and
// the warnings.
const mostWarned = 100

// warn adds what an API server warns of in the object of a step.
func (w *work) warn(s *step, of func() []string) {
	if w.warned++; w.warned > mostWarned {
		return
	}
	for _, text := range of() {
		if len(w.warnings) == mostWarned {
			return
		}
		w.warnings = append(w.warnings, s.field+": "+text)
	}
}

// createdPod completes a pod that is not there yet. The order of a change's list is that of the
// queue.
func (w *work) createdPod(pod *corev1.Pod) *corev1.Pod {
	w.pods++
	return object.CreatedPod(pod, w.now, w.v.Revision+1, w.pods-1)
}

// putCreated stores an object of another kind that is not there yet.
func (w *work) putCreated(o object.Object) error {
	o, err := object.Created(o, w.now)
	if err != nil {
		return err
	}
	return w.put(o)
}

// update admits an object in the place of another of its name. raw is what it was read from.
func (w *work) update(s *step, o object.Object, raw json.RawMessage, held object.Object) error {
	o, err := object.KeepCreated(o, held)
	if err != nil {
		return err
	}
	if pod, ok := o.Value.(*corev1.Pod); ok {
		return w.updatePod(s, pod, held.Value.(*corev1.Pod))
	}
	if errs := apiserver.ValidateUpdate(o, raw, held); len(errs) > 0 {
		return w.refuseUpdate(s, errs)
	}
	if refused := admission.CheckObject(o, held, w.admission()); refused != nil {
		return w.refuseByPlugin(s, refused)
	}
	if class, ok := o.Value.(*schedulingv1.PriorityClass); ok {
		if err := w.oneDefault(s, class); err != nil {
			return err
		}
	}
	return w.put(o)
}

// updatePod refuses to move a pod that is bound, and to put another pod under its
// name (apiserver/pkg/registry/generic/registry/store.go Update, preconditions).
func (w *work) updatePod(s *step, pod, old *corev1.Pod) error {
	who := fmt.Sprintf("%s: pod %s/%s", s.field, pod.Namespace, pod.Name)
	switch {
	case pod.UID != old.UID:
		err := w.conflict(old, fmt.Sprintf("%s has UID %s in %s, not %s: it is another pod of that name", who, old.UID, w.v.ID(), pod.UID))
		err.StoredUID, err.AskedUID = string(old.UID), string(pod.UID)
		return err
	case old.Spec.NodeName != "" && pod.Spec.NodeName != "" && pod.Spec.NodeName != old.Spec.NodeName:
		return w.conflict(old, fmt.Sprintf("%s is bound to node %s in %s, and a pod is bound once in its life", who, old.Spec.NodeName, w.v.ID()))
	}
	verdict := admission.UpdateStored(object.KeepCreatedPod(pod, old), old, w.admission())
	switch {
	case verdict.Forbidden != "":
		return w.refuseByPlugin(s, &verdict)
	case len(verdict.Errors) > 0:
		return w.refuseUpdate(s, verdict.Errors)
	}
	return w.putPod(revision.ResolvePriority(w.v.State, verdict.Pod, w.class))
}

// replace stores an object as it stands, but for what it has once: a creation time, which it keeps
// unless it comes with one, and a pod's priority.
func (w *work) replace(s *step) error {
	held, there, err := w.held(s.key)
	if err != nil {
		return err
	}
	pod, ok := s.object.Value.(*corev1.Pod)
	if !ok {
		o := s.object
		if at := o.Value.(metav1.Object).GetCreationTimestamp(); there && at.IsZero() {
			if o, err = object.KeepCreated(o, held); err != nil {
				return err
			}
		}
		return w.putCreated(o)
	}
	if old, _ := held.Value.(*corev1.Pod); old != nil && old.UID == pod.UID && pod.CreationTimestamp.IsZero() {
		pod = object.KeepCreatedPod(pod, old)
	}
	return w.putPod(revision.ResolvePriority(w.v.State, w.createdPod(pod), w.class))
}

// remove takes an object out, or begins the end of a pod.
func (w *work) remove(s *step) error {
	held, ok, err := w.held(s.key)
	if err != nil {
		return err
	}
	if o, patched := w.made[s.key]; patched {
		held = o
	}
	pod, isPod := held.Value.(*corev1.Pod)
	switch {
	case s.grace != nil && s.key.Kind != "Pod":
		return &revision.InvalidError{Field: s.field + ".gracePeriodSeconds", Detail: "only pods end gracefully"}
	case !ok && w.c.Strict:
		return &revision.InvalidError{Field: s.field, Detail: fmt.Sprintf("%s is not in %s", nameOf(s.key), w.v.ID()), Absent: true}
	case !ok:
		return nil
	case isPod && s.grace != nil:
		if ends := podlife.BeginDelete(pod, *s.grace, w.now); ends != nil {
			if waits := w.preemptor(pod); waits != nil && pod.DeletionTimestamp == nil {
				ends = podlife.PreemptedBy(ends, waits.Scheduler, w.now)
			}
			return w.putPod(ends)
		}
	}
	if err := w.count(s.key, object.Object{}); err != nil {
		return err
	}
	w.gone[s.key] = true
	return nil
}

// preemptor returns the pod that still waits for another one to go; nil where none does.
func (w *work) preemptor(victim *corev1.Pod) *state.Pod {
	for _, x := range w.preempted {
		if x.Victim != (object.Key{Kind: "Pod", Namespace: victim.Namespace, Name: victim.Name}) || x.VictimUID != string(victim.UID) {
			continue
		}
		if p := w.v.State.Pod(x.For.Namespace, x.For.Name); p != nil && p.UID == x.ForUID && p.NodeName == "" && !p.Terminal {
			return p
		}
	}
	return nil
}

// admission is what pods are admitted with: the classes of the view with those of
// the change.
func (w *work) admission() admission.Admission {
	return admission.Admission{Classes: w.class, TolerationSeconds: w.l.o.TolerationSeconds, Objects: w, Usage: w.usageOf}
}

func (w *work) nodeLabels(name string) map[string]string {
	k := object.Key{Kind: "Node", Name: name}
	if o, ok := w.made[k]; ok {
		return o.Value.(*corev1.Node).Labels
	}
	nodes := w.v.State.Nodes()
	if row := nodes.Row(name); row >= 0 && !w.gone[k] {
		return nodes.Node(row).Labels
	}
	return nil
}

// refuseByPlugin refuses an object that is created, or that uses more of a quota than before.
func (w *work) refuseByPlugin(s *step, v *admission.Verdict) error {
	err := w.refuse(s, v.Errors)
	if v.Forbidden == "" {
		return err
	}
	return &ForbiddenError{Detail: v.Forbidden, Quota: v.Quota, Err: err}
}

func (w *work) refuse(s *step, errs field.ErrorList) error {
	return &object.InvalidError{Key: s.key, Path: s.field, Errors: errs}
}

// refuseUpdate is refuse for an object that is there.
func (w *work) refuseUpdate(s *step, errs field.ErrorList) error {
	return &object.InvalidError{Key: s.key, Path: s.field, Errors: errs, Remedy: "Where the object is to be made anew, send it under replace"}
}

func (w *work) conflict(old *corev1.Pod, detail string) *revision.ConflictError {
	return &revision.ConflictError{Detail: detail, Node: old.Spec.NodeName, Revision: w.v.Revision}
}
