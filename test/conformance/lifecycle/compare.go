package lifecycle

import (
	"fmt"
	"strings"
)

// Compare says in words how two verdicts differ; "" where they agree. While all
// containers are reset berth has to say so of each; the rest is the contract's.
func Compare(want, got Verdict) string {
	var b strings.Builder
	say := func(what string, want, got any) {
		if want != got {
			fmt.Fprintf(&b, "  %s: want %+v, got %+v\n", what, want, got)
		}
	}
	say("phase", want.Phase, got.Phase)
	say("reason", want.Reason, got.Reason)
	say("message", want.Message, got.Message)
	say("status", want.Status, got.Status)
	say("ready", want.Ready, got.Ready)
	say("restarts", want.Restarts, got.Restarts)
	say("number of conditions", len(want.Conditions), len(got.Conditions))
	for i := range min(len(want.Conditions), len(got.Conditions)) {
		w, g := want.Conditions[i], got.Conditions[i]
		if w.Type == "PodReadyToStartContainers" && w.Type == g.Type && w.ObservedGeneration == g.ObservedGeneration && !want.sandbox {
			continue
		}
		say(fmt.Sprint("condition ", i), w, g)
	}
	say("number of containers", len(want.Containers), len(got.Containers))
	for i := range min(len(want.Containers), len(got.Containers)) {
		w, g := want.Containers[i], got.Containers[i]
		if w.Action == "reset" && w.Kind == "ephemeral" {
			g.Action, g.At = w.Action, w.At
		}
		say("container "+w.Name, w, g)
	}
	return b.String()
}
