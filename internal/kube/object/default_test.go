package object

import (
	"strings"
	"testing"
)

// Each default, shown by what must and what must not stand in the canonical
// bytes. That defaulting is idempotent is checked for each case, too.
func TestDefaults(t *testing.T) {
	pod := func(fields string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"app":"web","rev":"7"}},"spec":{` + fields + `}}`
	}
	tests := []struct {
		name, body string
		want, not  []string
	}{
		{name: "identity", body: pod(`"containers":[{"name":"c"}]`), want: []string{
			`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"`,
			`"restartPolicy":"Always"`, `"terminationGracePeriodSeconds":30`, `"schedulerName":"default-scheduler"`,
		}, not: []string{"creationTimestamp"}},
		{name: "requests from limits", body: pod(`"containers":[{"name":"c","resources":{"limits":{"cpu":"0.5","memory":"1Gi"},"requests":{"cpu":"100m"}}}]`), want: []string{
			`"resources":{"limits":{"cpu":"500m","memory":"1Gi"},"requests":{"cpu":"100m","memory":"1Gi"}}`,
		}},
		{name: "init requests from limits", body: pod(`"containers":[{"name":"c"}],"initContainers":[{"name":"i","resources":{"limits":{"cpu":"1"}}}]`), want: []string{`"requests":{"cpu":"1"}`}},
		{name: "quantities are rounded up", body: pod(`"containers":[{"name":"c","resources":{"requests":{"cpu":"0.0001"}}}]`), want: []string{`"cpu":"1m"`}},
		{name: "pod-level requests", body: pod(`"resources":{"limits":{"cpu":"4","memory":"2Gi"}},"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]`), want: []string{
			`"requests":{"cpu":"1","memory":"2Gi"}`,
		}},
		{name: "host ports", body: pod(`"hostNetwork":true,"containers":[{"name":"c","ports":[{"containerPort":80}]}]`), want: []string{`"ports":[{"hostPort":80,"containerPort":80,"protocol":"TCP"}]`}},
		{name: "no host ports", body: pod(`"containers":[{"name":"c","ports":[{"containerPort":80}]}]`), want: []string{`"ports":[{"containerPort":80,"protocol":"TCP"}]`}},
		{name: "spread keys", body: pod(`"containers":[{"name":"c"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}},"matchLabelKeys":["app","absent"]}]`), want: []string{
			`"matchExpressions":[{"key":"app","operator":"In","values":["web"]}]`,
		}},
		{name: "affinity keys", body: pod(`"containers":[{"name":"c"}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{},"matchLabelKeys":["app"],"mismatchLabelKeys":["rev"]}]}}`), want: []string{
			`"matchExpressions":[{"key":"app","operator":"In","values":["web"]},{"key":"rev","operator":"NotIn","values":["7"]}]`,
		}},
		{name: "volumes without a source go", body: pod(`"containers":[{"name":"c"}],"volumes":[{"name":"w"}]`), not: []string{"volumes"}},
		{name: "local data stays", body: pod(`"containers":[{"name":"c"}],"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1024Mi"}},{"name":"w","emptyDir":{}}]`), want: []string{`"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}},{"name":"w","emptyDir":{}}]`}},
		{name: "replicas", body: `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r","namespace":"default"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}}}}`, want: []string{`"replicas":3`}},
		{name: "allocatable", body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4","pods":"110"}}}`, want: []string{`"allocatable":{"cpu":"4","pods":"110"}`}},
		{name: "an empty allocatable", body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"},"allocatable":{}}}`, want: []string{`"allocatable":{"cpu":"4"}`}},
		{name: "what an allocatable leaves out is not offered", body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4","example.com/gpu":"8"},"allocatable":{"cpu":"3"}}}`, want: []string{`"allocatable":{"cpu":"3"}`}},
		{name: "null times go", body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","creationTimestamp":null},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:00Z"}]}}`, want: []string{
			`"conditions":[{"type":"Ready","status":"True"}]`,
		}},
		{name: "namespace label", body: ns("a"), want: []string{`"labels":{"kubernetes.io/metadata.name":"a"}`}, not: []string{`"namespace":"`, `"status"`}},
		{name: "rbd pool", body: pod(`"containers":[{"name":"c"}],"volumes":[{"name":"v","rbd":{"monitors":["m"],"image":"i"}}]`), want: []string{`"pool":"rbd"`}},
		{name: "azure disk", body: pod(`"containers":[{"name":"c"}],"volumes":[{"name":"v","azureDisk":{"diskName":"d","diskURI":"u"}}]`), want: []string{`"kind":"Shared"`}},
		{name: "azure disk of a kind", body: `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"p"},"spec":{"azureDisk":{"diskName":"d","diskURI":"u","kind":"Managed"}}}`, want: []string{`"kind":"Managed"`}},
		{name: "binding mode", body: `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},"provisioner":"x"}`, want: []string{`"volumeBindingMode":"Immediate"`}},
		{name: "controller's selector", body: `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"r"},"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}`, want: []string{`"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objs := mustRead(t, tt.body, JSON)
			js := string(objs[0].JSON)
			for _, w := range tt.want {
				if !strings.Contains(js, w) {
					t.Errorf("%s isn't in\n%s", w, js)
				}
			}
			for _, n := range tt.not {
				if strings.Contains(js, n) {
					t.Errorf("%s is in\n%s", n, js)
				}
			}
			checkFixedPoint(t, objs)
		})
	}
}

// A nil selector matches nothing, and so nothing may be merged into it.
func TestNilSelectorStaysNil(t *testing.T) {
	p, err := DecodePod([]byte(`{"metadata":{"name":"p","labels":{"app":"web"}},"spec":{"containers":[{"name":"c"}],"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"}]}}}}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector; s != nil {
		t.Errorf("selector = %v", s)
	}
}

func TestDerivedUID(t *testing.T) {
	a := DerivedUID(Key{Kind: "Pod", Namespace: "a", Name: "x"})
	if a != DerivedUID(Key{Kind: "Pod", Namespace: "a", Name: "x"}) || a == DerivedUID(Key{Kind: "Pod", Namespace: "b", Name: "x"}) || a[14] != '5' {
		t.Errorf("uid = %s", a)
	}
}
