package admission

import (
	"strings"
	"testing"

	"berth/internal/kube/object"
)

// claimOf is a claim with more of its metadata and spec.
func claimOf(name, meta, spec, size string) string {
	return `{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"` + name + `"` + meta + `},"spec":{` + spec + `"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}}}`
}

// TestQuotaOfObjects has claims and objects that are counted, beside those that are there.
func TestQuotaOfObjects(t *testing.T) {
	const gold, fast = `"storageClassName":"gold",`, `"volumeAttributesClassName":"fast",`
	service := func(name string) string {
		return `{"kind":"Service","apiVersion":"v1","metadata":{"name":"` + name + `"},"spec":{"selector":{"a":"b"}}}`
	}
	there := []string{claimOf("a", "", gold, "3Gi"), claimOf("b", "", fast, "1.5Gi"), service("s")}
	held := func(js string) object.Object { return heldOf(t, js)[0] }
	for name, c := range map[string]struct{ object, old, bounds, want string }{
		"storage":       {claimOf("n", "", "", "1Gi"), "", quotaOf("q", `"hard":{"requests.storage":"5Gi"}`), `persistentvolumeclaims "n" is forbidden: exceeded quota: q, requested: requests.storage=1Gi, used: requests.storage=4608Mi, limited: requests.storage=5Gi`},
		"claims":        {claimOf("n", "", "", "1Gi"), "", quotaOf("q", `"hard":{"persistentvolumeclaims":"2","count/persistentvolumeclaims":"2","pods":"0"}`), `persistentvolumeclaims "n" is forbidden: exceeded quota: q, requested: count/persistentvolumeclaims=1,persistentvolumeclaims=1, used: count/persistentvolumeclaims=2,persistentvolumeclaims=2, limited: count/persistentvolumeclaims=2,persistentvolumeclaims=2`},
		"of a class":    {claimOf("n", "", gold, "1Gi"), "", quotaOf("q", `"hard":{"gold.storageclass.storage.k8s.io/requests.storage":"3Gi"}`), `persistentvolumeclaims "n" is forbidden: exceeded quota: q, requested: gold.storageclass.storage.k8s.io/requests.storage=1Gi, used: gold.storageclass.storage.k8s.io/requests.storage=3Gi, limited: gold.storageclass.storage.k8s.io/requests.storage=3Gi`},
		"by annotation": {claimOf("n", `,"annotations":{"volume.beta.kubernetes.io/storage-class":"gold"}`, "", "1Gi"), "", quotaOf("q", `"hard":{"gold.storageclass.storage.k8s.io/persistentvolumeclaims":"1"}`), `persistentvolumeclaims "n" is forbidden: exceeded quota: q, requested: gold.storageclass.storage.k8s.io/persistentvolumeclaims=1, used: gold.storageclass.storage.k8s.io/persistentvolumeclaims=1, limited: gold.storageclass.storage.k8s.io/persistentvolumeclaims=1`},
		"another class": {claimOf("n", "", `"storageClassName":"tin",`, "1Gi"), "", quotaOf("q", `"hard":{"gold.storageclass.storage.k8s.io/requests.storage":"3Gi"}`), ""},
		"whole bytes":   {claimOf("n", "", "", "0.5"), "", quotaOf("q", `"hard":{"requests.storage":"0"}`), `persistentvolumeclaims "n" is forbidden: exceeded quota: q, requested: requests.storage=1, used: requests.storage=4608Mi, limited: requests.storage=0`},
		"attributes":    {claimOf("n", "", fast, "1Gi"), "", quotaOf("q", `"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"In","values":["fast"]}]},"hard":{"persistentvolumeclaims":"1"}`), `persistentvolumeclaims "n" is forbidden: exceeded quota: q, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1`},
		"no attributes": {claimOf("n", "", "", "1Gi"), "", quotaOf("q", `"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"Exists"}]},"hard":{"persistentvolumeclaims":"0"}`), ""},
		"grows":         {claimOf("a", "", gold, "4Gi"), claimOf("a", "", gold, "3Gi"), quotaOf("q", `"hard":{"requests.storage":"5Gi","persistentvolumeclaims":"0"}`), `persistentvolumeclaims "a" is forbidden: exceeded quota: q, requested: requests.storage=1Gi, used: requests.storage=4608Mi, limited: requests.storage=5Gi`},
		"stays":         {claimOf("a", "", gold, "3Gi"), claimOf("a", "", gold, "3Gi"), quotaOf("q", `"hard":{"requests.storage":"1Gi","persistentvolumeclaims":"0"}`), ""},
		"services":      {service("n"), "", quotaOf("q", `"hard":{"services":"1"}`), `services "n" is forbidden: exceeded quota: q, requested: services=1, used: services=1, limited: services=1`},
		"a group":       {`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"n"},"spec":{"minAvailable":1}}`, "", quotaOf("q", `"hard":{"count/poddisruptionbudgets.policy":"0"}`), `poddisruptionbudgets.policy "n" is forbidden: exceeded quota: q, requested: count/poddisruptionbudgets.policy=1, used: count/poddisruptionbudgets.policy=0, limited: count/poddisruptionbudgets.policy=0`},
		"a scope":       {service("n"), "", quotaOf("q", `"scopes":["BestEffort"],"hard":{"services":"0"}`), ""},
		"too large":     {claimOf("n", "", "", "9Gi"), "", `{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"l"},"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"5Gi"}}]}}`, `persistentvolumeclaims "n" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 9Gi`},
		"too small":     {claimOf("n", "", "", "1Mi"), "", `{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"l"},"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"5Gi"}}]}}`, `persistentvolumeclaims "n" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi`},
	} {
		var old object.Object
		if c.old != "" {
			old = held(c.old)
		}
		got := ""
		if v := CheckObject(held(c.object), old, Admission{Objects: heldOf(t, append(there, c.bounds)...)}); v != nil {
			got = v.Forbidden
		}
		if got != c.want {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
	// A dump without any claim has nothing but the status.
	quota := strings.Replace(quotaOf("q", `"hard":{"persistentvolumeclaims":"3"}`), `}}`, `}},"status":{"used":{"persistentvolumeclaims":"3"}}`, 1)
	if v := CheckObject(held(claimOf("n", "", "", "1Gi")), object.Object{}, Admission{Objects: heldOf(t, quota)}); v == nil || !strings.Contains(v.Forbidden, "used: persistentvolumeclaims=3") {
		t.Errorf("by status: %+v", v)
	}
}
