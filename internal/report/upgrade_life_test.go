package report_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestUpgradeOfKubelets: pods that a kubelet of the other release leads otherwise are listed, and
// others are not.
func TestUpgradeOfKubelets(t *testing.T) {
	containers := func(name, init, main string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"d"},"spec":{"nodeName":"n1","initContainers":[{"name":"i"%s}],"containers":[{"name":"c"%s}]}}`, name, init, main)
	}
	const rule = `,"restartPolicy":"Never","restartPolicyRules":[{"action":%q,"exitCodes":{"operator":"In","values":[7]}}]`
	v := view(
		t, node("n1", "4"),
		containers("plain", `,"restartPolicy":"Always","readinessProbe":{"httpGet":{"port":80}}`, `,"livenessProbe":{"exec":{"command":["x"]}}`),
		containers("asks", "", `,"readinessProbe":{"exec":{"command":["x"]}}`),
		containers("restarts", "", fmt.Sprintf(rule, "Restart")),
		containers("restarts-all", fmt.Sprintf(rule, "RestartAllContainers"), ""),
	)
	for _, c := range []struct {
		from, to string
		want     map[string][]string
	}{
		{"v1.36", "v1.37", map[string][]string{"ExecProbesGoOn": {"d/asks"}}},
		{"v1.35", "v1.36", map[string][]string{"RestartsAll": {"d/restarts-all"}}},
		{"v1.34", "v1.35", map[string][]string{"OwnRestarts": {"d/restarts", "d/restarts-all"}}},
	} {
		got := map[string][]string{}
		for _, f := range upgraded(t, v, c.from, c.to, 10).Objects {
			if slices.Contains([]string{"RestartsAll", "TellsSandbox", "ExitedInitialized", "ExecProbesGoOn", "OwnRestarts"}, f.Behaviour) {
				got[f.Behaviour] = f.Sample
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
