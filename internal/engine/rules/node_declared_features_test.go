package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

func TestNodeDeclaredFeatures(t *testing.T) {
	const userns = "UserNamespacesHostNetworkSupport"
	pod := et.Pod("p")
	pod.Spec.HostNetwork, pod.Spec.HostUsers = true, ptr(false)
	nodes := list(et.Node("new", et.Declares("RestartAllContainersOnContainerExits", userns)), et.Node("old"))
	cases := []ruleCase{
		{name: "a pod that needs a feature goes where it is declared", objects: nodes, pod: pod, want: map[string]string{"new": "ok", "old": rules.ReasonFeatures + "!"}},
		{name: "others go anywhere", objects: nodes, pod: et.Pod("q"), want: map[string]string{"new": "ok", "old": "ok"}},
	}
	restart := et.Pod("r")
	restart.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	cases = append(cases, ruleCase{name: "restarting all containers is such a feature", objects: nodes, pod: restart, want: map[string]string{"new": "ok", "old": rules.ReasonFeatures + "!"}})
	anywhere, all := map[string]string{"new": "ok", "old": "ok"}, rules.DefaultSpec()
	of135 := func(r *semantics.Release) {
		r.Features, r.FeaturesNamed = []string{"RestartAllContainersOnContainerExits"}, true
	}
	off := func(r *semantics.Release) { r.NodeDeclaredFeatures = false }
	cases = append(cases,
		ruleCase{
			name: "a release may name what is missing", objects: nodes, pod: restart, under: of135,
			want: map[string]string{"new": "ok", "old": "node declared features check failed - unsatisfied requirements: RestartAllContainersOnContainerExits!"},
		},
		ruleCase{name: "a release may not know a feature", objects: nodes, pod: pod, under: of135, want: anywhere},
		ruleCase{name: "without its gate it is not in the profile", objects: nodes, pod: pod, under: off, want: anywhere},
		ruleCase{name: "and does nothing where a profile has it", objects: nodes, pod: pod, spec: &all, under: off, want: anywhere},
	)
	check(t, "NodeDeclaredFeatures", cases)
	want := []engine.Detail{{Kind: "declaredFeature", Name: userns}}
	if diff := cmp.Diff(want, details(t, decide(t, cases[0]), "old")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
