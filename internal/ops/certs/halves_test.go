package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/test/certstest"
)

// read reads the files as often as it takes to believe them.
func read(k *Keeper) (changed bool, err error) {
	if changed, err := k.read(); changed || err != nil {
		return changed, err
	}
	return k.read()
}

// TestWrittenInParts: a file that grows while it is read is not believed before it
// has stopped.
func TestWrittenInParts(t *testing.T) {
	ca, first, second := certstest.New(t, "ca"), certstest.New(t, "first"), certstest.New(t, "second")
	f := filed(t, ca, second.PEM, nil)
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.ClientCA, first.PEM)
	if changed, err := k.read(); changed || err != nil {
		t.Fatalf("half of it: changed %t, %v", changed, err)
	}
	write(t, f.ClientCA, append(bytes.Clone(first.PEM), second.PEM...))
	if changed, err := k.read(); changed || err != nil {
		t.Fatalf("all of it, seen once: changed %t, %v", changed, err)
	}
	if changed, err := k.read(); !changed || err != nil {
		t.Fatalf("all of it: changed %t, %v", changed, err)
	}
}

// TestHalfWritten: a file that is read while it is written is no file, even where
// what is there of it so far would do.
func TestHalfWritten(t *testing.T) {
	ca, first, second, dir := certstest.New(t, "ca"), certstest.New(t, "first"), certstest.New(t, "second"), t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt")}
	cert, key := ca.Sign("berth", nil)
	chain := append(bytes.Clone(cert), ca.PEM...)
	both := append(bytes.Clone(first.PEM), second.PEM...)
	restore := func() {
		t.Helper()
		write(t, f.Cert, chain)
		write(t, f.Key, key)
		write(t, f.ClientCA, both)
	}
	restore()
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]int{f.Cert: len(cert), f.Key: len(key), f.ClientCA: len(first.PEM)}
	for path, whole := range map[string][]byte{f.Cert: chain, f.Key: key, f.ClientCA: both} {
		for n := range len(whole) - 1 {
			end := ends[path]
			if n > end-2 && n < end+5 || n%13 != 0 && (n < end-30 || n > end+30) {
				continue // a valid file by itself, or no change
			}
			write(t, path, whole[:n])
			if changed, err := read(k); changed || err == nil {
				t.Errorf("the first %d of %d bytes of %s are taken for all of it", n, len(whole), filepath.Base(path))
			}
		}
		restore()
		if changed, err := read(k); changed || err != nil {
			t.Errorf("%s is whole again: changed %t, %v", filepath.Base(path), changed, err)
		}
	}
	write(t, f.ClientCA, append([]byte("# first\n"), append(bytes.Clone(both), "\n# that was all\n"...)...))
	if changed, err := read(k); !changed || err != nil {
		t.Errorf("with remarks: changed %t, %v", changed, err)
	}
}

// TestRemarks: what is between the certificates may be anything but the beginning or
// the end of one.
func TestRemarks(t *testing.T) {
	first, second := certstest.New(t, "first").PEM, certstest.New(t, "second").PEM
	lines := func(parts ...any) (out []byte) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				out = append(out, p...)
			case []byte:
				out = append(out, p...)
			}
		}
		return out
	}
	for n, good := range [][]byte{
		lines("# ----- start -----\n", first, "----- next -----\n", second, "# ----- end of bundle -----"),
		lines(first, second, "# ----- end of bundle -----\n"),
		lines("# -----BEGIN CERTIFICATE----- is how each begins\n", first, second, "# -----END CERTIFICATE-----\n"),
		lines(first, second, "-----\n"),
	} {
		if list, passed, err := Whole(good); len(list) != 2 || passed != nil || err != nil {
			t.Errorf("%d: %d certificates, %v, %v\n%s", n, len(list), passed, err, good)
		}
	}
	for n, bad := range [][]byte{
		lines(first, "-----"), lines(first, "-----BEGIN"), lines(first, "-----BEGIN CERT"), lines(first, "-----BEGIN CERTIFICATE-----\n"), lines(first, "-----END CERTIFICATE-----\n"),
		lines("\ufeff", first, second), lines(first, " ", second),
	} {
		if list, _, err := Whole(bad); err == nil {
			t.Errorf("%d: %d certificates\n%s", n, len(list), bad)
		}
	}
}

// TestAuthorityThatCannotBeRead: the others of its file are taken, as crypto/x509
// does, and the log tells it. A file of which none can be read is none.
func TestAuthorityThatCannotBeRead(t *testing.T) {
	ca := certstest.New(t, "ca")
	odd := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no certificate")})
	f := filed(t, ca, append(bytes.Clone(odd), ca.PEM...), nil)
	var told bytes.Buffer
	k, err := Open(f, slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if text := told.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=WARN") || !strings.Contains(text, "certificate 1: ") || !strings.Contains(text, f.ClientCA) {
		t.Errorf("told %q", text)
	}
	if _, err := served(t, serve(t, k), ca, ca.Pair("client")); err != nil {
		t.Errorf("a client of the other authority: %v", err)
	}
	write(t, f.ClientCA, odd)
	if changed, err := read(k); changed || err == nil {
		t.Errorf("with none that can be read: changed %t, %v", changed, err)
	}
	if _, err := Open(f, nil); err == nil {
		t.Error("opened with none that can be read")
	}
}

// TestBrokenAgain: files that are written again and are as broken as before are one
// failure, which is over when they are found good and no sooner.
func TestBrokenAgain(t *testing.T) {
	ca, dir := certstest.New(t, "ca"), t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	cert, key := ca.Sign("berth", nil)
	write(t, f.Cert, cert)
	write(t, f.Key, key)
	var told bytes.Buffer
	k, err := Open(f, slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	looks := func(what string, problems ...bool) {
		t.Helper()
		for n, want := range problems {
			k.look()
			if got := k.Status().Problem; (got != "") != want {
				t.Errorf("%s, look %d: problem %q", what, n+1, got)
			}
		}
	}
	write(t, f.Key, []byte("broken"))
	looks("broken", false, true, true)
	write(t, f.Key, []byte("broken again"))
	looks("broken again", true, true)
	if s := k.Status(); s.Failed != 1 || strings.Count(told.String(), "level=ERROR") != 1 {
		t.Errorf("%d failures, told\n%s", s.Failed, &told)
	}
	cert, key = ca.Sign("next", nil)
	write(t, f.Cert, cert)
	write(t, f.Key, key)
	looks("good", true, false)
	write(t, f.Key, []byte("broken"))
	looks("broken once more", false, true)
	write(t, f.Key, key)
	looks("what is in use", false)
	if s := k.Status(); s.Failed != 2 || s.Reloads != 1 {
		t.Errorf("%+v", s)
	}
}

// TestOutOfDate: an expired certificate does not replace a valid one.
func TestOutOfDate(t *testing.T) {
	ca, dir := certstest.New(t, "ca"), t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	put := func(from, until time.Duration) {
		t.Helper()
		cert, key := ca.Sign("berth", func(c *x509.Certificate) { c.NotBefore, c.NotAfter = time.Now().Add(from), time.Now().Add(until) })
		write(t, f.Cert, cert)
		write(t, f.Key, key)
	}
	put(-2*time.Hour, -time.Hour)
	k, err := Open(f, nil)
	if err != nil {
		t.Fatalf("with nothing better: %v", err)
	}
	put(-2*time.Hour, -time.Minute)
	if changed, err := read(k); !changed || err != nil {
		t.Errorf("an expired one for an expired one: changed %t, %v", changed, err)
	}
	put(-time.Hour, time.Hour)
	if changed, err := read(k); !changed || err != nil {
		t.Errorf("a good one: changed %t, %v", changed, err)
	}
	for _, bad := range [][2]time.Duration{{-2 * time.Hour, -time.Hour}, {time.Hour, 2 * time.Hour}} {
		put(bad[0], bad[1])
		if changed, err := read(k); changed || err == nil || !strings.Contains(err.Error(), "valid") {
			t.Errorf("one that is valid from %s to %s: changed %t, %v", bad[0], bad[1], changed, err)
		}
	}
}

// TestExpiryOfAuthorities: when the last client CA expires, no client is let in.
func TestExpiryOfAuthorities(t *testing.T) {
	ca, clients := certstest.New(t, "ca"), certstest.New(t, "clients")
	f := filed(t, ca, clients.PEM, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(48 * time.Hour) })
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Status().Expires; !got.Equal(clients.Cert.NotAfter) {
		t.Errorf("expires %s, want the authority's %s", got, clients.Cert.NotAfter)
	}
}

// TestAuthorityReplaced: who was let in by an authority that is gone is not let
// in by the session of that time.
func TestAuthorityReplaced(t *testing.T) {
	ca, before, after := certstest.New(t, "ca"), certstest.New(t, "before"), certstest.New(t, "after")
	f := filed(t, ca, before.PEM, nil)
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, k)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		write(t, f.ClientCA, before.PEM)
		if _, err := read(k); err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(ca.Cert)
		transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
			RootCAs: roots, MinVersion: version, MaxVersion: version, Certificates: []tls.Certificate{*before.Pair("client")}, ClientSessionCache: tls.NewLRUClientSessionCache(4),
		}}
		call := func() error {
			res, err := (&http.Client{Transport: transport}).Get(url)
			if err == nil {
				err = errors.Join(res.Body.Close())
			}
			return err
		}
		for range 3 {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
		write(t, f.ClientCA, after.PEM)
		if changed, err := read(k); !changed || err != nil {
			t.Fatal(changed, err)
		}
		for range 3 {
			if err := call(); err == nil {
				t.Errorf("version %x: let in by an authority that is gone", version)
			}
		}
	}
}

// TestRotationUnderLoad replaces the certificate and the authorities again and
// again, in every way, while clients come: each is let in.
func TestRotationUnderLoad(t *testing.T) {
	ca, dir := certstest.New(t, "ca"), t.TempDir()
	f := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt")}
	clients := certstest.New(t, "clients")
	put := func(n int) {
		t.Helper()
		cert, key := ca.Sign("berth", nil)
		one, other := f.Cert, f.Key
		first, second := cert, key
		if n%2 == 1 {
			one, other, first, second = f.Key, f.Cert, key, cert
		}
		write(t, one, first[:len(first)/2])
		write(t, one, first)
		write(t, other, nil)
		write(t, other, second)
		bundle := append(bytes.Clone(certstest.New(t, "another").PEM), clients.PEM...)
		write(t, f.ClientCA, bundle[:len(bundle)*2/3])
		write(t, f.ClientCA, bundle)
	}
	put(0)
	k, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, k)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { k.Watch(ctx, time.Millisecond) })
	var calls atomic.Int64
	own := clients.Pair("client")
	for range 4 {
		work.Go(func() {
			for ctx.Err() == nil {
				if _, err := served(t, url, ca, own); err != nil {
					t.Errorf("a handshake failed: %v", err)
					return
				}
				calls.Add(1)
			}
		})
	}
	for n := range 100 {
		put(n)
	}
	before := calls.Load()
	for (calls.Load() < before+20 || k.Status().Reloads == 0) && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	cancel()
	work.Wait()
}
