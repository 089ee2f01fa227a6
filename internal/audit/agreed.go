package audit

import (
	"context"
	"sync"

	"berth/internal/store"
)

// maxAgreed bounds the preemptions that are remembered; what is forgotten is read
// from the records.
const maxAgreed = 4096

type agreementKey struct{ cluster, uid string }

// agreements remembers who /preempt was told would go for whom. kube-scheduler
// sees victims go before berth does, and asks at once for the node that they
// leave: an answer by the state as berth knows it would have it evict others.
type agreements struct {
	mu   sync.Mutex
	last map[agreementKey][]store.Victim
}

func (a *agreements) note(k agreementKey, victims []store.Victim) {
	if k.uid == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil || len(a.last) >= maxAgreed {
		a.last = map[agreementKey][]store.Victim{}
	}
	a.last[k] = victims
}

func (a *agreements) get(k agreementKey) (victims []store.Victim, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	victims, ok = a.last[k]
	return victims, ok
}

// victimsOf lists the pods that were to leave a node for a pod, by what this
// server answered to /preempt, or else by the records: another server may have
// been asked. Where those cannot be read nobody is known to leave.
func (l *Log) victimsOf(ctx context.Context, cluster, namespace, name, uid, node string) (gone []Gone) {
	k := agreementKey{cluster, uid}
	victims, known := l.agreed.get(k)
	if !known {
		list, err := l.st.ListDecisions(ctx, store.DecisionFilter{Cluster: cluster, Namespace: namespace, Pod: name, Verb: VerbPreempt, Limit: 1})
		if err == nil && len(list) == 1 && list[0].PodUID == uid && list[0].Mode == "" {
			var d *store.Decision
			if d, err = l.st.Decision(ctx, list[0].ID); err == nil {
				victims = d.Victims
			}
		}
		if err != nil {
			return nil // asked again the next time
		}
		l.agreed.note(k, victims)
	}
	for _, v := range victims {
		if v.Node == node {
			gone = append(gone, Gone{v.Namespace, v.Pod, v.UID})
		}
	}
	return gone
}
