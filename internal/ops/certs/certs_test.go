package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/test/certstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// filed writes a certificate of berth's, its key, and the authorities that sign
// clients'.
func filed(t *testing.T, ca *certstest.Authority, clients []byte, change func(*x509.Certificate)) Files {
	t.Helper()
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt")}
	cert, key := ca.Sign("berth", change)
	write(t, f.Cert, cert)
	write(t, f.Key, key)
	write(t, f.ClientCA, clients)
	return f
}

// served is the name of the certificate that a server shows to a client without
// one of its own, or with.
func served(t *testing.T, url string, ca *certstest.Authority, client *tls.Certificate) (string, error) {
	t.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AddCert(ca.Cert)
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
	ca, dir := certstest.New(t, "ca"), t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	put := func(name string) {
		cert, key := ca.Sign(name, nil)
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
		cert, key := ca.Sign(name, nil)
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
	ca, clients := certstest.New(t, "ca"), certstest.New(t, "clients")
	f := filed(t, ca, clients.PEM, nil)
	f.ClientNames = []string{"system:kube-scheduler"}
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, k)
	tests := []struct {
		what   string
		by     *certstest.Authority
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
			cert, key := test.by.Sign(test.name, test.change)
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
	cert, key := certstest.New(t, "ca").Sign("berth", nil)
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
