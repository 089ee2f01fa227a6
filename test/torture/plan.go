//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// fault is something that breaks, for how long, and which replica it is about.
type fault struct {
	kind   string
	after  time.Duration // calm before it
	length time.Duration
	target int
	// away reports whether Postgres is out of reach and nothing else is broken, so that
	// decisions are to go on.
	away bool
}

func (f fault) String() string { return fmt.Sprintf("%s %s", f.kind, f.length) }

// The kinds of faults. Those after "and" happen while Postgres is down.
const (
	killReplica    = "kill -9 of a replica"
	termReplica    = "SIGTERM of a replica"
	freezeReplica  = "SIGSTOP of a replica"
	killDatabase   = "kill -9 of Postgres"
	stopDatabase   = "Postgres stopped"
	freezeDatabase = "SIGSTOP of Postgres"
	cutLink        = "link of a replica cut"
	cutAll         = "links cut"
	clogLink       = "link of a replica clogged"
	flapLink       = "link of a replica reset again and again"
	killAndDown    = "Postgres stopped and kill -9 of a replica"
	freezeAndDown  = "Postgres stopped and the spool's disk frozen"
	fillAndDown    = "Postgres stopped and the spool's disk full"
	migrateNext    = "migrate up by the next program"
	turnToNext     = "a replica becomes the next program"
	turnBack       = "a replica becomes this program again"
)

// plan makes the faults of a run from its seed: the same seed, the same faults.
func plan(seed uint64, o options) []fault {
	random := rand.New(rand.NewPCG(seed, 0))
	between := func(low, high int) time.Duration {
		return time.Duration(low)*time.Second + time.Duration(random.IntN((high-low)*1000))*time.Millisecond
	}
	var list []fault
	add := func(kind string, length time.Duration, away bool) {
		list = append(list, fault{kind: kind, length: length, away: away})
	}
	switch o.Scenario {
	case "calm":
		add("nothing", 20*time.Second, false)
	case "books": // what holds, keys and events meet, as fast as may be
		for i, kind := range []string{killReplica, killDatabase, killReplica, freezeReplica, termReplica} {
			list = append(list, fault{kind: kind, after: 2 * time.Second, length: time.Second, target: i % o.Replicas})
		}
		return list
	case "rolling":
		for i := range o.Turns {
			list = append(list, fault{kind: termReplica, after: between(1, 2), target: i % o.Replicas})
		}
		return list
	case "upgrade":
		// All replicas go to the next program, then back, and so on; with two there are always
		// two programs side by side but in every second pause.
		list = append(list, fault{kind: migrateNext, after: 3 * time.Second})
		for i := range o.Turns {
			kind := turnToNext
			if i/o.Replicas%2 == 1 {
				kind = turnBack
			}
			list = append(list, fault{kind: kind, after: between(1, 2), target: i % o.Replicas})
			if also := []string{killReplica, killDatabase, freezeReplica, stopDatabase}[random.IntN(4)]; i%2 == 0 {
				list = append(list, fault{kind: also, after: between(1, 2), length: between(1, 3), target: random.IntN(o.Replicas), away: also == stopDatabase})
			}
		}
		return list
	case "outages":
		for _, length := range []time.Duration{5 * time.Second, 30 * time.Second, 60 * time.Second} {
			for _, kind := range []string{stopDatabase, freezeDatabase, cutAll} {
				list = append(list, fault{kind: kind, after: 5 * time.Second, length: length, away: true})
			}
		}
		return list
	case "disk":
		for i := range 2 * o.Replicas {
			kind := fillAndDown
			if i%2 == 1 {
				kind = freezeAndDown
			}
			list = append(list, fault{kind: kind, after: 5 * time.Second, length: 15 * time.Second, target: i / 2})
		}
		return list
	default:
		add(stopDatabase, o.Minute, true)
		add(freezeDatabase, between(8, 14), true)
		add(killDatabase, 0, false)
		add(killDatabase, 0, false)
		add(killReplica, 0, false)
		add(killReplica, 0, false)
		add(killReplica, 0, false)
		add(termReplica, 0, false)
		add(freezeReplica, between(2, 5), false)
		add(cutLink, between(4, 9), true)
		add(clogLink, between(4, 9), true)
		add(flapLink, between(4, 8), false)
		add(killAndDown, between(6, 10), false)
		add(freezeAndDown, between(6, 10), false)
		add(fillAndDown, between(6, 10), false)
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for i := range list {
		list[i].after = between(2, 5)
		list[i].target = random.IntN(o.Replicas)
	}
	list[0].after = 8 * time.Second // so that there is a calm to compare with
	return list
}
