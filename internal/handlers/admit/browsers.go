package admit

import (
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
)

// mediaTypes are the types that a body may have. curl sends its data as a form's unless told
// otherwise, so that type is taken for JSON; from a page in a browser it comes only past
// http.CrossOriginProtection.
var mediaTypes = []string{
	"application/json", "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/x-www-form-urlencoded",
}

// nosniff is the value of a header that each answer has. It is never written to.
var nosniff = []string{"nosniff"}

// guard refuses what only a browser led by another site sends: writing requests across origins,
// reading ones that follow no link (such as a picture's), requests under a name that is not this
// server's (DNS rebinding), and bodies of types that a page may send without asking. kube-scheduler
// and command-line clients send none of these. Pages of origins that are named may call the API;
// what their browsers ask before is answered here.
func (a *Admission) guard(w http.ResponseWriter, r *http.Request) (answered bool, err error) {
	w.Header()["X-Content-Type-Options"] = nosniff
	if err := a.checkHost(r); err != nil {
		return false, err
	}
	if a.shares(w, r) {
		if preflight(w, r) {
			return true, nil
		}
	} else if err := crossOrigin.Check(r); err != nil || FromAnotherSite(r) && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return false, &exchange.Error{Status: http.StatusForbidden, Kind: "forbidden", Denied: "origin", Detail: "a page of another origin may not send this request", Cause: err}
	}
	return false, checkMediaType(r)
}

var crossOrigin = http.NewCrossOriginProtection()

// FromAnotherSite reports whether a browser sends a request because a page of another origin led it
// there (W3C Fetch Metadata).
func FromAnotherSite(r *http.Request) bool {
	from := r.Header.Get("Sec-Fetch-Site")
	return from != "" && from != "same-origin" && from != "none"
}

// checkHost refuses requests that reach a loopback address under a name that is not loopback's,
// and, where names are set, all under other names. Elsewhere an address is as good as a name that
// is set: no page of another site has it for its own name.
func (a *Admission) checkHost(r *http.Request) error {
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if LoopbackName(name) || slices.Contains(a.hosts, name) {
		return nil
	}
	if _, err := netip.ParseAddr(name); !onLoopback(r) && (len(a.hosts) == 0 || err == nil) {
		return nil
	}
	return &exchange.Error{
		Status: http.StatusMisdirectedRequest, Kind: "forbidden", Denied: "host",
		Detail: fmt.Sprintf("this server does not answer under the name %.100q; --allowed-hosts adds names", name),
	}
}

// LoopbackName reports whether a host name, without its port, is one of loopback's.
func LoopbackName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// onLoopback reports whether a request came to a loopback address.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// CheckSecret refuses to hand out the secret of a token to a caller that is unknown and may be on
// another machine: it would be known for as long as the token lives, also once callers need an
// identity.
func CheckSecret(r *http.Request) error {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if i := access.From(r.Context()); !ok || addr.IP.IsLoopback() || i != nil && i.Named() {
		return nil
	}
	return &exchange.Error{
		Status: http.StatusForbidden, Kind: "forbidden",
		Detail: "a token is not made for a caller without an identity that comes from elsewhere: call a loopback address of the server's machine, or run server token create there",
	}
}

// checkMediaType refuses a body of another type than JSON or YAML. A request without a type is
// read as JSON.
func checkMediaType(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	if given == "" || given == mediaTypes[0] || r.ContentLength == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(given)
	if err == nil && (slices.Contains(mediaTypes, media) || strings.HasSuffix(media, "+json")) {
		return nil
	}
	return &exchange.Error{
		Status: http.StatusUnsupportedMediaType, Kind: "media-type",
		Detail: fmt.Sprintf("Content-Type %.60q is not supported: send application/json, or application/yaml where YAML is read", given),
	}
}
