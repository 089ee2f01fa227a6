package record

import (
	"context"
	"slices"
	"time"

	"berth/internal/decision"
	"berth/internal/store"
)

// readRecords is for how long records may be read for a call: behind it kube-scheduler
// waits with all of its pods.
const readRecords = time.Second

// agreement is whom an answer to /preempt named as victims; id is of its record.
// kube-scheduler sees victims go before berth does, and calls at once for the node
// that they leave: an answer by the state as berth knows it would have it evict
// others.
type agreement struct {
	id      string
	victims []store.Victim
}

// Agreed lists the pods that were to leave a node for a pod, by the newest
// answer to /preempt. The records are read each time, since another server may
// have answered last; this server's last answer is used where they cannot be read,
// or do not have it yet.
func (l *Log) Agreed(ctx context.Context, cluster string, pod decision.PodRef, node string) (out []decision.Excluded) {
	if pod.UID == "" {
		return nil
	}
	newest, _ := l.agreed.Get(podUID{cluster, pod.UID})
	limited, cancel := context.WithTimeout(ctx, readRecords)
	defer cancel()
	// A few, since a shadow's answers are among them, and those of pods that had the name before.
	list, err := l.st.ListDecisions(limited, store.DecisionFilter{Cluster: cluster, Namespace: pod.Namespace, Pod: pod.Name, Verb: decision.VerbPreempt, Limit: 8})
	if err == nil {
		i := slices.IndexFunc(list, func(d *store.Decision) bool { return d.PodUID == pod.UID && d.Mode == "" })
		if i >= 0 && list[i].ID > newest.id { // ids are in order of time
			if d, err := l.st.Decision(limited, list[i].ID); err == nil {
				newest.victims = d.Victims
			}
		}
	}
	for _, v := range newest.victims {
		if v.Node == node {
			out = append(out, decision.Excluded{Namespace: v.Namespace, Name: v.Pod, UID: v.UID})
		}
	}
	return out
}
