package decisionlog

import (
	"context"
	"slices"
	"time"

	"berth/internal/store"
)

// askRecords is for how long the records may be asked who was to leave: behind it
// kube-scheduler waits with all of its pods.
const askRecords = time.Second

// agreement is who an answer to /preempt said would go; id is of its record.
// kube-scheduler sees victims go before berth does, and asks at once for the node
// that they leave: an answer by the state as berth knows it would have it evict
// others.
type agreement struct {
	id      string
	victims []store.Victim
}

// victimsOf lists the pods that were to leave a node for a pod, by the newest
// answer to /preempt. The records are asked each time, since another server may
// have answered last; what this one answered stands in where they cannot be read,
// or have not got it yet.
func (l *Log) victimsOf(ctx context.Context, cluster, namespace, name, uid, node string) (gone []Gone) {
	if uid == "" {
		return nil
	}
	newest, _ := l.agreed.get(podUID{cluster, uid})
	limited, cancel := context.WithTimeout(ctx, askRecords)
	defer cancel()
	// A few, since a shadow's answers are among them, and those of pods that had the name before.
	list, err := l.st.ListDecisions(limited, store.DecisionFilter{Cluster: cluster, Namespace: namespace, Pod: name, Verb: VerbPreempt, Limit: 8})
	if err == nil {
		i := slices.IndexFunc(list, func(d *store.Decision) bool { return d.PodUID == uid && d.Mode == "" })
		if i >= 0 && list[i].ID > newest.id { // ids are in order of time
			if d, err := l.st.Decision(limited, list[i].ID); err == nil {
				newest.victims = d.Victims
			}
		}
	}
	for _, v := range newest.victims {
		if v.Node == node {
			gone = append(gone, Gone{v.Namespace, v.Pod, v.UID})
		}
	}
	return gone
}
