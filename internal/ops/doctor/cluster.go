package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"berth/internal/kube/follow"
	"berth/internal/semantics"
)

// Clocks may be this far apart before that is a warning, and a problem.
const (
	apart    = 2 * time.Second
	farApart = time.Minute
)

// Clock checks how far another machine's clock is ahead of this one's, which is known to within
// a bound.
func Clock(other string, ahead, within time.Duration) []Finding {
	r := &Report{Check: "clock"}
	least := max(ahead.Abs()-within, 0)
	side := "ahead of"
	if ahead < 0 {
		side = "behind"
	}
	text := fmt.Sprintf("%s is %s %s this machine, to within %s", other, ahead.Abs().Round(time.Millisecond), side, within.Round(time.Millisecond))
	const remedy = "Let both machines keep time by NTP: times of records, ages and leases would be wrong."
	switch {
	case least > farApart:
		r.Fail(remedy, "%s", text)
	case least > apart:
		r.Warn(remedy, "%s", text)
	default:
		r.Good("%s agrees with this machine to within %s", other, (ahead.Abs() + within).Round(time.Millisecond))
	}
	return r.Findings
}

// Cluster checks the apiserver of a followed cluster: that it answers, its version and clock, and
// whether the credentials may do what berth does. A server decides as a release on it.
func Cluster(ctx context.Context, name string, c *rest.Config, decides *semantics.Release) []Finding {
	r := &Report{Check: "apiserver", Cluster: name}
	s, err := follow.Ask(ctx, c)
	if err != nil {
		r.Fail("Check address, authority and network: kubectl --kubeconfig FILE get --raw /version.", "does not answer: %v", err)
		return r.Findings
	}
	if !decides.Follows(s.Version.GitVersion) {
		r.Warn("Compare berth's answers in shadow mode before they count.", "runs Kubernetes %s; berth decides as %s", s.Version.GitVersion, decides.Name)
	} else {
		r.Good("runs Kubernetes %s", s.Version.GitVersion)
	}
	for _, f := range Clock("the apiserver", s.Ahead, s.Within) {
		f.Cluster = name
		r.Findings = append(r.Findings, f)
	}
	return append(r.Findings, rights(ctx, name, c)...)
}

func rights(ctx context.Context, name string, c *rest.Config) []Finding {
	r := &Report{Check: "rights", Cluster: name}
	want := follow.Rights(true)
	denied, err := follow.Denied(ctx, c, want)
	if err != nil {
		r.Warn("Look by hand: kubectl auth can-i --list, as berth's user.", "cannot be checked: %v", err)
		return r.Findings
	}
	var needed, optional []string
	for _, d := range denied {
		switch {
		case d.Subresource != "":
			r.Good("berth may not %s: it does not bind, which an extender with bindVerb needs (deploy/bind grants it)", d)
		case d.Optional:
			optional = append(optional, d.String())
		default:
			needed = append(needed, d.String())
		}
	}
	const remedy = "Apply deploy/rbac, which grants what berth does and no more."
	if len(needed) > 0 {
		r.Fail(remedy, "berth may not %s", strings.Join(needed, ", "))
	}
	if len(optional) > 0 {
		r.Warn(remedy, "berth may not %s, which matters where it has these kinds", strings.Join(optional, ", "))
	}
	if len(denied) == 0 {
		r.Good("berth may do all of the %d things that it does", len(want))
	}
	return r.Findings
}
