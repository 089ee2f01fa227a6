package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/certstest"
)

// TestHandshakes shows bad certificates to real listeners, one for REST and one for kube-scheduler,
// each with a CA of its own: no call comes through, and none leaves a trace but its refusal.
func TestHandshakes(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	people, schedulers, strangers := certstest.New(t, "people"), certstest.New(t, "schedulers"), certstest.New(t, "strangers")
	cert, key := people.Sign("berth", nil)
	own := tlsSettings{Cert: file("tls.crt", cert), Key: file("tls.key", key), ClientCA: file("people.crt", people.PEM)}
	r := serve(t, data, func(s *settings) {
		s.TLS, s.Access.RequireIdentity = own, true
		s.Extender.Listen, s.Extender.TLS = "127.0.0.1:0", own
		s.Extender.TLS.ClientCA, s.Extender.TLS.ClientNames = file("schedulers.crt", schedulers.PEM), []string{"kube-scheduler"}
	})
	addresses := strings.Fields(strings.TrimPrefix(r.url, "http://"))
	if len(addresses) != 2 {
		t.Fatalf("listeners: %q", addresses)
	}
	listeners := map[string]string{"REST": "https://" + addresses[0] + "/v1/whoami", "extender": "https://" + addresses[1] + "/metrics"}
	roots := x509.NewCertPool()
	roots.AddCert(people.Cert)

	pair := func(a *certstest.Authority, name string, change func(*x509.Certificate)) []tls.Certificate {
		cert, key := a.Sign(name, change)
		p, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return []tls.Certificate{p}
	}
	old := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	}
	server := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	sessions := tls.NewLRUClientSessionCache(8)
	ask := func(address string, certs []tls.Certificate, cache tls.ClientSessionCache) (int, string, error) {
		transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", Certificates: certs, ClientSessionCache: cache, MinVersion: tls.VersionTLS12}}
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Get(address) //nolint:noctx // it has a deadline
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		return res.StatusCode, string(body), err
	}
	good := map[string][]tls.Certificate{"REST": pair(people, "ada", nil), "extender": pair(schedulers, "kube-scheduler", nil)}
	for name, certs := range good {
		if code, text, err := ask(listeners[name], certs, nil); err != nil || code != http.StatusOK {
			t.Fatalf("%s with its own certificate: %d %s %v", name, code, text, err)
		}
	}
	for what, c := range map[string]struct {
		listener string
		certs    []tls.Certificate
	}{
		"none": {"REST", nil}, "none to the extender": {"extender", nil},
		"of another CA": {"REST", pair(strangers, "ada", nil)}, "of another CA to the extender": {"extender", pair(strangers, "kube-scheduler", nil)},
		"the scheduler's to REST": {"REST", good["extender"]}, "a person's to the extender": {"extender", good["REST"]},
		"another name": {"extender", pair(schedulers, "kubelet", nil)},
		"expired":      {"REST", pair(people, "ada", old)}, "expired to the extender": {"extender", pair(schedulers, "kube-scheduler", old)},
		"of a server": {"REST", pair(people, "ada", server)}, "of a server to the extender": {"extender", pair(schedulers, "kube-scheduler", server)},
	} {
		if code, text, err := ask(listeners[c.listener], c.certs, nil); err == nil {
			t.Errorf("%s: let through: %d %s", what, code, text)
		}
	}
	// A session is resumed without the certificate, on the listener that it is of alone.
	for name, other := range map[string]string{"REST": "extender", "extender": "REST"} {
		for range 2 {
			if _, _, err := ask(listeners[name], good[name], sessions); err != nil {
				t.Fatal(err)
			}
		}
		if code, text, err := ask(listeners[other], nil, sessions); err == nil {
			t.Errorf("a session of %s, replayed: let through: %d %s", name, code, text)
		}
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(r.log.String(), "handshake") || strings.Contains(r.log.String(), "certificate:kubelet") {
		t.Errorf("the log: %s", r.log)
	}
}
