// Package certs serves TLS with certificates that may be replaced while the
// server runs, in whichever way they are replaced: the files are read again
// and again, and a pair that does not fit leaves the one before in use.
package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Files say where a listener's certificates are.
type Files struct {
	// Cert and Key are PEM: the chain, and its private key.
	Cert, Key string
	// ClientCA is PEM: who may sign clients' certificates. Empty: no client needs
	// one.
	ClientCA string
	// ClientNames are the names of which a client's certificate has to bear one,
	// as its common name or among its DNS names or URIs; none: any will do.
	ClientNames []string
}

// Keeper holds the certificates in use. It is safe for concurrent use.
type Keeper struct {
	files Files
	log   *slog.Logger

	raw     [3][]byte // of what is in use, for the one goroutine that reads
	seen    [3][]byte // what was in the files the last time
	waiting bool      // the files have changed since the last check, and may still be changing
	current atomic.Pointer[tls.Config]
	expires atomic.Int64 // Unix time
	loaded  atomic.Int64 // Unix time
	failure atomic.Pointer[string]
	reloads atomic.Int64
	failed  atomic.Int64
}

// Status is what an operator may know of a Keeper.
type Status struct {
	Loaded  time.Time // when what is in use was read
	Expires time.Time // when it stops being valid: the certificate, or all of those who may sign clients'
	Reloads int64
	Failed  int64
	Problem string // why what is in the files now is not in use
}

// Open reads the certificates for the first time.
func Open(f Files, log *slog.Logger) (*Keeper, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	k := &Keeper{files: f, log: log}
	if _, err := k.read(); err != nil {
		return nil, err
	}
	return k, nil
}

// Watch reads the files again and again until ctx ends.
func (k *Keeper) Watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		k.look()
	}
}

// look reads the files once more and describes what came of it. What was wrong with them
// stays until they are found good.
func (k *Keeper) look() {
	changed, err := k.read()
	switch {
	case err != nil:
		text := err.Error()
		if before := k.failure.Swap(&text); before == nil || *before != text {
			k.failed.Add(1)
			k.log.Error("new certificates cannot be used; the previous ones stay in use", slog.Any("error", err))
		}
	case k.waiting:
	case changed:
		k.reloads.Add(1)
		k.log.Info("certificates were replaced", slog.Time("expires", k.Status().Expires))
		fallthrough
	default:
		k.failure.Store(nil)
	}
}

// read loads the files if they are new, are the same as at the last check, so that they are written
// completely, and fit together.
func (k *Keeper) read() (changed bool, err error) {
	k.waiting = false
	var raw [3][]byte
	for i, path := range []string{k.files.Cert, k.files.Key, k.files.ClientCA} {
		if path == "" {
			continue
		}
		if raw[i], err = os.ReadFile(path); err != nil {
			return false, err
		}
	}
	if k.current.Load() != nil && slices.EqualFunc(raw[:], k.raw[:], bytes.Equal) {
		k.seen = raw
		return false, nil
	}
	if k.current.Load() != nil && !slices.EqualFunc(raw[:], k.seen[:], bytes.Equal) {
		k.seen, k.waiting = raw, true
		return false, nil
	}
	pair, err := tls.X509KeyPair(raw[0], raw[1])
	if err != nil {
		return false, fmt.Errorf("%s and %s: %w", k.files.Cert, k.files.Key, err)
	}
	if _, _, err := Whole(raw[0]); err != nil {
		return false, fmt.Errorf("%s: %w", k.files.Cert, err)
	}
	if err := k.inTime(pair.Leaf); err != nil {
		return false, fmt.Errorf("%s: %w", k.files.Cert, err)
	}
	expires := pair.Leaf.NotAfter
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if k.files.ClientCA != "" {
		authorities, passed, err := Whole(raw[2])
		if err != nil {
			return false, fmt.Errorf("%s: %w", k.files.ClientCA, err)
		}
		for _, p := range passed {
			k.log.Warn("a CA cannot be read and is ignored: its clients are refused", slog.String("file", k.files.ClientCA), slog.Any("error", p))
		}
		c.ClientCAs = x509.NewCertPool()
		last := authorities[0].NotAfter
		for _, a := range authorities {
			c.ClientCAs.AddCert(a)
			if a.NotAfter.After(last) {
				last = a.NotAfter
			}
		}
		if last.Before(expires) {
			expires = last
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.VerifyConnection = k.known
	}
	k.raw = raw
	k.current.Store(c)
	k.loaded.Store(time.Now().Unix())
	k.expires.Store(expires.Unix())
	return true, nil
}

// inTime rejects a certificate that is expired or not valid yet, where the one in use is valid.
func (k *Keeper) inTime(leaf *x509.Certificate) error {
	c, now := k.current.Load(), time.Now()
	good := func(x *x509.Certificate) bool { return !now.Before(x.NotBefore) && !now.After(x.NotAfter) }
	if c == nil || good(leaf) || !good(c.Certificates[0].Leaf) {
		return nil
	}
	return fmt.Errorf("the certificate is valid from %s to %s only, and the one in use is valid now", leaf.NotBefore.UTC().Format(time.RFC3339), leaf.NotAfter.UTC().Format(time.RFC3339))
}

// Whole reads the certificates of a file of which nothing is missing: what is cut
// off is passed over by those who read PEM, and an authority would be missed.
// passed is why others in it cannot be read, which crypto/x509 passes over as well.
func Whole(raw []byte) (list []*x509.Certificate, passed []error, err error) {
	blocks, rest := 0, raw
	for {
		var b *pem.Block
		if b, rest = pem.Decode(rest); b == nil {
			break
		}
		blocks++
		if b.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			passed = append(passed, fmt.Errorf("certificate %d: %w", len(list)+len(passed)+1, err))
			continue
		}
		list = append(list, cert)
	}
	switch {
	case inPart(raw, blocks):
		return nil, nil, errors.New("a part of it is not whole PEM")
	case len(list) == 0 && len(passed) > 0:
		return nil, nil, passed[0]
	case len(list) == 0:
		return nil, nil, errors.New("it holds no certificate in PEM")
	}
	return list, passed, nil
}

// inPart reports whether more begins or ends in a file than there are blocks in it, or
// that it stops where one may be about to begin. Remarks do not count.
func inPart(raw []byte, blocks int) bool {
	const begin, end = "-----BEGIN ", "-----END "
	begun, ended, line := 0, 0, ""
	for line = range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "#") {
			begun, ended = begun+strings.Count(line, begin), ended+strings.Count(line, end)
		}
	}
	return begun != blocks || ended != blocks || line != "" && strings.HasPrefix(begin, line)
}

// known refuses clients that bear none of the names.
func (k *Keeper) known(s tls.ConnectionState) error {
	if len(k.files.ClientNames) == 0 {
		return nil
	}
	if len(s.PeerCertificates) == 0 {
		return errors.New("a client certificate is needed")
	}
	cert := s.PeerCertificates[0]
	names := append([]string{cert.Subject.CommonName}, cert.DNSNames...)
	for _, u := range cert.URIs {
		names = append(names, u.String())
	}
	for _, n := range names {
		if slices.Contains(k.files.ClientNames, n) {
			return nil
		}
	}
	return fmt.Errorf("the client %q is none of those that may call", cert.Subject.CommonName)
}

// Config returns the configuration of a listener: each connection gets what is in
// use when it begins.
func (k *Keeper) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return k.current.Load(), nil },
	}
}

// Status tells what is in use.
func (k *Keeper) Status() Status {
	s := Status{Loaded: time.Unix(k.loaded.Load(), 0), Reloads: k.reloads.Load(), Failed: k.failed.Load()}
	if text := k.failure.Load(); text != nil {
		s.Problem = *text
	}
	s.Expires = time.Unix(k.expires.Load(), 0)
	return s
}
