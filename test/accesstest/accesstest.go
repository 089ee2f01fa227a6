// Package accesstest has an issuer of JWTs for tests.
package accesstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"berth/internal/access"
)

// Issuer is an OIDC provider.
type Issuer struct {
	*httptest.Server
	Key *ecdsa.PrivateKey
	// Fetches counts how often the keys were read, which have Pad spaces behind them.
	Fetches, Pad atomic.Int64
}

// NewIssuer starts a provider.
func NewIssuer(t *testing.T) *Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &Issuer{Key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": s.URL, "jwks_uri": s.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		s.Fetches.Add(1)
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1", Algorithm: "ES256", Use: "sig"}}})
		_, _ = w.Write([]byte(strings.Repeat(" ", int(s.Pad.Load()))))
	})
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

// Options are those of a server that takes the provider's tokens.
func (s *Issuer) Options() access.OIDCOptions {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return access.OIDCOptions{Issuer: s.URL, Audience: "berth", UsernameClaim: "sub", GroupsClaim: "groups", UsernamePrefix: "oidc:", Algorithms: []string{"ES256"}, Roots: roots}
}

// Sign returns a JWT of claims over the usual ones.
func (s *Issuer) Sign(t *testing.T, key crypto.PrivateKey, alg jose.SignatureAlgorithm, id string, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"iss": s.URL, "aud": "berth", "sub": "alice", "groups": []string{"sre"}, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()}
	for k, v := range claims {
		all[k] = v
	}
	js, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", id).WithHeader("jku", "https://evil.example/keys"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(js)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
