package scenario

import (
	"math"
	"time"

	"berth/internal/decision"
	"berth/internal/world"
)

// LossRates are the settings of the node lifecycle controller that decide when a lost node is
// tainted (cmd/kube-controller-manager/app/options); upstream's where absent.
type LossRates struct {
	// GraceSeconds is from the last sign of life until the node counts as not ready
	// (--node-monitor-grace-period).
	GraceSeconds *int64 `json:"graceSeconds,omitempty" default:"50"`
	// NodeSeconds is between two nodes of a zone that are tainted (--node-eviction-rate), and
	// PartialSeconds that in a zone of which a share of UnhealthyPercent is lost
	// (--secondary-node-eviction-rate, --unhealthy-zone-threshold), unless it has LargeZone nodes
	// or fewer (--large-cluster-size-threshold), where none is tainted any more. With 0 none is.
	NodeSeconds      *int64 `json:"nodeSeconds,omitempty" default:"10"`
	PartialSeconds   *int64 `json:"partialSeconds,omitempty" default:"100"`
	UnhealthyPercent *int64 `json:"unhealthyPercent,omitempty" default:"55"`
	LargeZone        *int64 `json:"largeZone,omitempty" default:"50"`
	ClientRates
} // @name LossRates

// ClientRates are how fast clients of the API server make their calls.
type ClientRates struct {
	// Clients is upstream: the controllers of ReplicaSets and of taint eviction make 20 calls a
	// second each, kube-scheduler 50, kubectl 5, after 30, 100 and 10 at once; or none: they make
	// all at once. A scenario with a clock has upstream's if absent; drain, lose and rollout have
	// none.
	Clients string `json:"clients,omitempty" enums:"upstream,none"`
} // @name ClientRates

// The values of ClientRates.
const (
	UpstreamRates = "upstream"
	NoRates       = "none"
)

// throttle has the clients of a world make their calls at their rates; at those of ifAbsent, where
// none are named.
func (r *ClientRates) throttle(w *world.World, ifAbsent string) (is bool, err error) {
	of := ifAbsent
	if r != nil && r.Clients != "" {
		of = r.Clients
	}
	switch of {
	case NoRates:
		return false, nil
	case UpstreamRates:
		w.Throttle()
		return true, nil
	}
	return false, decision.Errorf(decision.Invalid, "rates.clients", "want upstream or none")
}

// clients returns the rates of clients.
func (r *LossRates) clients() *ClientRates {
	if r == nil {
		return nil
	}
	return &r.ClientRates
}

// resolve returns the rates, upstream's where none are given.
func (r *LossRates) resolve() (world.NodeRates, error) {
	out := world.DefaultNodeRates()
	if r == nil {
		return out, nil
	}
	for _, x := range []struct {
		field string
		given *int64
		most  int64
		set   func(int64)
	}{
		{"graceSeconds", r.GraceSeconds, mostSeconds, func(n int64) { out.Grace = time.Duration(n) * time.Second }},
		{"nodeSeconds", r.NodeSeconds, mostSeconds, func(n int64) { out.Normal = time.Duration(n) * time.Second }},
		{"partialSeconds", r.PartialSeconds, mostSeconds, func(n int64) { out.Partial = time.Duration(n) * time.Second }},
		{"unhealthyPercent", r.UnhealthyPercent, 100, func(n int64) { out.UnhealthyPercent = n }},
		{"largeZone", r.LargeZone, math.MaxInt32, func(n int64) { out.LargeZone = n }},
	} {
		if err := checkNumber("rates."+x.field, x.given, x.most); err != nil {
			return out, err
		}
		if x.given != nil {
			x.set(*x.given)
		}
	}
	return out, nil
}
