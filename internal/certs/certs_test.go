package certs

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
	n    int64
}

func newAuthority(t *testing.T, name string) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t: t, cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) sign(name string, change func(*x509.Certificate)) (cert, key []byte) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.n++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(100 + a.n), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// filed writes a certificate of berth's, its key, and the authorities that sign
// clients'.
func filed(t *testing.T, ca *authority, clients []byte, change func(*x509.Certificate)) Files {
	t.Helper()
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt")}
	cert, key := ca.sign("berth", change)
	write(t, f.Cert, cert)
	write(t, f.Key, key)
	write(t, f.ClientCA, clients)
	return f
}

// served is the name of the certificate that a server shows to a client without
// one of its own, or with.
func served(t *testing.T, url string, ca *authority, client *tls.Certificate) (string, error) {
	t.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AddCert(ca.cert)
	if client != nil {
		c.Certificates = []tls.Certificate{*client}
	}
	transport := &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.TLS.PeerCertificates[0].Subject.CommonName, nil
}

func serve(t *testing.T, k *Keeper) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
	s.TLS = k.Config()
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// TestRotation replaces a certificate in every way that there is. A pair that
// does not fit leaves the one before.
func TestRotation(t *testing.T) {
	ca, dir := newAuthority(t, "ca"), t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	put := func(name string) {
		cert, key := ca.sign(name, nil)
		write(t, f.Cert, cert)
		write(t, f.Key, key)
	}
	put("one")
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Watch(ctx, time.Millisecond)
	}()
	defer func() {
		cancel()
		<-done
	}()
	url := serve(t, k)
	becomes := func(name string) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for {
			got, err := served(t, url, ca, nil)
			if err != nil {
				t.Fatalf("a handshake failed while %s came: %v", name, err)
			}
			if got == name {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s is served, want %s: %+v", got, name, k.Status())
			}
		}
	}
	becomes("one")
	put("two")
	becomes("two")
	for _, path := range []string{f.Cert, f.Key} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	becomes("two")
	put("three")
	becomes("three")
	write(t, f.Key, []byte("no key"))
	becomes("three")
	for k.Status().Problem == "" {
		time.Sleep(time.Millisecond)
	}
	put("four")
	becomes("four")
	for k.Status().Problem != "" {
		time.Sleep(time.Millisecond)
	}
	// As kubelet does with secrets: a symlink to a folder that is swapped.
	for i, name := range []string{"five", "six"} {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		cert, key := ca.sign(name, nil)
		write(t, filepath.Join(sub, "tls.crt"), cert)
		write(t, filepath.Join(sub, "tls.key"), key)
		data := filepath.Join(dir, "..data")
		if err := os.Symlink(sub, data+"_next"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(data+"_next", data); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			for _, path := range []string{"tls.crt", "tls.key"} {
				if err := os.Remove(filepath.Join(dir, path)); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join("..data", path), filepath.Join(dir, path)); err != nil {
					t.Fatal(err)
				}
			}
		}
		becomes(name)
	}
	if s := k.Status(); s.Reloads < 4 || s.Failed == 0 || s.Expires.IsZero() {
		t.Errorf("status %+v", s)
	}
}

// TestClients: only those may call whose certificate is signed by the right
// authority, is for clients, is valid, and bears the right name.
func TestClients(t *testing.T) {
	ca, clients := newAuthority(t, "ca"), newAuthority(t, "clients")
	f := filed(t, ca, clients.pem, nil)
	f.ClientNames = []string{"system:kube-scheduler"}
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, k)
	tests := []struct {
		what   string
		by     *authority
		name   string
		change func(*x509.Certificate)
		ok     bool
	}{
		{what: "the scheduler", by: clients, name: "system:kube-scheduler", ok: true},
		{what: "nobody"},
		{what: "another authority", by: ca, name: "system:kube-scheduler"},
		{what: "another name", by: clients, name: "system:kube-controller-manager"},
		{what: "expired", by: clients, name: "system:kube-scheduler", change: func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }},
		{what: "not valid yet", by: clients, name: "system:kube-scheduler", change: func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }},
		{what: "a server's", by: clients, name: "system:kube-scheduler", change: func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }},
		{what: "the name among its DNS names", by: clients, name: "other", change: func(c *x509.Certificate) { c.DNSNames = append(c.DNSNames, "system:kube-scheduler") }, ok: true},
	}
	for _, test := range tests {
		var own *tls.Certificate
		if test.by != nil {
			cert, key := test.by.sign(test.name, test.change)
			pair, err := tls.X509KeyPair(cert, key)
			if err != nil {
				t.Fatal(err)
			}
			own = &pair
		}
		if _, err := served(t, url, ca, own); (err == nil) != test.ok {
			t.Errorf("%s: %v", test.what, err)
		}
	}
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	cert, key := newAuthority(t, "ca").sign("berth", nil)
	good, goodKey, bad := filepath.Join(dir, "c"), filepath.Join(dir, "k"), filepath.Join(dir, "bad")
	write(t, good, cert)
	write(t, goodKey, key)
	write(t, bad, []byte("bad"))
	for _, f := range []Files{{Cert: filepath.Join(dir, "none"), Key: goodKey}, {Cert: bad, Key: goodKey}, {Cert: good, Key: bad}, {Cert: good, Key: goodKey, ClientCA: bad}} {
		if _, err := Open(f, nil); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}
