package kube_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube"
	"berth/internal/kube/kubetest"
)

func TestBinder(t *testing.T) {
	deleted := metav1.NewTime(time.Unix(1, 0))
	tests := []struct {
		name string
		pod  func(*corev1.Pod)
		uid  string
		// before is asked by the apiserver before it binds.
		before  func(*kubetest.Server) func(*corev1.Binding) error
		refusal string // a part of it
		unknown string // a part of the error
		node    string // where the pod is afterwards
	}{
		{name: "binds", uid: "uid-a", node: "n1"},
		{name: "binds without a uid", node: "n1"},
		{name: "again is a success", uid: "uid-a", pod: func(p *corev1.Pod) { p.Spec.NodeName = "n1" }, node: "n1"},
		{name: "elsewhere already", uid: "uid-a", pod: func(p *corev1.Pod) { p.Spec.NodeName = "n2" }, refusal: "bound to node n2 already", node: "n2"},
		{name: "another pod of the name", uid: "uid-before", refusal: "it is another pod of that name"},
		{name: "being deleted", uid: "uid-a", pod: func(p *corev1.Pod) { p.DeletionTimestamp = &deleted }, refusal: "is being deleted"},
		{name: "gone", uid: "uid-a", pod: func(p *corev1.Pod) { p.Name = "other" }, refusal: "is gone"},
		{
			name: "forbidden", uid: "uid-a", refusal: "forbidden",
			before: func(*kubetest.Server) func(*corev1.Binding) error {
				return func(*corev1.Binding) error {
					return apierrors.NewForbidden(corev1.Resource("pods/binding"), "a", nil)
				}
			},
		},
		{
			name: "an answer that never came", uid: "uid-a", node: "n1",
			before: func(s *kubetest.Server) func(*corev1.Binding) error {
				return func(b *corev1.Binding) error {
					p, _ := s.Pod("shop", "a")
					p.Spec.NodeName = b.Target.Name
					s.Put(t, "pods", p)
					return apierrors.NewInternalError(errLost{})
				}
			},
		},
		{
			name: "not known", uid: "uid-a", unknown: "whether it took place is not known",
			before: func(*kubetest.Server) func(*corev1.Binding) error {
				return func(*corev1.Binding) error { return apierrors.NewInternalError(errLost{}) }
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := kubetest.New(t)
			p := pod("a")
			if test.pod != nil {
				test.pod(p)
			}
			s.Put(t, "pods", p)
			if test.before != nil {
				s.BeforeBind(test.before(s))
			}
			b, err := kube.NewBinder(s.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			refusal, err := b.Bind(t.Context(), "shop", "a", test.uid, "n1")
			if (refusal == "") != (test.refusal == "") || !strings.Contains(refusal, test.refusal) {
				t.Errorf("refusal %q, want one with %q", refusal, test.refusal)
			}
			if (err == nil) != (test.unknown == "") || err != nil && !strings.Contains(err.Error(), test.unknown) {
				t.Errorf("error %v, want one with %q", err, test.unknown)
			}
			if now, ok := s.Pod("shop", "a"); ok && now.Spec.NodeName != test.node {
				t.Errorf("the pod is on %q, want %q", now.Spec.NodeName, test.node)
			}
		})
	}
}

type errLost struct{}

func (errLost) Error() string { return "lost" }
