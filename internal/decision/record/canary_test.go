package record_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"

	"berth/internal/kube/object"
)

// species are the kinds that are accepted, each with an object that is in order
// and complete enough for most of its places to be filled one at a time.
var species = []struct {
	kind, apiVersion string
	of               reflect.Type
	base             string
}{
	{"Pod", "v1", reflect.TypeFor[corev1.Pod](), `{"metadata":{"name":"x","namespace":"d","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u"}]},"spec":{
		"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"10m"}}}],"initContainers":[{"name":"i","ports":[{"containerPort":81}]}],"ephemeralContainers":[{"name":"e"}],"volumes":[{"name":"v"}],
		"tolerations":[{"key":"k","operator":"Equal","value":"v","effect":"NoSchedule"}],
		"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}}],
		"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}]},
			"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}}]},
		"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}}],
			"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}}}]},
		"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}}],
			"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}}}]}}}}`},
	{"Node", "v1", reflect.TypeFor[corev1.Node](), `{"metadata":{"name":"x"},"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"1","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}`},
	{"Namespace", "v1", reflect.TypeFor[corev1.Namespace](), `{"metadata":{"name":"x"}}`},
	{"Service", "v1", reflect.TypeFor[corev1.Service](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"selector":{"a":"b"}}}`},
	{"ReplicationController", "v1", reflect.TypeFor[corev1.ReplicationController](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"selector":{"a":"b"}}}`},
	{"ReplicaSet", "apps/v1", reflect.TypeFor[appsv1.ReplicaSet](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}`},
	{"StatefulSet", "apps/v1", reflect.TypeFor[appsv1.StatefulSet](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}`},
	{"PriorityClass", "scheduling.k8s.io/v1", reflect.TypeFor[schedulingv1.PriorityClass](), `{"metadata":{"name":"x"},"value":1}`},
	{"PodDisruptionBudget", "policy/v1", reflect.TypeFor[policyv1.PodDisruptionBudget](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}`},
	{"PersistentVolume", "v1", reflect.TypeFor[corev1.PersistentVolume](), `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"}}}`},
	{"PersistentVolumeClaim", "v1", reflect.TypeFor[corev1.PersistentVolumeClaim](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`},
	{"StorageClass", "storage.k8s.io/v1", reflect.TypeFor[storagev1.StorageClass](), `{"metadata":{"name":"x"},"provisioner":"p"}`},
	{"CSINode", "storage.k8s.io/v1", reflect.TypeFor[storagev1.CSINode](), `{"metadata":{"name":"x"},"spec":{"drivers":[{"name":"d","nodeID":"n"}]}}`},
	{"CSIDriver", "storage.k8s.io/v1", reflect.TypeFor[storagev1.CSIDriver](), `{"metadata":{"name":"x"},"spec":{}}`},
	{"CSIStorageCapacity", "storage.k8s.io/v1", reflect.TypeFor[storagev1.CSIStorageCapacity](), `{"metadata":{"name":"x","namespace":"d"},"storageClassName":"s"}`},
	{"VolumeAttachment", "storage.k8s.io/v1", reflect.TypeFor[storagev1.VolumeAttachment](), `{"metadata":{"name":"x"},"spec":{"attacher":"d","nodeName":"n","source":{"persistentVolumeName":"v"}}}`},
	{"ResourceClaim", "resource.k8s.io/v1", reflect.TypeFor[resourcev1.ResourceClaim](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1}}]}}}`},
	{"ResourceClaimTemplate", "resource.k8s.io/v1", reflect.TypeFor[resourcev1.ResourceClaimTemplate](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1}}]}}}}`},
	{"ResourceSlice", "resource.k8s.io/v1", reflect.TypeFor[resourcev1.ResourceSlice](), `{"metadata":{"name":"x"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","resourceSliceCount":1,"generation":1},"devices":[{"name":"d"}]}}`},
	{"DeviceClass", "resource.k8s.io/v1", reflect.TypeFor[resourcev1.DeviceClass](), `{"metadata":{"name":"x"}}`},
	{"Deployment", "apps/v1", reflect.TypeFor[appsv1.Deployment](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}`},
	{"DaemonSet", "apps/v1", reflect.TypeFor[appsv1.DaemonSet](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}`},
	{"Job", "batch/v1", reflect.TypeFor[batchv1.Job](), `{"metadata":{"name":"x","namespace":"d"}}`},
	{"CronJob", "batch/v1", reflect.TypeFor[batchv1.CronJob](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"schedule":"@daily"}}`},
	{"RuntimeClass", "node.k8s.io/v1", reflect.TypeFor[nodev1.RuntimeClass](), `{"metadata":{"name":"x"},"handler":"h"}`},
	{"LimitRange", "v1", reflect.TypeFor[corev1.LimitRange](), `{"metadata":{"name":"x","namespace":"d"}}`},
	{"ResourceQuota", "v1", reflect.TypeFor[corev1.ResourceQuota](), `{"metadata":{"name":"x","namespace":"d"}}`},
	{"Workload", "scheduling.k8s.io/v1beta1", reflect.TypeFor[schedulingv1beta1.Workload](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"podGroupTemplates":[{"name":"g","schedulingPolicy":{"gang":{"minCount":2}}}]}}`},
	{"PodGroup", "scheduling.k8s.io/v1beta1", reflect.TypeFor[schedulingv1beta1.PodGroup](), `{"metadata":{"name":"x","namespace":"d"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}}`},
	{"DeviceTaintRule", "resource.k8s.io/v1", reflect.TypeFor[resourcev1.DeviceTaintRule](), `{"metadata":{"name":"x"},"spec":{"deviceSelector":{"driver":"d"},"taint":{"key":"k","effect":"NoSchedule"}}}`},
}

// canary is a text that stands at one place of one object.
type canary struct {
	leaf
	text string
	json []byte // the object
	good bool   // the object is in order
}

var canaryText = regexp.MustCompile(`cnry[0-9]{5}x`)

// aviary makes an object for each place of each kind.
func aviary(t *testing.T) (all []*canary) {
	t.Helper()
	kept, err := os.ReadFile("../../kube/object/kinds.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`define(?:\[[^\]]+\])?\("(\w+)"`).FindAllSubmatch(kept, -1) {
		if !slices.ContainsFunc(species, func(s struct {
			kind, apiVersion string
			of               reflect.Type
			base             string
		},
		) bool {
			return s.kind == string(m[1])
		}) {
			t.Errorf("the kind %s is accepted, and nobody looks at what is kept of it", m[1])
		}
	}
	add := func(l leaf, js func(text, name string) []byte) {
		c := &canary{leaf: l, text: fmt.Sprintf("cnry%05dx", len(all))}
		c.json = js(c.text, fmt.Sprintf("x%05d", len(all)))
		_, err := object.Decode(c.json, object.Limits{})
		c.good = err == nil
		all = append(all, c)
	}
	for _, s := range species {
		for _, l := range leaves(s.of, "", map[reflect.Type]int{}) {
			l.kind = s.kind
			if l.path == ".kind" || l.path == ".apiVersion" {
				continue // say what the object is
			}
			add(l, func(text, name string) []byte { return planted(t, s.of, s.base, s.kind, s.apiVersion, name, l, text) })
		}
		for _, at := range []string{"", "metadata", "spec", "status"} {
			for _, form := range []string{"%s", "base64"} {
				add(leaf{kind: s.kind, path: "+unknown " + form + " in " + at}, func(text, name string) []byte {
					if form == "base64" {
						text = base64.StdEncoding.EncodeToString([]byte(text))
					}
					return unknown(t, s.base, s.kind, s.apiVersion, name, at, text)
				})
			}
		}
		add(leaf{kind: s.kind, path: "+last-applied-configuration"}, func(text, name string) []byte {
			js := unknown(t, s.base, s.kind, s.apiVersion, name, "", "")
			return bytes.Replace(js, []byte(`"metadata":{`), fmt.Appendf(nil, `"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"a\":\"%s\"}"},`, text), 1)
		})
	}
	return all
}

// planted is an object with a text at one place.
func planted(t *testing.T, of reflect.Type, base, kind, apiVersion, name string, l leaf, text string) []byte {
	t.Helper()
	v := reflect.New(of)
	if err := json.Unmarshal([]byte(base), v.Interface()); err != nil {
		t.Fatal(err)
	}
	m := v.Elem().FieldByName("ObjectMeta")
	m.FieldByName("Name").SetString(name)
	l.plant(v.Elem(), text)
	js, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatalf("%s %s: %v", kind, l.path, err)
	}
	return headed(t, js, kind, apiVersion)
}

func headed(t *testing.T, js []byte, kind, apiVersion string) []byte {
	t.Helper()
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(js, &fields); err != nil {
		t.Fatal(err)
	}
	fields["kind"], fields["apiVersion"] = fmt.Appendf(nil, "%q", kind), fmt.Appendf(nil, "%q", apiVersion)
	js, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// unknown is an object with a field that no API has.
func unknown(t *testing.T, base, kind, apiVersion, name, at, text string) []byte {
	t.Helper()
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(base), &fields); err != nil {
		t.Fatal(err)
	}
	fields["metadata"].(map[string]any)["name"] = name
	into := fields
	if at != "" {
		if _, ok := fields[at].(map[string]any); !ok {
			fields[at] = map[string]any{}
		}
		into = fields[at].(map[string]any)
	}
	into["berthUnknown"] = text
	js, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return headed(t, js, kind, apiVersion)
}

var updateLeaves = flag.Bool("update-leaves", false, "write testdata/leaves.txt anew")

// TestNothingElseIsStored plants a text of its own at every place of every kind
// where one may stand, sends it all through the API in good bodies and in bad
// ones, and looks for the texts in everything that is written anywhere.
// testdata/leaves.txt says of each place whether what stands there is kept, since
// scheduling reads it; dropped; or, where a word of ours is not one that the API
// takes, refused, or quoted if the answer and the log say which word it was. A
// place that the file does not name fails the test, and so does
// one that is not what the file says.
func TestNothingElseIsStored(t *testing.T) {
	all := aviary(t)
	want := classes(t)
	for _, backend := range []string{"sqlite", "postgres"} {
		t.Run(backend, func(t *testing.T) {
			seen := expose(t, backend, all)
			var lines []string
			for _, c := range all {
				name := c.kind + " " + c.path
				class := "dropped"
				switch {
				case !c.good && seen["answers"][c.text]:
					class = "quoted"
				case !c.good:
					class = "refused"
				case seen["store"][c.text]:
					class = "kept"
				}
				lines = append(lines, class+" "+name)
				if !*updateLeaves && want[name] != class {
					t.Errorf("%s is %s, testdata/leaves.txt says %q", name, class, want[name])
				}
				if seen["bundle"][c.text] {
					t.Errorf("%s is in what berth support collects", name)
				}
				for sink, found := range seen {
					if found[c.text] && class != "kept" && (class != "quoted" || sink != "answers" && sink != "log") {
						t.Errorf("%s, which is %s, is in %s", name, class, sink)
					}
				}
				delete(want, name)
			}
			for name := range want {
				if backend == "sqlite" && !*updateLeaves {
					t.Errorf("testdata/leaves.txt names %s, which there is not", name)
				}
			}
			want = classes(t)
			if *updateLeaves && backend == "sqlite" {
				slices.Sort(lines)
				if err := os.WriteFile("testdata/leaves.txt", []byte(strings.Join(slices.Compact(lines), "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// classes reads testdata/leaves.txt.
func classes(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/leaves.txt")
	if err != nil && !*updateLeaves {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		class, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all[name] = class
	}
	return all
}
