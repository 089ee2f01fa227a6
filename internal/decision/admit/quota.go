package admit

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"berth/internal/kube/object"
	"berth/internal/podlife/admission"
)

// ForbiddenError reports that the admission plugin RuntimeClass, LimitRanger or ResourceQuota
// forbids an object.
type ForbiddenError struct {
	Detail string // in an API server's words
	// Quota is the quota that does not let the pod in; nil: it is none.
	Quota *admission.QuotaUse
	Err   error // names the object's field and its place in the request
}

// Error implements error.
func (e *ForbiddenError) Error() string {
	if e.Quota == nil || len(e.Quota.Pods) == 0 {
		return e.Detail
	}
	var who []string
	for _, p := range e.Quota.Pods {
		who = append(who, p.Namespace+"/"+p.Name)
	}
	text := e.Detail + "; most of it is used by " + strings.Join(who, ", ")
	if e.Quota.More > 0 {
		text += fmt.Sprintf(" and %d more", e.Quota.More)
	}
	return text
}

// Unwrap returns the error of the pod's field.
func (e *ForbiddenError) Unwrap() error { return e.Err }

// Object is admission.Objects of the view with the change.
func (w *work) Object(k object.Key) ([]byte, bool) {
	if w.gone[k] {
		return nil, false
	}
	if o, ok := w.made[k]; ok {
		return o.JSON, true
	}
	return w.v.Object(k)
}

// In is admission.Objects of the view with the change.
func (w *work) In(namespace string, kinds ...string) iter.Seq2[object.Key, []byte] {
	return func(yield func(object.Key, []byte) bool) {
		for _, k := range w.list {
			in := namespace == "" || k.Namespace == namespace
			if in && !w.gone[k] && slices.Contains(kinds, k.Kind) && !yield(k, w.made[k].JSON) {
				return
			}
		}
		for k, js := range w.v.In(namespace, kinds...) {
			if _, made := w.made[k]; !made && !w.gone[k] && !yield(k, js) {
				return
			}
		}
	}
}

// usageOf counts the pods of a namespace once a change.
func (w *work) usageOf(namespace string) (*admission.Usage, error) {
	if u := w.usage[namespace]; u != nil {
		return u, nil
	}
	u, err := admission.CountUsage(w, namespace, w.now)
	if err != nil {
		return nil, fmt.Errorf("count what uses the quotas of %s: %w", namespace, err)
	}
	if w.usage == nil {
		w.usage = map[string]*admission.Usage{}
	}
	w.usage[namespace] = u
	return u, nil
}

// count counts an object that the change makes in the place of the one of its name, or that one
// alone, which goes, for the zero object.
func (w *work) count(k object.Key, o object.Object) error {
	u := w.usage[k.Namespace]
	if u == nil {
		return nil
	}
	if k.Kind == "ResourceQuota" {
		delete(w.usage, k.Namespace)
		return nil
	}
	old, there := w.made[k]
	if !there && !w.gone[k] {
		var err error
		if old, there, err = w.held(k); err != nil {
			return err
		}
	}
	if there {
		u.AddObject(old, -1)
	}
	if o.Value != nil {
		u.AddObject(o, 1)
	}
	return nil
}
