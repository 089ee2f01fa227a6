package state

import (
	"strings"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TopOwner returns a pod's controller, and for a pod of a ReplicaSet the Deployment that owns that;
// ok is false where it has none. A ReplicaSet that the state does not have is a Deployment's if its
// name ends as a Deployment's controller names it.
func (s *State) TopOwner(p *Pod) (o Owner, ok bool) {
	if p.Owner == (unique.Handle[Owner]{}) {
		return Owner{}, false
	}
	return s.topOwner(p.Namespace, p.Owner.Value(), p.Class.Shape.Labels), true
}

// TopOwnerOf is TopOwner of a pod that the state need not have.
func (s *State) TopOwnerOf(p *corev1.Pod) (o Owner, ok bool) {
	c := metav1.GetControllerOfNoCopy(p)
	if c == nil {
		return Owner{}, false
	}
	return s.topOwner(p.Namespace, Owner{c.Kind, c.Name}, p.Labels), true
}

// topOwner returns the owner of a controller of pods with these labels; itself where it has none.
func (s *State) topOwner(namespace string, o Owner, labels map[string]string) Owner {
	if o.Kind != "ReplicaSet" {
		return o
	}
	if rs := s.ReplicaSet(namespace, o.Name); rs != nil {
		if top := metav1.GetControllerOfNoCopy(rs); top != nil {
			return Owner{top.Kind, top.Name}
		}
		return o
	}
	hash := labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if name, cut := strings.CutSuffix(o.Name, "-"+hash); cut && hash != "" && name != "" {
		return Owner{"Deployment", name}
	}
	return o
}

// resizing returns what a pod of a class counts for beyond what its containers have, where its node
// defers a resize; nil for nothing.
func resizing(t *Tables, pod *corev1.Pod, c *Class) *Amount {
	deferred := false
	for i := range pod.Status.Conditions {
		cond := &pod.Status.Conditions[i]
		deferred = deferred || cond.Type == corev1.PodResizePending && cond.Status == corev1.ConditionTrue
	}
	if !deferred {
		return nil
	}
	has := pod.DeepCopy()
	given := map[string]corev1.ResourceList{}
	for i := range has.Status.ContainerStatuses {
		of := &has.Status.ContainerStatuses[i]
		given[of.Name] = of.AllocatedResources
		if of.AllocatedResources == nil && of.Resources != nil {
			given[of.Name] = of.Resources.Requests
		}
	}
	for i := range has.Spec.Containers {
		if list := given[has.Spec.Containers[i].Name]; list != nil {
			has.Spec.Containers[i].Resources.Requests = list
		}
	}
	now := placedRequest(t, has)
	more := c.Request.Minus(&now.Request.Amount)
	if more == (Amount{}) {
		return nil
	}
	return &more
}
