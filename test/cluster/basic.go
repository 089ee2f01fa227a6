package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// mixed are nodes of which not every pod may use every one: a third is tainted,
// half have the label that some pods want.
func mixed(i int, n *corev1.Node) {
	if i%3 == 0 {
		n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
	}
	if i%2 == 0 {
		n.Labels["disk"] = "ssd"
	}
}

// choosy are pods that want some of those nodes.
func choosy(i int, p *corev1.Pod) {
	if i%2 == 0 {
		p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if i%5 == 0 {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
}

// misplaced checks where mixed pods are by the rules themselves, not by berth.
func (e *env) misplaced(ctx context.Context) error {
	list, err := e.client.CoreV1().Nodes().List(ctx, listAll)
	if err != nil {
		return err
	}
	nodes := map[string]*corev1.Node{}
	for i := range list.Items {
		nodes[list.Items[i].Name] = &list.Items[i]
	}
	for _, l := range e.kubelets.of(e.namespace) {
		for _, name := range l.nodes {
			n := nodes[name]
			for k, v := range l.last.Spec.NodeSelector {
				e.check(n.Labels[k] == v, "pod %s wants %s=%s and is on node %s", l.name, k, v, name)
			}
			tolerates := false
			for _, t := range l.last.Spec.Tolerations {
				tolerates = tolerates || t.Key == "dedicated"
			}
			e.check(len(n.Spec.Taints) == 0 || tolerates, "pod %s is on node %s and does not tolerate its taint", l.name, name)
		}
	}
	return nil
}

func basic(p profile) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		const pods = 60
		if err := e.nodes(ctx, 12, 3, "8", "32Gi", mixed); err != nil {
			return err
		}
		s, err := e.berth(nil)
		if err != nil {
			return err
		}
		t, err := e.enforced(p, "", s)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := e.pods(ctx, "web", pods, "500m", "1Gi", choosy); err != nil {
			return err
		}
		if err := e.allBound(ctx, pods, time.Minute); err != nil {
			return err
		}
		e.figure("%d pods on nodes in %.1f s; %d binds were refused and tried again", pods, time.Since(began).Seconds(), refusals(t.f))
		t.stop()
		if err := e.misplaced(ctx); err != nil {
			return err
		}
		e.allowed(t.f)
		b, err := e.books(ctx, t)
		if err != nil {
			return err
		}
		e.check(b.byVerb["prioritize"] > 0, "kube-scheduler requested no scores")
		return nil
	}
}

// refusals counts the binds that berth refused.
func refusals(f *frontend) (n int) {
	for _, x := range f.said("bind") {
		if x.status == 200 && len(x.answer) > len(`{"Error":""}`) {
			n++
		}
	}
	return n
}

// mtls has kube-scheduler come with a certificate, and another client without.
func mtls(ctx context.Context, e *env) error {
	const pods = 20
	if err := e.nodes(ctx, 6, 3, "8", "32Gi", mixed); err != nil {
		return err
	}
	a, err := newAuthority(e.dir)
	if err != nil {
		return err
	}
	for name, usage := range map[string]x509.ExtKeyUsage{"berth": x509.ExtKeyUsageServerAuth, "system:kube-scheduler": x509.ExtKeyUsageClientAuth} {
		if err := a.issue(name, usage); err != nil {
			return err
		}
	}
	s, err := newServer(e.control, e.options.server, e.dir, "berth", e.address)
	if err != nil {
		return err
	}
	if err := s.withExtender("--extender-tls-cert", a.cert("berth"), "--extender-tls-key", a.key("berth"), "--extender-tls-client-ca", a.cert("ca"),
		"--extender-tls-client-names", "system:kube-scheduler"); err != nil {
		return err
	}
	if err := e.start(s); err != nil {
		return err
	}
	calls := "https://" + s.extender + "/clusters/" + followed
	client, err := a.stranger()
	if err != nil {
		return err
	}
	_, err = client.Post(calls+"/filter", "application/json", nil)
	e.check(err != nil, "somebody without a certificate was let in")
	x := enforcing(calls)
	x.tlsCert, x.tlsKey, x.tlsCA, x.tlsName = a.cert("system:kube-scheduler"), a.key("system:kube-scheduler"), a.cert("ca"), "berth"
	stop, err := e.schedule(full, x)
	if err != nil {
		return err
	}
	if err := e.pods(ctx, "web", pods, "500m", "1Gi", choosy); err != nil {
		return err
	}
	if err := e.allBound(ctx, pods, time.Minute); err != nil {
		return err
	}
	stop()
	b, err := e.bookkeeping(ctx, s, "")
	if err != nil {
		return err
	}
	e.bound(b, true)
	return e.misplaced(ctx)
}

// authority signs the certificates of a scenario.
type authority struct {
	dir  string
	ca   *x509.Certificate
	priv *ecdsa.PrivateKey
}

func newAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "suite"}, NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.ca = t
	return a, a.write("ca", t)
}

func (a *authority) cert(name string) string { return filepath.Join(a.dir, name+".crt") }
func (a *authority) key(name string) string  { return filepath.Join(a.dir, name+".key") }

func (a *authority) issue(name string, usage x509.ExtKeyUsage) error {
	return a.write(name, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	})
}

func (a *authority) write(name string, t *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if a.priv == nil {
		a.priv = key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.ca, &key.PublicKey, a.priv)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", name, err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(a.key(name), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(a.cert(name), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// stranger trusts the authority and has no certificate of it.
func (a *authority) stranger() (*http.Client, error) {
	raw, err := os.ReadFile(a.cert("ca"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(raw)
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}, nil
}
