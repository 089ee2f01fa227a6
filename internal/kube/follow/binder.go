package follow

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"berth/internal/span"
)

// DefaultBindTimeout is for how long a bind may take, below the five seconds
// that kube-scheduler gives an extender unless told.
const DefaultBindTimeout = 3 * time.Second

// Binder binds pods through a cluster's apiserver. It is safe for concurrent use.
type Binder struct {
	core    *rest.RESTClient
	timeout time.Duration
}

// NewBinder makes a binder; timeout bounds each bind, and 0 stands for the
// default.
func NewBinder(c *rest.Config, timeout time.Duration) (*Binder, error) {
	core, err := client(c, corev1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	if timeout <= 0 {
		timeout = DefaultBindTimeout
	}
	return &Binder{core, timeout}, nil
}

// Bind posts the Binding of a pod to a node, on condition that the pod has that UID; an empty one
// is no condition. A pod that is on that node already is bound. refusal says in words why it is not
// and will not be; err, where that is not known: the bind may yet take place
// (pkg/registry/core/pod/storage assignPod).
func (b *Binder) Bind(ctx context.Context, namespace, name, uid, node string) (refusal string, err error) {
	ctx, part := span.Start(ctx, span.Bind)
	defer func() { part.End(err) }()
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	// The pod is read in what is left of the time, if it has to be.
	post, done := context.WithTimeout(ctx, b.timeout*2/3)
	defer done()
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid)},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	// Asked once: an answer is that to this call, and kube-scheduler asks again.
	err = span.Do(post, span.Post, func(ctx context.Context) error {
		return b.core.Post().MaxRetries(0).Namespace(namespace).Resource("pods").Name(name).SubResource("binding").Body(binding).Do(ctx).Error()
	})
	switch {
	case err == nil:
		return "", nil
	case conflicts(err), !definite(err):
		return b.look(ctx, namespace, name, uid, node, err)
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("pod %s/%s is gone: the apiserver does not have it", namespace, name), nil
	}
	// Also one that is too busy to look at the call at all: nothing was done then.
	return fmt.Sprintf("the apiserver refuses to bind pod %s/%s to node %s: %v", namespace, name, node, err), nil
}

// conflicts reports whether the apiserver answered 409, with whichever reason.
func conflicts(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	return ok && status.Status().Code == http.StatusConflict
}

// definite reports whether the apiserver refused the call, so that nothing was done.
func definite(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout
}

// look reads the pod to find out what became of a bind.
func (b *Binder) look(ctx context.Context, namespace, name, uid, node string, cause error) (string, error) {
	var pod corev1.Pod
	who := fmt.Sprintf("pod %s/%s", namespace, name)
	err := span.Do(ctx, span.Get, func(ctx context.Context) error {
		return b.core.Get().Namespace(namespace).Resource("pods").Name(name).Do(ctx).Into(&pod)
	})
	switch {
	case apierrors.IsNotFound(err):
		return who + " is gone: the apiserver does not have it", nil
	case err != nil:
		return "", fmt.Errorf("bind %s to node %s: %w; whether it took place is not known: %w", who, node, cause, err)
	case uid != "" && string(pod.UID) != uid:
		return fmt.Sprintf("%s has UID %s, not %s: it is another pod of that name", who, pod.UID, uid), nil
	case pod.Spec.NodeName == node:
		return "", nil
	case pod.Spec.NodeName != "":
		return fmt.Sprintf("%s is bound to node %s already and cannot be bound to %s", who, pod.Spec.NodeName, node), nil
	case pod.DeletionTimestamp != nil:
		return who + " is being deleted", nil
	case definite(cause):
		return fmt.Sprintf("the apiserver refuses to bind %s to node %s: %v", who, node, cause), nil
	}
	return "", fmt.Errorf("bind %s to node %s: whether it took place is not known: %w", who, node, cause)
}
