package access

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"berth/internal/store"
)

// The kinds of identities.
const (
	KindAnonymous   = "anonymous"
	KindToken       = "token"
	KindCertificate = "certificate"
	KindOIDC        = "oidc"
	KindKubernetes  = "kubernetes"
	// KindServer is the server's own work, and server token and the like on its store.
	KindServer = "server"
)

// Identity is who asks.
type Identity struct {
	Kind   string
	Name   string
	Groups []string
	Grants Grants
}

// String returns the kind and name as records and logs have them.
func (i *Identity) String() string {
	if i.Name == "" {
		return i.Kind
	}
	return i.Kind + ":" + i.Name
}

// Named reports whether the caller proved who it is.
func (i *Identity) Named() bool { return i.Kind != KindAnonymous }

// Anonymous is a caller without an identity, where that is let through: it may everything.
func Anonymous() *Identity { return anonymous }

var anonymous = &Identity{Kind: KindAnonymous, Grants: All}

// Server is the process itself.
func Server() *Identity { return &Identity{Kind: KindServer, Grants: All} }

// Key is the key of a context's *Identity.
type Key struct{}

// With returns a context of a request of this caller, whose writes are recorded as its own.
func With(ctx context.Context, i *Identity, peer, requestID string) context.Context {
	ctx = store.WithAsked(ctx, store.Asked{By: i.String(), Peer: peer, RequestID: requestID})
	return context.WithValue(ctx, Key{}, i)
}

// From returns who asks, nil outside of a request.
func From(ctx context.Context) *Identity {
	i, _ := ctx.Value(Key{}).(*Identity)
	return i
}

// maxName bounds names of users and groups.
const maxName = 253

// checkName wants a name that can stand in records, logs and headers.
func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("is empty or longer than %d bytes", maxName)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("holds characters that cannot be printed")
	}
	return nil
}
