package apiserver_test

import (
	"strings"
	"testing"

	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
)

// template is one of pods with the labels of the selectors here.
const template = `"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// ended is a template of pods that end.
const ended = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`

// TestCreated breaks one part of an object that an API server takes: what it refuses then is in
// want. A snapshot may have such objects, and an update is only held to what the object met before.
func TestCreated(t *testing.T) {
	const (
		claim = `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"fast","volumeMode":"Block","resources":{"requests":{"storage":"1Gi"}}}}`
		pv    = `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"}}}`
		local = `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOncePod"],"local":{"path":"/a"},` +
			`"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}]}}}}`
		budget  = `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"a"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}}`
		share   = `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"a"},"spec":{"maxUnavailable":"100%","unhealthyPodEvictionPolicy":"AlwaysAllow"}}`
		class   = `{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"provisioner":"example.com/P","allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a","b"]},{"key":"rack","values":["r"]}]}]}`
		csiNode = `{"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":["zone","rack"]}]}}`
		room    = `{"kind":"CSIStorageCapacity","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"storageClassName":"s","capacity":"1Gi"}`
		set     = `{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		ordered = `{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		deploy  = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		daemons = `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		job     = `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"parallelism":1,"completions":2,` + ended + `}}`
		cron    = `{"kind":"CronJob","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{"backoffLimit":3,` + ended + `}}}}`
		runtime = `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"a"},"handler":"kata"}`
		quota   = `{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"a"},"spec":{"hard":{"pods":"4","count/jobs.batch":"1"}}}`
		rc      = `{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"app":"a"},` + template + `}}`
		devices = `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":2}},` +
			`{"name":"net","firstAvailable":[{"name":"x","deviceClassName":"c"},{"name":"y","deviceClassName":"d"}]}],"constraints":[{"requests":["gpu","net/x"],"matchAttribute":"a/b"}]}}}`
		like     = `{"kind":"ResourceClaimTemplate","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"c"}}]}}}}`
		slice    = `{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"x","taints":[{"key":"k","effect":"NoSchedule"}]},{"name":"y"}]}}`
		each     = `{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"driver":"d","perDeviceNodeSelection":true,"pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"x","nodeName":"n"}]}}`
		devClass = `{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"selectors":[{"cel":{"expression":"true"}}],"extendedResourceName":"example.com/gpu"}}`
	)
	for _, c := range []struct{ object, was, is, want string }{
		{claim, `["ReadWriteOnce"]`, `[]`, "spec.accessModes: Required"},
		{claim, `ReadWriteOnce`, `Once`, "spec.accessModes: Unsupported"},
		{claim, `"ReadWriteOnce"`, `"ReadWriteOnce","ReadWriteOncePod"`, "spec.accessModes: Forbidden"},
		{claim, `"storage":"1Gi"`, ``, "spec.resources[storage]: Required"},
		{claim, `1Gi`, `0`, "spec.resources[storage]: Invalid"},
		{claim, `fast`, `Fast`, "spec.storageClassName: Invalid"},
		{claim, `Block`, `Tape`, "spec.volumeMode: Unsupported"},
		{pv, `["ReadWriteOnce"]`, `[]`, "spec.accessModes: Required"},
		{pv, `"storage":"1Gi"`, ``, "spec.capacity: Required"},
		{pv, `"1Gi"`, `"1Gi","cpu":"1"`, "spec.capacity: Unsupported"},
		{pv, `1Gi`, `0`, "spec.capacity[storage]: Invalid"},
		{pv, `"d"`, `""`, "spec.csi.driver: Required"},
		{pv, `"h"`, `""`, "spec.csi.volumeHandle: Required"},
		{pv, `"csi"`, `"storageClassName":"a b","csi"`, "spec.storageClassName: Invalid"},
		{local, `nodeAffinity`, `other`, "spec.nodeAffinity: Required"},
		{budget, `:1`, `:1,"maxUnavailable":1`, "spec: Invalid"},
		{budget, `:1`, `:-1`, "spec.minAvailable: Invalid"},
		{budget, `:1`, `:"1"`, "spec.minAvailable: Invalid"},
		{share, `100%`, `101%`, "spec.maxUnavailable: Invalid"},
		{share, `100%`, `99999999999999999999%`, "spec.maxUnavailable: Invalid"},
		{share, `100%`, `0099%`, ""},
		{share, `AlwaysAllow`, `Never`, "spec.unhealthyPodEvictionPolicy: Unsupported"},
		{class, `example.com/P`, `a b`, "provisioner: Invalid"},
		{class, `"a","b"`, `"a","a"`, "allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate"},
		{class, `rack`, `zone`, "allowedTopologies[0].matchLabelExpressions[1].key: Duplicate"},
		{csiNode, `"d"`, `"d d"`, "spec.drivers[0].name: Invalid"},
		{csiNode, `rack`, `zone`, "spec.drivers[0]: Duplicate"},
		{csiNode, `rack`, `a b`, "spec.drivers[0]: Invalid"},
		{room, `"s"`, `"S"`, "storageClassName: Invalid"},
		{set, `:1`, `:-1`, "spec.replicas: Invalid"},
		{set, `"app":"a"`, ``, "spec.selector: Invalid"},
		{ordered, `"app":"a"`, ``, "spec.selector: Invalid"},
		{deploy, `:1`, `:-1`, "spec.replicas: Invalid"},
		{deploy, `"app":"a"`, ``, "spec.selector: Invalid"},
		{daemons, `"app":"a"`, ``, "spec.selector: Invalid"},
		{job, `:1`, `:-1`, "spec.parallelism: Invalid"},
		{job, `:2`, `:-2`, "spec.completions: Invalid"},
		{cron, `@daily`, ``, "spec.schedule: Required"},
		{cron, `:3`, `:-3`, "spec.jobTemplate.spec.backoffLimit: Invalid"},
		{runtime, `kata`, `Kata`, "handler: Invalid"},
		{runtime, `kata`, ``, "handler: Required"},
		{quota, `"1"`, `"-1"`, "spec.hard[count/jobs.batch]: Invalid"},
		{rc, `:1`, `:-1`, "spec.replicas: Invalid"},
		{rc, `"app":"a"`, ``, ""},
		{rc, template, `"template":{"spec":{}}`, "spec.template.metadata.labels: Invalid"},
		{devices, `ExactCount`, `All`, "spec.devices.requests[0].exactly.count: Invalid"},
		{devices, `"gpu",`, `"GPU",`, "spec.devices.requests[0].name: Invalid"},
		{devices, `"exactly":`, `"other":`, "spec.devices.requests[0]: Required"},
		{devices, `"y"`, `"x"`, "spec.devices.requests[1].firstAvailable[1]: Duplicate"},
		{devices, `net/x`, `net/z`, "spec.devices.constraints[0].requests[1]: Invalid"},
		{devices, `,"matchAttribute":"a/b"`, ``, "spec.devices.constraints[0]: Required"},
		{like, `"c"`, `""`, "spec.spec.devices.requests[0].exactly.deviceClassName: Required"},
		{slice, `"nodeName":"n",`, ``, "spec: Required"},
		{slice, `"nodeName":"n"`, `"nodeName":"n","allNodes":true`, "spec: Invalid"},
		{slice, `"y"`, `"x"`, "spec.devices[1]: Duplicate"},
		{slice, `"resourceSliceCount":1`, `"resourceSliceCount":0`, "spec.pool.resourceSliceCount: Invalid"},
		{slice, `NoSchedule`, `Never`, "spec.devices[0].taints[0].effect: Unsupported"},
		{slice, `"name":"y"`, `"name":"y","nodeName":"n"`, "spec.devices[1]: Invalid"},
		{each, `,"nodeName":"n"`, ``, "spec.devices[0]: Required"},
		{devClass, `"cel":{"expression":"true"}`, ``, "spec.selectors[0].cel: Required"},
		{devClass, `example.com/gpu`, `gpu`, "spec.extendedResourceName: Invalid"},
	} {
		read := func(js string) object.Object {
			t.Helper()
			o, err := object.Decode([]byte(js), object.Limits{})
			if err != nil {
				t.Fatalf("%s: %v", js, err)
			}
			return o
		}
		sound := read(c.object)
		if errs := apiserver.Validate(sound, []byte(c.object)); len(errs) > 0 {
			t.Errorf("%s: %v", c.object, errs)
		}
		js := strings.Replace(c.object, c.was, c.is, 1)
		if js == c.object {
			t.Fatalf("%s has no %s", c.object, c.was)
		}
		broken := read(js)
		errs := apiserver.Validate(broken, []byte(js))
		if got := errs.ToAggregate(); c.want == "" && got != nil || c.want != "" && (got == nil || !strings.Contains(got.Error(), c.want)) {
			t.Errorf("%s for %s of %s: %v, want %q", c.is, c.was, sound.Key.Kind, got, c.want)
		}
		if len(errs) > 0 && len(apiserver.ValidateUpdate(broken, []byte(js), sound)) == 0 {
			t.Errorf("%s for %s of %s: an update takes it", c.is, c.was, sound.Key.Kind)
		}
		if errs := apiserver.ValidateUpdate(broken, broken.JSON, broken); len(errs) > 0 {
			t.Errorf("%s for %s of %s: an update of what has that fault is refused: %v", c.is, c.was, sound.Key.Kind, errs)
		}
	}
}

// TestVolumeSources holds volumes to one source, also of those of which nothing is kept.
func TestVolumeSources(t *testing.T) {
	for sources, want := range map[string]string{
		`"csi":{"driver":"d","volumeHandle":"h"}`:      "",
		`"fc":{"targetWWNs":["w"],"lun":1},"csi":null`: "",
		`"storageClassName":"fast"`:                    "spec: Required value: must specify a volume type",
		`"fc":null`:                                    "spec: Required value: must specify a volume type",
		`"fc":{"targetWWNs":["w"],"lun":1},"csi":{"driver":"d","volumeHandle":"h"}`: "spec.csi: Forbidden: may not specify more than 1 volume type",
	} {
		js := `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],` + sources + `}}`
		got := ""
		if errs := apiserver.Validate(decode(t, js), []byte(js)); len(errs) > 0 {
			got = errs.ToAggregate().Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sources, got, want)
		}
	}
}
