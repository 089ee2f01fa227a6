package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/certstest"
)

// TestConnectionsPerName: over TLS connections are counted for the name in the client's
// certificate. One name's do not take from another's, its idle ones give way to its own, and what
// it holds back beyond its share is closed. All clients here have one address, loopback's, which
// has no bound of its own.
func TestConnectionsPerName(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(strings.ReplaceAll(proto, "/", " "), func(t *testing.T) { connectionsPerName(t, proto) })
	}
}

func connectionsPerName(t *testing.T, proto string) {
	const share = 3
	ca, dir := certstest.New(t, "ca"), t.TempDir()
	cert, key := ca.Sign("berth", nil)
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := serve(t, t.TempDir(), func(s *settings) {
		s.TLS = tlsSettings{Cert: file("tls.crt", cert), Key: file("tls.key", key), ClientCA: file("ca.crt", ca.PEM)}
		s.Limits.MaxPeerConnections = share
	})
	url := "https" + strings.TrimPrefix(r.url, "http")
	roots := x509.NewCertPool()
	roots.AddCert(ca.Cert)
	pairs := map[string]*tls.Certificate{"busy": ca.Pair("busy"), "idle": ca.Pair("idle"), "good": ca.Pair("good")}
	// Each client of a name has one connection.
	connect := func(name string) *http.Client {
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{*pairs[name]}, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: proto == "HTTP/2.0", MaxConnsPerHost: 1,
		}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	livez := func(c *http.Client) error {
		res, err := c.Get(url + "/livez")
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK || res.Proto != proto {
			return fmt.Errorf("%s %s", res.Proto, res.Status)
		}
		return nil
	}
	// Connections of a name that are in use: a body that never ends is on its way on each.
	hold := func(name string) chan error {
		body, end := io.Pipe()
		t.Cleanup(func() { _ = end.Close() })
		started, done := make(chan struct{}), make(chan error, 1)
		go func() {
			req, err := http.NewRequest(http.MethodPost, url+"/v1/snapshots?cluster=c", &reports{Reader: body, first: started})
			if err == nil {
				req.Header.Set("Content-Type", "application/json")
				var res *http.Response
				if res, err = connect(name).Do(req); err == nil {
					err = res.Body.Close()
				}
			}
			done <- err
		}()
		go func() { _, _ = end.Write([]byte("{")) }()
		select {
		case <-started:
		case err := <-done:
			done <- err
		}
		return done
	}
	held := make([]chan error, share)
	for i := range held {
		if held[i] = hold("busy"); len(held[i]) > 0 {
			t.Fatalf("within its share: %v", <-held[i])
		}
	}
	refused := false
	for end := time.Now().Add(10 * time.Second); !refused && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for i := range held { // idle until the server has seen its request, one may have given way
			if len(held[i]) > 0 {
				held[i] = hold("busy")
			}
		}
		refused = livez(connect("busy")) != nil // once the server has seen the requests on all of them
	}
	if !refused {
		t.Error("one name has more connections in use than its share")
	}
	for range 2 * share { // each is idle when the next comes
		if err := livez(connect("idle")); err != nil {
			t.Errorf("idle connections of a name do not give way to its own: %v", err)
		}
	}
	if err := livez(connect("good")); err != nil {
		t.Errorf("another name was kept out: %v", err)
	}
}

// reports closes a channel when it is read from for the second time: what was read first is on its
// way.
type reports struct {
	io.Reader
	first chan struct{}
	reads int
}

func (r *reports) Read(b []byte) (int, error) {
	if r.reads++; r.reads == 2 {
		close(r.first)
	}
	return r.Reader.Read(b)
}
