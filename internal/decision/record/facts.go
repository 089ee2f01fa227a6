package record

import (
	"maps"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/decision"
	"berth/internal/engine/state"
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
	if d.Facts != "" {
		j.Add(judgedPod{d.Cluster, d.PodDigest}, d.CreatedAt)
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

// facts returns the facts of a record's pod; empty where the store has them, and for a question:
// the pods of what-if questions are as many as their callers make up.
func (l *Log) facts(v *revision.View, pod *corev1.Pod, d *store.Decision) string {
	if d.Purpose == decision.PurposeQuestion {
		return ""
	}
	at, ok := l.judged.Get(judgedPod{d.Cluster, d.PodDigest})
	if ok && d.CreatedAt.Sub(at) < store.FactsStay {
		return ""
	}
	return factsOf(v, pod)
}

// factsOf returns the facts of a pod on a state.
func factsOf(v *revision.View, pod *corev1.Pod) string {
	held := state.Counting(0).Held(pod)
	var requests, labels [256]byte
	f := store.PodFacts{
		PriorityClass: pod.Spec.PriorityClassName, Scheduler: pod.Spec.SchedulerName,
		CPUMilli: held.Cpu().MilliValue(), MemoryBytes: held.Memory().Value(),
		Requests:  appendTexts(requests[:0], held, amount),
		Labels:    appendTexts(labels[:0], pod.Labels, label),
		CreatedAt: pod.CreationTimestamp.Time,
	}
	if owner := topOwner(v, pod); owner != nil {
		f.OwnerKind, f.OwnerName = owner.Kind, owner.Name
	}
	return f.Encode()
}

func amount(q resource.Quantity) string { return q.String() }

func label(s string) string { return s }

// appendTexts appends a JSON object of texts, its members by name. It is written by hand since it
// is for each new pod.
func appendTexts[K ~string, V any](out []byte, m map[K]V, text func(V) string) []byte {
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, name), ':')
		out = jsonscan.AppendString(out, text(m[name]))
	}
	return append(out, '}')
}
