package decision

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/engine"
	"berth/internal/podlife/admission"
	"berth/internal/revision"
)

// UsageOf returns admission.Admission.Usage of a view, which keeps what was counted.
func UsageOf(v *revision.View, now time.Time) func(namespace string) (*admission.Usage, error) {
	return func(namespace string) (u *admission.Usage, err error) {
		kept := v.Memo("usage "+namespace, func() (any, bool) {
			u, err = admission.CountUsage(v, namespace, now)
			return u, err == nil && !u.Timed
		})
		if err != nil {
			return nil, err
		}
		return kept.(*admission.Usage), nil
	}
}

// OfAdmission reports whether a note is about what an API server makes of the pod before a
// scheduler sees it.
func OfAdmission(note string) bool { return strings.Contains(note, "an API server ") }

// Counted is such a note where the pod was decided on as an API server stores it.
func Counted(note string) string {
	return strings.NewReplacer(" and berth does not: they are not counted", ": they are counted here", "it is not counted", "it is counted here").Replace(note)
}

// noteAdmission notes what LimitRanger and ResourceQuota would make of a pod that the snapshot does
// not hold. It is judged as it comes, since an API server admits it before a scheduler sees it.
func (o *Outcome) noteAdmission(ans *Answer, level engine.Explain) {
	if level == engine.ExplainNone || o.Verb != VerbDecide || o.View.State.Pod(o.Pod.Namespace, o.Pod.Name) != nil {
		return
	}
	a := admission.Admission{Objects: o.View, Usage: UsageOf(o.View, o.Now)}
	set, refused := admission.Foresee(o.Pod, a, o.Now)
	for _, text := range set {
		ans.Notes = append(ans.Notes, "an API server sets "+text+" by a LimitRange of the namespace: it is not counted")
	}
	if refused != "" {
		ans.Notes = append(ans.Notes, fmt.Sprintf("an API server refuses the pod: %s", refused))
	}
}
