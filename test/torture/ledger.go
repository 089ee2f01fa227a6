//go:build linux

package main

import "time"

// ledger is what one client was told. The truth is here, outside of the servers.
type ledger struct {
	answers []answer
	claims  []claim
	states  []state
	// sent counts the calls that may have left a record, by verb, cluster and pod.
	sent map[sentKey]int
	// wrong is what was plainly no proper answer, in words.
	wrong []string
	// replays is how many decisions were replayed beside all other calls.
	replays int
	// lags are how far behind what a replica said was, with nothing broken.
	lags []time.Duration
	// stale are the looks that were too far behind, in words.
	stale []string
	// asked are the placements that were sent, answered or not, and ends what was said of holds.
	asked []*asked
	ends  []ending
	// marks are those of changes that were sent under a key, answered or not.
	marks []sentKey
	// repeated is how many answered calls were sent again under their key or another under it, and
	// slots how often the last slot of a cluster was got.
	repeated, slots int
	followers       []*follower
}

type sentKey struct{ verb, cluster, pod string }

// answer is a decision that was answered.
type answer struct {
	replica, verb, cluster, pod string
	id                          string
	digest, outcome, node       string // of verb decide; the others do not say
	snapshot                    string // likewise
	bound                       string // the revision that it made, as an id
	feasible                    int    // nodes left by a filter; -1: not said
	at                          time.Time
}

// claim is a pod that a server said is bound: by an answered bind, or by
// refusing to decide on it once more.
type claim struct{ replica, cluster, pod, node, by string }

// state is a revision that a server showed or made.
type state struct {
	replica, cluster string
	revision         int64
	digest           string
	made             bool   // this call made it
	parent           int64  // of a made one that named its parent; else 0
	holds            string // an object that it put there, kind/name; else ""
}

// merge puts the clients' books together.
func merge(list []*ledger) *ledger {
	all := &ledger{sent: map[sentKey]int{}}
	for _, l := range list {
		all.answers = append(all.answers, l.answers...)
		all.claims = append(all.claims, l.claims...)
		all.states = append(all.states, l.states...)
		all.wrong = append(all.wrong, l.wrong...)
		all.replays += l.replays
		all.lags = append(all.lags, l.lags...)
		all.stale = append(all.stale, l.stale...)
		all.asked = append(all.asked, l.asked...)
		all.ends = append(all.ends, l.ends...)
		all.repeated += l.repeated
		all.slots += l.slots
		all.marks = append(all.marks, l.marks...)
		for k, n := range l.sent {
			all.sent[k] += n
		}
	}
	return all
}
