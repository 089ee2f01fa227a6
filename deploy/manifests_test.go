// Package deploy holds the manifests to what they speak of: the API's types, each
// other, the kinds that are followed and the server's own metrics and routes.
package deploy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"

	"berth/internal/version"
)

// kinds are the types that manifests are read into; a field that a type lacks is
// an error. Those of operators are written down in foreign_test.go.
var kinds = map[string]func() metav1.Object{
	"v1 Namespace":                             func() metav1.Object { return &corev1.Namespace{} },
	"v1 ServiceAccount":                        func() metav1.Object { return &corev1.ServiceAccount{} },
	"v1 Service":                               func() metav1.Object { return &corev1.Service{} },
	"v1 Pod":                                   func() metav1.Object { return &corev1.Pod{} },
	"v1 ConfigMap":                             func() metav1.Object { return &corev1.ConfigMap{} },
	"v1 PersistentVolumeClaim":                 func() metav1.Object { return &corev1.PersistentVolumeClaim{} },
	"apps/v1 Deployment":                       func() metav1.Object { return &appsv1.Deployment{} },
	"apps/v1 StatefulSet":                      func() metav1.Object { return &appsv1.StatefulSet{} },
	"batch/v1 CronJob":                         func() metav1.Object { return &batchv1.CronJob{} },
	"batch/v1 Job":                             func() metav1.Object { return &batchv1.Job{} },
	"policy/v1 PodDisruptionBudget":            func() metav1.Object { return &policyv1.PodDisruptionBudget{} },
	"networking.k8s.io/v1 NetworkPolicy":       func() metav1.Object { return &networkingv1.NetworkPolicy{} },
	"rbac.authorization.k8s.io/v1 ClusterRole": func() metav1.Object { return &rbacv1.ClusterRole{} },
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": func() metav1.Object { return &rbacv1.ClusterRoleBinding{} },
	"monitoring.coreos.com/v1 ServiceMonitor":         func() metav1.Object { return &serviceMonitor{} },
	"monitoring.coreos.com/v1 PrometheusRule":         func() metav1.Object { return &prometheusRule{} },
	"cert-manager.io/v1 Issuer":                       func() metav1.Object { return &issuer{} },
	"cert-manager.io/v1 Certificate":                  func() metav1.Object { return &certificate{} },
}

// read decodes a file of manifests strictly.
func read(t *testing.T, file string) (all []metav1.Object) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw))); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var is metav1.TypeMeta
		if err := sigsyaml.Unmarshal(doc, &is); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if is.Kind == "" {
			continue // a comment
		}
		empty, ok := kinds[is.APIVersion+" "+is.Kind]
		if !ok {
			t.Fatalf("%s: no type for %s %s", file, is.APIVersion, is.Kind)
		}
		o := empty()
		if err := strict(doc, o); err != nil {
			t.Errorf("%s: %s: %v", file, is.Kind, err)
		}
		id := fmt.Sprintf("%s %s/%s", is.Kind, o.GetNamespace(), o.GetName())
		if seen[id] || o.GetName() == "" {
			t.Errorf("%s: %s is there twice, or has no name", file, id)
		}
		seen[id] = true
		all = append(all, o)
	}
}

// strict reads YAML as an apiserver would that refuses unknown fields: names
// count in their case, and a field given twice is an error.
func strict(raw []byte, into any) error {
	js, err := sigsyaml.YAMLToJSONStrict(raw)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(js, into)
	return errors.Join(append(unknown, err)...)
}

// of returns those of a type.
func of[T metav1.Object](all []metav1.Object) (list []T) {
	for _, o := range all {
		if o, ok := o.(T); ok {
			list = append(list, o)
		}
	}
	return list
}

// servers returns what makes the servers' pods, a StatefulSet as far as it is like
// a Deployment.
func servers(all []metav1.Object) []*appsv1.Deployment {
	list := of[*appsv1.Deployment](all)
	for _, s := range of[*appsv1.StatefulSet](all) {
		list = append(list, &appsv1.Deployment{ObjectMeta: s.ObjectMeta, Spec: appsv1.DeploymentSpec{Replicas: s.Spec.Replicas, Selector: s.Spec.Selector, Template: s.Spec.Template}})
	}
	return list
}

// templates returns all pods that a file's objects make.
func templates(all []metav1.Object) map[string]*corev1.PodTemplateSpec {
	out := map[string]*corev1.PodTemplateSpec{}
	for _, o := range all {
		switch o := o.(type) {
		case *appsv1.Deployment:
			out[o.Name] = &o.Spec.Template
		case *appsv1.StatefulSet:
			t := o.Spec.Template.DeepCopy()
			for _, c := range o.Spec.VolumeClaimTemplates {
				t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: c.Name})
			}
			out[o.Name] = t
		case *batchv1.Job:
			out[o.Name] = &o.Spec.Template
		case *batchv1.CronJob:
			out[o.Name] = &o.Spec.JobTemplate.Spec.Template
		case *corev1.Pod:
			out[o.Name] = &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}
		}
	}
	return out
}

// each calls f with the objects of every rendered file.
func each(t *testing.T, f func(t *testing.T, all []metav1.Object)) {
	t.Helper()
	files, err := filepath.Glob("rendered/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { f(t, read(t, file)) })
	}
}

// TestPodsAreRestricted holds berth's containers to the restricted pod security
// standard, which the namespace enforces.
func TestPodsAreRestricted(t *testing.T) {
	each(t, func(t *testing.T, all []metav1.Object) {
		for name, pod := range templates(all) {
			for _, c := range pod.Spec.Containers {
				if c.Image != "berth:"+version.Number {
					if c.Name == "kube-scheduler" {
						continue // it is upstream's
					}
					t.Errorf("%s: the image is %s, and `make image` makes berth:%s", name, c.Image, version.Number)
				}
				of := func(f func(*corev1.SecurityContext) *bool, whole *bool) bool {
					if c.SecurityContext != nil && f(c.SecurityContext) != nil {
						return *f(c.SecurityContext)
					}
					return whole != nil && *whole
				}
				ps := pod.Spec.SecurityContext
				s := c.SecurityContext
				if s == nil || ps == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.Capabilities == nil || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" ||
					s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || ps.SeccompProfile == nil || ps.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
					!of(func(s *corev1.SecurityContext) *bool { return s.RunAsNonRoot }, ps.RunAsNonRoot) {
					t.Errorf("%s: container %s is not restricted", name, c.Name)
				}
				if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
					t.Errorf("%s: container %s does not say what it needs", name, c.Name)
				}
			}
		}
	})
}

// TestMountsAreThere: what a flag names lies on a volume, and volumes are there.
func TestMountsAreThere(t *testing.T) {
	each(t, func(t *testing.T, all []metav1.Object) {
		for name, pod := range templates(all) {
			volumes := map[string]bool{}
			for _, v := range pod.Spec.Volumes {
				volumes[v.Name] = true
				if c := v.PersistentVolumeClaim; c != nil && len(of[*corev1.PersistentVolumeClaim](all)) != 1 {
					t.Errorf("%s: no claim %s", name, c.ClaimName)
				}
			}
			for _, c := range pod.Spec.Containers {
				under := func(path string, write bool) bool {
					for _, m := range c.VolumeMounts {
						if volumes[m.Name] && (path == m.MountPath || strings.HasPrefix(path, m.MountPath+"/")) && (!write || !m.ReadOnly) {
							return true
						}
					}
					return false
				}
				for _, arg := range append(c.Args, c.Command...) {
					flag, path, _ := strings.Cut(arg, "=")
					if flag == "--follow" {
						_, path, _ = strings.Cut(path, "=")
					}
					if strings.HasPrefix(path, "/") && !under(path, flag == "--data-dir") {
						t.Errorf("%s: nothing is mounted for %s", name, arg)
					}
				}
			}
		}
	})
}
