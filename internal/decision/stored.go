package decision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/kube/object/stored"
	"berth/internal/podlife/admission"
	"berth/internal/store"
)

// StoredError refuses to bind a request's pod, since the snapshot holds another one under its name.
// Nothing is written. It wraps store.ErrConflict.
type StoredError struct {
	Detail string
	// At is where the pod stands in the request; empty: in pod.
	At              string
	Namespace, Name string
	Revision        int64
	// StoredUID and AskedUID are those of the two pods, where they differ.
	StoredUID, AskedUID string
	// Fields are those in which pods of one UID differ; none where the UIDs do.
	Fields []PodField
	// Patch is the JSON merge patch that makes the stored pod equal to the request's. An API server
	// refuses that update for the reasons in Refused, if there are any.
	Patch   json.RawMessage
	Refused field.ErrorList
}

// PodField is a field in which a pod differs from the stored one.
type PodField struct {
	Path    string // from the pod's root
	Message string // names both values
}

func (e *StoredError) Error() string { return e.Detail }

// Unwrap returns store.ErrConflict.
func (e *StoredError) Unwrap() error { return store.ErrConflict }

// otherPod refuses a pod of another UID than the one that the snapshot holds under its name. The
// node of that one is not named, since a caller could take it for its own pod's.
func (p *Prepared) otherPod(held *state.Pod, asked *corev1.Pod) error {
	return &StoredError{
		Detail:    fmt.Sprintf("pod %s/%s has UID %s in %s, not %s: it is another pod of that name", asked.Namespace, asked.Name, held.UID, p.View.ID(), asked.UID),
		Namespace: asked.Namespace, Name: asked.Name, Revision: p.View.Revision, StoredUID: held.UID, AskedUID: string(asked.UID),
	}
}

// isOther reports whether a request's pod, which has a UID, is another one than a held pod.
func isOther(held *state.Pod, asked *corev1.Pod) bool {
	return held.UID != string(asked.UID) && asked.UID != object.DerivedUID(podKey(asked.Namespace, asked.Name))
}

// bindStored lets a question that binds be about the stored pod where its own pod is that one: a
// Binding changes a pod's node and no other field, and names the UID of the pod that it is for
// (registry/core/pod/storage/storage.go setPodNodeAndMetadata). A pod that differs would have to be
// admitted as an update first.
func (p *Prepared) bindStored() error {
	asked := p.Question.Pod
	if !p.Bind || asked == nil || asked.Spec.NodeName != "" {
		return nil
	}
	held := p.State.Pod(asked.Namespace, asked.Name)
	switch {
	case held == nil:
		return nil
	case isOther(held, asked):
		return p.otherPod(held, asked)
	case held.NodeName != "": // excludePods refuses it
		return nil
	}
	stored, err := p.View.Pod(asked.Namespace, asked.Name)
	if err != nil {
		return err
	}
	if err := p.equal(WithKind(p.completed(asked, stored)), WithKind(stored)); err != nil {
		return err
	}
	k := podKey(asked.Namespace, asked.Name)
	p.PodRef, p.Question.Pod, p.Question.PodJSON = &k, nil, nil
	return nil
}

// completed returns a request's pod with what it need not have of the stored one: the fields that
// an API server alone writes, and those that its admission plugins set where a manifest leaves them
// out. The request's status is not read, as on an update (apiserver/pkg/registry/rest/update.go
// BeforeUpdate, pkg/registry/core/pod/strategy.go PrepareForUpdate).
func (p *Prepared) completed(asked, is *corev1.Pod) *corev1.Pod {
	pod := asked.DeepCopy()
	stored.DropUnlessKept(pod, is)
	pod.UID, pod.Status = is.UID, is.Status
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = is.DeletionTimestamp, is.DeletionGracePeriodSeconds
	admission.KeepAdmitted(pod, is, admission.Admission{Objects: p.View})
	return object.KeepCreatedPod(pod, is)
}

// equal returns a *StoredError where two pods, which have their kind, are not equal.
func (p *Prepared) equal(want, stored *corev1.Pod) error {
	have, err := object.Encode(stored)
	if err != nil {
		return err
	}
	js, err := object.Encode(want)
	if err != nil || bytes.Equal(js, have) {
		return err
	}
	e := &StoredError{Namespace: want.Namespace, Name: want.Name, Revision: p.View.Revision}
	var paths []string
	if err := object.Differences(have, js, func(path string, from, to any) {
		e.Fields = append(e.Fields, PodField{path, fmt.Sprintf("the stored pod has %s, the request %s", valueText(from), valueText(to))})
		paths = append(paths, path)
	}); err != nil {
		return err
	}
	if e.Patch, err = jsonpatch.CreateMergePatch(have, js); err != nil {
		return fmt.Errorf("compare pod %s/%s: %w", want.Namespace, want.Name, err)
	}
	e.Refused = admission.UpdateStored(want, stored, admission.Admission{}).Errors
	way := "the changes in conflict make it equal"
	if len(e.Refused) > 0 {
		way = "no update makes it equal, since an API server refuses that: bind the stored pod by podRef, or delete it first"
	}
	e.Detail = fmt.Sprintf("pod %s/%s differs from the stored one in %s: %s; %s", want.Namespace, want.Name, p.View.ID(), strings.Join(paths, ", "), way)
	return e
}

// valueText words a field's value as JSON; a field that is not there has none.
func valueText(v any) string {
	if v == nil {
		return "none"
	}
	js, err := json.Marshal(v)
	if err != nil { // it was decoded from JSON
		return "another value"
	}
	return string(js)
}
