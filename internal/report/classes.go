package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
	"berth/internal/revision"
	"berth/internal/steps"
)

// Classes are the priority classes that count in a cluster, who uses them, and
// what is odd about them.
type Classes struct {
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Items are by value, the highest first.
	Items    []ClassUse     `json:"items"`
	Findings []ClassFinding `json:"findings"`
} // @name PriorityClassUses

// ClassUse is a class with the pods that name it.
type ClassUse struct {
	Name             string                  `json:"name"`
	Value            int32                   `json:"value"`
	GlobalDefault    bool                    `json:"globalDefault,omitempty"`
	PreemptionPolicy corev1.PreemptionPolicy `json:"preemptionPolicy" swaggertype:"string"`
	// Source is where the class is: in the snapshot, stored over REST, or built in.
	Source  string `json:"source" enums:"snapshot,stored,system"`
	Pods    int    `json:"pods"`
	Waiting int    `json:"waiting"`
} // @name PriorityClassUse

// ClassFinding is something about classes that people trip over. Values above the
// limit and reserved names are no findings: objects with them are invalid and are
// refused when they are read.
type ClassFinding struct {
	Code    string `json:"code" enums:"twoDefaults,unknownClass,otherPriority"`
	Class   string `json:"class"`
	Message string `json:"message"`
	// Pods counts those concerned, of which Sample names up to five.
	Pods   int               `json:"pods,omitempty"`
	Sample []decision.PodRef `json:"sample,omitempty"`
} // @name PriorityClassFinding

const sampleSize = 5

// ClassesIn looks at a view's classes and at those that were posted.
func ClassesIn(ctx context.Context, v *revision.View, posted []schedulingv1.PriorityClass) (*Classes, error) {
	s := &classSurvey{uses: map[string]*ClassUse{}, unknown: map[string]*ClassFinding{}, differs: map[string]*ClassFinding{}}
	list, err := snapshotClasses(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		s.add(c, inSnapshot)
	}
	for i := range posted {
		s.add(&posted[i], sourceOfStored(&posted[i]))
	}
	for _, c := range stored.SystemClasses() {
		s.add(c, builtIn)
	}
	s.defaults()
	count := steps.Of(ctx)
	v.State.EachPod(func(p *state.Pod) {
		if err == nil {
			err = count.Take(1)
		}
		if err == nil {
			s.pod(p, v.State.PriorityOf(p))
		}
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller's context's own
	}
	return s.answer(count, v.ID())
}

// classSurvey gathers what is known of classes.
type classSurvey struct {
	uses             map[string]*ClassUse
	findings         []ClassFinding
	unknown, differs map[string]*ClassFinding // by class
}

// add takes a class; one that is there already counts, as for decisions.
func (s *classSurvey) add(c *schedulingv1.PriorityClass, source string) {
	if s.uses[c.Name] != nil {
		return
	}
	u := &ClassUse{Name: c.Name, Value: c.Value, GlobalDefault: c.GlobalDefault, PreemptionPolicy: corev1.PreemptLowerPriority, Source: source}
	if c.PreemptionPolicy != nil {
		u.PreemptionPolicy = *c.PreemptionPolicy
	}
	s.uses[c.Name] = u
}

// defaults finds more than one default class. An apiserver refuses a second one, but
// not in two requests at once (plugin/pkg/admission/priority validatePriorityClass).
func (s *classSurvey) defaults() {
	var names []string
	for name, c := range s.uses {
		if c.GlobalDefault {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := s.uses[a], s.uses[b]
		return cmp.Or(cmp.Compare(x.Source, y.Source), cmp.Compare(x.Value, y.Value), cmp.Compare(a, b)) // snapshot before stored
	})
	why := "the lowest"
	if first, last := s.uses[names[0]].Source, s.uses[names[len(names)-1]].Source; first != last {
		why = "the snapshot's before the stored one"
		if s.uses[names[1]].Source == first {
			why = "the lowest of the snapshot's, which come before the stored one"
		}
	}
	s.findings = append(s.findings, ClassFinding{Code: "twoDefaults", Class: names[0], Message: fmt.Sprintf(
		"%s are all globalDefault: pods that name no class get %s, %s", strings.Join(names, ", "), names[0], why)})
}

func (s *classSurvey) pod(p *state.Pod, priority int32) {
	name := p.ClassName()
	if name == "" || p.Terminal {
		return
	}
	c := s.uses[name]
	if c == nil {
		note(s.unknown, "unknownClass", name, p)
		return
	}
	c.Pods++
	if p.NodeName == "" {
		c.Waiting++
	}
	if priority != c.Value && c.Source == inSnapshot {
		note(s.differs, "otherPriority", name, p)
	}
}

func note(into map[string]*ClassFinding, code, class string, p *state.Pod) {
	f := into[class]
	if f == nil {
		f = &ClassFinding{Code: code, Class: class}
		into[class] = f
	}
	f.Pods++
	ref := decision.PodRef{Namespace: p.Namespace, Name: p.Name}
	at, _ := slices.BinarySearchFunc(f.Sample, ref, func(a, b decision.PodRef) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	f.Sample = slices.Insert(f.Sample, at, ref)
	f.Sample = f.Sample[:min(len(f.Sample), sampleSize)]
}

func (s *classSurvey) answer(count *steps.Counter, id string) (*Classes, error) {
	out := &Classes{Snapshot: id, Items: []ClassUse{}, Findings: s.findings}
	for _, u := range s.uses {
		out.Items = append(out.Items, *u)
	}
	if err := steps.Sort(count, out.Items, func(a, b ClassUse) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	}); err != nil {
		return nil, err //nolint:wrapcheck // the caller's context's own
	}
	for _, name := range slices.Sorted(maps.Keys(s.unknown)) {
		f := s.unknown[name]
		f.Message = fmt.Sprintf("pods name %s, which does not exist: an apiserver refuses new ones", name)
		out.Findings = append(out.Findings, *f)
	}
	for _, name := range slices.Sorted(maps.Keys(s.differs)) {
		f := s.differs[name]
		f.Message = fmt.Sprintf("%s has the value %d now; pods keep the priority that they were created with", name, s.uses[name].Value)
		out.Findings = append(out.Findings, *f)
	}
	if out.Findings == nil {
		out.Findings = []ClassFinding{}
	}
	return out, nil
}
