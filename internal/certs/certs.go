// Package certs serves TLS with certificates that may be replaced while the
// server runs, however whoever replaces them does it: the files are read again
// and again, and a pair that does not fit leaves the one before in use.
package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
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
	current atomic.Pointer[tls.Config]
	loaded  atomic.Int64 // Unix time
	failure atomic.Pointer[string]
	reloads atomic.Int64
	failed  atomic.Int64
}

// Status is what an operator may know of a Keeper.
type Status struct {
	Loaded  time.Time // when what is in use was read
	Expires time.Time // when it stops being valid
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
		changed, err := k.read()
		switch {
		case err != nil:
			text := err.Error()
			if before := k.failure.Swap(&text); before == nil || *before != text {
				k.failed.Add(1)
				k.log.Error("new certificates cannot be used; those before stay in use", slog.Any("error", err))
			}
		case changed:
			k.reloads.Add(1)
			k.log.Info("certificates were replaced", slog.Time("expires", k.Status().Expires))
			fallthrough
		default:
			k.failure.Store(nil)
		}
	}
}

// read takes what is in the files into use, where it is new and fits together.
func (k *Keeper) read() (changed bool, err error) {
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
		return false, nil
	}
	pair, err := tls.X509KeyPair(raw[0], raw[1])
	if err != nil {
		return false, fmt.Errorf("%s and %s: %w", k.files.Cert, k.files.Key, err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if k.files.ClientCA != "" {
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(raw[2]) {
			return false, fmt.Errorf("%s holds no certificate in PEM", k.files.ClientCA)
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.VerifyConnection = k.known
	}
	k.raw = raw
	k.current.Store(c)
	k.loaded.Store(time.Now().Unix())
	return true, nil
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

// Config gives the configuration of a listener: each connection gets what is in
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
	if leaf := k.current.Load().Certificates[0].Leaf; leaf != nil {
		s.Expires = leaf.NotAfter
	}
	return s
}
