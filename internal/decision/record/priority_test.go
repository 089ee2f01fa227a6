package record_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/test/logtest"
)

// shelf is stored classes, by name; "" is the default one.
type shelf map[string]*schedulingv1.PriorityClass

func (s shelf) Class(_, name string) *schedulingv1.PriorityClass { return s[name] }

func class(name string, value int32, policy corev1.PreemptionPolicy) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy}
}

func TestPrecedenceOfClasses(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	h.LogOptions.Classes = shelf{
		"high": class("high", 5, corev1.PreemptNever), "stored": class("stored", 50, corev1.PreemptNever),
		"": class("fallback", 70, corev1.PreemptLowerPriority),
	}
	h.Rebuild()
	logtest.Upload(t, h, logtest.Sample(t)...)
	for spec, want := range map[string]int32{
		`"priority":3,"priorityClassName":"high",`: 3,
		`"priorityClassName":"high",`:              1000, // the snapshot's comes before the stored one
		`"priorityClassName":"stored",`:            50,
		``:                                         7, // the snapshot's default
		`"priorityClassName":"system-node-critical",`: 2000001000,
	} {
		if a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", spec)}); a.Priority != want {
			t.Errorf("%s: priority %d, want %d", spec, a.Priority, want)
		}
	}
	logtest.Upload(t, h, logtest.Sample(t)[:5]...) // no classes in the snapshot
	if a := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", "")}); a.Priority != 70 {
		t.Errorf("no class: priority %d, want the stored default's", a.Priority)
	}
	_, err := h.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "w", `"priorityClassName":"nobody",`)})
	var input *decision.Error
	if !errors.As(err, &input) || input.Kind != decision.Invalid || input.Field != "pod.spec.priorityClassName" {
		t.Errorf("an unknown class: %v", err)
	}
}

// TestReplayAfterTheClassChanged: what a decision rested on is in its record,
// so that a class that changes or goes later changes no replay.
func TestReplayAfterTheClassChanged(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	stored := shelf{"stored": class("stored", 50, corev1.PreemptNever)}
	h.LogOptions.Classes = stored
	h.Rebuild()
	logtest.Upload(t, h, logtest.Sample(t)[:5]...)
	named := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", `"priorityClassName":"stored",`)})
	without := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", "")})
	stored[""] = class("late", 90, corev1.PreemptLowerPriority)
	byDefault := logtest.Decide(t, h, decision.Question{Pod: logtest.Pod(t, "w", "")})
	if named.Priority != 50 || without.Priority != 0 || byDefault.Priority != 90 {
		t.Fatalf("priorities %d, %d, %d", named.Priority, without.Priority, byDefault.Priority)
	}
	for what, change := range map[string]func(){
		"changed": func() {
			stored["stored"], stored[""] = class("stored", 51, corev1.PreemptLowerPriority), class("later", 91, corev1.PreemptNever)
		},
		"deleted": func() { clear(stored) },
	} {
		change()
		for _, a := range []*decision.Answer{named, without, byDefault} {
			r, err := h.Replay(t.Context(), a.ID, record.Overrides{})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if !r.Identical || r.Decision.Priority != a.Priority {
				t.Errorf("%s: replayed with priority %d, decided with %d: identical %v", what, r.Decision.Priority, a.Priority, r.Identical)
			}
			again, err := h.Get(t.Context(), a.ID)
			if err != nil || !again.DigestAgrees || again.Priority != a.Priority {
				t.Errorf("%s: read back: %+v, %v", what, again, err)
			}
			if r, err = h.Replay(t.Context(), a.ID, record.Overrides{Snapshot: "default@latest"}); err != nil || r.Decision.Priority != a.Priority {
				t.Errorf("%s: on the newest snapshot: %v", what, err)
			}
		}
	}
	// Another pod is another question: its class is looked up as it is today.
	stored["new"] = class("new", 8, corev1.PreemptNever)
	r, err := h.Replay(t.Context(), named.ID, record.Overrides{Pod: logtest.Pod(t, "w", `"priorityClassName":"new",`)})
	if err != nil || r.Decision.Priority != 8 {
		t.Errorf("with another pod: %v", err)
	}
}
