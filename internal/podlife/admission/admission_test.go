package admission

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.UTC)

// pod decodes a pod with one container; spec is JSON that is put into its spec.
func pod(t *testing.T, spec string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	js := `{"metadata":{"name":"p","resourceVersion":"5"},"spec":{` + spec + `"containers":[{"name":"c","image":"img"}]}}`
	if err := json.Unmarshal([]byte(js), p); err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return p
}

func create(t *testing.T, spec string, classes Classes) Verdict {
	t.Helper()
	p := pod(t, spec)
	p.ResourceVersion = ""
	return Create(p, Admission{Classes: classes}, now)
}

func want(t *testing.T, what string, v Verdict, errs ...string) {
	t.Helper()
	got := lines(v.Errors)
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], "\n")
	}
	if d := cmp.Diff(append([]string{}, errs...), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
	if (v.Pod != nil) != (len(errs) == 0) {
		t.Errorf("%s: pod %v with %d errors", what, v.Pod != nil, len(v.Errors))
	}
}

func some(list ...*schedulingv1.PriorityClass) Classes {
	return func(name string) *schedulingv1.PriorityClass {
		for _, c := range list {
			if c.Name == name && name != "" || c.GlobalDefault && name == "" {
				return c
			}
		}
		return nil
	}
}

func TestCreatePriority(t *testing.T) {
	never := corev1.PreemptNever
	science := class("science", 500)
	science.PreemptionPolicy = &never
	usual := class("usual", 7)
	usual.GlobalDefault = true
	bare := class("bare", 9)
	bare.PreemptionPolicy = nil
	for _, c := range []struct {
		name, spec string
		classes    Classes
		priority   int32
		class      string
		policy     string
		err        string
	}{
		{"no class at all", ``, nil, 0, "", "PreemptLowerPriority", ""},
		{"a class", `"priorityClassName":"science",`, some(science), 500, "science", "Never", ""},
		{"the default class", ``, some(science, usual), 7, "usual", "PreemptLowerPriority", ""},
		{"a built-in class", `"priorityClassName":"system-node-critical",`, nil, 2000001000, "system-node-critical", "PreemptLowerPriority", ""},
		{"the same priority again", `"priorityClassName":"science","priority":500,"preemptionPolicy":"Never",`, some(science), 500, "science", "Never", ""},
		{"a class without a policy", `"priorityClassName":"bare","preemptionPolicy":"Never",`, some(bare), 9, "bare", "Never", ""},
		{"an unknown class", `"priorityClassName":"none",`, some(science), 0, "", "", "spec.priorityClassName FieldValueForbidden Forbidden: no PriorityClass with name none was found"},
		{"another priority", `"priorityClassName":"science","priority":501,`, some(science), 0, "", "", "spec.priority FieldValueForbidden Forbidden: the integer value of priority (501) must not be provided in pod spec; priority admission controller computed 500 from the given PriorityClass name"},
		{"a priority without a class", `"priority":5,`, nil, 0, "", "", "spec.priority FieldValueForbidden Forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name"},
		{"another policy", `"preemptionPolicy":"Never",`, nil, 0, "", "", "spec.preemptionPolicy FieldValueForbidden Forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name"},
		{"a refusal is the only error", `"priority":5,"restartPolicy":"Odd",`, nil, 0, "", "", "spec.priority FieldValueForbidden Forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name"},
	} {
		v := create(t, c.spec, c.classes)
		if c.err != "" {
			want(t, c.name, v, c.err)
			continue
		}
		want(t, c.name, v)
		if s := v.Pod.Spec; *s.Priority != c.priority || s.PriorityClassName != c.class || string(*s.PreemptionPolicy) != c.policy {
			t.Errorf("%s: priority %d of class %q, policy %s", c.name, *s.Priority, s.PriorityClassName, *s.PreemptionPolicy)
		}
	}
}

func TestCreate(t *testing.T) {
	in := pod(t, `"schedulingGates":[{"name":"a"}],`)
	in.ResourceVersion = ""
	in.Status = corev1.PodStatus{Phase: corev1.PodRunning, NominatedNodeName: "n"}
	in.DeletionTimestamp = &metav1.Time{Time: now}
	before := in.DeepCopy()
	v := Create(in, Admission{}, now)
	want(t, "gated", v)
	if d := cmp.Diff(before, in); d != "" {
		t.Errorf("the argument was written:\n%s", d)
	}
	p := v.Pod
	if p.Namespace != "default" || p.Generation != 1 || p.DeletionTimestamp != nil || !p.CreationTimestamp.Time.Equal(now.Truncate(time.Second)) {
		t.Errorf("metadata %+v", p.ObjectMeta)
	}
	if d := cmp.Diff(corev1.PodStatus{
		Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated",
			Message: "Scheduling is blocked due to non-empty scheduling gates", LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		}},
	}, p.Status); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
	if again := Update(p, p); again.Errors != nil {
		t.Errorf("what was admitted cannot be updated: %v", again.Errors)
	}

	want(t, "not gated", create(t, ``, nil))
	if v := create(t, ``, nil); len(v.Pod.Status.Conditions) != 0 {
		t.Errorf("conditions %v", v.Pod.Status.Conditions)
	}
	want(t, "bound and gated", create(t, `"nodeName":"n","schedulingGates":[{"name":"a"}],`, nil), "spec.nodeName FieldValueForbidden Forbidden: cannot be set until all schedulingGates have been cleared")
	want(t, "twice", create(t, `"schedulingGates":[{"name":"a"},{"name":"b"},{"name":"a"}],`, nil), `spec.schedulingGates[2] FieldValueDuplicate Duplicate value: "a"`)
	if v := create(t, `"schedulingGates":[{"name":"bad gate"}],`, nil); len(v.Errors) != 1 || v.Errors[0].Field != "spec.schedulingGates[0]" {
		t.Errorf("a bad name: %v", v.Errors)
	}
	old := pod(t, "")
	want(t, "a version", Create(old, Admission{}, now), "metadata.resourceVersion FieldValueForbidden Forbidden: resourceVersion should not be set on objects to be created")
	made := pod(t, "")
	made.Name, made.GenerateName, made.ResourceVersion = "", "web-", ""
	if v := Create(made, Admission{}, now); v.Pod == nil || len(v.Pod.Name) != len("web-")+5 || v.Pod.Name != Create(made, Admission{}, now).Pod.Name {
		t.Errorf("generated name: %v", v.Errors)
	}
	merged := pod(t, `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":["app","none"]}],`)
	merged.Labels, merged.ResourceVersion = map[string]string{"app": "a"}, ""
	if v := Create(merged, Admission{}, now); v.Pod == nil || len(v.Pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions) != 1 {
		t.Errorf("matchLabelKeys: %v", v.Errors)
	}
}

func TestUpdate(t *testing.T) {
	const other = "spec FieldValueForbidden Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
	for _, c := range []struct {
		name, old, now string
		errs           []string
	}{
		{"nothing", ``, ``, nil},
		{"a toleration comes", `"tolerations":[{"key":"a","operator":"Exists"}],`, `"tolerations":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}],`, nil},
		{"a toleration goes", `"tolerations":[{"key":"a","operator":"Exists"}],`, ``, []string{"spec.tolerations FieldValueForbidden Forbidden: existing toleration can not be modified except its tolerationSeconds"}},
		{"a deadline comes", ``, `"activeDeadlineSeconds":5,`, nil},
		{"a deadline goes", `"activeDeadlineSeconds":5,`, ``, []string{"spec.activeDeadlineSeconds FieldValueInvalid Invalid value: null: must not update from a positive integer to nil value"}},
		{"a later deadline", `"activeDeadlineSeconds":5,`, `"activeDeadlineSeconds":6,`, []string{"spec.activeDeadlineSeconds FieldValueInvalid Invalid value: 6: must be less than or equal to previous value"}},
		{"another grace period", `"terminationGracePeriodSeconds":9,`, `"terminationGracePeriodSeconds":8,`, []string{other}},
		{"from negative to 1", `"terminationGracePeriodSeconds":-9,`, `"terminationGracePeriodSeconds":1,`, nil},
		{"a priority is taken over", `"priority":5,"preemptionPolicy":"Never",`, ``, nil},
		{"another priority", `"priority":5,`, `"priority":6,`, []string{other}},
		{"a node selector", ``, `"nodeSelector":{"a":"b"},`, []string{other}},
		{"preferred node affinity", ``, `"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}]}},`, []string{other}},
		{"an empty affinity", ``, `"affinity":{},`, []string{other}},
		{"a gate", ``, `"schedulingGates":[{"name":"a"}],`, []string{"spec.schedulingGates[0].name FieldValueForbidden Forbidden: only deletion is allowed, but found new scheduling gate 'a'"}},
	} {
		want(t, c.name, Update(pod(t, c.now), pod(t, c.old)), c.errs...)
	}
	image := pod(t, "")
	image.Spec.Containers[0].Image = "new"
	v := Update(image, pod(t, ""))
	want(t, "an image", v)
	if v.Pod.Generation != 1 {
		t.Errorf("generation %d after a change of the spec", v.Pod.Generation)
	}
	bare, old := pod(t, ""), pod(t, "")
	bare.ResourceVersion, old.ResourceVersion = "", ""
	if v := Update(bare, old); v.Errors != nil || v.Pod.ResourceVersion != "" {
		t.Errorf("two manifests: %v", v.Errors)
	}
	bare.UID, old.UID = "a", "b"
	want(t, "another pod", Update(bare, old), `metadata.uid FieldValueInvalid Invalid value: "a": field is immutable`)
}

func TestGatedUpdate(t *testing.T) {
	const gates = `"schedulingGates":[{"name":"a"},{"name":"b"}],`
	terms := func(list string) string {
		return gates + `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + list + `]}}},`
	}
	const a, b = `{"key":"a","operator":"Exists"}`, `{"key":"b","operator":"Exists"}`
	expr := func(list string) string { return `{"matchExpressions":[` + list + `]}` }
	const at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	loosened := func(i, shown string) string {
		return at + "[" + i + "] FieldValueInvalid Invalid value: " + shown + ": only additions are allowed (no mutations or deletions)"
	}
	const shownB = `{"Key":"b","Operator":"Exists","Values":null}`
	const shownA = `{"Key":"a","Operator":"Exists","Values":null}`
	for _, c := range []struct {
		name, old, now string
		errs           []string
	}{
		{"a gate goes", gates, `"schedulingGates":[{"name":"b"}],`, nil},
		{"all gates go", gates, ``, nil},
		{"gates change places", gates, `"schedulingGates":[{"name":"b"},{"name":"a"}],`, nil},
		{"a gate is renamed", gates, `"schedulingGates":[{"name":"c"},{"name":"a"}],`, []string{"spec.schedulingGates[0].name FieldValueForbidden Forbidden: only deletion is allowed, but found new scheduling gate 'c'"}},
		{"tightened as the last gate goes", gates, `"nodeSelector":{"x":"y"},`, nil},
		{"a node selector gains", gates + `"nodeSelector":{"x":"y"},`, gates + `"nodeSelector":{"x":"y","z":"z"},`, nil},
		{"a node selector changes", gates + `"nodeSelector":{"x":"y"},`, gates + `"nodeSelector":{"x":"z"},`, []string{
			`spec.nodeSelector FieldValueInvalid Invalid value: {"x":"z"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`,
		}},
		{"node affinity comes", gates, terms(expr(a)), nil},
		{"an expression comes behind", terms(expr(a)), terms(expr(a + "," + b)), nil},
		{"an expression comes in front", terms(expr(a)), terms(expr(b + "," + a)), []string{loosened("0", `{"MatchExpressions":[`+shownB+`,`+shownA+`],"MatchFields":null}`)}},
		{"an expression is replaced", terms(expr(a)), terms(expr(b)), []string{loosened("0", `{"MatchExpressions":[`+shownB+`],"MatchFields":null}`)}},
		{"terms change places", terms(expr(a) + "," + expr(b)), terms(expr(b) + "," + expr(a)), []string{
			loosened("0", `{"MatchExpressions":[`+shownB+`],"MatchFields":null}`), loosened("1", `{"MatchExpressions":[`+shownA+`],"MatchFields":null}`),
		}},
		{"a term comes", terms(expr(a)), terms(expr(a) + "," + expr(b)), []string{
			at + ` FieldValueInvalid Invalid value: [{"MatchExpressions":[` + shownA + `],"MatchFields":null},{"MatchExpressions":[` + shownB + `],"MatchFields":null}]: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
		}},
		{"the affinity goes", terms(expr(a)), gates, []string{at + " FieldValueInvalid Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed"}},
		{"an empty term stays empty", terms(`{}`), terms(expr(a)), []string{loosened("0", `{"MatchExpressions":[`+shownA+`],"MatchFields":null}`)}},
	} {
		want(t, c.name, Update(pod(t, c.now), pod(t, c.old)), c.errs...)
	}
	v := Update(pod(t, gates+`"affinity":{},`), pod(t, gates))
	if len(v.Errors) != 1 || v.Errors[0].Field != "spec" {
		t.Errorf("affinity {} where there was none: %v", v.Errors)
	}
}

// TestUpstreamsRules: fields on which neither scheduling nor a pod's life depends are judged, too,
// by an API server that allows privileged containers.
func TestUpstreamsRules(t *testing.T) {
	for what, c := range map[string]struct{ spec, want string }{
		"privileged":         {spec: `"initContainers":[{"name":"i","image":"i","securityContext":{"privileged":true}}],`},
		"user":               {`"securityContext":{"runAsUser":-1},`, "spec.securityContext.runAsUser"},
		"two sources":        {`"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/a"}}],`, "spec.volumes[0].hostPath"},
		"name server":        {`"dnsConfig":{"nameservers":["a"]},`, "spec.dnsConfig.nameservers[0]"},
		"a pull secret":      {spec: `"imagePullSecrets":[{"name":"s"}],`},
		"a gate that is off": {`"tolerations":[{"key":"a","operator":"Gt","value":"5"}],`, "spec.tolerations[0].operator"},
	} {
		v := create(t, c.spec, nil)
		if c.want == "" && v.Pod == nil || c.want != "" && (len(v.Errors) != 1 || v.Errors[0].Field != c.want) {
			t.Errorf("%s: %v, want an error of %q", what, v.Errors, c.want)
		}
	}
}

// TestErrorsInOrder: upstream finds some errors by ranging over a map.
func TestErrorsInOrder(t *testing.T) {
	first := ""
	for range 20 {
		v := create(t, `"initContainers":[{"name":"i","image":"i","resources":{"limits":{"a":"1","b":"1","c":"1","d":"1"}}}],`, nil)
		got := strings.Join(lines(v.Errors), "\n")
		if first == "" {
			first = got
		}
		if got != first || len(v.Errors) < 4 {
			t.Fatalf("errors in another order:\n%s\n%s", first, got)
		}
	}
}

// TestTolerationSecondsAreAdmitted: on create and on update, and a pod that has
// them gains none.
func TestTolerationSecondsAreAdmitted(t *testing.T) {
	v := create(t, ``, nil)
	want(t, "create", v)
	if n := len(v.Pod.Spec.Tolerations); n != 2 {
		t.Errorf("created with %d tolerations: %v", n, v.Pod.Spec.Tolerations)
	}
	old := pod(t, ``)
	u := Update(old, old)
	want(t, "update", u)
	if n := len(u.Pod.Spec.Tolerations); n != 2 || u.Pod.Generation != old.Generation+1 {
		t.Errorf("updated to %d tolerations, generation %d", n, u.Pod.Generation)
	}
	again := Update(u.Pod, u.Pod)
	want(t, "update again", again)
	if n := len(again.Pod.Spec.Tolerations); n != 2 || again.Pod.Generation != u.Pod.Generation {
		t.Errorf("updated again to %d tolerations, generation %d", n, again.Pod.Generation)
	}
}
