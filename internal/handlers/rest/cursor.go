package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
)

// cursorMAC is how many bytes of the HMAC a cursor carries in front.
const cursorMAC = 16

// free are the parameters that may differ between the pages of a list; a cursor of the queue has
// snapshot and now itself.
var free = []string{"cursor", "limit", "snapshot", "now"}

// sealCursor returns a cursor that goes on with this list alone: what it says, behind an HMAC over
// it and over what was requested.
func (a *API) sealCursor(r *http.Request, plain string) string {
	return base64.RawURLEncoding.EncodeToString(append(a.cursorSum(r, plain), plain...))
}

// openCursor returns what the request's cursor says; "" without one.
func (a *API) openCursor(r *http.Request) (plain string, err error) {
	text := r.URL.Query().Get("cursor")
	if text == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && len(raw) > cursorMAC {
		plain = string(raw[cursorMAC:])
		if hmac.Equal(raw[:cursorMAC], a.cursorSum(r, plain)) {
			return plain, nil
		}
	}
	return "", badCursor()
}

func badCursor() error {
	return exchange.BadField(http.StatusBadRequest, "cursor", "it is not one of this list; begin again without it, and keep the other parameters from page to page")
}

// cursorSum is the HMAC over a cursor and the list that it is of: path, parameters and caller.
func (a *API) cursorSum(r *http.Request, plain string) []byte {
	query := r.URL.Query()
	for _, name := range free {
		query.Del(name)
	}
	caller := "" // to another caller the cursor is of no use
	if who := access.From(r.Context()); who != nil {
		caller = who.String()
	}
	mac := hmac.New(sha256.New, a.cursorKey)
	for _, part := range []string{r.URL.Path, query.Encode(), caller} {
		mac.Write([]byte(part))
		mac.Write([]byte{0})
	}
	mac.Write([]byte(plain))
	return mac.Sum(nil)[:cursorMAC]
}
