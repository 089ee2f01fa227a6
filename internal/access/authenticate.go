package access

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxBearer bounds a bearer token, in bytes.
const maxBearer = 8 << 10

// ErrUnauthenticated is the error for a caller that proves no identity. Errors that wrap it say
// why, and nothing of what was sent.
var ErrUnauthenticated = errors.New("this needs an identity: an API token (Authorization: Bearer berth_…), or a client certificate")

var (
	errHeader  = errors.New("the Authorization header is not Bearer and one token of 8 KiB at most")
	errUnknown = errors.New("the token is unknown, expired, revoked or mistyped")
)

type requireKey struct{}

// Require returns the context of a listener on which each caller needs an identity.
func Require(ctx context.Context) context.Context { return context.WithValue(ctx, requireKey{}, true) }

// Required reports whether the listener of a request's context is one of those.
func Required(ctx context.Context) bool { return ctx.Value(requireKey{}) != nil }

// Verifier checks bearer tokens of an issuer elsewhere.
type Verifier interface {
	// Mine reports whether the token claims to be of the issuer; nothing is proved yet.
	Mine(token string) bool
	// Verify returns the identity that the token proves, without grants.
	Verify(ctx context.Context, token string) (*Identity, error)
}

// Authenticator tells who sends a request. The zero one knows no tokens.
type Authenticator struct {
	Tokens *Tokens
	// File has the grants of users and groups. Nil: a client certificate grants everything, as
	// before there were rights, and other users have none.
	File *File
	// Verifiers are asked in this order.
	Verifiers []Verifier
}

// Identify returns who sends a request. What a listener that needs no identity lets through without
// one is Anonymous.
func (a *Authenticator) Identify(r *http.Request) (*Identity, error) {
	token, err := bearer(r, Required(r.Context()))
	if err != nil {
		return nil, err
	}
	if token != "" {
		i, err := a.byToken(r.Context(), token)
		if i != nil || err != nil {
			return i, err
		}
		if Required(r.Context()) {
			return nil, unauthenticated(errUnknown)
		}
	}
	if i := a.byCertificate(r); i != nil {
		return i, nil
	}
	if Required(r.Context()) {
		return nil, ErrUnauthenticated
	}
	return Anonymous(), nil
}

func unauthenticated(why error) error { return errors.Join(ErrUnauthenticated, why) }

// bearer returns the token of a request, empty without one. Another scheme is a proxy's business
// where no identity is needed.
func bearer(r *http.Request, strict bool) (string, error) {
	list := r.Header.Values("Authorization")
	if len(list) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(list[0], " ")
	if !strings.EqualFold(scheme, "Bearer") && !strict {
		return "", nil
	}
	if len(list) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxBearer || strings.ContainsAny(token, " \t,") {
		return "", unauthenticated(errHeader)
	}
	return token, nil
}

// byToken returns nil where no source knows tokens of this kind.
func (a *Authenticator) byToken(ctx context.Context, token string) (*Identity, error) {
	if isToken(token) {
		if a.Tokens != nil {
			if i, ok := a.Tokens.Identify(token, time.Now()); ok {
				return i, nil
			}
		}
		return nil, unauthenticated(errUnknown)
	}
	for _, v := range a.Verifiers {
		if !v.Mine(token) {
			continue
		}
		i, err := v.Verify(ctx, token)
		if err != nil {
			return nil, unauthenticated(err)
		}
		if err := checkName(i.Name); err != nil {
			return nil, unauthenticated(errors.New("the token's user name " + err.Error()))
		}
		i.Grants = a.File.Grants(i.Name, i.Groups)
		return i, nil
	}
	if len(a.Verifiers) > 0 {
		return nil, unauthenticated(errUnknown)
	}
	return nil, nil
}

// byCertificate returns the identity of a verified client certificate: the common name is the user
// and organizations are groups, as an apiserver reads them
// (apiserver/pkg/authentication/request/x509, CommonNameUserConversion). Without a common name it
// is the first URI or DNS name.
func (a *Authenticator) byCertificate(r *http.Request) *Identity {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return nil
	}
	cert := r.TLS.VerifiedChains[0][0]
	i := &Identity{Kind: KindCertificate, Name: cert.Subject.CommonName, Groups: cert.Subject.Organization}
	if i.Name == "" && len(cert.URIs) > 0 {
		i.Name = cert.URIs[0].String()
	}
	if i.Name == "" && len(cert.DNSNames) > 0 {
		i.Name = cert.DNSNames[0]
	}
	if checkName(i.Name) != nil {
		i.Name = "" // it has no name that a record could hold
	}
	if i.Grants = All; a.File != nil {
		i.Grants = a.File.Grants(i.Name, i.Groups)
	}
	return i
}

// Peer returns the address that a request came from.
func Peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}
