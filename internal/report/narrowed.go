package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
)

// NoNode returns in a sentence of at most 120 characters why no node fits: which nodes the pod
// wants, and what those have against it. Without that it counts all nodes by their groups.
func NoNode(nodes int, groups []suggest.Group, n *suggest.Narrowed) string {
	switch {
	case len(groups) == 1 && wholePod[groups[0].Reason] != "":
		text := wholePod[groups[0].Reason]
		if about := groups[0].Detail; about != "" {
			text = strings.Replace(text, "its claim", "its claim "+about, 1)
		}
		return clip("No node fits: " + text + ".")
	case n == nil:
		return clip(counted(nodes, partsOf(groups)))
	case n.Nodes == 0 && len(n.Asks) > 0:
		text := none(n)
		if !strings.HasSuffix(text, "?") {
			text += "."
		}
		return clip("No node fits: " + text)
	}
	text := ""
	for _, names := range []bool{true, false} { // who has it, where there is room
		if text = obstaclesOf(n, names); whole(text) {
			break
		}
	}
	return clip(text)
}

// whole reports whether a sentence has room for all that it is about.
func whole(text string) bool {
	return utf8.RuneCountInString(text) <= maxSummary && !strings.HasSuffix(text, " otherwise.")
}

// obstaclesOf counts the nodes that the pod wants by what they have against it.
func obstaclesOf(n *suggest.Narrowed, names bool) string {
	parts := make([]part, 0, len(n.Obstacles))
	for i := range n.Obstacles {
		parts = addPart(parts, obstacleWords(&n.Obstacles[i], n.Asks, names), n.Obstacles[i].Nodes)
	}
	if len(n.Asks) == 0 {
		return counted(n.Of, parts)
	}
	text := lacking(n, askedAll(n.Asks, n.Nodes), parts)
	if !whole(text) { // what they lack counts more
		text = lacking(n, agree(n.Nodes, "have")+" what it wants", parts)
	}
	return text
}

// lacking returns how many nodes have what the pod wants, and what those lack.
func lacking(n *suggest.Narrowed, asked string, parts []part) string {
	if name, is := onlyNode(n.Asks[0].Detail); is && n.Nodes == 1 && len(parts) == 1 {
		return fmt.Sprintf("No node fits: it is for node %s, which %s.", name, agree(1, parts[0].phrase))
	}
	head := fmt.Sprintf("No node fits: %s of %s %s", number(n.Nodes), number(n.Of), asked)
	if len(parts) == 1 && parts[0].nodes == n.Nodes {
		return head + ", and " + agree(n.Nodes, parts[0].phrase) + "."
	}
	return count(head+"; ", n.Nodes, parts)
}

// wholePod is what rejects a pod whichever node is looked at.
var wholePod = map[string]string{
	engine.CauseClaimMissing:        "its claim is not there",
	engine.CauseClaimUnbound:        "its claim is not bound, and its class binds at once",
	engine.CauseDeviceClaimNotReady: "its device claim is not ready",
}

// asked names what nodes have that have what a pod wants.
func asked(a *suggest.Ask) string {
	switch a.By {
	case suggest.AskSelector:
		return "match its nodeSelector " + a.Detail
	case suggest.AskAffinity:
		return "match its node affinity"
	case suggest.AskResource:
		return "have " + a.Detail
	case suggest.AskVolume:
		return "reach its volume"
	case suggest.AskTaint:
		return "have no taint against it"
	}
	return "have " + a.Detail
}

// none names what none of the nodes has that have all that is looked at before.
func none(n *suggest.Narrowed) string {
	last := &n.Asks[len(n.Asks)-1]
	before, of := n.Asks[:len(n.Asks)-1], n.Of
	who, nobody := plural(of, "the only node", "all %d nodes"), "none"
	if len(before) > 0 {
		of = before[len(before)-1].Nodes
		who = plural(of, "the only node", "the %d nodes") + " that " + askedAll(before, of)
		nobody = "none of " + who
	}
	verb := func(one, not string) string {
		if of == 1 {
			return who + " " + not
		}
		return nobody + " " + one
	}
	if len(last.Missing) > 0 {
		m := &last.Missing[0]
		label := m.Key
		if m.Value != "" {
			label += "=" + m.Value
		}
		return verb("has ", "lacks ") + label + meant(m)
	}
	switch last.By {
	case suggest.AskTaint:
		text := who + " " + agree(of, "have") + " a taint that it does not tolerate: " + last.Detail
		if last.Others > 0 {
			text += plural(last.Others, " and 1 other", " and %d others")
		}
		return text
	case suggest.AskSelector:
		return verb("has all of ", "does not have all of ") + last.Detail
	case suggest.AskAffinity:
		if name, is := onlyNode(last.Detail); is {
			return "it is for node " + name + ", which is not there"
		}
		return verb("matches", "does not match") + " its node affinity, " + last.Detail
	case suggest.AskVolume:
		return verb("reaches", "does not reach") + strings.TrimRight(" its volume "+last.Detail, " ")
	default:
	}
	return verb("has ", "lacks ") + last.Detail
}

// onlyNode returns the name of the node that an affinity names, as DaemonSets write it.
func onlyNode(affinity string) (name string, is bool) {
	return strings.CutPrefix(affinity, "metadata.name In ")
}

// askedAll names what nodes have that have all of some things that a pod wants.
func askedAll(asks []suggest.Ask, nodes int) string {
	list := make([]string, len(asks))
	for i := range asks {
		list[i] = agree(nodes, asked(&asks[i]))
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// meant returns the question what was meant by a label that no node has.
func meant(m *suggest.Missing) string {
	if w := m.Meant; w != nil {
		text := w.Key
		switch {
		case w.Key == m.Key:
			text = w.Value
		case w.Value != "":
			text += "=" + w.Value
		}
		return fmt.Sprintf("; did you mean %s (%s)?", text, plural(w.Nodes, "1 node", "%d nodes"))
	}
	if len(m.Values) == 0 {
		return ""
	}
	values := make([]string, len(m.Values))
	for i := range m.Values {
		values[i] = m.Values[i].Value
		if values[i] == "" {
			values[i] = `""`
		}
	}
	text := strings.Join(values, ", ")
	if m.More > 0 {
		text += fmt.Sprintf(" and %d more", m.More)
	}
	return "; there are " + text
}

// states are what a taint that tells a node's state means.
var states = map[string]string{
	corev1.TaintNodeNotReady:           "are not Ready",
	corev1.TaintNodeUnreachable:        "are not Ready",
	corev1.TaintNodeMemoryPressure:     "are short of memory",
	corev1.TaintNodeDiskPressure:       "are short of disk",
	corev1.TaintNodePIDPressure:        "are short of process IDs",
	corev1.TaintNodeNetworkUnavailable: "have no network",
	corev1.TaintNodeOutOfService:       "are out of service",
}

// heldPhrases say what nodes have against the pod where few pods have it, whose owners follow.
var heldPhrases = map[string]string{
	engine.CausePortTaken:                    "have its host port taken by %s",
	engine.CauseInsufficientCPU:              "lack cpu beside %s",
	engine.CauseInsufficientMemory:           "lack memory beside %s",
	engine.CauseInsufficientEphemeralStorage: "lack ephemeral storage beside %s",
	engine.CauseDeviceUnavailable:            "have its device taken by %s",
	engine.CauseVolumeInUse:                  "cannot have its volume, in use by %s",
	engine.CauseVolumeLimitExceeded:          "can attach no more volumes beside those of %s",
	engine.CausePodAntiAffinityViolated:      "have pods it avoids, of %s",
	engine.CauseOthersAntiAffinityViolated:   "have pods that avoid it, of %s",
}

// heldWords names who has what nodes lack; empty where that is not known, or these are many.
func heldWords(l *suggest.Obstacle, asked bool) string {
	if len(l.Holders) == 0 || l.Never {
		return ""
	}
	names := make([]string, len(l.Holders))
	for i, h := range l.Holders {
		names[i] = h.Namespace + "/" + h.Name
		if h.Kind == "ResourceClaim" {
			names[i] = "claim " + names[i]
		}
	}
	phrase := heldPhrases[l.Reason]
	switch {
	case l.Reason != engine.CauseInsufficientExtended:
	case asked && l.AllHeld:
		phrase = "are taken by %s"
	case asked:
		phrase = "have too few left beside %s"
	case l.AllHeld:
		phrase = "have " + l.Detail + " taken by %s"
	default:
		phrase = "have too little " + l.Detail + " beside %s"
	}
	return fmt.Sprintf(phrase, strings.Join(names, " and "))
}

// obstacleWords names what nodes of a lack have against the pod, by names who has it.
func obstacleWords(l *suggest.Obstacle, asks []suggest.Ask, names bool) string {
	asked := len(asks) == 1 && asks[0].By == suggest.AskResource && asks[0].Detail == l.Detail
	if text := heldWords(l, asked); names && text != "" {
		return text
	}
	switch l.Reason {
	case engine.CauseUntoleratedTaint:
		key, _, _ := strings.Cut(l.Detail, ":")
		if text := states[key]; text != "" {
			return text
		}
	case engine.CauseInsufficientExtended:
		if asked {
			return "have too few of them left"
		}
		return "have too little " + l.Detail
	}
	phrase, ok := phrases[l.Reason]
	if !ok {
		return "are rejected by " + l.Rule
	}
	if l.Never {
		return phrase + " even when empty"
	}
	return phrase
}

// part is what some nodes have against the pod.
type part struct {
	phrase string
	nodes  int
}

// addPart adds nodes to those of the same phrase.
func addPart(list []part, phrase string, nodes int) []part {
	for i := range list {
		if list[i].phrase == phrase {
			list[i].nodes += nodes
			return list
		}
	}
	return append(list, part{phrase, nodes})
}

// partsOf counts the nodes by what they have against the pod.
func partsOf(groups []suggest.Group) (parts []part) {
	for i := range groups {
		g := &groups[i]
		phrase, ok := phrases[g.Reason]
		if !ok {
			phrase = "are rejected by " + g.Rule
		}
		parts = addPart(parts, phrase, g.Nodes)
	}
	return parts
}

// counted counts nodes by what they have against the pod, the commonest first.
func counted(nodes int, parts []part) string {
	return count(fmt.Sprintf("No node fits: of %s ", plural(nodes, "1 node", "%d nodes")), nodes, parts)
}

// count appends the parts to the head of a sentence, as far as there is room.
func count(head string, nodes int, parts []part) string {
	text, rest := "", nodes
	for i, p := range parts {
		more := number(p.nodes) + " " + agree(p.nodes, p.phrase)
		if i > 0 {
			more = ", " + more
		}
		room := maxSummary - len(".")
		if i < len(parts)-1 {
			room -= len(", 20,000 otherwise")
		}
		if i > 0 && len(head)+len(text)+len(more) > room {
			return head + text + fmt.Sprintf(", %s otherwise.", number(rest))
		}
		text += more
		rest -= p.nodes
	}
	if rest > 0 {
		text += fmt.Sprintf(", %s otherwise", number(rest))
	}
	return head + text + "."
}
