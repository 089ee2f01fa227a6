package store

import (
	"context"
	"time"
)

// DenialsCut is the reason of the Denial that counts those beyond what is kept.
const DenialsCut = "cut"

// Denial counts the calls of one caller that were refused on one route, for one reason, in one
// minute, by one server.
type Denial struct {
	Minute   time.Time // its beginning, UTC
	Instance string    // the server
	Cluster  string    // that the calls named; "": none
	Caller   string    // AskedBy, or else an address; "": those of several callers together
	Route    string
	Status   int
	Reason   string
	AskedBy  string // kind:name; "": the caller did not prove who it is
	Peer     string // of the last call
	Count    int64
	// FirstAt and LastAt are within the minute.
	FirstAt, LastAt time.Time
}

// Denials keeps what callers were refused.
type Denials interface {
	// PutDenials writes counts. One that is stored for the same minute, server, cluster, caller,
	// route, status and reason stays, so that a retry is safe.
	PutDenials(ctx context.Context, list []Denial) error
}
