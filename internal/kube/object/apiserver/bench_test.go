package apiserver_test

import (
	"strings"
	"testing"

	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
)

// BenchmarkKinds judges an object of a kind that is created, and another label in it.
func BenchmarkKinds(b *testing.B) {
	for _, js := range []string{
		`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","labels":{"l":"b"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]},"status":{"capacity":{"cpu":"8","memory":"16Gi","pods":"110"}}}`,
		`{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"a","labels":{"l":"b"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`,
		`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"a","labels":{"l":"b"}},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}}`,
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a","labels":{"l":"b"}},"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `}}`,
		`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a","labels":{"l":"b"}},"spec":{` + ended + `}}`,
		`{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a","labels":{"l":"b"}},"spec":{"selectors":[{"cel":{"expression":"device.driver == 'd'"}}]}}`,
	} {
		read := func(js string) object.Object {
			o, err := object.Decode([]byte(js), object.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			return o
		}
		o, labelled := read(js), strings.Replace(js, `"l":"b"`, `"l":"c"`, 1)
		now := read(labelled)
		b.Run(o.Key.Kind+"/create", func(b *testing.B) {
			for b.Loop() {
				if errs := apiserver.Validate(o, []byte(js)); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
		b.Run(o.Key.Kind+"/update", func(b *testing.B) {
			for b.Loop() {
				if errs := apiserver.ValidateUpdate(now, []byte(labelled), o); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
		b.Run(o.Key.Kind+"/read", func(b *testing.B) {
			for b.Loop() {
				read(js)
			}
		})
	}
}
