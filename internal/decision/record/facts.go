package record

import (
	"maps"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/jsonscan"
	"berth/internal/revision"
	"berth/internal/store"
)

// judgedPod identifies a pod as it was judged.
type judgedPod struct{ cluster, digest string }

// judgedPods remembers when the facts of pods were written last.
type judgedPods struct {
	*lru.Cache[judgedPod, time.Time]
}

func newJudgedPods() judgedPods {
	c, err := lru.New[judgedPod, time.Time](maxRecent)
	if err != nil {
		panic(err) // of a size below one
	}
	return judgedPods{c}
}

// note remembers that a record's facts are in the store.
func (j judgedPods) note(d *store.Decision) {
	if d.Facts != nil {
		j.Add(judgedPod{d.Cluster, d.PodDigest}, d.Facts.SeenAt)
	}
}

// gone forgets a cluster.
func (j judgedPods) gone(cluster string) {
	for _, key := range j.Keys() {
		if key.cluster == cluster {
			j.Remove(key)
		}
	}
}

// facts returns the facts of a record's pod; nil where the store has them, and for a question: the
// pods of what-if questions are as many as their callers make up, and each is a row.
func (l *Log) facts(v *revision.View, pod *corev1.Pod, d *store.Decision) *store.PodFacts {
	if d.Purpose == decision.PurposeQuestion {
		return nil
	}
	if at, ok := l.judged.Get(judgedPod{d.Cluster, d.PodDigest}); ok && d.CreatedAt.Sub(at) < store.FactsStay {
		return nil
	}
	return factsOf(v, pod, d)
}

// factsOf returns the facts of a record's pod on the record's state.
func factsOf(v *revision.View, pod *corev1.Pod, d *store.Decision) *store.PodFacts {
	held := engine.Held(pod)
	f := &store.PodFacts{
		Cluster: d.Cluster, Digest: d.PodDigest, Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID),
		PriorityClass: pod.Spec.PriorityClassName, Priority: d.Priority, Scheduler: pod.Spec.SchedulerName,
		CPUMilli: held.Cpu().MilliValue(), MemoryBytes: held.Memory().Value(),
		Requests:  textsJSON(held, func(q resource.Quantity) string { return q.String() }),
		Labels:    textsJSON(pod.Labels, func(s string) string { return s }),
		CreatedAt: pod.CreationTimestamp.UTC(), SeenAt: d.CreatedAt,
	}
	if owner := topOwner(v, pod); owner != nil {
		f.OwnerKind, f.OwnerName = owner.Kind, owner.Name
	}
	return f
}

// textsJSON returns a JSON object of texts, its members by name. It is for each new pod, of which
// encoding/json would make a fifth of what the whole decision allocates.
func textsJSON[K ~string, V any](m map[K]V, text func(V) string) string {
	var room [256]byte
	out := append(room[:0], '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, name), ':')
		out = jsonscan.AppendString(out, text(m[name]))
	}
	return string(append(out, '}'))
}
