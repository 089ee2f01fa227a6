package doctor

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	configv1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/yaml"

	"berth/internal/config"
	"berth/internal/engine"
	"berth/internal/semantics"
	"berth/internal/words"
)

// Server is what a server is started with, as far as a kube-scheduler that calls it has to fit.
type Server struct {
	// Deadline ends the extender's calls, BindTimeout a bind through an apiserver.
	Deadline, BindTimeout time.Duration
	// TLS and ClientCerts report whether the listener of the extender's calls serves TLS, and wants
	// certificates of clients.
	TLS, ClientCerts bool
	// BindUnrecorded is --bind-unasked.
	BindUnrecorded bool
	// Followed are the clusters that are followed; nil: not known.
	Followed []string
	// Semantics is the release that the server decides as; nil: the default one.
	Semantics *semantics.Release
	// Profiles are those of the server; nil: not known.
	Profiles []*engine.Profile
	// Clusters are the profiles of clusters that follow a release of their own.
	Clusters map[string][]*engine.Profile
}

// of returns how the server decides for the cluster that a configuration's extenders name first.
func (s *Server) of(raw []byte) (*semantics.Release, []*engine.Profile) {
	var file struct {
		Extenders []struct {
			URLPrefix string `json:"urlPrefix"`
		} `json:"extenders"`
	}
	if yaml.Unmarshal(raw, &file) == nil { // else it is refused below
		for _, x := range file.Extenders {
			u, err := url.Parse(x.URLPrefix)
			if err != nil {
				continue
			}
			name := "default"
			if m := prefix.FindStringSubmatch(u.Path); m != nil {
				name = m[1]
			}
			if own := s.Clusters[name]; own != nil {
				return own[0].Semantics, own
			}
		}
	}
	return cmp.Or(s.Semantics, semantics.Default()), s.Profiles
}

// Target is how kube-scheduler reaches berth over TLS.
type Target struct {
	Name  string         // that it verifies
	Roots *x509.CertPool // nil: not known, or the system's
}

// defaultTimeout is DefaultExtenderTimeout of pkg/scheduler/extender.go.
const defaultTimeout = 5 * time.Second

// route is the path of a call of the extender: its cluster, mode and verb.
var route = regexp.MustCompile(`^(?:/clusters/([^/]+))?(?:/(shadow|score-only))?/(filter|prioritize|preempt|bind)$`)

// prefix is the part of such a path that names the cluster.
var prefix = regexp.MustCompile(`^/clusters/([^/]+)`)

// Scheduler checks the extenders and profiles of kube-scheduler's configuration against the
// extender protocol and a server (pkg/scheduler/extender.go NewHTTPExtender, makeTransport, send).
// It also returns how kube-scheduler reaches berth over TLS.
func Scheduler(raw []byte, s Server) ([]Finding, []Target) {
	r := &Report{Check: "scheduler"}
	under, profiles := s.of(raw)
	conf, err := config.Read(raw, under)
	if err != nil {
		r.Fail("Correct the fields that are named; kube-scheduler would refuse most of them, too.", "%v", err)
		return r.Findings, nil
	}
	var targets []Target
	found := 0
	for i := range conf.File.Extenders {
		x := extender{Report: r, at: fmt.Sprintf("extenders[%d]", i), Extender: &conf.File.Extenders[i], server: s}
		if !x.calls() {
			continue
		}
		found++
		x.check()
		if pct := conf.File.PercentageOfNodesToScore; x.FilterVerb != "" && x.mode == "" && (pct == nil || *pct != 100) {
			r.Warn("Set percentageOfNodesToScore: 100.", "kube-scheduler sends berth only a sample of the nodes of a large cluster: a pod waits if the sample does not fit")
		}
		if t, ok := x.target(); ok {
			targets = append(targets, t)
		}
	}
	if found == 0 {
		r.Fail("Add one as in docs/extender.md: urlPrefix: http://HOST:PORT/clusters/NAME, filterVerb: filter.", "no extender of the file calls berth")
	}
	r.profiles(conf.Profiles, profiles)
	return r.Findings, targets
}

// extender is one that is checked.
type extender struct {
	*Report
	*configv1.Extender
	at, cluster, mode string
	url               *url.URL
	server            Server
}

func (x *extender) verbs() map[string]string {
	return map[string]string{"filter": x.FilterVerb, "prioritize": x.PrioritizeVerb, "preempt": x.PreemptVerb, "bind": x.BindVerb}
}

// calls reports whether the extender is berth, and checks the paths that it is called by: the
// prefix without slashes at its end, a slash and the verb (pkg/scheduler/extender.go send).
func (x *extender) calls() bool {
	u, err := url.Parse(x.URLPrefix)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(u.Path, "@") {
		x.Fail("Write urlPrefix: http://HOST:PORT/clusters/NAME.", "%s.urlPrefix %q is no http or https URL", x.at, words.Address(x.URLPrefix))
		return false
	}
	x.url = u
	var good []string
	var bad []Finding
	for _, verb := range []string{"filter", "prioritize", "preempt", "bind"} {
		value := x.verbs()[verb]
		if value == "" {
			continue
		}
		path := strings.TrimRight(u.Path, "/") + "/" + value
		m := route.FindStringSubmatch(path)
		switch {
		case m == nil || m[3] == "bind" && m[2] != "":
			bad = append(bad, Finding{Text: fmt.Sprintf("%s: %sVerb %q leads to %s, which berth answers with 404", x.at, verb, value, path), Remedy: fmt.Sprintf("Write %sVerb: %s, and urlPrefix with no path or /clusters/NAME (and /shadow or /score-only, without bindVerb).", verb, verb)})
		case m[3] != verb:
			good = append(good, verb)
			bad = append(bad, Finding{Text: fmt.Sprintf("%s: %sVerb %q leads to another call, %s", x.at, verb, value, path), Remedy: fmt.Sprintf("Write %sVerb: %s.", verb, verb)})
		default:
			good = append(good, verb)
			x.cluster, x.mode = cmp.Or(m[1], "default"), m[2]
		}
	}
	if len(good) == 0 && !strings.HasPrefix(u.Path, "/clusters/") {
		x.Good("%s, %s, is not berth", x.at, words.Address(x.URLPrefix))
		return false
	}
	for _, f := range bad {
		x.Fail(f.Remedy, "%s", f.Text)
	}
	if len(bad) == 0 {
		x.Good("%s calls %s for cluster %s by %s", x.at, strings.Join(good, ", "), x.cluster, words.Address(x.URLPrefix))
	}
	return true
}

func (x *extender) check() {
	timeout := cmp.Or(x.HTTPTimeout.Duration, defaultTimeout)
	switch deadline := x.server.Deadline; {
	case timeout <= deadline:
		x.Fail(fmt.Sprintf("Set httpTimeout above %s, or --extender-deadline %s.", deadline, timeout*4/5), "%s.httpTimeout %s is not above --extender-deadline %s: kube-scheduler gives up before berth answers", x.at, timeout, deadline)
	case timeout*9/10 < deadline:
		x.Warn(fmt.Sprintf("Set --extender-deadline to 80 percent of httpTimeout: %s.", timeout*4/5), "%s.httpTimeout %s leaves little beyond --extender-deadline %s for the network", x.at, timeout, deadline)
	}
	if !x.NodeCacheCapable {
		x.Warn("Set nodeCacheCapable: true.", "%s: without nodeCacheCapable whole nodes are sent, and kube-scheduler scores the nodes that come back as if they were empty", x.at)
	}
	if !x.Ignorable && x.BindVerb == "" {
		x.Good("%s: without ignorable no pod is placed while berth is away", x.at)
	}
	for _, m := range x.ManagedResources {
		x.Warn("Leave out managedResources to have every pod judged.", "%s: berth is called for pods that request %s alone", x.at, m.Name)
		if m.IgnoredByScheduler {
			x.Warn("Leave out ignoredByScheduler.", "%s: kube-scheduler does not count %s any more, so that only berth's copy of the cluster does", x.at, m.Name)
		}
	}
	if x.BindVerb != "" {
		x.bind(timeout)
	}
	x.tls()
}

func (x *extender) bind(timeout time.Duration) {
	if x.Ignorable {
		x.Fail("Set ignorable: false, or leave out bindVerb.", "%s: with ignorable a bind that takes too long is done once more by kube-scheduler", x.at)
	}
	if x.server.BindTimeout >= timeout {
		x.Fail(fmt.Sprintf("Set --bind-timeout below %s.", timeout), "%s.httpTimeout %s is not above --bind-timeout %s: the outcome of a slow bind is not known", x.at, timeout, x.server.BindTimeout)
	}
	if x.server.Followed != nil && !slices.Contains(x.server.Followed, x.cluster) {
		x.Fail(fmt.Sprintf("Start the server with --follow %s=KUBECONFIG, or leave out bindVerb.", x.cluster), "%s: berth does not follow cluster %s and binds in its own ledger: kube-scheduler believes it, and the pods never start", x.at, x.cluster)
	}
	if x.FilterVerb == "" && x.PrioritizeVerb == "" && !x.server.BindUnrecorded {
		x.Fail("Set filterVerb: filter, or start the server with --bind-unasked.", "%s: berth binds what it has decided on, and is not called to decide", x.at)
	}
}

// tls checks who verifies whom.
func (x *extender) tls() {
	t := cmp.Or(x.TLSConfig, &configv1.ExtenderTLSConfig{})
	ca := t.CAFile != "" || len(t.CAData) > 0
	if x.url.Scheme == "http" {
		switch ip := net.ParseIP(x.url.Hostname()); {
		case x.server.TLS:
			x.Fail("Write https:// in urlPrefix, with enableHTTPS and tlsConfig.", "%s calls without TLS, and the server's listener serves TLS", x.at)
		case x.url.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()):
			x.Warn("Serve TLS with --extender-tls-cert and --extender-tls-client-ca, and call by https.", "%s calls %s in clear text, and neither side knows the other", x.at, x.url.Host)
		}
		return
	}
	if !x.server.TLS {
		x.Fail("Start the server with --extender-tls-cert and --extender-tls-key, or write http://.", "%s calls by TLS, and the server's listener serves none", x.at)
	}
	switch {
	case t.Insecure, x.EnableHTTPS && !ca:
		x.Fail("Set tlsConfig.caFile to the authority of berth's certificate, and insecure to false.", "%s: kube-scheduler verifies no certificate, so that any server can answer for berth", x.at)
	case !ca:
		x.Warn("Set enableHTTPS: true and tlsConfig.caFile.", "%s: berth's certificate has to be signed by an authority of kube-scheduler's machine", x.at)
	}
	if x.server.ClientCerts && t.CertFile == "" && len(t.CertData) == 0 {
		x.Fail("Set tlsConfig.certFile and keyFile.", "%s has no client certificate, and the server's listener wants one", x.at)
	}
	if t.CertFile != "" || len(t.CertData) > 0 {
		x.client(t)
	}
}

// client checks the certificate that kube-scheduler shows, where it is on this machine.
func (x *extender) client(t *configv1.ExtenderTLSConfig) {
	cert, err1 := orFile(t.CertData, t.CertFile)
	key, err2 := orFile(t.KeyData, t.KeyFile)
	if err := errors.Join(err1, err2); errors.Is(err, fs.ErrNotExist) {
		x.Good("%s: the client certificate is not on this machine and was not checked", x.at)
		return
	} else if err != nil {
		x.Warn("Let this user read the files, or run this as one who may.", "%s: the client certificate was not checked: %v", x.at, err)
		return
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		x.Fail("Write a certificate and its own key.", "%s: the client certificate: %v", x.at, err)
		return
	}
	x.valid(x.at+": the client certificate", pair.Leaf, time.Now())
	x.usage(x.at+": the client certificate", pair.Leaf, x509.ExtKeyUsageClientAuth, "clientAuth")
}

// target returns how kube-scheduler verifies berth.
func (x *extender) target() (Target, bool) {
	if x.url.Scheme != "https" {
		return Target{}, false
	}
	t := cmp.Or(x.TLSConfig, &configv1.ExtenderTLSConfig{})
	out := Target{Name: cmp.Or(t.ServerName, x.url.Hostname())}
	if raw, err := orFile(t.CAData, t.CAFile); err == nil && len(raw) > 0 {
		out.Roots = x509.NewCertPool()
		if !out.Roots.AppendCertsFromPEM(raw) {
			x.Fail("Write the authority of berth's certificate in PEM.", "%s: tlsConfig.caFile holds no certificate", x.at)
			out.Roots = nil
		}
	}
	return out, true
}

// orFile returns data, or the content of a file where there is none, as client-go does.
func orFile(data []byte, path string) ([]byte, error) {
	if len(data) > 0 || path == "" {
		return data, nil
	}
	return os.ReadFile(path)
}

// profiles compares those of the file with the server's.
func (r *Report) profiles(file, server []*engine.Profile) {
	if server == nil {
		return
	}
	same := 0
	for _, p := range file {
		i := slices.IndexFunc(server, func(s *engine.Profile) bool { return s.Name == p.Name })
		switch {
		case i < 0:
			r.Warn("Start the server with --config and this file.", "profile %s is not among the server's: its pods are judged by profile %s, and not bound", p.Name, server[0].Name)
		case server[i].Digest != p.Digest:
			r.Warn("Start the server with --config and this file.", "profile %s has other plugins or arguments than the server's", p.Name)
		default:
			same++
		}
	}
	if same == len(file) {
		r.Good("the profiles are the server's")
	}
}
