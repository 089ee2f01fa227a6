// Package admit puts berth's admission of pods on trial against the API
// server's own: its defaults, its priority admission plugin, its strategy and
// its validation.
package admit

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // its types in the scheme
	"k8s.io/kubernetes/pkg/apis/core/validation"
	registrypod "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
)

// Verdict is what one side says of a pod.
type Verdict struct {
	Allowed bool
	Errors  []string        // field, type and message, in order of the text
	Pod     json.RawMessage // as stored; only where allowed
	Types   []string        // field and type alone
	// Forbidden is what LimitRanger, RuntimeClass or ResourceQuota say of it, in full.
	Forbidden string `json:",omitempty"`
}

// Oracle is the API server's side.
type Oracle struct {
	// plugins are in the order of pkg/kubeapiserver/options AllOrderedPlugins.
	plugins []admission.MutationInterface
	// validators judge what is complete, in the same order.
	validators []admission.ValidationInterface
}

// NewOracle knows these classes, and Nodes.
func NewOracle(classes []*schedulingv1.PriorityClass) (*Oracle, error) {
	f := informers.NewSharedInformerFactory(nil, 0)
	p := priority.NewPlugin()
	p.SetExternalKubeInformerFactory(f)
	for _, c := range classes {
		if err := f.Scheduling().V1().PriorityClasses().Informer().GetStore().Add(c); err != nil {
			return nil, err
		}
	}
	tolerations := defaulttolerationseconds.NewDefaultTolerationSeconds()
	tolerations.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	for _, n := range Nodes() {
		if err := f.Core().V1().Nodes().Informer().GetStore().Add(n); err != nil {
			return nil, err
		}
	}
	labels, err := topologyLabels(f)
	if err != nil {
		return nil, err
	}
	return &Oracle{plugins: []admission.MutationInterface{p, tolerations, labels}}, nil
}

// featured tells a plugin of the gates, as kube-apiserver does.
type featured struct {
	informers.SharedInformerFactory
}

// Initialize is of admission.PluginInitializer; initializer.New takes other arguments in each
// release.
func (f featured) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(initializer.WantsExternalKubeInformerFactory); ok {
		p.SetExternalKubeInformerFactory(f)
	}
	if p, ok := plugin.(initializer.WantsFeatures); ok {
		p.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	}
}

// topologyLabels makes the plugin as kube-apiserver configures it, which is not
// exported. Its informer is not started, so it is told to be ready.
func topologyLabels(f informers.SharedInformerFactory) (admission.MutationInterface, error) {
	known := admission.NewPlugins()
	podtopologylabels.Register(known)
	i, err := known.InitPlugin(podtopologylabels.PluginName, nil, featured{f})
	if err != nil {
		return nil, err
	}
	p := i.(*podtopologylabels.Plugin)
	p.SetReadyFunc(func() bool { return true })
	return p, nil
}

// admit runs the plugins and returns what the one that refuses says; "" where none does.
func (o *Oracle) admit(a admission.Attributes) string {
	for _, p := range o.plugins {
		if !p.Handles(a.GetOperation()) {
			continue
		}
		if err := p.Admit(context.Background(), a, nil); err != nil {
			return err.Error()
		}
	}
	return ""
}

// validate runs the plugins that judge what is complete, as admit does.
func (o *Oracle) validate(a admission.Attributes) string {
	for _, p := range o.validators {
		if !p.Handles(a.GetOperation()) {
			continue
		}
		if err := p.Validate(context.Background(), a, nil); err != nil {
			return err.Error()
		}
	}
	return ""
}

func internal(raw []byte) (*core.Pod, error) {
	in := &corev1.Pod{}
	if err := json.Unmarshal(raw, in); err != nil {
		return nil, err
	}
	if in.Namespace == "" {
		in.Namespace = "default"
	}
	legacyscheme.Scheme.Default(in)
	out := &core.Pod{}
	return out, legacyscheme.Scheme.Convert(in, out, nil)
}

var (
	podKind     = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Create judges a pod that is to be created, given its JSON.
func (o *Oracle) Create(raw []byte) (Verdict, error) {
	pod, err := internal(raw)
	if err != nil {
		return Verdict{}, err
	}
	a := admission.NewAttributesRecord(pod, nil, podKind, pod.Namespace, pod.Name, podResource, "", admission.Create, &metav1.CreateOptions{}, false, nil)
	if why := o.admit(a); why != "" {
		return refused(nil, why), nil
	}
	if pod.Name == "" && pod.GenerateName != "" { // rest.BeforeCreate
		pod.Name = pod.GenerateName + "xxxxx"
	}
	registrypod.Strategy.PrepareForCreate(context.Background(), pod)
	errs := faults(pod)
	if len(errs) == 0 {
		if why := o.validate(a); why != "" {
			return refused(nil, why), nil
		}
	}
	return verdict(pod, errs)
}

// faults validates a pod that is to be created.
func faults(pod *core.Pod) field.ErrorList {
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&pod.Spec, nil, &pod.ObjectMeta, nil)
	opts.ResourceIsPod = true
	return validation.ValidatePodCreate(pod, opts)
}

// Update judges a pod that is to replace another.
func (o *Oracle) Update(raw, oldRaw []byte) (Verdict, error) {
	pod, err := internal(raw)
	if err != nil {
		return Verdict{}, err
	}
	old, err := internal(oldRaw)
	if err != nil {
		return Verdict{}, err
	}
	a := admission.NewAttributesRecord(pod, old, podKind, pod.Namespace, pod.Name, podResource, "", admission.Update, &metav1.UpdateOptions{}, false, nil)
	if why := o.admit(a); why != "" {
		return refused(nil, why), nil
	}
	if pod.ResourceVersion == "" {
		pod.ResourceVersion = old.ResourceVersion
	}
	pod.Generation = old.Generation // rest.BeforeUpdate
	registrypod.Strategy.PrepareForUpdate(context.Background(), pod, old)
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&pod.Spec, &old.Spec, &pod.ObjectMeta, &old.ObjectMeta)
	opts.ResourceIsPod = true
	return verdict(pod, validation.ValidatePodUpdate(pod, old, opts))
}

func verdict(pod *core.Pod, errs field.ErrorList) (Verdict, error) {
	if len(errs) > 0 {
		return refused(errs, ""), nil
	}
	out := &corev1.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, out, nil); err != nil {
		return Verdict{}, err
	}
	out.Kind, out.APIVersion = "Pod", "v1"
	js, err := json.Marshal(out)
	return Verdict{Allowed: true, Pod: js}, err
}

// refused lists errors. What the plugin says has no field.
func refused(errs field.ErrorList, plugin string) Verdict {
	v := Verdict{}
	if plugin != "" {
		_, why, _ := strings.Cut(plugin, "is forbidden: ")
		v.Errors, v.Forbidden = []string{"plugin Forbidden: " + why}, plugin
		return v
	}
	for _, e := range errs {
		v.add(e.Field, string(e.Type), e.ErrorBody())
	}
	v.sort()
	return v
}

func (v *Verdict) add(name, kind, message string) {
	// The difference between two specs is written in Go's own types, which are
	// others on each side.
	message, _, _ = strings.Cut(message, "\n")
	v.Errors = append(v.Errors, fmt.Sprintf("%s %s %s", name, kind, message))
	v.Types = append(v.Types, name+" "+kind)
}

func (v *Verdict) sort() {
	sort.Strings(v.Errors)
	sort.Strings(v.Types)
}
