package access

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func FuzzToken(f *testing.F) {
	f.Add(NewToken())
	f.Add("berth_")
	f.Add(strings.Repeat("a", tokenLength))
	f.Fuzz(func(t *testing.T, text string) {
		hash, err := hashToken(text)
		if err == nil && (len(hash) != 32 || len(text) != tokenLength || !isToken(text) || text[:len(text)-checksumChars]+checksum(text[:len(text)-checksumChars]) != text) {
			t.Errorf("%q is taken for a token", text)
		}
	})
}

// FuzzAuthorization: no header is let through where an identity is required, as no token is known.
func FuzzAuthorization(f *testing.F) {
	for _, h := range []string{"", "Bearer " + NewToken(), "bearer a.b.c", "Basic x", "Bearer  x", "Bearer a,b", "Bearer\tx"} {
		f.Add(h, "")
	}
	f.Add("Bearer a.b.c", "Bearer d.e.f")
	held := map[[32]byte]*Token{}
	tokens := &Tokens{used: map[string]time.Time{}}
	tokens.held.Store(&held)
	o := OIDCOptions{Issuer: "https://issuer.example", Audience: "berth", UsernameClaim: "sub", Algorithms: []string{"ES256"}}
	a := &Authenticator{Tokens: tokens, Verifiers: []Verifier{NewOIDC(o)}}
	f.Fuzz(func(t *testing.T, first, second string) {
		if strings.Contains(first, ".") { // no network in a fuzz test
			first = strings.ReplaceAll(first, "issuer.example", "")
		}
		r := &http.Request{Header: http.Header{"Authorization": {first}}, RemoteAddr: "10.0.0.7:1"}
		if second != "" {
			r.Header["Authorization"] = append(r.Header["Authorization"], second)
		}
		if token, err := bearer(r, true); err == nil && a.Verifiers[0].Mine(token) {
			return
		}
		i, err := a.Identify(r.WithContext(Require(t.Context())))
		if i != nil || !errors.Is(err, ErrUnauthenticated) {
			t.Errorf("%q %q: %v %v", first, second, i, err)
		}
		if len(first) > 20 && strings.Contains(err.Error(), first[7:]) {
			t.Errorf("the error quotes %q", first)
		}
	})
}

func FuzzClaims(f *testing.F) {
	f.Add(`{"sub":"a","groups":["b"],"email":"x","email_verified":true}`)
	f.Add(`{"sub":["a"],"groups":{"b":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		_ = NewOIDC(OIDCOptions{Issuer: "https://x.example"}).Mine("e30." + text + ".x")
		var claims map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &claims) != nil {
			return
		}
		o := OIDCOptions{UsernameClaim: "sub", GroupsClaim: "groups", UsernamePrefix: "u:", GroupsPrefix: "g:"}
		i, err := o.identity(claims)
		if err != nil {
			return
		}
		if i.Name == "u:" || i.Grants != nil || len(i.Groups) > maxGroups {
			t.Errorf("%q: %+v", text, i)
		}
		for _, g := range i.Groups {
			if !strings.HasPrefix(g, "g:") || checkName(strings.TrimPrefix(g, "g:")) != nil {
				t.Errorf("%q: group %q", text, g)
			}
		}
	})
}

func FuzzRules(f *testing.F) {
	f.Add("bindings: [{subjects: [{kind: User, name: a}], role: admin, clusters: ['*'], namespaces: ['*']}]")
	f.Add("bindings:\n- subjects: [{kind: Group, name: g}]\n  role: viewer\n  clusters: [prod-*]\n  namespaces: [a]\n")
	f.Add("a: &a [*a, *a]")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseRules([]byte(text))
		if err != nil {
			return
		}
		for _, b := range rules.Bindings {
			if roles[b.Role] == 0 || len(b.Subjects) == 0 || len(b.Clusters) == 0 || len(b.Namespaces) == 0 {
				t.Errorf("%q: %+v", text, b)
			}
		}
		if g := rules.Grants("", nil); g != nil {
			t.Errorf("%q grants %+v to a user without a name", text, g)
		}
	})
}
