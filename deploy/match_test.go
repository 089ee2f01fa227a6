package deploy

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/access"
	"berth/internal/kube/follow"
)

// TestRights: berth may read the kinds that it follows, bind pods where that is granted, and
// nothing else; it has to look at a pod to see what became of a bind.
func TestRights(t *testing.T) {
	needed := map[string][]string{}
	for _, k := range follow.Kinds() {
		needed[k.Group.Group+"/"+k.Resource] = k.Verbs()
	}
	rights := map[string]map[string][]string{"berth": needed, "berth-bind": {"/pods/binding": {"create"}}, "berth-token-review": {"authentication.k8s.io/tokenreviews": {"create"}}}
	each(t, func(t *testing.T, all []metav1.Object) {
		roles := map[string]bool{}
		for _, role := range of[*rbacv1.ClusterRole](all) {
			roles[role.Name] = true
			got := map[string][]string{}
			for _, rule := range role.Rules {
				if rule.ResourceNames != nil || rule.NonResourceURLs != nil {
					t.Errorf("%s: a rule of another form: %v", role.Name, rule)
				}
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						got[group+"/"+resource] = append(got[group+"/"+resource], rule.Verbs...)
					}
				}
			}
			for _, verbs := range got {
				slices.Sort(verbs)
			}
			if diff := cmp.Diff(rights[role.Name], got); diff != "" {
				t.Errorf("what %s may do (-needed +granted):\n%s", role.Name, diff)
			}
		}
		for _, b := range of[*rbacv1.ClusterRoleBinding](all) {
			if !roles[b.RoleRef.Name] || b.RoleRef.Kind != "ClusterRole" || len(b.Subjects) != 1 {
				t.Errorf("%s gives %v to %v", b.Name, b.RoleRef, b.Subjects)
			}
			for _, s := range b.Subjects {
				if accounts := of[*corev1.ServiceAccount](all); s.Kind == "ServiceAccount" && len(accounts) > 0 && !slices.ContainsFunc(accounts, func(a *corev1.ServiceAccount) bool { return a.Name == s.Name && a.Namespace == s.Namespace }) {
					t.Errorf("%s: there is no service account %s/%s", b.Name, s.Namespace, s.Name)
				}
			}
		}
		for _, d := range servers(all) {
			if !slices.ContainsFunc(of[*corev1.ServiceAccount](all), func(a *corev1.ServiceAccount) bool {
				return a.Name == d.Spec.Template.Spec.ServiceAccountName && a.Namespace == d.Namespace
			}) {
				t.Errorf("%s: there is no service account %q", d.Name, d.Spec.Template.Spec.ServiceAccountName)
			}
		}
	})
}

// flagOf returns a flag's value.
func flagOf(c *corev1.Container, flag string) string {
	for _, arg := range c.Args {
		if name, value, ok := strings.Cut(arg, "="); ok && name == "--"+flag {
			return value
		}
	}
	return ""
}

func portOf(t *testing.T, address string) int32 {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(port)
}

// resolve returns the number of a container's port.
func resolve(c *corev1.Container, port intstr.IntOrString) int32 {
	if port.Type == intstr.Int {
		return port.IntVal
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			return p.ContainerPort
		}
	}
	return 0
}

func selects(t *testing.T, s *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(labels.Set(of))
}

// TestListenersAndProbes: the ports are those that the flags open, and probes go to one that
// answers them in plain HTTP and without an identity.
func TestListenersAndProbes(t *testing.T) {
	each(t, func(t *testing.T, all []metav1.Object) {
		for name, pod := range templates(all) {
			for i := range pod.Spec.Containers {
				c := &pod.Spec.Containers[i]
				if c.Name != "berth" {
					continue
				}
				rest, calls := portOf(t, flagOf(c, "listen")), portOf(t, flagOf(c, "extender-listen"))
				metrics := rest
				if address := flagOf(c, "metrics-listen"); address != "" {
					metrics = portOf(t, address)
				}
				for _, p := range c.Ports {
					if want := map[string]int32{"rest": rest, "extender": calls, "metrics": metrics}[p.Name]; p.ContainerPort != want {
						t.Errorf("%s: port %s is %d, and the flag says %d", name, p.Name, p.ContainerPort, want)
					}
				}
				if flagOf(c, "extender-tls-client-ca") == "" || flagOf(c, "extender-tls-client-names") == "" || flagOf(c, "tls-client-ca") != "" {
					t.Errorf("%s: who may call?", name)
				}
				for which, p := range map[string]*corev1.Probe{"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe} {
					switch {
					// no Service sends requests to it
					case p == nil && which == "readiness" && pod.Spec.HostNetwork:
					case p == nil || p.HTTPGet == nil || resolve(c, p.HTTPGet.Port) != metrics || p.HTTPGet.Scheme != corev1.URISchemeHTTP || p.HTTPGet.Path != map[string]string{"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}[which]:
						t.Errorf("%s: the %s probe is %+v", name, which, p)
					case pod.Spec.HostNetwork != (p.HTTPGet.Host == "127.0.0.1"):
						t.Errorf("%s: the %s probe goes to %q", name, which, p.HTTPGet.Host)
					}
				}
			}
		}
	})
}

// TestSelectors: Services, budgets, policies and monitors find what they are for.
func TestSelectors(t *testing.T) {
	each(t, func(t *testing.T, all []metav1.Object) {
		for _, d := range servers(all) {
			pod, c := &d.Spec.Template, &d.Spec.Template.Spec.Containers[0]
			if !selects(t, d.Spec.Selector, pod.Labels) {
				t.Errorf("%s does not select its own pods", d.Name)
			}
			for _, s := range of[*corev1.Service](all) {
				if s.Namespace != d.Namespace || !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
					t.Errorf("Service %s selects nothing", s.Name)
				}
				for _, p := range s.Spec.Ports {
					if n := resolve(c, p.TargetPort); n == 0 || n != p.Port {
						t.Errorf("Service %s: port %d goes to %s, which is %d", s.Name, p.Port, p.TargetPort.String(), n)
					}
				}
				for name, job := range templates(read(t, "rendered/migrate.yaml")) {
					if labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(job.Labels)) {
						t.Errorf("Service %s sends calls to %s", s.Name, name)
					}
					for _, p := range of[*networkingv1.NetworkPolicy](all) {
						if !selects(t, &p.Spec.PodSelector, job.Labels) {
							t.Errorf("policy %s does not hold for %s", p.Name, name)
						}
					}
				}
			}
			budgets := of[*policyv1.PodDisruptionBudget](all)
			if *d.Spec.Replicas > 1 != (len(budgets) == 1) {
				t.Errorf("%d budgets for %d replicas", len(budgets), *d.Spec.Replicas)
			}
			for _, b := range budgets {
				if b.Namespace != d.Namespace || !selects(t, b.Spec.Selector, pod.Labels) {
					t.Errorf("budget %s selects nothing", b.Name)
				}
			}
			for _, term := range pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
				if !selects(t, term.PodAffinityTerm.LabelSelector, pod.Labels) {
					t.Error("the replicas do not keep apart")
				}
			}
			for _, s := range pod.Spec.TopologySpreadConstraints {
				if !selects(t, s.LabelSelector, pod.Labels) {
					t.Error("the replicas do not spread")
				}
			}
			for _, p := range of[*networkingv1.NetworkPolicy](all) {
				if !selects(t, &p.Spec.PodSelector, pod.Labels) {
					t.Errorf("policy %s selects nothing", p.Name)
				}
				for _, in := range p.Spec.Ingress {
					for _, port := range in.Ports {
						if resolve(c, *port.Port) == 0 || len(in.From) == 0 {
							t.Errorf("policy %s lets %v in from %v", p.Name, port.Port, in.From)
						}
						// A whole namespace, or an address, identifies no caller.
						for _, from := range in.From {
							if port.Port.StrVal != "extender" && (from.PodSelector == nil || len(from.PodSelector.MatchLabels) == 0) {
								t.Errorf("policy %s lets any pod of %v reach %v", p.Name, from, port.Port)
							}
						}
					}
				}
			}
		}
		for _, m := range of[*serviceMonitor](all) {
			found := 0
			for _, s := range of[*corev1.Service](all) {
				if m.Namespace == s.Namespace && selects(t, &m.Spec.Selector, s.Labels) {
					found++
					if !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == m.Spec.Endpoints[0].Port && p.Name == "metrics" }) || s.Labels[m.Spec.JobLabel] != "berth" {
						t.Errorf("monitor %s: %s has no port %s, or another job", m.Name, s.Name, m.Spec.Endpoints[0].Port)
					}
				}
			}
			if found != 1 {
				t.Errorf("monitor %s finds %d Services", m.Name, found)
			}
		}
	})
}

// TestAccess: kube-scheduler's certificate may bind in the cluster that is followed, and the
// account that is there to begin with may everything: a file of access that lacks one would
// refuse it.
func TestAccess(t *testing.T) {
	each(t, func(t *testing.T, all []metav1.Object) {
		for _, d := range servers(all) {
			c := &d.Spec.Template.Spec.Containers[0]
			maps := of[*corev1.ConfigMap](all)
			i := slices.IndexFunc(maps, func(m *corev1.ConfigMap) bool { return m.Name == "berth-access" && m.Namespace == d.Namespace })
			if i < 0 || flagOf(c, "access-file") != "/etc/berth/access/access.yaml" {
				t.Fatalf("%s has no file of access", d.Name)
			}
			rules, err := access.ParseRules([]byte(maps[i].Data["access.yaml"]))
			if err != nil {
				t.Fatal(err)
			}
			cluster, _, _ := strings.Cut(flagOf(c, "follow"), "=")
			for name := range strings.SplitSeq(flagOf(c, "extender-tls-client-names"), ",") {
				if g := rules.Grants(name, nil); !g.May(access.Bind, cluster, "") || g.May(access.Administer, cluster, "") {
					t.Errorf("%s: %s may %v", d.Name, name, g)
				}
			}
			if !rules.Grants("system:serviceaccount:"+d.Namespace+":berth-admin", nil).May(access.Administer, "", "") || flagOf(c, "token-review") != cluster || flagOf(c, "token-review-audiences") != "berth" {
				t.Errorf("%s: its first user may not manage it", d.Name)
			}
			if !slices.ContainsFunc(of[*corev1.ServiceAccount](all), func(a *corev1.ServiceAccount) bool { return a.Name == "berth-admin" && a.Namespace == d.Namespace }) {
				t.Errorf("%s: there is no service account berth-admin", d.Name)
			}
		}
	})
}
