package report

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/engine"
	"berth/internal/words"
)

// maxSummary is how long a summary is at most, in characters.
const maxSummary = 120

// minute is how times are written in a sentence, in UTC.
const minute = "2006-01-02 15:04"

// phrases say what nodes of a group have against the pod, after their number.
var phrases = map[string]string{
	engine.CauseCordoned:                     "are cordoned",
	engine.CauseOtherNode:                    "are not the node it names",
	engine.CauseUntoleratedTaint:             "have a taint it does not tolerate",
	engine.CauseSelectorNotMatched:           "do not match its nodeSelector",
	engine.CauseAffinityNotMatched:           "do not match its node affinity",
	engine.CauseAddedAffinityNotMatched:      "do not match the scheduler's own affinity",
	engine.CausePortTaken:                    "have its host port taken",
	engine.CauseTooManyPods:                  "are full of pods",
	engine.CauseInsufficientCPU:              "lack cpu",
	engine.CauseInsufficientMemory:           "lack memory",
	engine.CauseInsufficientEphemeralStorage: "lack ephemeral storage",
	engine.CauseInsufficientExtended:         "lack a device",
	engine.CauseSkewExceeded:                 "would exceed its spread",
	engine.CauseTopologyLabelMissing:         "lack a topology label",
	engine.CausePodAffinityNotMatched:        "are not near the pods it wants",
	engine.CausePodAntiAffinityViolated:      "have pods it avoids",
	engine.CauseOthersAntiAffinityViolated:   "have pods that avoid it",
	engine.CauseFeatureMissing:               "lack a feature",
	engine.CauseNotNamed:                     "are none of those it names",
	engine.CauseVolumeLimitExceeded:          "can attach no more volumes",
	engine.CauseVolumeInUse:                  "cannot have its volume, which is in use",
	engine.CauseVolumeElsewhere:              "cannot reach its volume",
	engine.CauseVolumeUnavailable:            "have no volume for it",
	engine.CauseClaimMissing:                 "wait for its claim, which is not there",
	engine.CauseClaimUnbound:                 "wait for its claim to be bound",
	engine.CauseDeviceUnavailable:            "have no device for it",
	engine.CauseDeviceClaimNotReady:          "wait for its device claim",
}

// Phrase returns what nodes of a rejection group have against a pod, as in "lack cpu".
func Phrase(reason string) (text string, known bool) {
	text, known = phrases[reason]
	return text, known
}

// summary is the story in a sentence.
func (s *telling) summary() string {
	o := s.out
	switch o.State {
	case StateGone:
		if len(s.rows) == 0 {
			e := &o.EvictedFor[0]
			return clip(fmt.Sprintf("It is no longer in %s; it was a victim of %s/%s, %s.", o.Snapshot, e.For.Namespace, e.For.Name, e.At.Format(minute)))
		}
		r := s.rows[0]
		last := r.Outcome
		if r.Node != "" {
			last += " on " + r.Node
		}
		return clip(fmt.Sprintf("It is no longer in %s; the last record, %s: %s.", o.Snapshot, r.At().Format(minute), last))
	case StateEnded:
		return clip(fmt.Sprintf("It has ended: %s%s.", o.Lifecycle.Phase, onNode(s.pod.NodeName)))
	case StateDeleting:
		if e := o.Ending; e != nil && e.OverdueSince != nil {
			late := words.Span(int64(s.at.Sub(*e.OverdueSince).Seconds()))
			return clip(fmt.Sprintf("It is overdue by %s%s%s: it was to be gone at %s.", late, onNode(s.pod.NodeName), s.nodeState(), words.Clock(*e.OverdueSince, s.at)))
		}
		return clip(fmt.Sprintf("It is being deleted%s%s.", onNode(s.pod.NodeName), s.nodeState()))
	case StateBound:
		if _, why, _ := StorageOf(s.view).Unmounted(s.full); why != "" {
			return clip(fmt.Sprintf("It is on node %s and cannot start: %s", s.pod.NodeName, why))
		}
		status := o.Lifecycle.Status
		if o.Lifecycle.StatusAfter != "" {
			status += " after " + o.Lifecycle.StatusAfter
		}
		return clip(fmt.Sprintf("It is on node %s%s: %s.", s.pod.NodeName, s.nodeState(), status))
	case StateGated:
		return clip(plural(len(s.pod.Gates), "It waits for a scheduling gate: ", "It waits for %d scheduling gates: ") + strings.Join(s.pod.Gates, ", ") + ".")
	case StateNominated:
		if n := len(o.Nomination.WaitsFor) + o.Nomination.hidden; n > 0 {
			return clip(fmt.Sprintf("It waits for node %s until %s.", o.Nomination.Node, plural(n, "a preempted pod is gone", "%d preempted pods are gone")))
		}
	case StateElsewhere:
		return clip(fmt.Sprintf("It waits for the scheduler %s, which is not one of this server's.", s.pod.Scheduler))
	default:
	}
	return clip(s.verdictWords())
}

// nodeState returns what is wrong with the pod's node: ", which is NotReady since 00:58:00".
func (s *telling) nodeState() string {
	nodes := s.view.State.Nodes()
	row := nodes.Row(s.pod.NodeName)
	if row < 0 {
		return ""
	}
	n := nodes.Node(row)
	if state := n.Health.Words(n.Unschedulable, s.at); state != "" {
		return ", which is " + state
	}
	return ""
}

func onNode(name string) string {
	if name == "" {
		return ""
	}
	return " on node " + name
}

// verdictWords returns what the decision now comes to.
func (s *telling) verdictWords() string {
	n := s.out.Now
	switch {
	case n == nil || n.Error != "":
		return "It cannot be decided on: " + n.Error + "."
	case n.Outcome == engine.Scheduled:
		return fmt.Sprintf("It is not placed yet; a decision now puts it on node %s (%s).", n.Node, plural(n.Counts.Feasible, "1 node fits", "%d nodes fit"))
	case n.Outcome == engine.Preempting:
		return fmt.Sprintf("No node has room; it fits on %s once %s.", n.NominatedNode, plural(n.victims, "1 pod of lower priority is evicted", "%d pods of lower priority are evicted"))
	case n.Outcome == engine.Gated: // by a plugin: SchedulingGates has a state of its own
		return "It is not tried yet: " + strings.TrimSuffix(n.Message, ".") + "."
	case len(n.Groups) == 0:
		return "No node fits: " + n.Message
	}
	return NoNode(n.Counts.Nodes, n.Groups, n.Narrowed)
}

// agree puts a phrase into the singular for one node.
func agree(n int, phrase string) string {
	if n != 1 {
		return phrase
	}
	verb, rest, _ := strings.Cut(phrase, " ")
	if one, ok := map[string]string{"are": "is", "have": "has", "do": "does", "lack": "lacks", "wait": "waits", "match": "matches", "reach": "reaches"}[verb]; ok {
		verb = one
	}
	return verb + " " + rest
}

// number writes a count with commas.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return strings.ReplaceAll(many, "%d", number(n))
}

// clip cuts a sentence whose names are too long for it.
func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxSummary {
		return s
	}
	return string(r[:maxSummary-3]) + "..."
}
