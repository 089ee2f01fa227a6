package handlers

import (
	"context"
	"net/http"
	"net/netip"

	"berth/internal/access"
	"berth/internal/store"
)

// caller is who calls are counted for and who takes turns: an identity, or the address of an
// anonymous client. It is a key of maps, made without an allocation.
type caller struct {
	identity string // kind:name
	// network is an address, of IPv6 the network, in which one host has any number of addresses.
	network netip.Prefix
}

// callerOf returns the caller of a request.
func callerOf(r *http.Request) caller {
	if by := identityOf(r.Context()); by != "" {
		return caller{identity: by}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return caller{}
	}
	addr := from.Addr().Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	network, _ := addr.Prefix(bits) // an address has so many
	return caller{network: network}
}

// identityOf returns the kind and name of a caller that proved who it is, empty for others.
func identityOf(ctx context.Context) string {
	if i := access.From(ctx); i != nil && i.Named() {
		return store.AskedOf(ctx).By // its String, which is there already
	}
	return ""
}

// String is the caller as people read it.
func (c caller) String() string {
	switch {
	case c.identity != "" || !c.network.IsValid():
		return c.identity
	case c.network.IsSingleIP():
		return c.network.Addr().String()
	}
	return c.network.String()
}

// exempt reports whether no limit is counted for a caller. The anonymous clients of this machine
// share one address, and the server's own work has none.
func (c caller) exempt() bool {
	return c.identity == access.KindServer || c.identity == "" && (!c.network.IsValid() || c.network.Addr().IsLoopback())
}
