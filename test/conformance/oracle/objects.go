package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podapi "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/registry/core/pod"

	// The groups register their types and defaulting functions when imported.
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
)

// objects are a case's objects as an apiserver would have stored them.
type objects struct {
	nodes   []*v1.Node
	pods    []*v1.Pod
	other   []runtime.Object
	classes []*schedulingv1.PriorityClass
	// invalid are the complaints of upstream's own pod and node validation.
	invalid []string
}

// decode reads, defaults and completes the objects of a case.
func decode(raws []json.RawMessage) (*objects, error) {
	o := &objects{}
	for i, raw := range raws {
		obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			continue // a kind that this release does not have
		}
		if err != nil {
			return nil, fmt.Errorf("decode object %d: %w", i, err)
		}
		if err := complete(obj); err != nil {
			return nil, fmt.Errorf("complete object %d: %w", i, err)
		}
		switch t := obj.(type) {
		case *v1.Node:
			o.nodes = append(o.nodes, t)
		case *v1.Pod:
			o.pods = append(o.pods, t)
		case *schedulingv1.PriorityClass:
			o.classes = append(o.classes, t)
		case *v1.Namespace, *v1.Service, *v1.ReplicationController, *appsv1.ReplicaSet, *appsv1.StatefulSet, *policyv1.PodDisruptionBudget:
			o.other = append(o.other, t)
		case *resourcev1.ResourceClaim, *resourcev1.ResourceSlice, *resourcev1.DeviceClass:
			o.other = append(o.other, t)
			errs, err := invalidDevices(obj)
			if err != nil {
				return nil, fmt.Errorf("convert object %d: %w", i, err)
			}
			for _, e := range errs {
				o.invalid = append(o.invalid, fmt.Sprintf("%T: %v", obj, e))
			}
		default:
			invalid := invalidStorage
			if isLater(obj) {
				invalid = invalidLater
			} else if !isStorage(obj) {
				return nil, fmt.Errorf("object %d: the oracle has no place for a %T", i, obj)
			}
			o.other = append(o.other, obj)
			errs, err := invalid(obj)
			if err != nil {
				return nil, fmt.Errorf("convert object %d: %w", i, err)
			}
			for _, e := range errs {
				o.invalid = append(o.invalid, fmt.Sprintf("%T: %v", obj, e))
			}
		}
	}
	for _, p := range o.pods {
		if err := o.resolvePriority(p); err != nil {
			return nil, err
		}
	}
	for _, p := range o.pods {
		if err := o.admit(p); err != nil {
			return nil, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
		}
	}
	for _, n := range o.nodes {
		var in core.Node
		if err := legacyscheme.Scheme.Convert(n, &in, nil); err != nil {
			return nil, err
		}
		for _, e := range validation.ValidateNode(&in) {
			o.invalid = append(o.invalid, "node "+n.Name+": "+e.Error())
		}
	}
	return o, nil
}

// complete sets namespace and uid where they are missing and runs the
// versioned defaulting functions.
func complete(obj runtime.Object) error {
	m, ok := obj.(metav1.Object)
	if !ok {
		return fmt.Errorf("%T has no metadata", obj)
	}
	switch obj.(type) {
	case *v1.Node, *v1.Namespace, *schedulingv1.PriorityClass, *resourcev1.ResourceSlice, *resourcev1.DeviceClass:
	default:
		if m.GetNamespace() == "" && !isGlobal(obj) && !isLater(obj) {
			m.SetNamespace("default")
		}
	}
	if m.GetUID() == "" {
		m.SetUID(types.UID(fmt.Sprintf("%T/%s/%s", obj, m.GetNamespace(), m.GetName())))
	}
	legacyscheme.Scheme.Default(obj)
	return nil
}

// admit runs the pod strategy of the apiserver's registry, which merges
// (mis)matchLabelKeys into the selectors, and upstream's validation. The
// strategy empties the status of a new pod; the case's own is kept.
func (o *objects) admit(p *v1.Pod) error {
	given := p.Spec.Resources.DeepCopy() // a conversion shares its lists
	var in core.Pod
	if err := legacyscheme.Scheme.Convert(p, &in, nil); err != nil {
		return err
	}
	opts := podapi.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, nil, &in.ObjectMeta, nil)
	for _, e := range validation.ValidatePodCreate(&in, opts) {
		if strings.Contains(e.Detail, "`hostUsers` is false") {
			continue // only refused while UserNamespacesHostNetworkSupport is off in the apiserver; the rule is there
		}
		o.invalid = append(o.invalid, "pod "+p.Namespace+"/"+p.Name+": "+e.Error())
	}
	pod.Strategy.PrepareForCreate(context.Background(), &in)
	var out v1.Pod
	if err := legacyscheme.Scheme.Convert(&in, &out, nil); err != nil {
		return err
	}
	p.Spec = out.Spec
	if given != nil && len(given.Limits) == 0 && !completed(p.Spec.Resources) {
		p.Spec.Resources = given
	}
	return nil
}

// completed reports whether an API server of any release completes requests of a whole pod without
// limits: that of v1.37 always does, and those before do where containers limit huge pages. Pods
// that are stored are taken to be of any of them.
func completed(r *v1.ResourceRequirements) bool {
	for name := range r.Limits {
		if strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) {
			return true
		}
	}
	return false
}

// systemClasses exist in every cluster.
var systemClasses = map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}

// resolvePriority does what the priority admission plugin does for a pod that
// has no priority yet (plugin/pkg/admission/priority, admitPod).
func (o *objects) resolvePriority(p *v1.Pod) error {
	if p.Spec.Priority != nil {
		return nil
	}
	var value int32
	name := p.Spec.PriorityClassName
	system, isSystem := systemClasses[name]
	var class *schedulingv1.PriorityClass
	for _, c := range o.classes {
		switch {
		case name != "" && c.Name == name:
			class = c
		case name == "" && c.GlobalDefault && (class == nil || c.Value < class.Value):
			class = c
		}
	}
	switch {
	case class != nil:
		value = class.Value
		p.Spec.PriorityClassName = class.Name
		if p.Spec.PreemptionPolicy == nil {
			p.Spec.PreemptionPolicy = class.PreemptionPolicy
		}
	case isSystem:
		value = system
	case name != "":
		return fmt.Errorf("pod %s/%s: no PriorityClass %q", p.Namespace, p.Name, name)
	}
	p.Spec.Priority = &value
	return nil
}
