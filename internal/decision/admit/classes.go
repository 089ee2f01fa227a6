package admit

import (
	"fmt"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object"
)

// class looks a class up, the default one for the name "": in the change, in the
// view, among the stored ones.
func (w *work) class(name string) *schedulingv1.PriorityClass {
	if name == "" {
		if c := w.defaultClass(); c != nil {
			return c
		}
		return w.stored(name)
	}
	k := object.Key{Kind: "PriorityClass", Name: name}
	if o, ok := w.made[k]; ok {
		return o.Value.(*schedulingv1.PriorityClass)
	}
	if c := w.v.State.PriorityClass(name); c != nil && !w.gone[k] {
		return c
	}
	return w.stored(name)
}

func (w *work) stored(name string) *schedulingv1.PriorityClass {
	if w.l.o.Classes == nil {
		return nil
	}
	return w.l.o.Classes.Class(w.v.Cluster, name)
}

// defaultClass returns the default class of the view with the change; of several the one of the
// lowest value (plugin/pkg/admission/priority admission.go getDefaultPriorityClass).
func (w *work) defaultClass() (least *schedulingv1.PriorityClass) {
	take := func(c *schedulingv1.PriorityClass) {
		if c.GlobalDefault && (least == nil || c.Value < least.Value) {
			least = c
		}
	}
	for _, c := range w.v.State.PriorityClasses() {
		k := object.Key{Kind: "PriorityClass", Name: c.Name}
		if _, made := w.made[k]; !made && !w.gone[k] {
			take(c)
		}
	}
	for _, k := range w.list {
		if c, ok := w.made[k].Value.(*schedulingv1.PriorityClass); ok {
			take(c)
		}
	}
	return least
}

// oneDefault refuses a second default class
// (plugin/pkg/admission/priority admission.go validatePriorityClass).
func (w *work) oneDefault(s *step, c *schedulingv1.PriorityClass) error {
	if !c.GlobalDefault {
		return nil
	}
	if is := w.defaultClass(); is != nil && is.Name != c.Name {
		return w.refuse(s, field.ErrorList{field.Forbidden(field.NewPath("globalDefault"), fmt.Sprintf("PriorityClass %v is already marked as default. Only one default can exist", is.Name))})
	}
	return nil
}
