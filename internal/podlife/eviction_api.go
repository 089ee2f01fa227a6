package podlife

import (
	"cmp"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// EvictionVerdict is how the Eviction API answers.
type EvictionVerdict struct {
	Allowed bool `json:"allowed"`
	// Code is the HTTP status: 201, 429 (try again), 403 or 500 (never).
	Code int `json:"code" enums:"201,403,429,500"`
	// Message and Cause are the API server's own words.
	Message string `json:"message,omitempty"`
	Cause   string `json:"cause,omitempty"`
	// RetryAfterSeconds is the wait that a 429 suggests; absent without a time.
	RetryAfterSeconds int32 `json:"retryAfterSeconds,omitempty"`
	// Budgets are the PodDisruptionBudgets that match the pod.
	Budgets []string `json:"budgets,omitempty"`
	// UsesAllowance reports whether it takes one off the budget's disruptionsAllowed.
	UsesAllowance bool `json:"usesAllowance,omitempty"`
	Rule          Rule `json:"rule"`
	// Remedy is a change after which the API allows it, which was tried; absent without one.
	Remedy *EvictionRemedy `json:"remedy,omitempty"`
} // @name EvictionVerdict

// EvictionRemedy is a change of a budget after which a pod may be evicted.
type EvictionRemedy struct {
	Change  string `json:"change"`  // in words
	Command string `json:"command"` // what people type for it
} // @name EvictionRemedy

// Temporary reports whether the same request may be allowed later: 429.
func (v EvictionVerdict) Temporary() bool { return v.Code == http.StatusTooManyRequests }

// tooManyRefused is how many accepted evictions a budget may have that its
// controller has not seen (eviction.go MaxDisruptedPodSize).
const tooManyRefused = 2000

const violates = "Cannot evict pod as it would violate the pod's disruption budget."

// JudgeEviction answers as the Eviction API does for a pod under budgets, of
// which those of its namespace whose selectors match count
// (pkg/registry/core/pod/storage/eviction.go Create, canIgnorePDB,
// getPodDisruptionBudgets, checkAndDecrement). ready is the pod's readiness.
func JudgeEviction(p *corev1.Pod, budgets []*policyv1.PodDisruptionBudget, ready bool) EvictionVerdict {
	allow := func(id, text string) EvictionVerdict {
		return EvictionVerdict{Allowed: true, Code: http.StatusCreated, Rule: Rule{"eviction/" + id, text}}
	}
	if phase := phaseNow(p); terminal(p.Status.Phase) || phase == string(corev1.PodPending) || p.DeletionTimestamp != nil {
		return allow("not-budgeted", "The pod is over, Pending or being deleted, so no budget is looked at.")
	}
	var matching []*policyv1.PodDisruptionBudget
	var names []string
	for _, b := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && cmp.Or(b.Namespace, metav1.NamespaceDefault) == cmp.Or(p.Namespace, metav1.NamespaceDefault) && selector.Matches(labels.Set(p.Labels)) {
			matching, names = append(matching, b), append(names, b.Name)
		}
	}
	switch len(matching) {
	case 0:
		return allow("no-budget", "No budget of the pod's namespace matches it.")
	case 1:
	default:
		return EvictionVerdict{
			Code: http.StatusInternalServerError, Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.", Budgets: names,
			Rule: Rule{"eviction/several-budgets", fmt.Sprintf("%d budgets match the pod; the Eviction API refuses that for good.", len(matching))},
		}
	}
	b := matching[0]
	v := underBudget(b, ready, allow)
	v.Budgets = names
	if !v.Allowed && !ready {
		always := b.DeepCopy()
		always.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
		if underBudget(always, ready, allow).Allowed {
			v.Remedy = &EvictionRemedy{
				Change: fmt.Sprintf("set unhealthyPodEvictionPolicy AlwaysAllow in budget %s: then pods that are not ready, as this one, may be evicted", b.Name),
				Command: fmt.Sprintf(`kubectl patch pdb %s -n %s --type=merge -p '{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}'`,
					b.Name, cmp.Or(b.Namespace, metav1.NamespaceDefault)),
			}
		}
	}
	return v
}

// underBudget judges by the one budget that matches.
func underBudget(b *policyv1.PodDisruptionBudget, ready bool, allow func(id, text string) EvictionVerdict) EvictionVerdict {
	refuse := func(code int, id, message, cause, text string) EvictionVerdict {
		return EvictionVerdict{Code: code, Message: message, Cause: cause, Rule: Rule{"eviction/" + id, text}}
	}
	if !ready {
		if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
			return allow("unhealthy-always", "The pod is not ready, and budget "+b.Name+" has unhealthyPodEvictionPolicy AlwaysAllow.")
		}
		if b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0 {
			return allow("unhealthy-budget-kept", fmt.Sprintf("The pod is not ready, and budget %s has its %d healthy pods without it.", b.Name, b.Status.DesiredHealthy))
		}
	}
	s := &b.Status
	switch {
	case s.ObservedGeneration < b.Generation:
		v := refuse(http.StatusTooManyRequests, "budget-stale", violates, "The disruption budget "+b.Name+" is still being processed by the server.",
			fmt.Sprintf("Budget %s was changed (generation %d) after its controller last looked (%d).", b.Name, b.Generation, s.ObservedGeneration))
		v.RetryAfterSeconds = 10
		return v
	case s.DisruptionsAllowed < 0:
		return refuse(http.StatusForbidden, "budget-negative", "pdb disruptions allowed is negative", "", "Budget "+b.Name+" has a negative disruptionsAllowed.")
	case len(s.DisruptedPods) > tooManyRefused:
		return refuse(http.StatusForbidden, "budget-unconfirmed", "DisruptedPods map too big - too many evictions not confirmed by PDB controller", "", "Budget "+b.Name+" has more than 2000 accepted evictions that its controller has not seen.")
	case s.DisruptionsAllowed == 0:
		return refuse(http.StatusTooManyRequests, "budget-spent", violates, noneLeft(b),
			fmt.Sprintf("Budget %s allows no disruption: it has %d healthy pods and needs %d.", b.Name, s.CurrentHealthy, s.DesiredHealthy))
	}
	v := allow("budget-allows", fmt.Sprintf("Budget %s allows %d disruptions; this one takes one.", b.Name, s.DisruptionsAllowed))
	v.UsesAllowance = true
	return v
}

// noneLeft is the API server's reason why a budget allows nothing.
func noneLeft(b *policyv1.PodDisruptionBudget) string {
	c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	said := c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
	switch {
	case said && c.Reason == policyv1.SyncFailedReason:
		return "The disruption budget " + b.Name + " does not allow evicting pods currently because it failed sync: " + c.Message
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case said:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, c.Reason, c.Message)
	}
	return "The disruption budget " + b.Name + " does not allow evicting pods currently"
}

// evictedByAPI is an eviction through the API: a delete, if the budgets allow it.
func (w *ending) evictedByAPI() {
	if w.permitted(0) {
		w.deleted()
		return
	}
	w.out.Phase = phaseNow(w.Pod)
	w.out.GracePeriodSeconds = specPeriod(w.asPosted(), true, w.step)
	w.out.Endpoints = Endpoints{Ready: w.ready(), Serving: w.ready(), Detail: "nothing deletes the pod"}
}

// permitted calls the budgets, and writes a refusal into the timeline.
func (w *ending) permitted(at int64) bool {
	v := JudgeEviction(w.Pod, w.Budgets, w.ready())
	w.out.Eviction = &v
	if !v.Allowed {
		w.event(at, actorAPI, "eviction refused", "", fmt.Sprintf("%d: %s", v.Code, cmp.Or(v.Cause, v.Message)))
	}
	return v.Allowed
}
