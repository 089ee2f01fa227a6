package exchange

import (
	"context"
	"net/http"
	"net/netip"

	"berth/internal/access"
	"berth/internal/store"
)

// Caller is who calls are counted for and who takes turns: an identity, or the address of an
// anonymous client. It is a key of maps, made without an allocation.
type Caller struct {
	Identity string // kind:name
	// network is an address, of IPv6 the network, in which one host has any number of addresses.
	network netip.Prefix
}

// CallerOf returns the caller of a request.
func CallerOf(r *http.Request) Caller {
	if by := IdentityOf(r.Context()); by != "" {
		return Caller{Identity: by}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return Caller{}
	}
	addr := from.Addr().Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	network, _ := addr.Prefix(bits) // an address has so many
	return Caller{network: network}
}

// IdentityOf returns the kind and name of a caller that proved who it is, empty for others.
func IdentityOf(ctx context.Context) string {
	if i := access.From(ctx); i != nil && i.Named() {
		return store.AskedOf(ctx).By // its String, which is there already
	}
	return ""
}

// String is the caller as people read it.
func (c Caller) String() string {
	switch {
	case c.Identity != "" || !c.network.IsValid():
		return c.Identity
	case c.network.IsSingleIP():
		return c.network.Addr().String()
	}
	return c.network.String()
}

// Exempt reports whether no limit is counted for a caller. The anonymous clients of this machine
// share one address, and the server's own work has none.
func (c Caller) Exempt() bool {
	return c.Identity == access.KindServer || c.Identity == "" && (!c.network.IsValid() || c.network.Addr().IsLoopback())
}
