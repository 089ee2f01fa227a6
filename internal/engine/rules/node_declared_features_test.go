package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
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
	check(t, "NodeDeclaredFeatures", cases)
	want := []engine.Detail{{Kind: "declaredFeature", Name: userns}}
	if diff := cmp.Diff(want, details(t, decide(t, cases[0]), "old")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}
