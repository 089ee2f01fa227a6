package follow_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/follow"
	"berth/test/kubetest"
)

func TestBinder(t *testing.T) {
	deleted := metav1.NewTime(time.Unix(1, 0))
	// bound: the bind takes place, and the answer is an error all the same.
	bound := func(answer error) func(*kubetest.Server) func(*corev1.Binding) error {
		return func(s *kubetest.Server) func(*corev1.Binding) error {
			return func(b *corev1.Binding) error {
				p, _ := s.Pod("shop", "a")
				p.Spec.NodeName = b.Target.Name
				s.Put(t, "pods", p)
				return answer
			}
		}
	}
	tests := []struct {
		name string
		pod  func(*corev1.Pod)
		uid  string
		// before is called by the apiserver before it binds.
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
			before: bound(apierrors.NewInternalError(lostError{})),
		},
		{
			name: "too busy", uid: "uid-a", refusal: "too many",
			before: func(s *kubetest.Server) func(*corev1.Binding) error {
				asked := 0
				return func(*corev1.Binding) error {
					if asked++; asked > 1 {
						t.Error("asked twice")
					}
					return apierrors.NewTooManyRequests("too many", 1)
				}
			},
		},
		{
			name: "on its node by another reason of conflict", uid: "uid-a", node: "n1",
			before: bound(apierrors.NewAlreadyExists(corev1.Resource("bindings"), "a")),
		},
		{
			name: "not executed in time, and then it was", uid: "uid-a", node: "n1",
			before: bound(apierrors.NewTimeoutError("etcd", 1)),
		},
		{
			name: "made again between", uid: "uid-a", refusal: "it is another pod of that name",
			before: func(s *kubetest.Server) func(*corev1.Binding) error {
				return func(*corev1.Binding) error {
					p := pod("a")
					p.UID = "uid-again"
					s.Put(t, "pods", p)
					return nil
				}
			},
		},
		{
			name: "not known", uid: "uid-a", unknown: "whether it took place is not known",
			before: func(*kubetest.Server) func(*corev1.Binding) error {
				return func(*corev1.Binding) error { return apierrors.NewInternalError(lostError{}) }
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
			b, err := follow.NewBinder(s.Config(), 0)
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

type lostError struct{}

func (lostError) Error() string { return "lost" }

// TestBinderCut: the connection goes before the apiserver has said what became of
// the bind. Whether it took place is found out, or said not to be known.
func TestBinderCut(t *testing.T) {
	for _, test := range []struct {
		name       string
		done, deaf bool // the bind took place; nothing more is answered
		node       string
		known      bool
	}{
		{name: "after the bind", done: true, node: "n1", known: true},
		{name: "before the bind"},
		{name: "after the bind, and the apiserver went", done: true, deaf: true, node: "n1"},
		{name: "before the bind, and the apiserver went", deaf: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := kubetest.New(t)
			s.Put(t, "pods", pod("a"))
			s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet && !test.deaf {
					return false
				}
				if r.Method == http.MethodPost && test.done {
					p := pod("a")
					p.Spec.NodeName = "n1"
					s.Put(t, "pods", p)
				}
				panic(http.ErrAbortHandler)
			})
			b, err := follow.NewBinder(s.Config(), 0)
			if err != nil {
				t.Fatal(err)
			}
			refusal, err := b.Bind(t.Context(), "shop", "a", "uid-a", "n1")
			if refusal != "" || (err == nil) != test.known {
				t.Errorf("refusal %q, error %v", refusal, err)
			}
			if p, _ := s.Pod("shop", "a"); p.Spec.NodeName != test.node {
				t.Errorf("the pod is on %q, want %q", p.Spec.NodeName, test.node)
			}
		})
	}
}
