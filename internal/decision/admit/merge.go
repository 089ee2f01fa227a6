package admit

import (
	"encoding/json"
	"slices"
)

// whole reports that a section stays only if the manifest has nothing of it.
const whole = "*"

var (
	keptOfMetadata = []string{"uid", "labels", "annotations", "ownerReferences", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}
	// keptOf is what an object keeps where a manifest that is applied to it does not
	// have the field: what others than the manifest's author write. In a Pod that is
	// the bind and admission, in a Node those who cordon and taint it and its kubelet, in
	// claims and volumes the controllers that bind them. The status of any other kind stays
	// whole.
	keptOf = map[string]map[string][]string{
		"Pod": {
			"spec":   {"nodeName", "priority", "priorityClassName", "preemptionPolicy", "overhead", "tolerations", "ephemeralContainers"},
			"status": {whole},
		},
		"Node": {
			"spec":   {"taints", "unschedulable"},
			"status": {"capacity", "allocatable", "conditions", "images", "declaredFeatures"},
		},
		"PersistentVolumeClaim": {"spec": {"volumeName", "storageClassName"}, "status": {whole}},
		"PersistentVolume":      {"spec": {"claimRef"}, "status": {whole}},
	}
)

type fields = map[string]json.RawMessage

// keepAbsent fills a manifest up with what the object keeps. It does what a
// three-way merge comes to where the manifest is the one that was applied before,
// without its having been kept.
func keepAbsent(kind string, manifest, held []byte) ([]byte, error) {
	var out, was fields
	if err := json.Unmarshal(manifest, &out); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(held, &was); err != nil {
		return nil, err
	}
	if err := keepSection(out, was, "metadata", keptOfMetadata); err != nil {
		return nil, err
	}
	kept, ok := keptOf[kind]
	if !ok {
		kept = map[string][]string{"status": {whole}}
	}
	for _, section := range []string{"spec", "status"} {
		if err := keepSection(out, was, section, kept[section]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

func keepSection(out, was fields, section string, keys []string) error {
	if len(keys) == 0 || was[section] == nil {
		return nil
	}
	var to, from fields
	if out[section] != nil {
		if err := json.Unmarshal(out[section], &to); err != nil {
			return err
		}
	}
	if keys[0] == whole {
		if len(to) == 0 {
			out[section] = was[section]
		}
		return nil
	}
	if err := json.Unmarshal(was[section], &from); err != nil {
		return err
	}
	if to == nil {
		to = fields{}
	}
	if given(to, "capacity") { // then allocatable follows it, as of a new node
		keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == "allocatable" })
	}
	for _, k := range keys {
		if v, ok := from[k]; ok && !given(to, k) {
			to[k] = v
		}
	}
	js, err := json.Marshal(to)
	out[section] = js
	return err
}

// given reports whether a manifest has a field; null is none.
func given(m fields, key string) bool {
	v, ok := m[key]
	return ok && string(v) != "null"
}
