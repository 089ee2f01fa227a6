package object

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refusals lists an InvalidError as "type field".
func refusals(err error) (got []string) {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		for _, e := range invalid.Errors {
			got = append(got, string(e.Type)+" "+e.Field)
		}
	}
	return got
}

func TestValidatePod(t *testing.T) {
	const c = `"containers":[{"name":"c"}]`
	spread := func(fields string) string { return c + `,"topologySpreadConstraints":[{` + fields + `}]` }
	nodeTerm := func(expr string) string {
		return c + `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + expr + `]}}}`
	}
	const at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	const invalid, required, duplicate, forbidden, unsupported = "FieldValueInvalid ", "FieldValueRequired ", "FieldValueDuplicate ", "FieldValueForbidden ", "FieldValueNotSupported "
	tests := []struct {
		name, spec string
		want       []string
	}{
		{name: "fine", spec: c},
		{name: "no containers", want: []string{required + "spec.containers"}},
		{name: "container names", spec: `"containers":[{"name":"C_"},{"name":"x"},{"name":"x"}]`, want: []string{invalid + "spec.containers[0].name", duplicate + "spec.containers[2].name"}},
		{name: "negative request", spec: `"containers":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]`, want: []string{invalid + "spec.containers[0].resources.requests[cpu]"}},
		{name: "request over limit", spec: `"containers":[{"name":"c","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]`, want: []string{invalid + "spec.containers[0].resources.requests"}},
		{name: "fraction of a device", spec: `"containers":[{"name":"c","resources":{"limits":{"a.com/gpu":"0.5"}}}]`, want: []string{invalid + "spec.containers[0].resources.limits[a.com/gpu]", invalid + "spec.containers[0].resources.requests[a.com/gpu]"}},
		{name: "ports", spec: `"containers":[{"name":"c","ports":[{"containerPort":70000,"protocol":"X"},{}]}]`, want: []string{invalid + "spec.containers[0].ports[0].containerPort", unsupported + "spec.containers[0].ports[0].protocol", required + "spec.containers[0].ports[1].containerPort"}},
		{name: "node selector", spec: c + `,"nodeSelector":{"a b":"c"}`, want: []string{invalid + "spec.nodeSelector"}},
		{name: "no terms", spec: nodeTerm(""), want: []string{required + at}},
		{name: "operator", spec: nodeTerm(`{"matchExpressions":[{"key":"a","operator":"Like"}]}`), want: []string{invalid + at + "[0].matchExpressions[0].operator"}},
		{name: "In without values", spec: nodeTerm(`{"matchExpressions":[{"key":"a","operator":"In"}]}`), want: []string{required + at + "[0].matchExpressions[0].values"}},
		{name: "Exists with values", spec: nodeTerm(`{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}`), want: []string{forbidden + at + "[0].matchExpressions[0].values"}},
		{name: "Gt with two values", spec: nodeTerm(`{"matchExpressions":[{"key":"a","operator":"Gt","values":["1","2"]}]}`), want: []string{required + at + "[0].matchExpressions[0].values"}},
		{name: "Gt with a word is stored upstream", spec: nodeTerm(`{"matchExpressions":[{"key":"a","operator":"Gt","values":["x"]}]}`)},
		{name: "match field", spec: nodeTerm(`{"matchFields":[{"key":"spec.x","operator":"In","values":["a"]}]}`), want: []string{invalid + at + "[0].matchFields[0].key"}},
		{name: "max skew, key, action", spec: spread(`"maxSkew":0,"whenUnsatisfiable":"Maybe"`), want: []string{invalid + "spec.topologySpreadConstraints[0].maxSkew", required + "spec.topologySpreadConstraints[0].topologyKey", unsupported + "spec.topologySpreadConstraints[0].whenUnsatisfiable"}},
		{name: "any topology key is stored upstream", spec: spread(`"maxSkew":1,"topologyKey":"a key!","whenUnsatisfiable":"ScheduleAnyway"`)},
		{name: "host network", spec: `"hostNetwork":true,"containers":[{"name":"c","ports":[{"containerPort":80,"hostPort":81}]}]`, want: []string{invalid + "spec.containers[0].ports[0].hostPort"}},
		{name: "what older releases admitted", spec: `"containers":[{"name":"c","livenessProbe":{"successThreshold":2},"resources":{"limits":{"cpu":"1","hugepages-2Mi":"3Mi"}}}],"tolerations":[{"key":"a","operator":"Gt","value":"x"}],"activeDeadlineSeconds":0,"resourceClaims":[{"name":"r"}]`},
		{name: "min domains", spec: spread(`"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","minDomains":2`), want: []string{invalid + "spec.topologySpreadConstraints[0].minDomains"}},
		{name: "policy", spec: spread(`"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","nodeTaintsPolicy":"x"`), want: []string{unsupported + "spec.topologySpreadConstraints[0].nodeTaintsPolicy"}},
		{name: "spread twice", spec: spread(`"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"},{"maxSkew":2,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"`), want: []string{duplicate + "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}"}},
		{name: "keys without selector", spec: spread(`"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","matchLabelKeys":["app"]`), want: []string{forbidden + "spec.topologySpreadConstraints[0].matchLabelKeys"}},
		{name: "key named twice", spec: spread(`"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","matchLabelKeys":["app"],"labelSelector":{"matchLabels":{"app":"x"}}`), want: []string{invalid + "spec.topologySpreadConstraints[0][0]"}},
		{name: "selector operator", spec: spread(`"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchExpressions":[{"key":"a","operator":"Gt"}]}`), want: []string{invalid + "spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator"}},
		{name: "toleration", spec: c + `,"tolerations":[{"operator":"Equal"},{"key":"a","operator":"Exists","value":"x"},{"key":"a","effect":"Never"},{"key":"a","operator":"Like"}]`, want: []string{invalid + "spec.tolerations[0].operator", invalid + "spec.tolerations[1].operator", unsupported + "spec.tolerations[2].effect", unsupported + "spec.tolerations[3].operator"}},
		{name: "gates", spec: c + `,"nodeName":"n","schedulingGates":[{"name":"a b"},{"name":"x.io/g"},{"name":"x.io/g"}]`, want: []string{invalid + "spec.schedulingGates[0]", duplicate + "spec.schedulingGates[2]", forbidden + "spec.nodeName"}},
		{name: "pod affinity", spec: c + `,"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,"podAffinityTerm":{"topologyKey":"z","namespaces":["A"]}}]}}`, want: []string{invalid + "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight", invalid + "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespace"}},
		{name: "preemption policy", spec: c + `,"preemptionPolicy":"Always"`, want: []string{unsupported + "spec.preemptionPolicy"}},
		{name: "overhead", spec: c + `,"overhead":{"cpu":"-1"}`, want: []string{invalid + "spec.overhead.limits[cpu]"}},
		{name: "pod-level below containers", spec: `"resources":{"requests":{"cpu":"1"}},"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]`, want: []string{invalid + "spec.resources.requests[cpu]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodePod([]byte(`{"metadata":{"name":"p","labels":{"app":"web"}},"spec":{`+tt.spec+`}}`), Limits{})
			if diff := cmp.Diff(tt.want, refusals(err)); diff != "" {
				t.Errorf("refusals (-want +got):\n%s\n%v", diff, err)
			}
			if (err != nil) != (len(tt.want) > 0) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestValidateOthers(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"no name", `{"apiVersion":"v1","kind":"Node","metadata":{"generateName":"n-"}}`, "metadata.name: Required value"},
		{"name", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"N_1"}}`, "metadata.name: Invalid value"},
		{"label", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"a":"b c"}}}`, "metadata.labels: Invalid value"},
		{"taint effect", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"Never"}]}}`, "metadata.taints[0].effect: Unsupported value"},
		{"taint twice", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule","value":"x"}]}}`, "metadata.taints[1]: Duplicate value"},
		{"capacity", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"-4"}}}`, "status.capacity.cpu: Invalid value"},
		{"priority class value", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"p"},"value":1000000001}`, "value: Forbidden"},
		{"priority class name", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"system-mine"},"value":1}`, "metadata.name: Forbidden"},
		{"budget's selector", `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}}}`, "spec.selector.matchExpressions[0].values: Required value"},
		{"replica set's selector", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r"},"spec":{}}`, "spec.selector: Required value"},
		{"claim", `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{"resources":{"requests":{"storage":"x"}}}}`, "spec.resources.requests[storage]: Invalid value"},
		{"attachment", `{"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"a"},"spec":{"nodeName":"n","source":{"persistentVolumeName":"p"}}}`, "spec.attacher: Required value"},
		{"attachment's node", `{"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"a"},"spec":{"attacher":"d","source":{"persistentVolumeName":"p"}}}`, "spec.nodeName: Required value"},
		{"attachment of an inline volume", `{"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"a"},"spec":{"attacher":"d","nodeName":"n","source":{}}}`, ""},
		{"unknown kind", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}`, `kind: Unsupported value: "Secret"`},
		{"system class", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"system-node-critical"},"value":2000001000}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.body), Limits{})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestDecodeRequests(t *testing.T) {
	if _, err := DecodePod([]byte(`{"kind":"Node","metadata":{"name":"p"}}`), Limits{}); err == nil || !strings.Contains(err.Error(), "kind: Unsupported value") {
		t.Errorf("a node as a pod: %v", err)
	}
	if _, err := DecodePod([]byte(`{"metadata":{},"spec":{"containers":[{"name":"c"}]}}`), Limits{}); err == nil || !strings.Contains(err.Error(), "metadata.name: Required value") {
		t.Errorf("a pod without a name: %v", err)
	}
	made, err := DecodePod([]byte(`{"metadata":{"generateName":"p-"},"spec":{"containers":[{"name":"c"}]}}`), Limits{})
	if err != nil || len(made.Name) != len("p-")+5 || !strings.HasPrefix(made.Name, "p-") {
		t.Errorf("a pod whose name is to be made: %+v, %v", made, err)
	}
	for _, body := range []string{``, `[]`, `{} {}`, `{"a":`} {
		if _, err := DecodePod([]byte(body), Limits{}); err == nil {
			t.Errorf("%q passes", body)
		}
	}
	n, err := DecodeNode([]byte(`{"metadata":{"name":"n"}}`), Limits{})
	if err != nil || n.Kind != "Node" || n.UID == "" {
		t.Errorf("node = %v, %v", n, err)
	}
	if _, err := FromCanonical("Secret", []byte(`{}`)); err == nil {
		t.Error("a secret comes back")
	}
	if _, err := Encode(3); err == nil {
		t.Error("a number is encoded")
	}
}
