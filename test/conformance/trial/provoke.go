package trial

import (
	"context"
	"encoding/json"
	"strings"

	v1 "k8s.io/api/core/v1"

	"berth/test/conformance/oracle"
)

// provocation is the name of the pod that provoke asks about.
const provocation = "provocation"

// provoke asks about a pod like the case's first, whose preferred terms spell the honest terms
// with one value each: no answer about another pod may change the one that is compared. What
// comes back, mostly a refusal of such values, is not looked at.
func (c *Client) provoke(ctx context.Context, kase *oracle.Case, snapshot string) {
	raw, err := kase.FindPod()
	if err != nil {
		return
	}
	var pod v1.Pod
	if err := json.Unmarshal(raw, &pod); err != nil || pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return
	}
	na := pod.Spec.Affinity.NodeAffinity
	honest := []v1.NodeSelectorTerm{}
	if na.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		honest = append(honest, na.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms...)
	}
	for i := range na.PreferredDuringSchedulingIgnoredDuringExecution {
		honest = append(honest, na.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
	}
	na.RequiredDuringSchedulingIgnoredDuringExecution = nil
	na.PreferredDuringSchedulingIgnoredDuringExecution = nil
	for _, t := range honest {
		if len(t.MatchExpressions) < 2 || len(t.MatchExpressions[0].Values) == 0 {
			continue
		}
		one := t.MatchExpressions[0]
		for _, sep := range [][3]string{{"\x00", "\x01", "\x02"}, {"\x00", "\x00", "\x00"}, {",", "=", "|"}} {
			value := one.Values[len(one.Values)-1]
			for _, e := range t.MatchExpressions[1:] {
				value += sep[0] + e.Key + sep[1] + string(e.Operator) + strings.Repeat(sep[2], min(len(e.Values), 1)) + strings.Join(e.Values, sep[2])
			}
			spelt := v1.NodeSelectorRequirement{Key: one.Key, Operator: one.Operator, Values: append(one.Values[:len(one.Values)-1:len(one.Values)-1], value)}
			na.PreferredDuringSchedulingIgnoredDuringExecution = append(na.PreferredDuringSchedulingIgnoredDuringExecution, v1.PreferredSchedulingTerm{
				Weight: 1, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{spelt}, MatchFields: t.MatchFields},
			})
		}
	}
	if len(na.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return
	}
	pod.Name, pod.UID, pod.Spec.NodeName = provocation, "", ""
	request := map[string]any{"snapshot": snapshot, "dryRun": true, "pod": &pod}
	if len(kase.Config) > 0 {
		request["config"] = kase.Config
	}
	if body, err := json.Marshal(request); err == nil {
		_ = c.post(ctx, "/v1/decisions", body, nil)
	}
}
