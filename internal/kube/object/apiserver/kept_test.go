package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/follow"
	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
)

// TestEveryKind breaks the name or an amount of an object of each kind: all are judged but Pods,
// which are not judged here, and versions that API servers of v1.37 do not serve by default.
func TestEveryKind(t *testing.T) {
	unserved := map[string]bool{"Pod": true, "Workload": true, "PodGroup": true}
	for _, k := range follow.Kinds() {
		o := object.Object{Key: object.Key{Kind: k.Kind}, Value: &corev1.Node{}}
		errs := apiserver.Validate(o, []byte(`{"metadata":{"name":"-"},"spec":{"minAvailable":-1}}`))
		if judged := len(errs) > 0; judged == unserved[k.Kind] {
			t.Errorf("%s: %v", k.Kind, errs)
		}
	}
}

// TestWholeManifest: what is not kept is judged of a manifest that is created, and so is what
// replaces an object of which only the rest is there.
func TestWholeManifest(t *testing.T) {
	const (
		deploy = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{` +
			`"volumes":[{"name":"s","secret":{"secretName":"s"}}],"containers":[{"name":"c","image":"i","env":[{"name":"E","value":"v"}],"livenessProbe":{"httpGet":{"path":"/","port":80}},"volumeMounts":[{"name":"s","mountPath":"/s"}]}]}}}}`
		volume   = `{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"nfs":{"server":"s","path":"/p"}}}`
		drivers  = `{"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"spec":{"drivers":[{"name":"d","nodeID":"n"},{"name":"e","nodeID":"n"}]}}`
		service  = `{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"},"spec":{"clusterIP":"None","selector":{"app":"a"},"ports":[{"port":80}]}}`
		daemons  = `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"a"}},` + template + `}}`
		sleeping = `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"suspend":true,` + ended + `}}`
		cron     = `{"kind":"CronJob","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"schedule":"@daily","timeZone":"Europe/Berlin","jobTemplate":{"spec":{` + ended + `}}}}`
		quota    = `{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"a"},"spec":{"hard":{"pods":"4"}}}`
	)
	for _, c := range []struct{ object, was, is, created, replaced string }{
		{deploy, `"E"`, `"="`, "spec.template.spec.containers[0].env[0].name: Invalid", "env[0].name: Invalid"},
		{deploy, `"port":80`, `"port":0`, "livenessProbe.httpGet.port: Invalid", ""}, // a probe that is kept has none
		{deploy, `"mountPath":"/s"`, `"mountPath":""`, "volumeMounts[0].mountPath: Required", "volumeMounts[0].mountPath: Required"},
		{deploy, `"image":"i"`, `"image":"j"`, "", ""},
		{deploy, `[{"name":"c"`, `[{"name":"b","image":"i"},{"name":"c"`, "", ""},
		{deploy, `[{"name":"E","value":"v"}]`, `{}`, "spec.template.spec.containers[0].env: Invalid", "containers[0].env: Invalid"},
		{volume, `"s"`, `""`, "spec.nfs.server: Required", ""}, // a volume that is kept has none
		{volume, `"name":"a"`, `"name":"a","labels":{"a":"b"}`, "", ""},
		{drivers, `"nodeID":"n"},`, `"nodeID":"n","topologyKeys":["zone"]},`, "", "spec.drivers: Invalid"},
		{drivers, `{"name":"d","nodeID":"n"},`, ``, "", ""},
		{service, `"ports":[{"port":80}]`, `"ports":[{"port":0}]`, "spec.ports[0].port: Invalid", "spec.ports[0].port: Invalid"},
		{service, `"None"`, `"1.2.3"`, "spec.clusterIPs[0]: Invalid", "spec.clusterIPs[0]: Invalid"},
		{daemons, `"image":"i"`, `"image":"j"`, "", ""},
		{daemons, `"name":"a"`, `"name":"a","annotations":{"deprecated.daemonset.template.generation":"x"}`, "metadata: Invalid", "metadata: Invalid"},
		{sleeping, `"image":"i"`, `"image":"i","resources":{"requests":{"cpu":"1"}}`, "", ""},
		{sleeping, `"image":"i"`, `"image":"j"`, "", "spec.template.spec: Invalid"},
		{sleeping, `"suspend":true`, `"suspend":true,"selector":{"matchLabels":{"app":"a"}}`, "spec.template.metadata.labels: Invalid", "spec.selector: Invalid"},
		{cron, `Berlin`, `Nowhere`, "spec.timeZone: Invalid", "spec.timeZone: Invalid"},
		{quota, `"pods"`, `"Pods!"`, "spec.hard[Pods!]: Invalid", "spec.hard[Pods!]: Invalid"},
	} {
		changed := strings.Replace(c.object, c.was, c.is, 1)
		if changed == c.object {
			t.Fatalf("%s has no %s", c.object, c.was)
		}
		held, now := decode(t, c.object), decode(t, changed)
		if errs := apiserver.Validate(held, []byte(c.object)); len(errs) > 0 {
			t.Errorf("%s: %v", c.object, errs)
		}
		for _, x := range []struct {
			what, got, want string
		}{
			{"created", fmt.Sprint(apiserver.Validate(now, []byte(changed)).ToAggregate()), c.created},
			{"replaced", fmt.Sprint(apiserver.ValidateUpdate(now, []byte(changed), held).ToAggregate()), c.replaced},
		} {
			if x.want == "" && x.got != "<nil>" || !strings.Contains(x.got, x.want) {
				t.Errorf("%s with %s for %s, %s: %q, want %q", held.Key.Kind, c.is, c.was, x.what, x.got, x.want)
			}
		}
		if errs := apiserver.ValidateUpdate(held, held.JSON, held); len(errs) > 0 {
			t.Errorf("what is kept of %s: %v", c.object, errs)
		}
	}
}

// TestOldStatefulSet: releases before v0.4.0 kept the selector alone.
func TestOldStatefulSet(t *testing.T) {
	const manifest = `{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"podManagementPolicy":"Parallel","selector":{"matchLabels":{"app":"a"}},` + template + `}}`
	stored := func(app string) object.Object {
		return decode(t, `{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"`+app+`"}}}}`)
	}
	now := decode(t, manifest)
	if errs := apiserver.ValidateUpdate(now, []byte(manifest), stored("a")); len(errs) > 0 {
		t.Error(errs)
	}
	if errs := apiserver.ValidateUpdate(now, []byte(manifest), stored("b")); len(errs) == 0 {
		t.Error("the selector changes")
	}
}

// TestBounds: what upstream compares with all others, or compiles, is bounded.
func TestBounds(t *testing.T) {
	const many = 1001
	constraints := strings.Repeat(`{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"},`, many)
	spread := `"template":{"spec":{"containers":[{"name":"c"}],"topologySpreadConstraints":[` + strings.TrimSuffix(constraints, ",") + `]}}`
	cel := strings.Repeat(`{"cel":{"expression":"`+strings.Repeat(" ", 10_000)+`true"}},`, 7)
	selectors := `"selectors":[` + strings.TrimSuffix(cel, ",") + `]`
	var topologies, drivers strings.Builder
	for i := range many {
		fmt.Fprintf(&topologies, `{"matchLabelExpressions":[{"key":"zone","values":["z%d"]}]},`, i)
		fmt.Fprintf(&drivers, `{"name":"d%d","nodeID":"n"},`, i)
	}
	of := func(b *strings.Builder) string { return "[" + strings.TrimSuffix(b.String(), ",") + "]" }
	for _, c := range []struct{ object, want string }{
		{`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"selector":{},` + spread + `}}`, "spec.template.spec.topologySpreadConstraints: Too many"},
		{`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{` + spread + `}}`, "spec.template.spec.topologySpreadConstraints: Too many"},
		{`{"kind":"CronJob","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"jobTemplate":{"spec":{` + spread + `}}}}`, "spec.jobTemplate.spec.template.spec.topologySpreadConstraints: Too many"},
		{`{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"provisioner":"p","allowedTopologies":` + of(&topologies) + `}`, "allowedTopologies: Too many"},
		{`{"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"spec":{"drivers":` + of(&drivers) + `}}`, "spec.drivers: Too many"},
		{`{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{` + selectors + `}}`, "spec.selectors: Too long"},
		{`{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c",` + selectors + `}}]}}}`, "spec.devices.requests: Too long"},
		{`{"kind":"ResourceClaimTemplate","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"spec":{"devices":{"requests":[{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"c",` + selectors + `}]}]}}}}`, "spec.spec.devices.requests: Too long"},
	} {
		o := decode(t, c.object)
		for _, errs := range []error{apiserver.Validate(o, []byte(c.object)).ToAggregate(), apiserver.ValidateUpdate(o, []byte(c.object), o).ToAggregate()} {
			if got := fmt.Sprint(errs); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %.200s, want %q", o.Key.Kind, got, c.want)
			}
		}
	}
}

// TestLargeChange: upstream's message would show how two large claims differ.
func TestLargeChange(t *testing.T) {
	claim := func(mode string) string {
		return `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"a"},"spec":{"accessModes":["` + mode + `"],"resources":{"requests":{"storage":"1Gi"}},` +
			`"selector":{"matchExpressions":[{"key":"k","operator":"In","values":["` + strings.Repeat(`a","`, 40_000) + `b"]}]}}}`
	}
	old, now := decode(t, claim("ReadWriteOnce")), decode(t, claim("ReadWriteMany"))
	if errs := apiserver.ValidateUpdate(now, now.JSON, old); len(errs) != 1 || errs[0].Field != "spec" || len(errs[0].Error()) > 200 {
		t.Errorf("%.200v", errs)
	}
	if errs := apiserver.ValidateUpdate(old, old.JSON, old); len(errs) > 0 {
		t.Errorf("no change: %.200v", errs)
	}
}
