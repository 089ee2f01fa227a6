package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/kube/object"
	"berth/internal/kube/object/stored"
)

// QuotaUse is a quota that does not let a pod in, and who uses it up.
type QuotaUse struct {
	Name string `json:"name"`
	// Requested, Used and Limited are the amounts that are exceeded.
	Requested map[string]string `json:"requested"`
	Used      map[string]string `json:"used"`
	Limited   map[string]string `json:"limited"`
	// Pods use most of what is exceeded, those that use most first: at most ten.
	Pods []QuotaPod `json:"pods,omitempty"`
	// More is how many other pods use of it.
	More int `json:"more,omitempty"`
} // @name QuotaUse

// QuotaPod is a pod that uses of a quota.
type QuotaPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Owner is its controller.
	Owner string `json:"owner,omitempty" example:"ReplicaSet/web-7d4b9"`
	// Uses are its amounts of what is exceeded.
	Uses map[string]string `json:"uses"`
} // @name QuotaPod

// mostQuotaPods is how many pods a QuotaUse names.
const mostQuotaPods = 10

// Usage is what the pods of a namespace use of its quotas. In a cluster their controller writes it
// into their status, which a ledger has not.
type Usage struct {
	// Timed reports whether what pods use changes with the time: some are about to end.
	Timed bool

	quotas []*corev1.ResourceQuota          // by name; not written
	used   []corev1.ResourceList            // of each, of the resources that it limits
	others map[string][]corev1.ResourceList // as used, by kinds other than Pod that were counted
	now    time.Time

	namespace string
}

// CountUsage counts what the pods of a namespace use at a time. Where a dump has quotas and no pods
// at all, what their status says is taken.
func CountUsage(from Objects, namespace string, now time.Time) (*Usage, error) {
	quotas, err := objectsIn[*corev1.ResourceQuota](from, namespace, "ResourceQuota")
	if err != nil {
		return nil, err
	}
	u := NewUsage(quotas, namespace, now)
	if len(quotas) == 0 {
		return u, nil
	}
	some := false
	err = podsIn(from, namespace, func(p *corev1.Pod) {
		some = true
		u.Add(p, 1)
	})
	if err == nil && !some && !holds(from, "Pod") {
		u.takeStatus(u.used)
	}
	return u, err
}

// NewUsage begins to count the pods of a namespace: what they use of quotas, which are by name, at
// a time.
func NewUsage(quotas []*corev1.ResourceQuota, namespace string, now time.Time) *Usage {
	u := &Usage{quotas: quotas, used: make([]corev1.ResourceList, len(quotas)), now: now, namespace: namespace}
	for i := range quotas {
		u.used[i] = corev1.ResourceList{}
		for _, name := range matching(quotas[i].Spec.Hard) {
			u.used[i][name] = resource.Quantity{Format: resource.DecimalSI}
		}
	}
	return u
}

// Refuses returns why a quota does not let a new pod in, in an API server's words; empty: all do.
func (u *Usage) Refuses(p *corev1.Pod) string {
	if r, _, _ := u.refusal(p, nil); r != nil {
		return r.verdict(p).Forbidden
	}
	return ""
}

// takeStatus sets what is used to what the status of each quota says.
func (u *Usage) takeStatus(used []corev1.ResourceList) {
	for i, q := range u.quotas {
		for name := range used[i] {
			if is, told := q.Status.Used[name]; told {
				used[i][name] = is.DeepCopy()
			}
		}
	}
}

// holds reports whether there is any object of a kind.
func holds(from Objects, kind string) bool {
	for range from.In("", kind) {
		return true
	}
	return false
}

// podsIn visits the pods of a namespace.
func podsIn(from Objects, namespace string, visit func(*corev1.Pod)) error {
	cache := object.NewPodCache()
	for _, js := range from.In(namespace, "Pod") {
		o, err := cache.Decode(slices.Clone(js))
		if err != nil {
			return err
		}
		visit(o.Value.(*corev1.Pod))
	}
	return nil
}

// Add counts a pod of the namespace: by 1 one that came, by -1 one that goes.
func (u *Usage) Add(p *corev1.Pod, by int) {
	if len(u.quotas) == 0 {
		return
	}
	u.Timed = u.Timed || p.DeletionTimestamp != nil
	uses := quotaUsage(p, u.now)
	for i, q := range u.quotas {
		if inScope(q, p) {
			addUp(u.used[i], uses, by)
		}
	}
}

// addUp adds amounts to those of a sum that are in it, or takes them away where by is below 0.
func addUp(sum, uses corev1.ResourceList, by int) {
	for name, amount := range uses {
		if q, tracked := sum[name]; tracked {
			if by > 0 {
				q.Add(amount)
			} else {
				q.Sub(amount)
			}
			sum[name] = q
		}
	}
}

// usageOf returns what is used of the quotas of a namespace.
func (a *Admission) usageOf(namespace string) (*Usage, error) {
	if a.Usage != nil {
		return a.Usage(namespace)
	}
	return CountUsage(a.Objects, namespace, a.now)
}

// checkQuotas refuses a pod that a quota of its namespace does not let in, and one that replaces
// another, nil for none, which the quota is not about
// (apiserver/pkg/admission/plugin/resourcequota controller.go, CheckRequest).
func (a *Admission) checkQuotas(p, old *corev1.Pod) *Refusal {
	u, err := a.usageOf(p.Namespace)
	if err != nil {
		return forbidden(nil, "%v", err)
	}
	refused, q, exceeded := u.refusal(p, old)
	if q != nil {
		refused.Quota.Pods, refused.Quota.More = a.largest(p.Namespace, q, exceeded)
	}
	return refused
}

// refusal is by a quota that says too little, or by one of which some resources are exceeded.
func (u *Usage) refusal(p, old *corev1.Pod) (*Refusal, *corev1.ResourceQuota, []corev1.ResourceName) {
	uses := quotaUsage(p, u.now)
	for i, q := range u.quotas {
		if missing := u.unspecified(i, p); missing != "" {
			return forbidden(field.NewPath("spec"), "failed quota: %s: must specify %s", q.Name, missing), nil, nil
		}
	}
	for i, q := range u.quotas {
		if old != nil && inScope(q, old) { // which uses as much
			continue
		}
		if exceeded := u.exceeded(i, p, uses); len(exceeded) > 0 {
			return exceeds(q, uses, u.used[i], exceeded), q, exceeded
		}
	}
	return nil, nil, nil
}

// unspecified names what the containers of a pod have to request or limit for a quota, and do not
// (pkg/quota/v1/evaluator/core pods.go, Constraints); empty: nothing.
func (u *Usage) unspecified(i int, p *corev1.Pod) string {
	q := u.quotas[i]
	if len(u.used[i]) == 0 || !inScope(q, p) || stored.HasPodResources(p) {
		return ""
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(u.used[i])) {
		if !demanded[name] {
			continue
		}
		var lack []string
		for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for k := range list {
				if _, has := amountsUsed(list[k].Resources.Requests, list[k].Resources.Limits)[name]; !has {
					lack = append(lack, list[k].Name)
				}
			}
		}
		if len(lack) > 0 {
			slices.Sort(lack)
			said = append(said, fmt.Sprintf("%s for: %s", name, strings.Join(slices.Compact(lack), ",")))
		}
	}
	return strings.Join(said, "; ")
}

// exceeded returns the resources of a quota of which there would be too much.
func (u *Usage) exceeded(i int, p *corev1.Pod, uses corev1.ResourceList) []corev1.ResourceName {
	if !inScope(u.quotas[i], p) {
		return nil
	}
	return tooMuch(u.quotas[i], u.used[i], uses)
}

// tooMuch returns the resources of which there would be more than a quota allows, by name.
func tooMuch(q *corev1.ResourceQuota, used, uses corev1.ResourceList) (names []corev1.ResourceName) {
	for _, name := range slices.Sorted(maps.Keys(used)) {
		amount, requests := uses[name]
		if !requests || amount.IsZero() {
			continue
		}
		sum := used[name].DeepCopy()
		sum.Add(amount)
		if hard := q.Spec.Hard[name]; sum.Cmp(hard) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// exceeds is the refusal by a quota.
func exceeds(q *corev1.ResourceQuota, uses, used corev1.ResourceList, names []corev1.ResourceName) *Refusal {
	out := &QuotaUse{Name: q.Name}
	for _, x := range []struct {
		from corev1.ResourceList
		to   *map[string]string
	}{{uses, &out.Requested}, {used, &out.Used}, {q.Spec.Hard, &out.Limited}} {
		*x.to = texts(x.from, names)
	}
	r := forbidden(field.NewPath("spec"), "exceeded quota: %s, requested: %s, used: %s, limited: %s",
		q.Name, listed(out.Requested), listed(out.Used), listed(out.Limited))
	r.Quota = out
	return r
}

// largest returns the pods that use most of some resources of a quota, by the sum of their shares
// of the bounds, and how many more use of them.
func (a *Admission) largest(namespace string, q *corev1.ResourceQuota, names []corev1.ResourceName) (pods []QuotaPod, more int) {
	type use struct {
		pod   QuotaPod
		share float64
	}
	var list []use
	err := podsIn(a.Objects, namespace, func(p *corev1.Pod) {
		if !inScope(q, p) {
			return
		}
		uses, share := quotaUsage(p, a.now), 0.0
		for _, name := range names {
			amount, hard := uses[name], q.Spec.Hard[name]
			share += amount.AsApproximateFloat64() / max(hard.AsApproximateFloat64(), 1e-9)
		}
		if share > 0 {
			list = append(list, use{QuotaPod{p.Namespace, p.Name, controller(p), texts(uses, names)}, share})
		}
	})
	if err != nil {
		return nil, 0
	}
	slices.SortFunc(list, func(a, b use) int {
		return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.pod.Name, b.pod.Name))
	})
	for _, u := range list[:min(len(list), mostQuotaPods)] {
		pods = append(pods, u.pod)
	}
	return pods, len(list) - len(pods)
}

// controller names the owner that controls a pod; empty: it has none.
func controller(p *corev1.Pod) string {
	if ref := metav1.GetControllerOf(p); ref != nil {
		return ref.Kind + "/" + ref.Name
	}
	return ""
}

// texts returns some amounts of a list as Kubernetes writes them.
func texts(list corev1.ResourceList, names []corev1.ResourceName) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if q, there := list[name]; there {
			out[string(name)] = q.String()
		}
	}
	return out
}

// listed joins amounts as upstream's prettyPrint does.
func listed(amounts map[string]string) string {
	parts := make([]string, 0, len(amounts))
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		parts = append(parts, name+"="+amounts[name])
	}
	return strings.Join(parts, ",")
}
