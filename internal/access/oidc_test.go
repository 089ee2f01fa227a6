package access_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"berth/internal/access"
	"berth/test/accesstest"
)

func TestOIDC(t *testing.T) {
	s := accesstest.NewIssuer(t)
	o := s.Options()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	v := access.NewOIDC(o)
	good := s.Sign(t, s.Key, jose.ES256, "k1", nil)
	i, err := v.Verify(t.Context(), good)
	if err != nil || i.String() != "oidc:oidc:alice" || len(i.Groups) != 1 || i.Groups[0] != "sre" || i.Grants != nil || !v.Mine(good) {
		t.Fatalf("a good token: %+v %v", i, err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	none := "eyJhbGciOiJub25lIiwia2lkIjoiazEifQ." + strings.Split(good, ".")[1] + "."
	public, err := x509.MarshalPKIXPublicKey(s.Key.Public())
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		"wrong audience":          s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"aud": "other"}),
		"no audience":             s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"aud": nil}),
		"expired":                 s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}),
		"no expiry":               s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"exp": nil}),
		"not yet valid":           s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}),
		"other issuer":            s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"iss": "https://other.example"}),
		"another key":             s.Sign(t, other, jose.ES256, "k1", nil),
		"another key's id":        s.Sign(t, other, jose.ES256, "k2", nil),
		"alg none":                none,
		"HMAC of the public key":  s.Sign(t, public, jose.HS256, "k1", nil),
		"another payload":         strings.Join([]string{strings.Split(good, ".")[0], strings.Split(none, ".")[1] + "AA", strings.Split(good, ".")[2]}, "."),
		"cut":                     good[:len(good)-2],
		"no user":                 s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"sub": ""}),
		"a user that is a number": s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"sub": 7}),
		"a group of two lines":    s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"groups": []string{"a\nb"}}),
		"groups of objects":       s.Sign(t, s.Key, jose.ES256, "k1", map[string]any{"groups": map[string]any{}}),
	}
	for what, token := range bad {
		if i, err := v.Verify(t.Context(), token); err == nil {
			t.Errorf("%s: %+v", what, i)
		} else if strings.Contains(err.Error(), strings.Split(token, ".")[1]) {
			t.Errorf("%s: the error quotes the token", what)
		}
	}
	if v.Mine(bad["other issuer"]) || v.Mine("a.b") || v.Mine(good+".x") || v.Mine("eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.c2ln") {
		t.Error("tokens of others are taken for its own")
	}
	if n := s.Fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times, and once in 30s is the most", n)
	}
}

func TestOIDCIssuers(t *testing.T) {
	s := accesstest.NewIssuer(t)
	s.Pad.Store(64 << 10)
	o := s.Options()
	v := access.NewOIDC(o)
	if _, err := v.Verify(t.Context(), s.Sign(t, s.Key, jose.ES256, "k1", nil)); err == nil {
		t.Error("keys of more than 64 KiB were read")
	}
	away := httptest.NewTLSServer(http.RedirectHandler(s.URL, http.StatusFound))
	defer away.Close()
	o.Issuer = away.URL
	v = access.NewOIDC(o)
	if _, err := v.Verify(t.Context(), "a.b.c"); err == nil || !strings.Contains(err.Error(), "the issuer's keys cannot be had") {
		t.Errorf("an issuer that redirects: %v", err)
	}
	for name, change := range map[string]func(*access.OIDCOptions){
		"oidc-issuer":         func(o *access.OIDCOptions) { o.Issuer = "http://plain.example" },
		"oidc-audience":       func(o *access.OIDCOptions) { o.Audience = "" },
		"oidc-algs":           func(o *access.OIDCOptions) { o.Algorithms = []string{"none"} },
		"oidc-username-claim": func(o *access.OIDCOptions) { o.UsernameClaim = "" },
	} {
		o := s.Options()
		change(&o)
		var field *access.FieldError
		if err := o.Validate(); !errors.As(err, &field) || field.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReviewsAreKept(t *testing.T) {
	asked, fail := 0, false
	k := access.NewKubernetes(func(_ context.Context, token string) (string, []string, bool, error) {
		asked++
		if fail {
			return "", nil, false, errors.New("canary: " + token)
		}
		return "system:serviceaccount:a:b", []string{"system:serviceaccounts"}, token == "a.b.c", nil
	})
	for range 3 {
		if i, err := k.Verify(t.Context(), "a.b.c"); err != nil || i.String() != "kubernetes:system:serviceaccount:a:b" {
			t.Errorf("%v %v", i, err)
		}
		if _, err := k.Verify(t.Context(), "x.y.z"); err == nil || !strings.Contains(err.Error(), "does not know") {
			t.Errorf("an unknown one: %v", err)
		}
	}
	fail = true
	if _, err := k.Verify(t.Context(), "d.e.f"); err == nil || !strings.Contains(err.Error(), "cannot be asked") || strings.Contains(err.Error(), "canary") {
		t.Errorf("an apiserver that fails: %v", err)
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
	if i, _ := k.Verify(t.Context(), "a.b.c"); i != nil {
		i.Grants = access.All
	}
	if i, _ := k.Verify(t.Context(), "a.b.c"); i == nil || i.Grants != nil {
		t.Error("what a caller sets is kept")
	}
}
