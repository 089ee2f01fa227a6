package trial

import (
	"fmt"

	"berth/test/conformance/oracle"
)

// CompareAlone lists the differences between what each filter plugin of
// kube-scheduler returns on its own and the failures that berth names beside the
// first, in an answer to a request with "explain":"all".
func CompareAlone(alone map[string][]oracle.Failure, a *Answer) []Difference {
	c := &comparison{}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if n.Feasible {
			continue
		}
		at := "nodes[" + n.Name + "].alsoFailing"
		var want, got, wantErrors, gotErrors []string
		class := "alsoFailing"
		for _, f := range alone[n.Name] {
			switch {
			case f.Plugin == n.Plugin:
			case f.Code == "Error":
				wantErrors = append(wantErrors, f.Plugin)
			default:
				want = append(want, fmt.Sprintf("%s %s %q", f.Plugin, f.Code, f.Reasons))
			}
		}
		for _, f := range n.AlsoFailing {
			got = append(got, fmt.Sprintf("%s %s %q", f.Plugin, f.Code, sorted(f.Reasons)))
		}
		for _, e := range n.NotJudged {
			gotErrors = append(gotErrors, e.Plugin)
		}
		c.same(class, at, want, got)
		c.same("notJudged", "nodes["+n.Name+"].notJudged", wantErrors, gotErrors)
	}
	return c.diffs
}
