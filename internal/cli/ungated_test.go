package cli

import (
	"strings"
	"testing"
)

// What comes after the gates, whose scheduler it is, and that nothing helps: each
// offline and from a server alike.
func TestMoreThanTheVerdict(t *testing.T) {
	url := serve(t)
	post(t, url+"/v1/snapshots?cluster=default", []byte(mustRead(t, "testdata/cluster.yaml")))
	pod := func(spec string) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"shop"},"spec":{` + spec + `}}`
	}
	const gate, big = `"schedulingGates":[{"name":"a.b/quota"}],`, `"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"7500m","memory":"1Gi"}}}]`
	for _, c := range []struct {
		what, pod string
		code      int
		says      []string
		not       string
	}{
		{"gates alone", pod(gate + `"containers":[{"name":"c","image":"i"}]`), exitNo, []string{"Without gates it goes to ", "remove the scheduling gates a.b/quota"}, "either"},
		{
			"gates and more", pod(gate + `"nodeSelector":{"disk":"ssd"},` + big), exitNo,
			[]string{"GATED  shop/p", "Without gates no node fits either", "drop disk=ssd from nodeSelector", "InsufficientCPU"},
			"remove the scheduling gates",
		},
		{
			"gates and others in the way", pod(gate + `"priority":1000,"nodeSelector":{"disk":"ssd"},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"3500m"}}}]`), exitNo,
			[]string{"Without gates no node is free, and others would have to leave n-", "remove the scheduling gates a.b/quota"},
			"either",
		},
		{"another scheduler", pod(`"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]`), exitYes, []string{"NOTE    its scheduler is volcano"}, "GATED"},
		{"nothing helps", pod(`"nodeSelector":{"a":"1","b":"2"},` + big + `,"hostNetwork":true,"tolerations":[{"operator":"Exists"}],"overhead":{"memory":"999Gi"}`), exitNo, []string{"TRY     none of the changes that were tried, one by one and in pairs, makes it"}, "no single change"},
	} {
		var first string
		for _, asked := range []call{snapshot(), {env: map[string]string{"BERTH_SERVER": url}}} {
			asked.in = c.pod
			r := asked.run(t, "explain", "-")
			if r.code != c.code || r.err != "" || strings.Contains(r.out, c.not) {
				t.Errorf("%s: code %d, %s\n%s", c.what, r.code, r.err, r.out)
			}
			for _, s := range c.says {
				if !strings.Contains(r.out, s) {
					t.Errorf("%s: nothing said of %q:\n%s", c.what, s, r.out)
				}
			}
			within(t, standardWidth, r.out)
			text, _, _ := strings.Cut(r.out, "MORE")
			if first != "" && first != text {
				t.Errorf("%s: offline\n%s\nserver\n%s", c.what, first, text)
			}
			first = text
		}
	}
}
