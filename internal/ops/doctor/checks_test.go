package doctor

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"

	"berth/internal/kube/follow"
	"berth/internal/ops/certs"
	"berth/internal/semantics"
	"berth/test/certstest"
	"berth/test/kubetest"
)

// has wants one finding of a level, and a remedy for each that is not in order.
func has(t *testing.T, name string, list []Finding, level Level, want string) {
	t.Helper()
	found := false
	for _, f := range list {
		found = found || f.Level == level && strings.Contains(f.Text, want)
		if (f.Remedy == "") != (f.Level == OK) {
			t.Errorf("%s: a remedy is missing, or one too many: %+v", name, f)
		}
	}
	if !found {
		t.Errorf("%s: want %s %q in\n%s", name, level, want, Text(list))
	}
}

func TestCertificate(t *testing.T) {
	ca, other := certstest.New(t, "ca"), certstest.New(t, "other")
	roots, others := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(ca.Cert)
	others.AddCert(other.Cert)
	now := time.Now()
	long := func(c *x509.Certificate) { c.NotAfter = now.Add(90 * 24 * time.Hour) }
	type test struct {
		name    string
		change  func(*x509.Certificate)
		more    []byte // behind the certificate in its file
		clients []byte
		names   []string
		roots   *x509.CertPool
		level   Level
		want    string
	}
	tests := []test{
		{"good", long, nil, nil, []string{"localhost", "127.0.0.1"}, roots, OK, "is valid until"},
		{"soon", nil, nil, nil, nil, nil, Warning, "expires at"},
		{"expired", func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) }, nil, nil, nil, nil, Problem, "expired at"},
		{"not yet", func(c *x509.Certificate) { long(c); c.NotBefore = now.Add(time.Minute) }, nil, nil, nil, nil, Problem, "not valid before"},
		{"no names", func(c *x509.Certificate) { long(c); c.DNSNames, c.IPAddresses = nil, nil }, nil, nil, nil, nil, Problem, "no subjectAltName"},
		{"another name", long, nil, nil, []string{"berth.berth.svc"}, nil, Problem, "berth.berth.svc"},
		{"for clients only", func(c *x509.Certificate) { long(c); c.ExtKeyUsage = c.ExtKeyUsage[1:] }, nil, nil, nil, nil, Problem, "not for serverAuth"},
		{"a chain of others", long, other.PEM, nil, nil, nil, Problem, "certificate 2 did not sign the one before"},
		{"not trusted", long, nil, nil, nil, others, Problem, "clients do not trust"},
		{"clients' authority", long, nil, ca.PEM, nil, roots, Warning, "authority CN=ca expires at"}, // certstest's end within the hour
	}
	leaf, key := ca.Sign("leaf", long)
	tests = append(tests, test{"no authority of clients", long, nil, leaf, nil, nil, Problem, "is not an authority"})
	for _, tt := range tests {
		dir := t.TempDir()
		f := certs.Files{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k")}
		cert, key := ca.Sign("berth", tt.change)
		put(t, f.Cert, append(cert, tt.more...))
		put(t, f.Key, key)
		if tt.clients != nil {
			f.ClientCA = filepath.Join(dir, "a")
			put(t, f.ClientCA, tt.clients)
		}
		has(t, tt.name, Certificate("--tls-cert", f, tt.names, tt.roots, now), tt.level, tt.want)
	}
	dir := t.TempDir()
	f := certs.Files{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k")}
	has(t, "no file", Certificate("--tls-cert", f, nil, nil, now), Problem, "no such file")
	cert, _ := ca.Sign("berth", long)
	put(t, f.Cert, cert)
	put(t, f.Key, key)
	has(t, "another's key", Certificate("--tls-cert", f, nil, nil, now), Problem, "private key does not match")
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestClock(t *testing.T) {
	has(t, "good", Clock("x", 2*time.Second, time.Second), OK, "agrees")
	has(t, "apart", Clock("x", -4*time.Second, time.Second), Warning, "4s behind this machine, to within 1s")
	has(t, "far apart", Clock("x", 2*time.Minute, time.Second), Problem, "2m0s ahead of")
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	has(t, "good", Disk("--data-dir", dir, nil), OK, "are free")
	has(t, "not there yet", Disk("--data-dir", filepath.Join(dir, "a", "b"), nil), OK, "are free")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the check left %v %v", left, err)
	}
	has(t, "remote", Disk("--data-dir", dir, func(string) error { return errors.New("is on NFS") }), Problem, "is on NFS")
	path := filepath.Join(dir, "f")
	put(t, path, nil)
	has(t, "a file", Disk("--data-dir", path, nil), Problem, "is no directory")
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o755)); err != nil {
		t.Fatal(err)
	}
	has(t, "open to others", Disk("--data-dir", open, nil), Warning, "has mode 0755")
	has(t, "not ours", Disk("--data-dir", "/proc", nil), Problem, "/proc")
	for _, c := range []struct {
		free  int64
		known bool
		level Level
		want  string
	}{
		{tooLittle - 1, true, Problem, "are free"},
		{tooLittle, true, Warning, "100Mi are free"},
		{little - 1, true, Warning, "are free"},
		{little, true, OK, "1Gi are free"},
		{0, false, OK, "can be written to"},
	} {
		r := &Report{Check: "disk"}
		r.space("--data-dir", dir, c.free, c.known)
		has(t, c.want, r.Findings, c.level, c.want)
	}
}

func TestCluster(t *testing.T) {
	s, kubeconfig := kubetest.NewTLS(t)
	minor, denied, ahead, broken := "36", "", time.Duration(0), false
	scheduler, kubelets := "", []string{"v1.35.2", "v1.36.1"}
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/version" {
			_, _ = w.Write([]byte(`{"major":"1","minor":"` + minor + `","gitVersion":"v1.` + minor + `.0"}`))
			return true
		}
		switch r.URL.Path {
		case "/api/v1/namespaces/kube-system/pods":
			_, _ = w.Write([]byte(`{"kind":"PodList","apiVersion":"v1","items":[` + scheduler + `]}`))
			return true
		case "/api/v1/nodes": // a page for each
			at, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			next := ""
			if at+1 < len(kubelets) {
				next = strconv.Itoa(at + 1)
			}
			_, _ = fmt.Fprintf(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":%q},"items":[{"metadata":{"name":"n"},"status":{"nodeInfo":{"kubeletVersion":%q}}}]}`, next, kubelets[at])
			return true
		}
		var review authorizationv1.SelfSubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		if broken {
			w.WriteHeader(http.StatusForbidden)
		}
		review.Status.Allowed = review.Spec.ResourceAttributes.Resource != denied && review.Spec.ResourceAttributes.Subresource != denied || denied == ""
		_ = json.NewEncoder(w).Encode(&review)
		return true
	})
	c, err := follow.Config(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, level Level, want string) {
		t.Helper()
		list := Cluster(t.Context(), "prod", c, semantics.Default())
		has(t, name, list, level, want)
		for _, f := range list {
			if f.Cluster != "prod" {
				t.Errorf("%s: of which cluster is %+v", name, f)
			}
		}
	}
	check("good", OK, "runs Kubernetes v1.36.0")
	check("all rights", OK, "may do all")
	check("a control plane that others operate", OK, "no pod of kube-scheduler is visible")
	check("kubelets", OK, "kubelets of 1 nodes are v1.35.2")
	runs := func(image string, args ...string) {
		js, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		scheduler = `{"metadata":{"name":"kube-scheduler-cp","namespace":"kube-system"},"spec":{"containers":[{"name":"c","image":"` + image + `","command":` + string(js) + `}]}}`
	}
	runs("registry.k8s.io/kube-scheduler:v1.36.2@sha256:0", "kube-scheduler", "--config=/etc/s.yaml", "--feature-gates=NodeSwap=true")
	check("its scheduler", OK, "kube-scheduler in pod kube-scheduler-cp is v1.36.2, --feature-gates=NodeSwap=true, --config=/etc/s.yaml, as berth decides")
	runs("registry.k8s.io/kube-scheduler:v1.37.1", "kube-scheduler", "--emulated-version", "1.36", "--feature-gates=StorageCapacityScoring=true", "--feature-gates=VolumeLimitScaling=true")
	check("a newer one", Warning, "kube-scheduler in pod kube-scheduler-cp is v1.37.1, --emulated-version=1.36, --feature-gates=StorageCapacityScoring=true,VolumeLimitScaling=true; berth decides as v1.36.3")
	if list := Cluster(t.Context(), "prod", c, semantics.Default()); !slices.ContainsFunc(list, func(f Finding) bool {
		return strings.Contains(f.Remedy, "--semantics 'prod=v1.37 DRADeviceTaintRules=false'")
	}) {
		t.Errorf("no finding says what to start with:\n%s", Text(list))
	}
	runs("kube-scheduler:v1.37.1", "--feature-gates=DRAAdminAccess=false")
	check("one that cannot be followed", Warning, "gate DRAAdminAccess=false")
	kubelets = append(kubelets, "v1.37.0")
	check("kubelets of a newer cluster", Warning, "kubelets of 1 nodes are v1.37.0; berth decides as v1.36.3")
	runs("other:v1.37.1")
	check("no scheduler's image", OK, "no pod of kube-scheduler is visible")
	ahead = 5 * time.Minute
	check("clock", Problem, "ahead of this machine")
	ahead, minor = 0, "34"
	check("another version", Warning, "runs Kubernetes v1.34.0")
	denied = "nodes"
	check("nodes denied", Problem, "list nodes, watch nodes")
	denied = "podgroups"
	check("an optional kind denied", Warning, "list scheduling.k8s.io/podgroups")
	denied = "binding"
	check("binding denied", OK, "create pods/binding")
	broken = true
	check("no reviews", Warning, "cannot be checked")
	s.Down(true)
	s.Intercept(nil)
	check("away", Problem, "does not answer")
}
