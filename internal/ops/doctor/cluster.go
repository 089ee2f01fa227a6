package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
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
	r.Findings = append(r.Findings, running(ctx, name, c, decides)...)
	for _, f := range Clock("the apiserver", s.Ahead, s.Within) {
		f.Cluster = name
		r.Findings = append(r.Findings, f)
	}
	return append(r.Findings, rights(ctx, name, c)...)
}

// running checks what runs a cluster, as far as pods and nodes show it: which release its
// kube-scheduler decides as, by its image and flags, and the kubelets' versions.
func running(ctx context.Context, name string, c *rest.Config, decides *semantics.Release) []Finding {
	r := &Report{Check: "scheduler", Cluster: name}
	list, err := follow.Schedulers(ctx, c)
	if err != nil {
		r.Warn("Look by hand: kubectl -n kube-system get pods -l component=kube-scheduler.", "kube-scheduler cannot be looked at: %v", err)
	} else if len(list) == 0 {
		r.Good("no pod of kube-scheduler is visible: which release it is of is not known")
	}
	for _, s := range list {
		text := fmt.Sprintf("kube-scheduler in pod %s is %s", s.Pod, s.Version)
		for _, flag := range [][2]string{{"emulated-version", s.Emulates}, {"feature-gates", s.Gates}, {"config", s.Config}} {
			if flag[1] != "" {
				text += fmt.Sprintf(", --%s=%s", flag[0], flag[1])
			}
		}
		switch runs, err := semantics.OfFlags(s.Version, s.Emulates, s.Gates); {
		case err != nil:
			r.Warn("Compare berth's answers in shadow mode before they count.", "%s: berth cannot decide as it does: %v", text, err)
		case runs.Stamp() != decides.Stamp():
			r.Warn(fmt.Sprintf("Start the server with --semantics '%s=%s'.", name, runs.Asked()), "%s; berth decides as %s", text, decides.Stamp())
		default:
			r.Good("%s, as berth decides", text)
		}
	}
	k := &Report{Check: "kubelets", Cluster: name}
	versions, err := follow.Kubelets(ctx, c)
	if err != nil {
		k.Warn("Look by hand: kubectl get nodes.", "the kubelets' versions cannot be looked at: %v", err)
	}
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		text := fmt.Sprintf("kubelets of %d nodes are %s", versions[version], cmp.Or(version, "of no known version"))
		if decides.Before(version) {
			k.Warn("Look at the release that berth decides as: kubelets are never newer than their control plane.", "%s; berth decides as %s", text, decides.Stamp())
		} else {
			k.Good("%s", text)
		}
	}
	return append(r.Findings, k.Findings...)
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
