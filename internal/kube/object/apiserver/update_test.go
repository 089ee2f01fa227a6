package apiserver_test

import (
	"strings"
	"testing"

	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
)

// TestKindUpdates changes one part of an object: what an API server refuses is in want.
func TestKindUpdates(t *testing.T) {
	const (
		claim = `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
		bound = `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"fast","volumeName":"v","resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Bound"}}`
		pv    = `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"},` +
			`"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"failure-domain.beta.kubernetes.io/zone","operator":"In","values":["a"]}]}]}}}}`
		class   = `{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"provisioner":"p"}`
		csiNode = `{"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":["zone"],"allocatable":{"count":3}}]}}`
		driver  = `{"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"spec":{"attachRequired":true}}`
		free    = `{"kind":"CSIStorageCapacity","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"storageClassName":"s","nodeTopology":{"matchLabels":{"zone":"a"}},"capacity":"1Gi"}`
		attach  = `{"kind":"VolumeAttachment","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"spec":{"attacher":"d","nodeName":"n","source":{"persistentVolumeName":"v"}}}`
		devices = `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"c"}}]}}}`
		like    = `{"kind":"ResourceClaimTemplate","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"c"}}]}}}}`
		slice   = `{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"x"}]}}`
		set     = `{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		ordered = `{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		deploy  = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		daemons = `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		job     = `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"parallelism":1,"completions":1,"completionMode":"Indexed",` + ended + `}}`
		runtime = `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"a"},"handler":"kata"}`
		budget  = `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"a"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}}`
	)
	for _, c := range []struct{ object, was, is, want string }{
		{claim, `"1Gi"`, `"2Gi"`, "spec: "},
		{claim, `ReadWriteOnce`, `ReadWriteMany`, "spec: "},
		{claim, `"resources"`, `"volumeName":"v","resources"`, ""},
		{claim, `"resources"`, `"storageClassName":"fast","resources"`, ""},
		{claim, `"resources"`, `"volumeMode":"Block","resources"`, "spec: "},
		{bound, `"1Gi"`, `"2Gi"`, ""},
		{bound, `"v"`, `"w"`, "spec: "},
		{bound, `"fast"`, `"slow"`, "spec: "},
		{bound, `"resources"`, `"volumeAttributesClassName":"gold","resources"`, ""},
		{pv, `"1Gi"`, `"2Gi"`, ""},
		{pv, `"h"`, `"i"`, "spec.persistentvolumesource: "},
		{pv, `"csi"`, `"volumeMode":"Block","csi"`, "volumeMode: "},
		{pv, `"a"]`, `"b"]`, "nodeAffinity: Invalid"},
		{pv, `failure-domain.beta.kubernetes.io/zone`, `topology.kubernetes.io/zone`, ""},
		{pv, `failure-domain.beta.kubernetes.io/zone`, `zone`, "nodeAffinity: Invalid"},
		{strings.Replace(pv, `failure-domain.beta.kubernetes.io/zone`, `topology.kubernetes.io/zone`, 1), `topology.kubernetes.io/zone`, `failure-domain.beta.kubernetes.io/zone`, "nodeAffinity: Invalid"},
		{class, `"p"`, `"q"`, "provisioner: "},
		{class, `"provisioner"`, `"volumeBindingMode":"WaitForFirstConsumer","provisioner"`, "volumeBindingMode: "},
		{class, `"provisioner"`, `"allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a"]}]}],"provisioner"`, ""},
		{csiNode, `"zone"`, `"rack"`, "spec.drivers: "},
		{csiNode, `3`, `4`, ""},
		{csiNode, `"name":"d"`, `"name":"e"`, ""},
		{driver, `true`, `false`, "spec.attachedRequired: "},
		{free, `"1Gi"`, `"2Gi"`, ""},
		{free, `"s"`, `"t"`, "storageClassName: "},
		{free, `"zone":"a"`, `"zone":"b"`, "nodeTopology: "},
		{attach, `"n"`, `"m"`, "spec: "},
		{deploy, `"a"}}`, `"b"}}`, "spec.selector: "},
		{deploy, `:1`, `:2`, ""},
		{daemons, `"a"}}`, `"b"}}`, "spec.selector: "},
		{job, `Indexed`, `NonIndexed`, "spec.completionMode: "},
		{job, `:1`, `:2`, ""},
		{runtime, `kata`, `runc`, "handler: "},
		{devices, `"c"`, `"d"`, "spec: "},
		{like, `"c"`, `"d"`, "spec: "},
		{slice, `"x"`, `"y"`, ""},
		{slice, `"n"`, `"m"`, "spec.nodeName: "},
		{slice, `"driver":"d"`, `"driver":"e"`, "spec.driver: "},
		{slice, `"p"`, `"q"`, "spec.pool.name: "},
		{set, `"replicas":1`, `"replicas":2`, ""},
		{set, `"app":"a"`, `"app":"b"`, "spec.selector: "},
		{ordered, `"app":"a"`, `"app":"b"`, "spec.selector: "},
		{budget, `"app":"a"`, `"app":"b"`, ""},
	} {
		changed := strings.Replace(c.object, c.was, c.is, 1)
		old, now := decode(t, c.object), decode(t, changed)
		var got string
		if errs := apiserver.ValidateUpdate(now, []byte(changed), old); len(errs) > 0 {
			got = errs.ToAggregate().Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s to %s in %s: %q, want %q", c.was, c.is, c.object, got, c.want)
		}
		if errs := apiserver.ValidateUpdate(old, old.JSON, old); len(errs) > 0 {
			t.Errorf("no change of %s: %v", c.object, errs)
		}
	}
}

func decode(t *testing.T, text string) object.Object {
	t.Helper()
	o, err := object.Decode([]byte(text), object.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}
