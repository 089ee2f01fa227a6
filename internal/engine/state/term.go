package state

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/kube/object"
)

// TermKind is the kind of an inter-pod affinity term.
type TermKind uint8

// The four kinds of terms.
const (
	RequiredAffinity TermKind = iota
	RequiredAntiAffinity
	PreferredAffinity
	PreferredAntiAffinity
)

// Term is one inter-pod affinity term, compiled. Terms of pods on nodes are
// interned, so that thousands of replicas share one.
type Term struct {
	ID          int32 // of an interned term
	Kind        TermKind
	Weight      int32 // of a preferred term
	TopologyKey string
	// Namespaces are those that the term lists, sorted, and behind them in TermsOf those that its
	// selector matches, sorted too.
	Namespaces        []string
	listed            int
	NamespaceSelector labels.Selector
	Selector          labels.Selector
}

// Matches reports whether the term selects a pod with these labels in namespace ns, which has
// labels nsLabels (k8s.io/kube-scheduler/framework AffinityTerm.Matches).
func (t *Term) Matches(ns string, nsLabels, podLabels labels.Set) bool {
	return (t.names(ns) || t.NamespaceSelector.Matches(nsLabels)) && t.Selector.Matches(podLabels)
}

// fewNames is up to how many namespaces are compared one by one.
const fewNames = 8

func (t *Term) names(ns string) bool {
	if len(t.Namespaces) <= fewNames {
		return slices.Contains(t.Namespaces, ns)
	}
	_, is := slices.BinarySearch(t.Namespaces[:t.listed], ns)
	if !is {
		_, is = slices.BinarySearch(t.Namespaces[t.listed:], ns)
	}
	return is
}

// String is the term in words, for explanations.
func (t *Term) String() string {
	in := strings.Join(t.Namespaces, ",")
	if t.NamespaceSelector.Empty() {
		in = "all namespaces"
	} else if s := t.NamespaceSelector.String(); s != "" {
		in = strings.TrimPrefix(in+" and namespaces with "+s, " and ")
	}
	return fmt.Sprintf("%s in %s by %s", selectorText(t.Selector), in, t.TopologyKey)
}

// selectorText writes a selector, with different texts for everything and nothing, which
// labels.Selector's own String does not have.
func selectorText(s labels.Selector) string {
	if _, selectable := s.Requirements(); !selectable {
		return "<nothing>"
	}
	if s.Empty() {
		return "<everything>"
	}
	return s.String()
}

// newTerm compiles a term of a pod in namespace ns. Without namespaces and
// namespace selector it means the pod's own namespace
// (k8s.io/kube-scheduler/framework newAffinityTerm).
func newTerm(ns string, kind TermKind, weight int32, in *corev1.PodAffinityTerm) (*Term, error) {
	sel, err := metav1.LabelSelectorAsSelector(in.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf("labelSelector: %w", object.FewProblems(err))
	}
	nsSel, err := metav1.LabelSelectorAsSelector(in.NamespaceSelector)
	if err != nil {
		return nil, fmt.Errorf("namespaceSelector: %w", object.FewProblems(err))
	}
	t := &Term{Kind: kind, Weight: weight, TopologyKey: in.TopologyKey, NamespaceSelector: nsSel, Selector: sel}
	if len(in.Namespaces) == 0 && in.NamespaceSelector == nil {
		t.Namespaces = []string{ns}
	} else {
		t.Namespaces = append(t.Namespaces, in.Namespaces...)
		sort.Strings(t.Namespaces)
	}
	t.listed = len(t.Namespaces)
	return t, nil
}

// RequiredTerms compiles the required terms of a pod.
func RequiredTerms(pod *corev1.Pod) (affinity, anti []*Term, err error) {
	a := pod.Spec.Affinity
	if a == nil {
		return nil, nil, nil
	}
	compile := func(kind TermKind, list []corev1.PodAffinityTerm) (out []*Term) {
		for i := range list {
			t, bad := newTerm(pod.Namespace, kind, 0, &list[i])
			if bad != nil && err == nil {
				err = bad
			}
			out = append(out, t)
		}
		return out
	}
	if a.PodAffinity != nil {
		affinity = compile(RequiredAffinity, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		anti = compile(RequiredAntiAffinity, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return affinity, anti, err
}

// podTerms compiles all inter-pod affinity terms of a pod, kind by kind.
func podTerms(pod *corev1.Pod) ([]*Term, error) {
	a := pod.Spec.Affinity
	if a == nil || (a.PodAffinity == nil && a.PodAntiAffinity == nil) {
		return nil, nil
	}
	var out []*Term
	add := func(kind TermKind, weight int32, in *corev1.PodAffinityTerm) error {
		t, err := newTerm(pod.Namespace, kind, weight, in)
		if err == nil {
			out = append(out, t)
		}
		return err
	}
	group := func(required, preferred TermKind, hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm) error {
		for i := range hard {
			if err := add(required, 0, &hard[i]); err != nil {
				return err
			}
		}
		for i := range soft {
			if err := add(preferred, soft[i].Weight, &soft[i].PodAffinityTerm); err != nil {
				return err
			}
		}
		return nil
	}
	if p := a.PodAffinity; p != nil {
		if err := group(RequiredAffinity, PreferredAffinity, p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution); err != nil {
			return nil, err
		}
	}
	if p := a.PodAntiAffinity; p != nil {
		if err := group(RequiredAntiAffinity, PreferredAntiAffinity, p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// TermsOf compiles the inter-pod affinity terms of a pod that is to be placed. Their namespace
// selectors are resolved to the namespaces of the state: what selects all namespaces stays a
// selector, anything else becomes names
// (plugins/interpodaffinity mergeAffinityTermNamespacesIfNotEmpty). With exclusionMeansAll, so does
// a selector that matches no labels at all (DoesNotExist, NotIn): it stays and is matched with pods
// without the labels of their namespace. check is called from time to time, and may panic to end
// the search.
func (s *State) TermsOf(pod *corev1.Pod, exclusionMeansAll bool, check func()) ([]*Term, error) {
	terms, err := podTerms(pod)
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		if t.NamespaceSelector.Empty() {
			continue // all namespaces, even ones that have no object
		}
		if reqs, ok := t.NamespaceSelector.Requirements(); ok && len(reqs) > 0 {
			matching := s.namespacesMatching(t.NamespaceSelector, check)
			if listed := t.Namespaces; len(listed) > 0 {
				matching = slices.DeleteFunc(matching, func(ns string) bool {
					_, is := slices.BinarySearch(listed, ns)
					return is
				})
				matching = append(listed, matching...)
			}
			t.Namespaces = matching
		}
		if exclusionMeansAll && t.NamespaceSelector.Matches(labels.Set{}) {
			t.NamespaceSelector = labels.Everything()
		} else {
			t.NamespaceSelector = labels.Nothing()
		}
	}
	return terms, nil
}

// affinityKey is the key of a term without its id.
func affinityKey(x *Term) string {
	k := newMemoKey().number(int(x.Kind)).number(int(x.Weight)).text(x.TopologyKey).texts(x.Namespaces)
	for _, s := range []labels.Selector{x.NamespaceSelector, x.Selector} {
		reqs, selectable := s.Requirements()
		k = k.flag(selectable).number(len(reqs))
		for i := range reqs {
			k = k.text(reqs[i].Key()).text(string(reqs[i].Operator())).texts(reqs[i].Values().List())
		}
	}
	return string(k)
}

// term interns a compiled term and returns its id.
func (t *Tables) term(x *Term) int32 {
	return interned(t, t.termIDs, affinityKey(x), func() int32 {
		fresh := *x
		fresh.ID = int32(len(t.terms))
		t.terms = append(t.terms, &fresh)
		reqs, selectable := x.Selector.Requirements()
		if !selectable {
			return fresh.ID // selects no pod, so it is never looked up
		}
		if k, values, ok := equality(reqs); ok {
			for _, v := range values {
				t.termPairs[pair{k, v}] = append(t.termPairs[pair{k, v}], fresh.ID)
			}
		} else {
			t.termsLoose = append(t.termsLoose, fresh.ID)
		}
		return fresh.ID
	})
}

// TermsSelecting appends the interned terms that select a pod with these labels. It reads only
// terms whose equality the pod satisfies, and those without one.
func (t *Tables) TermsSelecting(dst []*Term, ns string, nsLabels, podLabels labels.Set, check func()) []*Term {
	t.mu.RLock()
	defer t.mu.RUnlock()
	pick := func(ids []int32) {
		for i, id := range ids {
			if i%checkEvery == checkEvery-1 {
				check()
			}
			if x := t.terms[id]; x.Matches(ns, nsLabels, podLabels) {
				dst = append(dst, x)
			}
		}
	}
	for k, v := range podLabels {
		pick(t.termPairs[pair{k, v}])
	}
	pick(t.termsLoose)
	return dst
}
