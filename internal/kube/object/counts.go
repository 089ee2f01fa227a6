package object

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Counts bound lists and names within one object, on which the work of a decision and the length of
// its answer depend. Zero stands for no bound: an apiserver has none but the object's size, so that
// what a cluster already holds is taken as it is.
type Counts struct {
	NodeTerms   int // node selector terms of a pod, required and preferred
	PodTerms    int // pod affinity and anti-affinity terms
	Expressions int // requirements of one term or label selector
	Values      int // values of one requirement
	Constraints int // topology spread constraints
	LabelKeys   int // matchLabelKeys and mismatchLabelKeys of one term or constraint
	Tolerations int
	Labels      int // labels of one object
	Taints      int // taints of a node
	Containers  int // containers of a pod, init containers included
	Resources   int // resource names of one list
	Items       int // of all lists of one object together
	Names       int // bytes of a name that the verdict on each node may hold
}

// checkItems is check for what an object has before it is decoded: a list of {} takes hundreds of
// times its text.
func (c Counts) checkItems(js []byte, at string) error {
	if c.Items <= 0 || len(js) <= c.Items { // an item has a comma
		return nil
	}
	if _, n := weigh(js); n > c.Items {
		return &LimitError{Limit: limitItems, Max: int64(c.Items), What: strings.TrimPrefix(at+": the number of items of all lists of the object, ", ": ") + strconv.Itoa(n) + ","}
	}
	return nil
}

// The names of the settings that a LimitError gives.
const (
	limitNodeTerms   = "max-node-affinity-terms"
	limitPodTerms    = "max-pod-affinity-terms"
	limitExpressions = "max-expressions"
	limitValues      = "max-expression-values"
	limitConstraints = "max-spread-constraints"
	limitLabelKeys   = "max-match-label-keys"
	limitTolerations = "max-tolerations"
	limitLabels      = "max-labels"
	limitTaints      = "max-taints"
	limitContainers  = "max-containers"
	limitResources   = "max-resource-names"
	limitItems       = "max-list-items"
	limitNames       = "max-name-bytes"
)

// check returns a LimitError that names the first list that is too long.
func (c Counts) check(o typed, at string) error {
	w := &counting{Counts: c, at: at}
	w.labels("metadata.labels", len(o.GetLabels()))
	switch o := o.(type) {
	case *corev1.Pod:
		w.pod(&o.Spec)
		for i := range o.Status.ResourceClaimStatuses {
			if name := o.Status.ResourceClaimStatuses[i].ResourceClaimName; name != nil {
				w.name(*name, "status.resourceClaimStatuses[].resourceClaimName", i)
			}
		}
	case *corev1.Node:
		w.most(limitTaints, c.Taints, len(o.Spec.Taints), "spec.taints")
		w.resources("status.allocatable", o.Status.Allocatable)
		w.resources("status.capacity", o.Status.Capacity)
	case *corev1.PersistentVolumeClaim:
		w.name(o.Spec.VolumeName, "spec.volumeName", 0)
	}
	return w.err
}

// counting keeps the first list that is over its bound.
type counting struct {
	Counts
	at  string // the object's place in the body
	err error
}

func (w *counting) most(limit string, bound, n int, format string, args ...any) {
	if w.err != nil || bound <= 0 || n <= bound {
		return
	}
	what := fmt.Sprintf(format, args...)
	if w.at != "" {
		what = w.at + "." + what
	}
	w.err = &LimitError{Limit: limit, Max: int64(bound), What: fmt.Sprintf("the number of items of %s, %d,", what, n)}
}

func (w *counting) labels(at string, n int) { w.most(limitLabels, w.Labels, n, "%s", at) }

func (w *counting) resources(at string, list corev1.ResourceList) {
	w.most(limitResources, w.Resources, len(list), "%s", at)
}

// name holds to its bound a name whose form an apiserver does not check; at may have an index.
func (w *counting) name(name, at string, i int) {
	if w.err != nil || w.Names <= 0 || len(name) <= w.Names {
		return
	}
	what := strings.Replace(at, "[]", "["+strconv.Itoa(i)+"]", 1)
	if w.at != "" {
		what = w.at + "." + what
	}
	w.err = &LimitError{Limit: limitNames, Max: int64(w.Names), What: fmt.Sprintf("the length of %s, %d bytes,", what, len(name))}
}

// names checks what reasons and details of each node may quote.
func (w *counting) names(s *corev1.PodSpec) {
	for i := range s.Volumes {
		v := &s.Volumes[i]
		w.name(v.Name, "spec.volumes[].name", i)
		if c := v.PersistentVolumeClaim; c != nil {
			w.name(c.ClaimName, "spec.volumes[].persistentVolumeClaim.claimName", i)
		}
	}
	for i := range s.ResourceClaims {
		c := &s.ResourceClaims[i]
		w.name(c.Name, "spec.resourceClaims[].name", i)
		if c.ResourceClaimName != nil {
			w.name(*c.ResourceClaimName, "spec.resourceClaims[].resourceClaimName", i)
		}
	}
	for i := range s.TopologySpreadConstraints {
		w.name(s.TopologySpreadConstraints[i].TopologyKey, "spec.topologySpreadConstraints[].topologyKey", i)
	}
}

func (w *counting) pod(s *corev1.PodSpec) {
	w.names(s)
	w.most(limitContainers, w.Containers, len(s.InitContainers)+len(s.Containers), "spec.containers")
	w.most(limitTolerations, w.Tolerations, len(s.Tolerations), "spec.tolerations")
	w.labels("spec.nodeSelector", len(s.NodeSelector))
	w.most(limitConstraints, w.Constraints, len(s.TopologySpreadConstraints), "spec.topologySpreadConstraints")
	if w.err != nil {
		return
	}
	for i := range s.TopologySpreadConstraints {
		c, at := &s.TopologySpreadConstraints[i], fmt.Sprintf("spec.topologySpreadConstraints[%d]", i)
		w.most(limitLabelKeys, w.LabelKeys, len(c.MatchLabelKeys), "%s.matchLabelKeys", at)
		w.selector(at+".labelSelector", c.LabelSelector)
	}
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			w.resources("spec.containers.resources.requests", list[i].Resources.Requests)
			w.resources("spec.containers.resources.limits", list[i].Resources.Limits)
		}
	}
	w.resources("spec.overhead", s.Overhead)
	if s.Affinity == nil {
		return
	}
	if a := s.Affinity.NodeAffinity; a != nil {
		w.nodeAffinity(a)
	}
	w.podTerms(s.Affinity)
}

func (w *counting) nodeAffinity(a *corev1.NodeAffinity) {
	preferred := a.PreferredDuringSchedulingIgnoredDuringExecution
	var required []corev1.NodeSelectorTerm
	if r := a.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		required = r.NodeSelectorTerms
	}
	w.most(limitNodeTerms, w.NodeTerms, len(required)+len(preferred), "spec.affinity.nodeAffinity")
	if w.err != nil {
		return
	}
	for i := range required {
		w.nodeTerm(&required[i])
	}
	for i := range preferred {
		w.nodeTerm(&preferred[i].Preference)
	}
}

func (w *counting) nodeTerm(t *corev1.NodeSelectorTerm) {
	for _, list := range [][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
		w.most(limitExpressions, w.Expressions, len(list), "a term of spec.affinity.nodeAffinity")
		for i := range list {
			w.most(limitValues, w.Values, len(list[i].Values), "the values of an expression of spec.affinity.nodeAffinity")
		}
	}
}

func (w *counting) podTerms(a *corev1.Affinity) {
	var required []corev1.PodAffinityTerm
	var preferred []corev1.WeightedPodAffinityTerm
	if p := a.PodAffinity; p != nil {
		required, preferred = append(required, p.RequiredDuringSchedulingIgnoredDuringExecution...), append(preferred, p.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if p := a.PodAntiAffinity; p != nil {
		required, preferred = append(required, p.RequiredDuringSchedulingIgnoredDuringExecution...), append(preferred, p.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	w.most(limitPodTerms, w.PodTerms, len(required)+len(preferred), "spec.affinity.podAffinity and podAntiAffinity")
	if w.err != nil {
		return
	}
	for i := range preferred {
		required = append(required, preferred[i].PodAffinityTerm)
	}
	for i := range required {
		t := &required[i]
		w.most(limitLabelKeys, w.LabelKeys, max(len(t.MatchLabelKeys), len(t.MismatchLabelKeys)), "matchLabelKeys or mismatchLabelKeys of a term of spec.affinity")
		w.most(limitValues, w.Values, len(t.Namespaces), "the namespaces of a term of spec.affinity")
		w.selector("a term of spec.affinity", t.LabelSelector)
		w.selector("a namespaceSelector of spec.affinity", t.NamespaceSelector)
	}
}

func (w *counting) selector(at string, s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	w.most(limitExpressions, w.Expressions, len(s.MatchLabels)+len(s.MatchExpressions), "%s", at)
	for i := range s.MatchExpressions {
		w.most(limitValues, w.Values, len(s.MatchExpressions[i].Values), "the values of %s", at)
	}
}
