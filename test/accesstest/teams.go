package accesstest

import "fmt"

// Hidden is in every name of namespace vault in TwoTeams, and in no other.
const Hidden = "vault"

// TwoTeams is a cluster that namespaces shop and vault share. Pod shop/big waits for node n1, where
// a pod of vault with a budget, an anti-affinity term and a label stands in its way; n2 is
// cordoned. With evicted set that pod is being deleted for big.
func TwoTeams(evicted bool) string {
	node := func(name, more string) string {
		return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q}},"spec":{%s},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}`, name, name, more)
	}
	pod := func(namespace, name, cpu, meta, spec, status string) string {
		return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"uid":"uid-%s","creationTimestamp":"2026-03-01T00:00:09Z"%s},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]%s},"status":{%s}}`,
			name, namespace, name, meta, cpu, spec, status)
	}
	deleted, nominated := "", ""
	if evicted {
		deleted, nominated = `,"deletionTimestamp":"2026-03-01T00:05:00Z","deletionGracePeriodSeconds":30`, `"nominatedNodeName":"n1"`
	}
	avoids := `,"nodeName":"n1","priority":-5,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","namespaceSelector":{},
		"labelSelector":{"matchExpressions":[{"key":"app","operator":"NotIn","values":["vault-app"]}]}}]}}`
	return `{"kind":"List","apiVersion":"v1","items":[` + node("n1", "") + "," + node("n2", `"unschedulable":true`) + "," +
		pod("vault", "vault-low", "2", `,"labels":{"vault-label":"vault-value","app":"vault-app"}`+deleted, avoids, "") + "," +
		pod("vault", "vault-waits", "4", "", `,"priority":1000`, "") + "," +
		pod("vault", "vault-gated", "1", "", `,"schedulingGates":[{"name":"vault/gate"}]`, "") + "," +
		pod("shop", "big", "4", "", `,"priority":100`, nominated) + "," + pod("shop", "small", "1", "", "", "") + `,
		{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"vault-budget","namespace":"vault"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"vault-label":"vault-value"}}},"status":{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1}}]}`
}
