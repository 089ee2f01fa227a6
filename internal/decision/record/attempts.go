package record

import (
	"cmp"
	"context"
	"slices"
	"time"

	"berth/internal/decision"
	"berth/internal/store"
)

// kube-scheduler's protocol has no word for the cycle that a call is of: /filter begins one, and
// what follows for the same pod is of it. All are one attempt to place the pod, which their records
// name by the id of the first.
const (
	// maxAttempt is how long after its first record a call may still be of an attempt. Binds wait
	// for volumes, ten minutes by default.
	maxAttempt = time.Hour
	// betweenAttempts is the least time from one attempt at a pod to the next, which is
	// kube-scheduler's first back-off: within it no other server can have begun another one.
	betweenAttempts = time.Second
)

// attempt is the newest one at a pod.
type attempt struct {
	id   string // of the record that began it
	at   time.Time
	verb string // of its newest record
	seen time.Time
	// retried is set while kube-scheduler goes on to call /filter again in the same cycle: it had
	// offered the node alone that the pod is nominated to, and that was turned down.
	retried bool
}

// order is how calls follow one another in a cycle.
var order = map[string]int{decision.VerbPrioritize: 1, decision.VerbPreempt: 1, decision.VerbBind: 2, decision.VerbBindResult: 3}

// takes reports whether a call is of the attempt.
func (a *attempt) takes(verb string, now time.Time) bool {
	switch {
	case now.Sub(a.at) > maxAttempt:
		return false
	case verb == decision.VerbFilter:
		return a.retried && now.Sub(a.seen) < betweenAttempts
	}
	return order[verb] > order[a.verb]
}

// attempts remember the newest attempt at each pod, by mode.
type attempts map[string]recent[attempt]

func newAttempts(pods int) attempts {
	return attempts{"": newRecent[attempt](pods), decision.ModeShadow: newRecent[attempt](pods)}
}

// of returns the attempt that a record is of, as far as it is remembered.
func (m attempts) of(d *store.Decision) string {
	if d.Verb == decision.VerbDecide {
		return d.ID
	}
	a, ok := m[d.Mode].Get(podUID{d.Cluster, d.PodUID})
	if !ok || !a.takes(d.Verb, d.CreatedAt) {
		return d.ID
	}
	return a.id
}

// RecallAttempt looks up what is on record of the attempt that a call for a pod may be of, unless
// this server knows: another one may have answered /filter, or this one before it was started
// again. What cannot be read in time counts as unknown, since no answer depends on it.
func (l *Log) RecallAttempt(ctx context.Context, cluster, mode string, pod decision.PodRef) {
	if pod.UID == "" {
		return
	}
	pods, key, now := l.attempts[mode], podUID{cluster, pod.UID}, l.now()
	known, ok := pods.Get(key)
	if ok && now.Sub(known.seen) < betweenAttempts {
		return
	}
	limited, cancel := context.WithTimeout(ctx, readRecords)
	defer cancel()
	// A few, since a shadow's answers are among them, and those of pods that had the name before.
	list, err := l.st.ListDecisions(limited, store.DecisionFilter{
		Cluster: cluster, Namespace: pod.Namespace, Pod: pod.Name, Verb: decision.VerbFilter, Since: now.Add(-maxAttempt), Limit: 8,
	})
	if err != nil {
		return
	}
	i := slices.IndexFunc(list, func(d *store.Decision) bool { return d.PodUID == pod.UID && d.Mode == mode })
	if i < 0 {
		return
	}
	d := list[i]
	// Records of older servers have no attempt. Ids are in order of time.
	if id := cmp.Or(d.Attempt, d.ID); id > known.id {
		pods.note(key, attempt{id: id, at: d.CreatedAt, verb: d.Verb, seen: now})
	}
}

// note remembers the attempt that a record is of.
func (m attempts) note(d *store.Decision) {
	if d.Verb == decision.VerbDecide {
		return
	}
	pods, key := m[d.Mode], podUID{d.Cluster, d.PodUID}
	a, ok := pods.Get(key)
	if !ok || a.id != d.Attempt {
		a = attempt{id: d.Attempt, at: d.CreatedAt}
	}
	a.verb, a.seen, a.retried = d.Verb, d.CreatedAt, false
	pods.note(key, a)
}

// nomineeAlone reports whether a call was about the one node that its pod is nominated to, which
// the answer turns down.
func nomineeAlone(o *decision.Outcome) bool {
	if o.Verb != decision.VerbFilter || o.Nominated == "" || o.Result.Feasible.Count() > 0 {
		return false
	}
	if o.Nodes != nil {
		return len(o.Nodes) == 1 && o.Nodes[0].Name == o.Nominated
	}
	return len(o.NodeNames) == 1 && o.NodeNames[0] == o.Nominated
}

// retries notes that the next call to /filter is of the same attempt.
func (m attempts) retries(d *store.Decision) {
	pods, key := m[d.Mode], podUID{d.Cluster, d.PodUID}
	if a, ok := pods.Get(key); ok {
		a.retried = true
		pods.note(key, a)
	}
}
