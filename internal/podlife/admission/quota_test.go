package admission

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
)

// held is Objects of a list.
type held []object.Object

func (h held) Object(k object.Key) ([]byte, bool) {
	i := slices.IndexFunc(h, func(o object.Object) bool { return o.Key == k })
	if i < 0 {
		return nil, false
	}
	return h[i].JSON, true
}

func (h held) In(namespace string, kinds ...string) iter.Seq2[object.Key, []byte] {
	return func(yield func(object.Key, []byte) bool) {
		for _, o := range h {
			if (namespace == "" || o.Key.Namespace == namespace) && slices.Contains(kinds, o.Key.Kind) && !yield(o.Key, o.JSON) {
				return
			}
		}
	}
}

func heldOf(t testing.TB, list ...string) (h held) {
	t.Helper()
	for _, js := range list {
		o, err := object.Decode([]byte(js), object.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", js, err)
		}
		h = append(h, o)
	}
	return h
}

func quotaOf(name, spec string) string {
	return `{"kind":"ResourceQuota","apiVersion":"v1","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
}

// user is a pod with a part of its spec, and of its container.
func user(name, spec, container, status string) string {
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `"},"spec":{` + spec + `"containers":[{"name":"c","image":"i"` + container + `}]},"status":{` + status + `}}`
}

func cpus(n string) string { return `,"resources":{"requests":{"cpu":"` + n + `"}}` }

// TestQuotaScopes has a quota of one pod with each scope, beside a pod of that scope and one that
// is not of it.
func TestQuotaScopes(t *testing.T) {
	const elsewhere = `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","namespaces":["x"],"labelSelector":{}}]}},`
	const prefers = `"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"z","namespaceSelector":{},"labelSelector":{}}}]}},`
	const here = `"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{}}]}},`
	class := func(name string) string { return `"priority":0,"priorityClassName":"` + name + `",` }
	selects := func(op, values string) string {
		return `"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"` + op + `"` + values + `}]}`
	}
	for _, c := range []struct {
		scope       string
		in, out     string // parts of specs
		inCon, oCon string // of containers
	}{
		{`"scopes":["Terminating"]`, `"activeDeadlineSeconds":5,`, ``, ``, ``},
		{`"scopes":["NotTerminating"]`, ``, `"activeDeadlineSeconds":5,`, ``, ``},
		{`"scopes":["BestEffort"]`, ``, ``, ``, cpus("1")},
		{`"scopes":["NotBestEffort"]`, ``, ``, cpus("1"), ``},
		{`"scopes":["NotBestEffort","NotTerminating"]`, ``, `"activeDeadlineSeconds":5,`, cpus("1"), cpus("1")},
		{`"scopes":["PriorityClass"]`, class("high"), ``, ``, ``},
		{`"scopes":["CrossNamespacePodAffinity"]`, elsewhere, here, ``, ``},
		{`"scopes":["CrossNamespacePodAffinity"]`, prefers, ``, ``, ``},
		{selects("In", `,"values":["high","top"]`), class("high"), class("low"), ``, ``},
		{selects("In", `,"values":["high"]`), class("high"), ``, ``, ``},
		{selects("NotIn", `,"values":["low"]`), class("high"), class("low"), ``, ``},
		{selects("NotIn", `,"values":["low"]`), ``, class("low"), ``, ``},
		{selects("Exists", ``), class("high"), ``, ``, ``},
		{selects("DoesNotExist", ``), ``, class("high"), ``, ``},
	} {
		quota := quotaOf("q", c.scope+`,"hard":{"pods":"1"}`)
		judge := func(spec, container string, others ...string) string {
			objects := heldOf(t, append(others, quota)...)
			p := heldOf(t, user("new", spec, container, ""))[0].Value.(*corev1.Pod)
			v := CreateStored(p, Admission{Objects: objects, Classes: anyClass}, now)
			if v.Forbidden == "" && v.Pod == nil {
				t.Fatal(v.Errors)
			}
			return v.Forbidden
		}
		mine, other := user("mine", c.in, c.inCon, ""), user("other", c.out, c.oCon, "")
		const full = `pods "new" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`
		if got := judge(c.in, c.inCon, mine); got != full {
			t.Errorf("%s: one of the scope beside another: %q", c.scope, got)
		}
		if got := judge(c.in, c.inCon, other); got != "" {
			t.Errorf("%s: the only one of the scope: %q", c.scope, got)
		}
		if got := judge(c.out, c.oCon, mine); got != "" {
			t.Errorf("%s: one that is not of the scope: %q", c.scope, got)
		}
	}
}

// anyClass has classes of all names.
func anyClass(name string) *schedulingv1.PriorityClass {
	if name == "" {
		return nil
	}
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestQuotaAmounts compares what pods use with what upstream's evaluator says
// (pkg/quota/v1/evaluator/core pods_test.go has most of these).
func TestQuotaAmounts(t *testing.T) {
	for _, c := range []struct{ name, pod, want string }{
		{"nothing", user("a", "", "", ""), "count/pods=1,pods=1"},
		{
			"requests and limits", user("a", "", `,"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"2Gi","ephemeral-storage":"1Gi"}}`, ""),
			"count/pods=1,cpu=1,ephemeral-storage=1Gi,limits.cpu=2,limits.ephemeral-storage=1Gi,limits.memory=2Gi,memory=1Gi,pods=1,requests.cpu=1,requests.ephemeral-storage=1Gi,requests.memory=1Gi",
		},
		{
			"extended and huge", user("a", "", `,"resources":{"limits":{"example.com/gpu":"2","hugepages-2Mi":"4Mi","cpu":"1"}}`, ""),
			"count/pods=1,cpu=1,hugepages-2Mi=4Mi,limits.cpu=1,pods=1,requests.cpu=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi",
		},
		{
			"overhead", user("a", `"overhead":{"cpu":"1","memory":"1Mi"},`, `,"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}`, ""),
			"count/pods=1,cpu=2,limits.cpu=3,memory=1Mi,pods=1,requests.cpu=2,requests.memory=1Mi",
		},
		{"init and sidecar", user("a", `"initContainers":[{"name":"s","image":"i","restartPolicy":"Always"`+cpus("1")+`},{"name":"i","image":"i"`+cpus("3")+`}],`, cpus("2"), ""), "count/pods=1,cpu=4,pods=1,requests.cpu=4"},
		{"of the pod as a whole", user("a", `"resources":{"requests":{"cpu":"5"},"limits":{"cpu":"6"}},`, cpus("2"), ""), "count/pods=1,cpu=5,limits.cpu=6,pods=1,requests.cpu=5"},
		{"ended", user("a", "", cpus("2"), `"phase":"Succeeded"`), "count/pods=1"},
		{"should be gone", strings.Replace(user("a", "", cpus("2"), ""), `"name":"a"`, `"name":"a","deletionTimestamp":"2026-03-01T11:59:00Z","deletionGracePeriodSeconds":30`, 1), "count/pods=1"},
		{"ends", strings.Replace(user("a", "", cpus("2"), ""), `"name":"a"`, `"name":"a","deletionTimestamp":"2026-03-01T11:59:50Z","deletionGracePeriodSeconds":30`, 1), "count/pods=1,cpu=2,pods=1,requests.cpu=2"},
	} {
		got := quotaUsage(heldOf(t, c.pod)[0].Value.(*corev1.Pod), now)
		if text := listed(texts(got, slices.Sorted(maps.Keys(got)))); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestQuotaRefuses has what a quota says, and who uses it up.
func TestQuotaRefuses(t *testing.T) {
	var others []string
	for i := range 12 {
		others = append(others, user(fmt.Sprintf("p%02d", i), "", cpus(fmt.Sprint(i+1)), ""))
	}
	others[3] = strings.Replace(others[3], `"name":"p03"`, `"name":"p03","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"u","controller":true}]`, 1)
	judge := func(p string, list ...string) Verdict {
		return CreateStored(heldOf(t, p)[0].Value.(*corev1.Pod), Admission{Objects: heldOf(t, list...)}, now)
	}
	v := judge(user("new", "", cpus("500m"), ""), append(others, quotaOf("z", `"hard":{"pods":"1"}`), quotaOf("b", `"hard":{"cpu":"78","pods":"90","services":"1"}`))...)
	if want := `pods "new" is forbidden: exceeded quota: b, requested: cpu=500m, used: cpu=78, limited: cpu=78`; v.Forbidden != want || v.Pod != nil || len(v.Errors) != 1 {
		t.Fatalf("%q, want %q", v.Forbidden, want)
	}
	q := v.Quota
	if len(q.Pods) != 10 || q.More != 2 || q.Pods[0].Name != "p11" || q.Pods[0].Uses["cpu"] != "12" || q.Pods[8].Owner != "ReplicaSet/web-1" {
		t.Errorf("%+v", q)
	}
	for name, c := range map[string]struct{ pod, quota, want string }{
		"unspecified": {user("new", `"initContainers":[{"name":"i","image":"i"}],`, "", ""), quotaOf("q", `"hard":{"requests.cpu":"9","limits.memory":"1Gi"}`), `pods "new" is forbidden: failed quota: q: must specify limits.memory for: c,i; requests.cpu for: c,i`},
		"by the pod":  {user("new", `"resources":{"requests":{"cpu":"1"}},`, "", ""), quotaOf("q", `"hard":{"requests.cpu":"9","limits.memory":"1Gi"}`), ""},
		"of others":   {user("new", "", "", ""), quotaOf("q", `"hard":{"services":"0","count/jobs.batch":"0"}`), ""},
		"no room":     {user("new", "", cpus("1"), ""), quotaOf("q", `"hard":{"requests.cpu":"0"}`), `pods "new" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=0, limited: requests.cpu=0`},
		"elsewhere":   {user("new", "", cpus("1"), ""), strings.Replace(quotaOf("q", `"hard":{"pods":"0"}`), `"name":"q"`, `"name":"q","namespace":"other"`, 1), ""},
		"by status":   {user("new", "", cpus("1"), ""), strings.Replace(quotaOf("q", `"hard":{"pods":"3"}`), `}}`, `}},"status":{"used":{"pods":"3"}}`, 1), `pods "new" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3`},
	} {
		if got := judge(c.pod, c.quota).Forbidden; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestQuotaOfUpdates: a pod that gets a deadline comes into the scope Terminating.
func TestQuotaOfUpdates(t *testing.T) {
	old, ends := user("a", "", "", ""), user("a", `"activeDeadlineSeconds":5,`, "", "")
	a := Admission{Objects: heldOf(t, old, user("b", `"activeDeadlineSeconds":5,`, "", ""), quotaOf("q", `"scopes":["Terminating"],"hard":{"pods":"1"}`), quotaOf("r", `"hard":{"pods":"1"}`))}
	pod := func(js string) *corev1.Pod { return heldOf(t, js)[0].Value.(*corev1.Pod) }
	if got := UpdateStored(pod(ends), pod(old), a).Forbidden; got != `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1` {
		t.Errorf("%q", got)
	}
	if v := UpdateStored(pod(old), pod(old), a); v.Forbidden != "" {
		t.Errorf("nothing changes: %q", v.Forbidden)
	}
}

func TestRuntimeClass(t *testing.T) {
	const kata = `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"kata"},"handler":"h","overhead":{"podFixed":{"cpu":"250m"}},"scheduling":{"nodeSelector":{"kata":"yes"},"tolerations":[{"key":"k","operator":"Exists"}]}}`
	const plain = `{"kind":"RuntimeClass","apiVersion":"node.k8s.io/v1","metadata":{"name":"plain"},"handler":"h"}`
	a := Admission{Objects: heldOf(t, kata, plain)}
	p := pod(t, `"runtimeClassName":"kata","nodeSelector":{"a":"b"},"tolerations":[{"key":"k","operator":"Equal","value":"x"}],`)
	p.ResourceVersion = ""
	v := Create(p, a, now)
	if v.Pod == nil {
		t.Fatal(v.Errors)
	}
	s := &v.Pod.Spec
	if s.Overhead.Cpu().String() != "250m" || cmp.Diff(s.NodeSelector, map[string]string{"a": "b", "kata": "yes"}) != "" {
		t.Errorf("%v %v", s.Overhead, s.NodeSelector)
	}
	keys := []string{}
	for _, t := range s.Tolerations {
		keys = append(keys, t.Key+" "+string(t.Operator)+" "+t.Value)
	}
	if d := cmp.Diff([]string{corev1.TaintNodeNotReady + " Exists ", corev1.TaintNodeUnreachable + " Exists ", "k Exists "}, keys); d != "" {
		t.Error(d)
	}
	for spec, want := range map[string]string{
		`"runtimeClassName":"gvisor",`:                            `pod rejected: RuntimeClass "gvisor" not found`,
		`"runtimeClassName":"kata","nodeSelector":{"kata":"no"},`: `conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; pod.spec.nodeSelector[kata] = no`,
		`"runtimeClassName":"kata","overhead":{"cpu":"1"},`:       `pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`,
		`"runtimeClassName":"kata","overhead":{"cpu":"250m"},`:    "",
		`"runtimeClassName":"plain",`:                             "",
		`"runtimeClassName":"plain","overhead":{"cpu":"1"},`:      `pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
		`"overhead":{"cpu":"1"},`:                                 `pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
	} {
		in := pod(t, spec)
		in.ResourceVersion = ""
		if want != "" {
			want = `pods "p" is forbidden: ` + want
		}
		if got := Create(in, a, now).Forbidden; got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
	if v := CreateStored(pod(t, `"overhead":{"cpu":"1"},`), a, now); v.Pod == nil {
		t.Errorf("a ledger's pod with an overhead of its own: %v", v.Errors)
	}
}

func TestLimitRanger(t *testing.T) {
	limits := func(name, items string) string {
		return `{"kind":"LimitRange","apiVersion":"v1","metadata":{"name":"` + name + `"},"spec":{"limits":[` + items + `]}}`
	}
	with := func(resources string) *corev1.Pod {
		p := heldOf(t, user("p", `"initContainers":[{"name":"i","image":"i"`+cpus("1")+`}],`, resources, ""))[0].Value.(*corev1.Pod)
		p.UID = ""
		return p
	}
	v := Create(with(""), Admission{Objects: heldOf(t, limits("b", `{"type":"Container","default":{"cpu":"2","memory":"1Gi"},"defaultRequest":{"cpu":"1"}}`))}, now)
	if v.Pod == nil {
		t.Fatal(v.Errors)
	}
	r := v.Pod.Spec.Containers[0].Resources
	if r.Requests.Cpu().String() != "1" || r.Requests.Memory().String() != "1Gi" || r.Limits.Cpu().String() != "2" {
		t.Errorf("%v", r)
	}
	if got, want := v.Pod.Annotations[LimitRangerSet], "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c; memory request for init container i; cpu, memory limit for init container i"; got != want {
		t.Errorf("%q", got)
	}
	for _, c := range []struct{ resources, items, want string }{
		{cpus("1"), `{"type":"Container","min":{"cpu":"1"}}`, ""},
		{cpus("500m"), `{"type":"Container","min":{"cpu":"1"}}`, "minimum cpu usage per Container is 1, but request is 500m"},
		{cpus("1"), `{"type":"Container","min":{"memory":"1Gi"},"defaultRequest":{"memory":"1Mi"}}`, "minimum memory usage per Container is 1Gi, but request is 1Mi"},
		{`,"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"3"}}`, `{"type":"Container","max":{"cpu":"2"}}`, "maximum cpu usage per Container is 2, but limit is 3"},
		{cpus("1"), `{"type":"Pod","max":{"cpu":"2"}}`, "maximum cpu usage per Pod is 2.  No limit is specified"},
		{cpus("3"), `{"type":"Pod","min":{"cpu":"4"}}`, "minimum cpu usage per Pod is 4, but request is 3"},
		{`,"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"3"}}`, `{"type":"Container","maxLimitRequestRatio":{"cpu":"2"},"default":{"cpu":"1"}}`, "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"},
		{cpus("1"), `{"type":"Pod","maxLimitRequestRatio":{"memory":"2"}}`, "memory max limit to request ratio per Pod is 2, but no request is specified or request is 0"},
		{cpus("3"), `{"type":"Pod","min":{"cpu":"4","memory":"1Gi"}}`, "[minimum cpu usage per Pod is 4, but request is 3, minimum memory usage per Pod is 1Gi.  No request is specified]"},
		{cpus("1"), `{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"}}`, ""},
	} {
		want := c.want
		if want != "" {
			want = `pods "p" is forbidden: ` + want
		}
		if v := Create(with(c.resources), Admission{Objects: heldOf(t, limits("a", c.items))}, now); v.Forbidden != want || (v.Pod == nil) != (want != "") {
			t.Errorf("%s %s: %q %v, want %q", c.resources, c.items, v.Forbidden, v.Errors, want)
		}
	}
}

// BenchmarkCountUsage counts the pods of a namespace.
func BenchmarkCountUsage(b *testing.B) {
	list := []string{quotaOf("q", `"hard":{"pods":"9000","requests.cpu":"9000","limits.memory":"9Ti"}`)}
	for i := range 1000 {
		list = append(list, user(fmt.Sprintf("web-%d", i), `"nodeName":"n`+fmt.Sprint(i%50)+`",`, cpus("1"), `"phase":"Running","startTime":"`+now.Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339)+`"`))
	}
	objects := heldOf(b, list...)
	for b.Loop() {
		if _, err := CountUsage(objects, "default", now); err != nil {
			b.Fatal(err)
		}
	}
}
