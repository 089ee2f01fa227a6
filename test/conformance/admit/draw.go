package admit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Case is a pod to create, or to put in the place of another.
type Case struct {
	Pod json.RawMessage `json:"pod"`
	Old json.RawMessage `json:"old,omitempty"`
}

// base is the smallest pod that every release takes, as it is stored.
const base = `{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c0","image":"img","terminationMessagePolicy":"File","imagePullPolicy":"Always"}]}}`

// Draw makes cases of each field that this release's types have, by itself; of the fragments, which
// are good values of what releases judge differently, by themselves and by two; and n pods of the
// generator with either of them in it. Every one is created, and replaces another pod.
func Draw(n int, seed uint64) (list []Case) {
	d := drawer{NewGenerator(seed)}
	both := func(with map[string]any) {
		js, without := Encode(with), json.RawMessage(base)
		list = append(list, Case{Pod: js}, Case{Pod: js, Old: js}, Case{Pod: js, Old: without}, Case{Pod: without, Old: js})
	}
	for _, f := range fieldsOf(reflect.TypeFor[corev1.PodSpec](), nil) {
		for _, v := range d.values(f.kind, 0) {
			p := decoded([]byte(base))
			set(p, append([]string{"spec"}, f.path...), v)
			both(p)
		}
	}
	for i, f := range fragments {
		p := decoded([]byte(base))
		f.into(p)
		both(p)
		for _, g := range fragments[i+1:] {
			two := decoded(Encode(p))
			g.into(two)
			list = append(list, Case{Pod: Encode(two)}, Case{Pod: Encode(two), Old: Encode(p)}, Case{Pod: Encode(p), Old: Encode(two)})
		}
	}
	fields := fieldsOf(reflect.TypeFor[corev1.PodSpec](), nil)
	for range n {
		p := decoded(d.Create())
		old := Encode(p)
		for range 1 + d.IntN(3) {
			if d.chance(70) {
				fragments[d.IntN(len(fragments))].into(p)
			} else {
				f := fields[d.IntN(len(fields))]
				values := d.values(f.kind, 0)
				set(p, append([]string{"spec"}, f.path...), values[d.IntN(len(values))])
			}
		}
		list = append(list, Case{Pod: Encode(p)}, Case{Pod: Encode(p), Old: old}, Case{Pod: old, Old: Encode(p)})
	}
	return list
}

type drawer struct{ *Generator }

// fieldOf is a field's path by names in JSON, the elements of lists and maps left out.
type fieldOf struct {
	path []string
	kind reflect.Type
}

// plain are types that are one value in JSON.
var plainTypes = []reflect.Type{
	reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[metav1.Time](),
}

// fieldsOf lists the fields below a type. Of types that are in themselves it goes around once.
func fieldsOf(t reflect.Type, around []reflect.Type) (list []fieldOf) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(plainTypes, t) || slices.Contains(around, t) {
		return nil
	}
	around = append(slices.Clip(around), t)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" { // embedded
			list = append(list, fieldsOf(f.Type, around)...)
			continue
		}
		list = append(list, fieldOf{[]string{name}, f.Type})
		for _, below := range fieldsOf(f.Type, around) {
			list = append(list, fieldOf{append([]string{name}, below.path...), below.kind})
		}
	}
	return list
}

// words are values of texts; those that a field has its own of are few, and the fragments have
// them.
var words = []string{"a", "", "Bad_", "1"}

// values are some of a type: the plain ones, and the empty one of the others.
func (d drawer) values(t reflect.Type, depth int) []any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == plainTypes[0]:
		return []any{"1", "-1", "0.5"}
	case t == plainTypes[1]:
		return []any{1, "a", -1}
	case t == plainTypes[2]:
		return []any{"2026-01-01T00:00:00Z"}
	case t.Kind() == reflect.String:
		return []any{words[0], words[1], words[2], words[3]}
	case t.Kind() == reflect.Bool:
		return []any{true, false}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64:
		return []any{0, 1, -1, 1 << 20}
	case t.Kind() == reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return []any{"YQ=="}
		}
		one := d.values(t.Elem(), depth+1)
		many := slices.Repeat(one[:1], 70)
		return []any{one[:1], one, many}
	case t.Kind() == reflect.Map:
		one := d.values(t.Elem(), depth+1)
		return []any{map[string]any{"cpu": one[0]}, map[string]any{"Bad_": one[len(one)-1], "a/b": one[0]}}
	case depth > 2:
		return []any{map[string]any{}}
	}
	full := map[string]any{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			list := d.values(f.Type, depth+1)
			full[name] = list[d.IntN(len(list))]
		}
	}
	return []any{map[string]any{}, full}
}

// set puts a value at a path. A list on the way has one element, in all of whose elements it is
// put where there are more.
func set(at any, path []string, v any) {
	switch x := at.(type) {
	case map[string]any:
		if len(path) == 1 {
			x[path[0]] = v
			return
		}
		if x[path[0]] == nil {
			x[path[0]] = fresh(path[0])
		}
		set(x[path[0]], path[1:], v)
	case []any:
		for i := range x {
			set(x[i], path, v)
		}
	}
}

// fresh is the empty value of a field that has others below it: a list with one element, by the
// names of the fields that are lists, or an object.
func fresh(name string) any {
	if !lists[name] {
		return map[string]any{}
	}
	switch name {
	case "initContainers", "containers", "ephemeralContainers":
		return []any{map[string]any{"name": "i0", "image": "img", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}}
	}
	return []any{map[string]any{"name": "a"}}
}

// lists are the fields of PodSpec that are lists of objects.
var lists = func() map[string]bool {
	out := map[string]bool{}
	var walk func(t reflect.Type, depth int)
	walk = func(t reflect.Type, depth int) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || depth > 9 {
			return
		}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
				out[name] = true
			}
			walk(f.Type, depth+1)
		}
	}
	walk(reflect.TypeFor[corev1.PodSpec](), 0)
	return out
}()

// fragment is a part of a pod: an object that is merged into it. Lists are put behind what is
// there, and parts of the containers into each.
type fragment string

func (f fragment) into(pod map[string]any) {
	merge(pod, decoded([]byte(f)))
}

func merge(to, from map[string]any) {
	for k, v := range from {
		switch v := v.(type) {
		case map[string]any:
			if below, ok := to[k].(map[string]any); ok {
				merge(below, v)
				continue
			}
			to[k] = v
		case []any:
			there, _ := to[k].([]any)
			if k == "containers" && len(there) > 0 {
				for _, c := range there {
					merge(c.(map[string]any), v[0].(map[string]any))
				}
				continue
			}
			to[k] = append(there, v...)
		default:
			to[k] = v
		}
	}
}

func decoded(js []byte) map[string]any {
	out := map[string]any{}
	if err := json.Unmarshal(js, &out); err != nil {
		panic(fmt.Errorf("%s: %w", js, err))
	}
	return out
}

func inContainer(text string) fragment { return fragment(`{"spec":{"containers":[{` + text + `}]}}`) }

func inInit(text string) fragment {
	return fragment(`{"spec":{"initContainers":[{"name":"i0","image":"img","terminationMessagePolicy":"File","imagePullPolicy":"Always",` + text + `}]}}`)
}

func inVolume(text string) fragment {
	return fragment(`{"spec":{"volumes":[{"name":"v",` + text + `}]}}`)
}

const exits = `{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}`

// fragments have good values, and some bad ones, of what one release or another judges by rules of
// its own; CHANGELOG-1.34.md to CHANGELOG-1.37.md of Kubernetes name them.
var fragments = []fragment{
	`{"spec":{"workloadRef":{"name":"w","podGroup":"g"}}}`,
	`{"spec":{"schedulingGroup":{"podGroupName":"g"}}}`,
	`{"spec":{"schedulingGroup":{}}}`,
	`{"spec":{"hostnameOverride":"other"}}`,
	`{"spec":{"resources":{}}}`,
	`{"spec":{"resources":{"limits":{"cpu":"1"}}}}`,
	`{"spec":{"resources":{"requests":{"cpu":"1"}}}}`,
	`{"spec":{"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}}`,
	`{"spec":{"resources":{"requests":{"hugepages-2Mi":"2Mi","cpu":"1"},"limits":{"hugepages-2Mi":"2Mi"}}}}`,
	`{"spec":{"evictionResponders":[{"name":"a","priority":1}]}}`,
	`{"spec":{"hostUsers":false,"hostNetwork":true}}`,
	`{"spec":{"hostUsers":false}}`,
	`{"spec":{"restartPolicy":"Never"}}`,
	`{"spec":{"restartPolicy":"OnFailure"}}`,
	`{"spec":{"nodeName":"n1"}}`,
	`{"spec":{"os":{"name":"windows"}}}`,
	`{"spec":{"setHostnameAsFQDN":true}}`,
	`{"spec":{"serviceAccount":"old"}}`,
	`{"spec":{"terminationGracePeriodSeconds":-1}}`,
	`{"spec":{"tolerations":[{"key":"k","operator":"Gt","value":"5"}]}}`,
	`{"spec":{"tolerations":[{"key":"k","operator":"Lt","value":"x"}]}}`,
	`{"spec":{"priorityClassName":"none"}}`,
	`{"spec":{"priorityClassName":"high","priority":3}}`,
	`{"spec":{"resourceClaims":[{"name":"a","resourceClaimName":"x"}]}}`,
	`{"spec":{"resourceClaims":[{"name":"g","podGroupResourceClaim":"x"}]}}`,
	`{"spec":{"securityContext":{"seLinuxChangePolicy":"Recursive","supplementalGroupsPolicy":"Strict"}}}`,
	`{"spec":{"securityContext":{"seLinuxChangePolicy":"MountOption"}}}`,
	`{"spec":{"securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":"x"}}}}`,
	`{"spec":{"schedulingGates":[{"name":"a"}]}}`,
	`{"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}},"matchLabelKeys":["app"]}]}}`,
	`{"spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}},"matchLabelKeys":["tier"]}]}}}}`,
	`{"spec":{"ephemeralContainers":[{"name":"e","image":"img"}]}}`,
	`{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c0":"unconfined"}}}`,
	`{"metadata":{"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"runtime/default"}}}`,
	`{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/critical-pod":""}}}`,

	inContainer(`"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`),
	inContainer(`"resizePolicy":[{"resourceName":"odd","restartPolicy":"RestartContainer"}]`),
	inContainer(`"resources":{"limits":{"cpu":"2","memory":"1Gi"}}`),
	inContainer(`"resources":{"requests":{"cpu":"2"}}`),
	inContainer(`"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"2"},"claims":[{"name":"a"}]}`),
	inContainer(`"restartPolicy":"OnFailure"`),
	inContainer(`"restartPolicy":"Always"`),
	inContainer(`"restartPolicy":"Never","restartPolicyRules":[` + exits + `]`),
	inContainer(`"restartPolicyRules":[` + exits + `]`),
	inContainer(`"restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"NotIn","values":[0]}}]`),
	inContainer(`"restartPolicy":"Never","restartPolicyRules":[{"action":"Odd"}]`),
	inContainer(`"restartPolicy":"Never","restartPolicyRules":[` + strings.TrimSuffix(strings.Repeat(exits+",", 21), ",") + `]`),
	inContainer(`"env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"a","key":"K"}}}]`),
	inContainer(`"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['topology.kubernetes.io/zone']"}}}]`),
	inContainer(`"env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"requests.hugepages-2Mi"}}}]`),
	inContainer(`"env":[{"name":"a b=","value":"x"},{"name":"1x","value":"x"}]`),
	inContainer(`"envFrom":[{"prefix":"1 x","configMapRef":{"name":"m"}}]`),
	inContainer(`"lifecycle":{"stopSignal":"SIGUSR1"}`),
	inContainer(`"lifecycle":{"preStop":{"sleep":{"seconds":0}}}`),
	inContainer(`"livenessProbe":{"grpc":{"port":1,"mode":"TLS"}}`),
	inContainer(`"livenessProbe":{"httpGet":{"port":1,"path":"/","scheme":"HTTP","protocol":"HTTP2"}}`),
	inContainer(`"livenessProbe":{"terminationGracePeriodSeconds":1,"httpGet":{"port":1}}`),
	inContainer(`"readinessProbe":{"terminationGracePeriodSeconds":1,"tcpSocket":{"port":1}}`),
	inContainer(`"securityContext":{"procMount":"Unmasked"}`),
	inContainer(`"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["CAP_SYS_ADMIN"]}}`),
	inContainer(`"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["SYS_ADMIN"]}}`),
	inContainer(`"securityContext":{"privileged":true,"allowPrivilegeEscalation":false}`),
	inContainer(`"volumeMounts":[{"name":"v","mountPath":"/v","readOnly":true,"recursiveReadOnly":"Enabled"}]`),
	inContainer(`"volumeMounts":[{"name":"v","mountPath":"/v","subPath":"a"}]`),
	inContainer(`"volumeMounts":[{"name":"v","mountPath":"/v","bindMountOptions":{"noExec":true}}]`),
	inContainer(`"volumeMounts":[{"name":"v","mountPath":"/v","bindMountOptions":["noexec"]}]`),
	inContainer(`"ports":[{"containerPort":80,"hostPort":80}]`),

	inInit(`"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`),
	inInit(`"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"}]`),
	inInit(`"restartPolicy":"Always","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`),
	inInit(`"restartPolicy":"Always"`),
	inInit(`"restartPolicy":"Never"`),
	inInit(`"restartPolicy":"OnFailure"`),
	inInit(`"restartPolicyRules":[` + exits + `]`),
	inInit(`"restartPolicy":"Always","restartPolicyRules":[` + exits + `]`),
	inInit(`"restartPolicy":"Never","restartPolicyRules":[` + exits + `]`),
	inInit(`"restartPolicy":"Always","lifecycle":{"preStop":{"sleep":{"seconds":1}}}`),
	inInit(`"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}`),

	inVolume(`"emptyDir":{}`),
	inVolume(`"emptyDir":{"mode":511,"medium":"Memory"}`),
	inVolume(`"emptyDir":{"mode":-1}`),
	inVolume(`"emptyDir":{"stickyBit":true}`),
	inVolume(`"image":{"reference":"img"}`),
	inVolume(`"image":{"pullPolicy":"Always"}`),
	inVolume(`"image":{"reference":"img","pullPolicy":"Odd"}`),
	inVolume(`"projected":{"sources":[{"podCertificate":{"signerName":"a.b/c","keyType":"ED25519","credentialBundlePath":"x"}}]}`),
	inVolume(`"projected":{"sources":[{"podCertificate":{"signerName":"a.b/c","keyType":"ED25519","credentialBundlePath":"x","userAnnotations":{"a.b/c":"d"}}}]}`),
	inVolume(`"projected":{"sources":[{"clusterTrustBundle":{"name":"x","path":"p"}}]}`),
	inVolume(`"projected":{"sources":[{"serviceAccountToken":{"path":"p","expirationSeconds":1}}]}`),
	inVolume(`"gitRepo":{"repository":"r"}`),
	inVolume(`"portworxVolume":{"volumeID":"v"}`),
	inVolume(`"flexVolume":{"driver":"d"}`),
	inVolume(`"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"volumeAttributesClassName":"x"}}}`),
	inVolume(`"hostPath":{"path":"/a/../b"}`),
	inVolume(`"iscsi":{"targetPortal":"1.2.3.4:3260","iqn":"iqn.2001-04.com.example:storage.disk1","lun":0,"chapAuthDiscovery":true}`),
}

// without returns all ways to take one thing out of an object: a field, or an element of a list.
func without(x any) (list []any) {
	switch x := x.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			less := maps.Clone(x)
			delete(less, k)
			list = append(list, less)
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			for _, v := range without(x[k]) {
				other := maps.Clone(x)
				other[k] = v
				list = append(list, other)
			}
		}
	case []any:
		for i := range x {
			list = append(list, slices.Delete(slices.Clone(x), i, i+1))
		}
		for i := range x {
			for _, v := range without(x[i]) {
				other := slices.Clone(x)
				other[i] = v
				list = append(list, other)
			}
		}
	}
	return list
}
