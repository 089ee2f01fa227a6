// Package events tells callers what happens in a cluster, in the order in which it was stored: what
// each commit added, by the seals of the cluster's hash chain.
package events

import (
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"berth/internal/handlers/exchange"
	"berth/internal/store"
)

// place is a place in a cluster's events: behind the event of a number, from 1, of a seal. The hash
// of the seal shows whether the chain is still the one that the place is of.
type place struct {
	seal  int64
	event int
	hash  string
}

// whole is the number of a place behind all events of a seal.
const whole = 9_999_999

// hashed is how many bytes of a seal's hash a place has.
const hashed = 4

// behind is the place behind a seal.
func behind(number int64, hash []byte) place {
	return place{number, whole, short(hash)}
}

func short(hash []byte) string { return hex.EncodeToString(hash[:min(hashed, len(hash))]) }

// String is the place as an id: ids grow as texts do.
func (p place) String() string { return fmt.Sprintf("%012d-%07d-%s", p.seal, p.event, p.hash) }

// parsePlace reads an id; 0 is the place before everything.
func parsePlace(text string) (p place, err error) {
	if text == "0" {
		return place{}, nil
	}
	parts := strings.Split(text, "-")
	if len(parts) != 3 || len(parts[2]) != 2*hashed {
		return p, badPlace()
	}
	seal, err1 := strconv.ParseInt(parts[0], 10, 64)
	event, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil || seal < 1 || event < 0 || event > math.MaxInt32 {
		return p, badPlace()
	}
	return place{seal, event, parts[2]}, nil
}

func badPlace() error {
	return exchange.BadField(http.StatusBadRequest, "after", "it is no id of an event; want one of this cluster's events, or 0 for all that are left")
}

// gone refuses a place whose events are not stored any more, or were lost with their chain.
func gone(newest store.SealHead) error {
	id := behind(newest.Number, newest.Hash).String()
	return &exchange.Error{
		Status: http.StatusGone, Kind: "gone", Newest: id,
		Detail: "what happened after this id is not stored any more; read the cluster's state, and go on from the newest id, " + id,
	}
}
