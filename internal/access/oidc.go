package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Bounds of the requests to an issuer and of its answers.
const (
	maxKeys      = 64 << 10
	keysInterval = 30 * time.Second
	maxGroups    = 200
)

// OIDCOptions describe an issuer of JWTs.
type OIDCOptions struct {
	Issuer, Audience             string
	UsernameClaim, GroupsClaim   string
	UsernamePrefix, GroupsPrefix string
	Algorithms                   []string // of signatures
	Roots                        *x509.CertPool
	interval                     time.Duration // keysInterval, but in tests
}

// algorithms are those of public keys: none, and those with a secret, are not among them.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}

// Validate names the option at fault.
func (o *OIDCOptions) Validate() error {
	if u, err := url.Parse(o.Issuer); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return &FieldError{"oidc-issuer", "want an https URL, as the tokens' claim iss has it"}
	}
	if o.Audience == "" {
		return &FieldError{"oidc-audience", "is empty: a token for any other service would do"}
	}
	if o.UsernameClaim == "" || len(o.Algorithms) == 0 {
		return &FieldError{"oidc-username-claim", "neither it nor oidc-algs may be empty"}
	}
	for _, a := range o.Algorithms {
		if !slices.Contains(algorithms, a) {
			return &FieldError{"oidc-algs", fmt.Sprintf("%.20q is none of %s", a, strings.Join(algorithms, ", "))}
		}
	}
	return nil
}

// OIDC verifies JWTs of one issuer, whose keys it fetches when they are first needed. It is safe
// for concurrent use.
type OIDC struct {
	o      OIDCOptions
	client *http.Client

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier // guarded by mu; nil: the issuer has not answered yet
}

// NewOIDC returns a verifier of valid options.
func NewOIDC(o OIDCOptions) *OIDC {
	if o.interval == 0 {
		o.interval = keysInterval
	}
	transport := &issuerTransport{
		to:       &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots}, MaxIdleConns: 2, IdleConnTimeout: time.Minute},
		interval: o.interval, last: map[string]time.Time{},
	}
	return &OIDC{o: o, client: &http.Client{Transport: transport, Timeout: 5 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("the issuer redirects")
	}}}
}

// issuerTransport bounds requests to an issuer: https only, each address once in an interval, short
// answers.
type issuerTransport struct {
	to       http.RoundTripper
	interval time.Duration

	mu   sync.Mutex
	last map[string]time.Time // guarded by mu; the addresses are the issuer's two
}

// RoundTrip implements http.RoundTripper.
func (t *issuerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" {
		return nil, errors.New("the issuer's keys are not served by https")
	}
	t.mu.Lock()
	early := time.Since(t.last[r.URL.String()]) < t.interval
	if !early {
		t.last[r.URL.String()] = time.Now()
	}
	t.mu.Unlock()
	if early {
		return nil, errors.New("the issuer's keys were fetched a moment ago")
	}
	resp, err := t.to.RoundTrip(r)
	if err == nil {
		resp.Body = &shortBody{resp.Body, maxKeys}
	}
	return resp, err
}

// shortBody is a body that may not be longer than left bytes.
type shortBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *shortBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("the issuer's answer is longer than %d bytes", maxKeys)
	}
	return n, err
}

// Mine implements Verifier.
func (v *OIDC) Mine(token string) bool {
	c, err := claimsOf(token)
	return err == nil && c.Issuer == v.o.Issuer
}

// claimsOf reads the issuer of a JWT, of which nothing is proved yet.
func claimsOf(token string) (c struct {
	Issuer string `json:"iss"`
}, err error,
) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errors.New("it is no JWT")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(payload, &c)
}

var errIssuer = errors.New("the issuer's keys cannot be had; try again later")

// Verify implements Verifier. Its errors quote nothing of the token.
func (v *OIDC) Verify(ctx context.Context, token string) (*Identity, error) {
	verifier, err := v.ready(ctx)
	if err != nil {
		return nil, errIssuer
	}
	id, err := verifier.Verify(oidc.ClientContext(ctx, v.client), token)
	if err != nil {
		var expired *oidc.TokenExpiredError
		if errors.As(err, &expired) {
			return nil, errors.New("the JWT has expired")
		}
		return nil, errors.New("the JWT's signature, algorithm, issuer or audience is not as configured, or the issuer's keys cannot be had")
	}
	var claims map[string]json.RawMessage
	if err := id.Claims(&claims); err != nil {
		return nil, errors.New("the JWT's claims are no object")
	}
	return v.o.identity(claims)
}

// identity reads the user and the groups. A name by e-mail counts only if it is not unverified,
// as for an apiserver (apiserver/plugin/pkg/authenticator/token/oidc, getUsername).
func (o *OIDCOptions) identity(claims map[string]json.RawMessage) (*Identity, error) {
	i := &Identity{Kind: KindOIDC}
	if json.Unmarshal(claims[o.UsernameClaim], &i.Name) != nil || i.Name == "" {
		return nil, fmt.Errorf("the JWT has no text in its claim %s", o.UsernameClaim)
	}
	if raw, ok := claims["email_verified"]; ok && o.UsernameClaim == "email" && string(raw) != "true" {
		return nil, errors.New("the JWT's e-mail address is not verified")
	}
	i.Name = o.UsernamePrefix + i.Name
	raw, ok := claims[o.GroupsClaim]
	if !ok {
		return i, nil
	}
	var one string
	if json.Unmarshal(raw, &i.Groups) != nil {
		if json.Unmarshal(raw, &one) != nil {
			return nil, fmt.Errorf("the JWT's claim %s is neither a text nor a list of texts", o.GroupsClaim)
		}
		i.Groups = []string{one}
	}
	if len(i.Groups) > maxGroups {
		return nil, fmt.Errorf("the JWT has %d groups, and %d are the most", len(i.Groups), maxGroups)
	}
	for n, g := range i.Groups {
		if checkName(g) != nil {
			return nil, errors.New("a group of the JWT is no name")
		}
		i.Groups[n] = o.GroupsPrefix + g
	}
	return i, nil
}

// ready finds the issuer's keys by its discovery document, once.
func (v *OIDC) ready(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.verifier != nil {
		return v.verifier, nil
	}
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, v.client), v.o.Issuer)
	if err != nil {
		return nil, err
	}
	v.verifier = p.VerifierContext(oidc.ClientContext(context.WithoutCancel(ctx), v.client), &oidc.Config{ClientID: v.o.Audience, SupportedSigningAlgs: v.o.Algorithms})
	return v.verifier, nil
}
