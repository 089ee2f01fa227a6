package apiserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/kube/object"
	"berth/internal/kube/object/apiserver"
)

func podOf(t testing.TB, js string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if err := json.Unmarshal([]byte(js), p); err != nil {
		t.Fatal(err)
	}
	apiserver.SetPodDefaults(p)
	return p
}

// TestPodWarnings has a pod for each sort of warning of upstream's pkg/api/pod warnings.go.
func TestPodWarnings(t *testing.T) {
	const one = `"containers":[{"name":"c","image":"i"}]`
	memory := func(place, amount string) string {
		return `{"spec":{"containers":[{"name":"c","image":"i","resources":{"` + place + `":{"memory":"` + amount + `"}}}]}}`
	}
	for _, c := range []struct {
		pod  string
		want []string
	}{
		{`{"metadata":{"name":"a"},"spec":{` + one + `}}`, nil},
		{`{"metadata":{"name":"a.b"},"spec":{` + one + `}}`, []string{"metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"}},
		{`{"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux","beta.kubernetes.io/arch":"arm"},` + one + `}}`, []string{
			`spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead`,
			`spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
		}},
		{memory("requests", "512m"), []string{`spec.containers[0].resources.requests[memory]: fractional byte value "512m" is invalid, must be an integer`}},
		{memory("limits", "1500m"), []string{
			`spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer`,
			`spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer`,
		}},
		{`{"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}]}}`, []string{`spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply`}},
		{`{"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"failure-domain.beta.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule"}],` + one + `}}`, []string{
			`spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod`,
			`spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
		}},
		{`{"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"}]}},` + one + `}}`, []string{`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod`}},
		{`{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80},{"containerPort":80}]}]}}`, []string{`spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]`}},
		{`{"spec":{"volumes":[{"name":"v","gitRepo":{"repository":"r"}}],` + one + `}}`, []string{"spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"}},
		{`{"spec":{"volumes":[{"name":"v","configMap":{"name":"m","items":[{"key":"a","path":"p"},{"key":"b","path":"p/q"}]}}],` + one + `}}`, []string{`volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p"`}},
		{`{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"runtime/default"}},"spec":{` + one + `}}`, []string{`metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`}},
		{`{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"runtime/default"}},"spec":{"securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}},` + one + `}}`, nil},
	} {
		p := podOf(t, c.pod)
		if p.Name == "" {
			p.Name = "a"
		}
		if d := cmp.Diff(c.want, apiserver.PodWarnings(p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.pod, d)
		}
	}
	got := apiserver.TemplateWarnings(podOf(t, memory("requests", "512m")), "spec.jobTemplate.spec.template")
	if len(got) != 1 || !strings.HasPrefix(got[0], "spec.jobTemplate.spec.template.spec.containers[0].resources.requests[memory]: fractional") {
		t.Errorf("in a template: %q", got)
	}
}

// TestWarningsAreBounded gives pods of which upstream would write a warning for each two parts.
func TestWarningsAreBounded(t *testing.T) {
	many := func(one string, n int) string { return strings.Repeat(one+",", n-1) + one }
	for name, c := range map[string]struct {
		pod   string
		taken bool
	}{
		"ports":      {`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","ports":[` + many(`{"containerPort":80}`, 30_000) + `]}]}}`, false},
		"some ports": {`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","ports":[` + many(`{"containerPort":80}`, 100) + `]}]}}`, true},
		"paths":      {`{"metadata":{"name":"a"},"spec":{"volumes":[{"name":"v","configMap":{"name":"m","items":[` + many(`{"key":"k","path":"p"}`, 30_000) + `]}}]}}`, false},
		"no address": {`{"metadata":{"name":"a"},"spec":{"hostAliases":[{"ip":"secret"}],"dnsConfig":{"nameservers":["secret"]}}}`, false},
		"no signer":  {`{"metadata":{"name":"a"},"spec":{"volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"path":"p"}}]}}]}}`, false},
		"projected":  {`{"metadata":{"name":"a"},"spec":{"volumes":[{"name":"v","projected":{"sources":[` + many(`{"secret":{"name":"s","items":[{"key":"k","path":"p"}]}}`, 10_000) + `]}}]}}`, false},
	} {
		got := apiserver.PodWarnings(podOf(t, c.pod))
		if c.taken != (len(got) > 1) || !c.taken && !strings.HasPrefix(got[0], "spec: its ports and volumes are too many") {
			t.Errorf("%s: %d warnings, first %.200q", name, len(got), append(got, "")[0])
		}
	}
}

// TestWarningsOfKinds has an object of each kind of which API servers warn.
func TestWarningsOfKinds(t *testing.T) {
	const old = `{"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"},"containers":[{"name":"c","image":"i"}]%s},"metadata":{"labels":{"app":"a"}}}`
	stays, ends := fmt.Sprintf(old, ""), fmt.Sprintf(old, `,"restartPolicy":"Never"`)
	const deprecated = `spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`
	template := "spec.template." + deprecated
	selects := `"selector":{"matchLabels":{"app":"a"}},"template":` + stays
	const name = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"
	for _, c := range []struct {
		object string
		want   []string
	}{
		{`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},"spec":{"externalID":"e","podCIDRs":["10.0.0.1/24"]}}`, []string{
			"spec.externalID: this field is deprecated, and is unused by Kubernetes",
			`spec.podCIDRs[0]: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)`,
		}},
		{`{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"},"spec":{"clusterIP":"None","clusterIPs":["None"],"externalIPs":["192.0.2.1"],"ports":[{"port":80}]}}`, []string{"spec.externalIPs is ignored for headless services"}},
		{`{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"a"},"spec":{"hard":{"cpu":"4","limits.cpu":"2"}}}`, []string{"ResourceQuota cpu (4) should be less than limits.cpu (2)"}},
		{`{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"a","annotations":{"volume.beta.kubernetes.io/storage-class":"s"}},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"}}}`, []string{
			"metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use \"storageClassName\" attribute instead",
		}},
		{`{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"500m"}}}}`, []string{`spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer`}},
		{`{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"provisioner":"p","allowedTopologies":[{"matchLabelExpressions":[{"key":"beta.kubernetes.io/os","values":["linux"]}]}]}`, []string{`allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14; use "kubernetes.io/os" instead`}},
		{`{"kind":"CSIDriver","apiVersion":"storage.k8s.io/v1","metadata":{"name":"a"},"spec":{"tokenRequests":[{"audience":"x"}]}}`, []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"}},
		{`{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"a"},"handler":"h","scheduling":{"nodeSelector":{"beta.kubernetes.io/os":"linux"}}}`, []string{`scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead`}},
		{`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{"driver":"Gpu.example.com","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n"}}`, []string{`spec.driver: driver names should be lowercase; "Gpu.example.com" contains uppercase characters`}},
		{`{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"a.b"},"spec":{"selector":{"app":"a"},"template":` + stays + `}}`, []string{name, template}},
		{`{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"a.b"},"spec":{` + selects + `}}`, []string{name, template}},
		{`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{` + selects + `}}`, []string{template}},
		{`{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"revisionHistoryLimit":-1,` + selects + `}}`, []string{template, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"}},
		{`{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{` + selects + `}}`, []string{template}},
		{`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"template":` + ends + `}}`, []string{template}},
		{`{"kind":"CronJob","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{"template":` + ends + `}}}}`, []string{"spec.jobTemplate." + template}},
		{`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"a"},"spec":{"minAvailable":1}}`, nil},
	} {
		o, err := object.Decode([]byte(c.object), object.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, apiserver.Warnings(o, []byte(c.object))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.object, d)
		}
	}
}

// TestWarningCache has pods that differ in their names and more.
func TestWarningCache(t *testing.T) {
	var c apiserver.WarningCache
	pod := func(name, env string) []byte {
		return []byte(`{"metadata":{"name":"` + name + `"},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A"},{"name":"` + env + `"}]}]}}`)
	}
	for range 2 {
		for _, name := range []string{"web", "api", "A", "c", "a.b"} {
			for _, env := range []string{"A", "B", "web", name} {
				js := pod(name, env)
				for _, template := range []string{"", "spec.template"} {
					want, got := apiserver.WarningsOf(js, template), c.Of(js, template, name)
					if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
						t.Errorf("%s in %q (-want +got):\n%s", js, template, d)
					}
				}
			}
		}
	}
}

// BenchmarkWarnings is what warnings add to a question about the first pod of a workload, and about
// others.
func BenchmarkWarnings(b *testing.B) {
	js := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i",` +
		`"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}`)
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			apiserver.WarningsOf(js, "")
		}
	})
	b.Run("next", func(b *testing.B) {
		var c apiserver.WarningCache
		b.ReportAllocs()
		for b.Loop() {
			c.Of(js, "", "a")
		}
	})
}
