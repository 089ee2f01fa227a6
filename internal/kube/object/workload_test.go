package object

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const templateJSON = `{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],"volumes":[{"name":"data","emptyDir":{}},{"name":"tmp","emptyDir":{}}]}}`

func podOfWorkload(t *testing.T, doc string) (*corev1.Pod, *WorkloadPod) {
	t.Helper()
	w, err := PodOf([]byte(strings.ReplaceAll(doc, "TEMPLATE", templateJSON)), Limits{})
	if err != nil || w == nil {
		t.Fatalf("%s: %v", doc, err)
	}
	pod, err := DecodePod(w.Pod, Limits{})
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	whole := &corev1.Pod{}
	if err := json.Unmarshal(w.Pod, whole); err != nil {
		t.Fatal(err)
	}
	pod.GenerateName, pod.Spec.Hostname, pod.Spec.Subdomain, pod.Spec.Volumes = whole.GenerateName, whole.Spec.Hostname, whole.Spec.Subdomain, whole.Spec.Volumes // pruned
	return pod, w
}

func TestPodOfWorkload(t *testing.T) {
	const selector = `"selector":{"matchLabels":{"app":"web"}}`
	for _, c := range []struct{ doc, name, owner, ownerName, note string }{
		{`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":3,` + selector + `,"template":TEMPLATE}}`, `^web-[a-z0-9]{6,10}-[bcdf-z2456789]{5}$`, "ReplicaSet", `^web-[a-z0-9]{6,10}$`, "one of 3 replicas"},
		{`{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop","uid":"u1"},"spec":{"template":TEMPLATE}}`, `^web-[bcdf-z2456789]{5}$`, "ReplicaSet", "^web$", ""},
		{`{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":0,"template":TEMPLATE}}`, `^web-[bcdf-z2456789]{5}$`, "ReplicationController", "^web$", "spec.replicas is 0"},
		{`{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop"},"spec":{"serviceName":"s","ordinals":{"start":2},"volumeClaimTemplates":[{"metadata":{"name":"data"}}],"template":TEMPLATE}}`, `^web-2$`, "StatefulSet", "^web$", "data-web-2"},
		{`{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop"},"spec":{"template":TEMPLATE}}`, `^web-[bcdf-z2456789]{5}$`, "DaemonSet", "^web$", "one pod on every node"},
		{`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"web","namespace":"shop"},"spec":{"completionMode":"Indexed","completions":3,"parallelism":5,"template":TEMPLATE}}`, `^web-0-[bcdf-z2456789]{5}$`, "Job", "^web$", "one of 3 replicas"},
		{`{"kind":"CronJob","apiVersion":"batch/v1","metadata":{"name":"web","namespace":"shop"},"spec":{"suspend":true,"jobTemplate":{"spec":{"template":TEMPLATE}}}}`, `^web-0-[bcdf-z2456789]{5}$`, "Job", "^web-0$", "suspend"},
	} {
		pod, w := podOfWorkload(t, c.doc)
		again, _ := podOfWorkload(t, c.doc)
		ref := pod.OwnerReferences[0]
		if !regexp.MustCompile(c.name).MatchString(pod.Name) || again.Name != pod.Name || pod.Namespace != "shop" || pod.Labels["app"] != "web" {
			t.Errorf("%.40s: pod %s/%s, then %s, labels %v", c.doc, pod.Namespace, pod.Name, again.Name, pod.Labels)
		}
		if ref.Kind != c.owner || !regexp.MustCompile(c.ownerName).MatchString(ref.Name) || ref.UID == "" || !*ref.Controller {
			t.Errorf("%.40s: owner %+v", c.doc, ref)
		}
		if text := strings.Join(w.Notes, "; "); (c.note == "") != (text == "") || !strings.Contains(text, c.note) {
			t.Errorf("%.40s: notes %q, want %q", c.doc, text, c.note)
		}
		switch {
		case strings.Contains(c.doc, `"Deployment"`):
			if hash := pod.Labels["pod-template-hash"]; hash == "" || ref.Name != "web-"+hash {
				t.Errorf("hash %q of %s", hash, ref.Name)
			}
		case c.owner == "StatefulSet":
			v := pod.Spec.Volumes
			if len(v) != 2 || v[0].PersistentVolumeClaim == nil || v[0].PersistentVolumeClaim.ClaimName != "data-web-2" || v[1].Name != "tmp" || pod.Spec.Hostname != "web-2" || pod.Spec.Subdomain != "s" {
				t.Errorf("%+v", pod.Spec)
			}
		case c.owner == "DaemonSet":
			if len(pod.Spec.Tolerations) != 6 {
				t.Errorf("%+v", pod.Spec.Tolerations)
			}
		case c.owner == "Job":
			if pod.Labels["job-name"] != ref.Name || pod.Labels["batch.kubernetes.io/controller-uid"] != string(ref.UID) {
				t.Errorf("%v", pod.Labels)
			}
		}
	}
}

func TestPodOfOtherObjects(t *testing.T) {
	if w, err := PodOf([]byte(`{"kind":"Pod","metadata":{"name":"a"}}`), Limits{}); w != nil || err != nil {
		t.Errorf("a pod: %v, %v", w, err)
	}
	for doc, want := range map[string]string{
		`{"kind":"Deployment","apiVersion":"extensions/v1beta1","metadata":{"name":"a"}}`:                                                                                         "apiVersion: Unsupported value",
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{}}`:                                                                                                              "metadata.name: Required value",
		`{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}`:                                                                                    "spec.template: Required value",
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"x"}},"template":` + templateJSON + `}}`:                    "`selector` does not match template `labels`",
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":"many"}}`:                                                                         "spec.replicas: Invalid value",
		`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1e99999999"}}}]}}}}`: "quantity is out of range",
		`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"memory":"4GB"}}}]}}}}`:     "did you mean 4G or 4Gi?",
	} {
		_, err := PodOf([]byte(doc), Limits{})
		var invalid *InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", doc, err, want)
		}
	}
}

// TestTemplateHashes: a template's hash is that of v1.36's types, whatever fields later ones have.
func TestTemplateHashes(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "85748b7f68",
		`{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/x"}],"livenessProbe":{"httpGet":{"path":"/","port":80}},"readinessProbe":{"grpc":{"port":1}},"securityContext":{"runAsUser":1},"lifecycle":{"preStop":{"httpGet":{"port":1}}}}],` +
			`"securityContext":{},"volumes":[{"name":"v","emptyDir":{}},{"name":"w","emptyDir":{"sizeLimit":"1Gi","medium":"Memory"}},{"name":"s","secret":{"secretName":"x","items":[{"key":"k","path":"p"}]}},{"name":"cm","configMap":{"name":"x"}},{"name":"d","downwardAPI":{"items":[{"path":"p"}]}},` +
			`{"name":"p","projected":{"sources":[{"serviceAccountToken":{"path":"p"}},{"clusterTrustBundle":{"path":"q"}},{"podCertificate":{"signerName":"s","keyType":"RSA"}}]}},{"name":"z","emptyDir":{"sizeLimit":"1500m"}}]}}`: "7547fd459c",
	} {
		var template corev1.PodTemplateSpec
		if err := json.Unmarshal([]byte(text), &template); err != nil {
			t.Fatal(err)
		}
		if got := templateHash(&template); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
