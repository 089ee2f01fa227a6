package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/podlife"
	"berth/internal/report"
)

// verdict is the page of a decision: the verdict first, then what would help,
// why, and how to go on.
type verdict struct {
	*page
	told *told   // nil: nothing is known but the decision
	gaps *gaps   // that the answer may come from
	lost bool    // the source does not have the node that the pod is bound to
	got  *answer // nil: there is nothing to decide
	// after is the decision without the gates of a gated pod; nil: not known.
	after     *report.Verdict
	node      string // that the pod is bound to
	scheduler string // its spec.schedulerName; empty where unknown
	// unscheduled is what the cluster itself says of a pod without a node; nil: nothing.
	unscheduled *report.Unscheduled
	// state is what is wrong with the node that the pod is on; empty: nothing is known.
	state string
	// life is where a pod that is bound stands; nil: not known.
	life    *podlife.Life
	profile string // that was asked for; empty: none
	// refusal is why an API server refuses the pod; empty: it takes it, or that is not known.
	refusal string
	// admitted is what an API server writes into the pod before it is decided on.
	admitted []string
	now      time.Time
	again    func(command string, more ...string) []string
}

func (v *verdict) show() {
	v.page.gaps(v.gaps)
	if v.got != nil {
		v.nodes = append(v.nodes, nodesIn(&v.got.Answer)...)
	}
	v.headline()
	v.gap()
	v.text(v.sentence())
	if v.lost {
		v.text(fmt.Sprintf("Its node %s is not among the nodes of %s: it was deleted, or left out.", v.node, v.gaps.of))
	}
	if s := v.afterwards(); s != "" {
		v.text(s)
	}
	v.trouble()
	if v.got != nil {
		v.best()
		v.try()
		v.why()
	}
	v.gap()
	if v.got != nil {
		v.zones()
	}
	v.past()
	if v.got != nil {
		v.caveats()
		v.labelled("KUBE", v.got.Message)
		v.more()
	}
}

// word is the verdict in a word, and its colour.
func (v *verdict) word() (string, colour) {
	if v.told != nil {
		switch v.told.State {
		case report.StateNominated:
			return "NOMINATED", yellow
		case report.StatePending, report.StateGated:
		case report.StateDeleting:
			if e := v.told.Ending; e != nil && e.OverdueSince != nil {
				return "OVERDUE", red
			}
			return "DELETING", yellow
		case report.StateBound, report.StateEnded:
			if v.state != "" {
				return strings.ToUpper(string(v.told.State)), yellow
			}
			return strings.ToUpper(string(v.told.State)), green
		default:
			return strings.ToUpper(string(v.told.State)), yellow
		}
	}
	switch {
	case v.refusal != "":
		return "REFUSED", red
	case v.node != "" && v.state != "":
		return "BOUND", yellow
	case v.node != "":
		return "BOUND", green
	case v.got.Outcome == engine.Scheduled:
		return "WOULD FIT", green
	case v.got.Outcome == engine.Gated:
		return "GATED", yellow
	case v.got.Outcome == engine.Preempting:
		return "PREEMPTING", yellow
	}
	if v.allUnknown() != "" {
		return "UNKNOWN", yellow
	}
	return "PENDING", red
}

// allUnknown returns what could not be known, where every node was rejected for it.
func (v *verdict) allUnknown() string {
	if v.got == nil {
		return ""
	}
	return v.gaps.cannotKnow(report.AllUnknown(&v.got.Answer, v.gaps.covers))
}

func (v *verdict) headline() {
	word, c := v.word()
	if v.told == nil {
		v.head(word, c, v.got.Pod.Namespace+"/"+v.got.Pod.Name, v.nodeIs(), v.got.ID)
		return
	}
	id := ""
	if len(v.told.Attempts) > 0 {
		id = v.told.Attempts[0].Decision
	}
	v.head(word, c, v.told.Pod.Namespace+"/"+v.told.Pod.Name, strings.Trim(v.attempts()+", "+v.nodeIs(), ", "), id)
}

// sentence is the answer in words.
func (v *verdict) sentence() string {
	if v.refusal != "" {
		return "An API server refuses the pod: " + v.refusal
	}
	if s := v.allUnknown(); s != "" {
		return strings.ToUpper(s[:1]) + s[1:] + "."
	}
	if v.told != nil && v.told.State != report.StateBound && (v.got == nil || v.got.Outcome != engine.Scheduled && v.got.Outcome != engine.Preempting) {
		return v.told.Summary
	}
	d := v.got
	checked := "of " + plural(d.Counts.Nodes, "node")
	switch {
	case d.Outcome == engine.Gated:
		return fmt.Sprintf("It waits for %s to be removed: %s. Until then no node is judged.", plural(len(d.Gates), "scheduling gate"), strings.Join(d.Gates, ", "))
	case d.Outcome == engine.Preempting:
		return v.preempting()
	case d.Outcome == engine.Scheduled && v.node != "" && v.node != d.Node:
		return fmt.Sprintf("%s. Today it would go to %s: %s fit %s.", v.where(), d.Node, count(d.Counts.Feasible), checked)
	case d.Outcome == engine.Scheduled && v.node != "":
		if v.state != "" {
			return fmt.Sprintf("%s. It would go there today as well: %s fit %s.", v.where(), count(d.Counts.Feasible), checked)
		}
		return fmt.Sprintf("%s, where it would go today as well: %s fit %s.", v.where(), count(d.Counts.Feasible), checked)
	case d.Outcome == engine.Scheduled:
		return "It would go to " + d.Node + v.margin() + "." + v.disagreement()
	case v.node != "":
		return fmt.Sprintf("%s. Today it would fit nowhere: 0 fit %s.", v.where(), checked)
	case d.Counts.Nodes == 0:
		return "No node fits: there is none."
	}
	if len(d.Groups) > 0 {
		return report.NoNode(d.Counts.Nodes, d.Groups, d.Narrowed)
	}
	return fmt.Sprintf("No node fits: %s checked, 0 fit.", count(d.Counts.Nodes))
}

// margin returns how clear the choice was.
func (v *verdict) margin() string {
	d := v.got
	switch {
	case d.Counts.Feasible == 1:
		return fmt.Sprintf(", the only one that fits of %s", count(d.Counts.Nodes))
	case len(d.Best) > 1:
		return fmt.Sprintf(", one of %s equally good ones; %s of %s fit", count(len(d.Best)), count(d.Counts.Feasible), count(d.Counts.Nodes))
	case d.Margin != nil:
		return fmt.Sprintf(", %s ahead of the next; %s of %s fit", plural(int(*d.Margin), "point"), count(d.Counts.Feasible), count(d.Counts.Nodes))
	}
	return fmt.Sprintf("; %s of %s fit", count(d.Counts.Feasible), count(d.Counts.Nodes))
}

func (v *verdict) preempting() string {
	d := v.got
	p := d.Preemption
	if p == nil {
		return fmt.Sprintf("No node fits: it would preempt pods on %s.", d.NominatedNode)
	}
	s := fmt.Sprintf("No node fits of %s: %s would be evicted from %s", count(d.Counts.Nodes), plural(len(p.Victims), "pod"), d.NominatedNode)
	if p.NumPDBViolations > 0 {
		s += fmt.Sprintf(", %s of them against a disruption budget", count(p.NumPDBViolations))
	}
	if p.StartsWithinSeconds != nil {
		s += fmt.Sprintf("; it could start within %s", span(*p.StartsWithinSeconds))
	}
	return s + "."
}

// bestShown is how many of the best nodes are listed.
const bestShown = 5

// best lists the nodes with the most points.
func (v *verdict) best() {
	top := suggest.Scored(v.got.Nodes, v.got.Node)
	top = top[:min(bestShown, len(top))]
	if len(top) < 2 {
		return
	}
	v.gap()
	t := newTable("@BEST", ">POINTS", "~WHERE THEY DIFFER")
	same := suggest.EqualScores(top)
	t.colour = func(r, c int) colour {
		if c == 1 && top[r].Name == v.got.Node {
			return green
		}
		return ""
	}
	for i := range top {
		t.add(top[i].Name, fmt.Sprint(*top[i].Score), scoresInLine(top[i].Scores, same))
	}
	v.table(t)
	if rest := v.got.Counts.Feasible - len(top); rest > 0 {
		v.line("and %s more: --all", count(rest))
	}
}

// try lists the changes that would help.
func (v *verdict) try() {
	if len(v.got.Suggestions) == 0 {
		v.nothingToTry()
		return
	}
	v.gap()
	t := newTable("~TRY (each tried)", ">FITS AFTER", "ACTION")
	t.colour = func(_, c int) colour {
		if c == 1 {
			return green
		}
		return ""
	}
	for _, s := range v.got.Suggestions {
		t.add(changeWords(&s), plural(s.Fits, "node"), s.Action.Words())
	}
	v.table(t)
	if s := &v.got.Suggestions[0]; s.Command != "" && s.Like == "" { // that of a node is below
		v.labelled("RUN", s.Command) // the first
	}
}

// why lists the groups of nodes with the same verdict.
func (v *verdict) why() {
	t := newTable("WHY (first failing rule)", ">NODES", "~DETAIL")
	widest := 0
	groups := v.got.Groups
	if v.after != nil && len(v.after.Groups) > 0 { // that all nodes wait for the gates is said above
		groups = v.after.Groups
	}
	for _, g := range groups {
		widest = max(widest, columns(g.Rule))
	}
	for _, g := range groups {
		t.add(fmt.Sprintf("%-*s  %s", widest, g.Rule, g.Reason), count(g.Nodes), v.detail(&g))
	}
	if len(groups) == 0 {
		for _, f := range v.got.Failures { // a record has no groups
			t.add(f.Plugin, count(f.Nodes), f.Reason)
		}
	}
	if len(t.rows) == 0 {
		return
	}
	v.gap()
	v.table(t)
	v.also(groups)
}

// alsoShown is how many groups are told what else rejects their nodes.
const alsoShown = 4

// also prints which other rules reject nodes of the largest groups.
func (v *verdict) also(groups []suggest.Group) {
	label := "ALSO"
	for i := range groups[:min(len(groups), alsoShown)] {
		if s := alsoWords(&groups[i]); s != "" {
			v.labelled(label, s)
			label = " "
		}
	}
}

// alsoWords counts the nodes of a group by the other rules that reject them, such as
// "NodeAffinity SelectorNotMatched: 2 of 3 fail PodTopologySpread".
func alsoWords(g *suggest.Group) string {
	by := map[string]int{}
	var rules []string
	for _, f := range g.AlsoFailing {
		if by[f.Rule] == 0 {
			rules = append(rules, f.Rule)
		}
		by[f.Rule] += f.Nodes
	}
	if len(rules) == 0 {
		return ""
	}
	slices.SortStableFunc(rules, func(a, b string) int { return by[b] - by[a] })
	for i, r := range rules {
		fail := "fail"
		if by[r] == 1 {
			fail = "fails"
		}
		rules[i] = fmt.Sprintf("%s of %s %s %s", count(by[r]), count(g.Nodes), fail, r)
	}
	return fmt.Sprintf("%s %s: %s", g.Rule, g.Reason, strings.Join(rules, ", "))
}

// resourcesFit is the plugin whose nodes may lack a resource for now, or be too small for good.
const resourcesFit = "NodeResourcesFit"

// prefixes are left out where space is short: they are so common that they carry no information.
var prefixes = strings.NewReplacer("topology.kubernetes.io/", "", "node.kubernetes.io/", "")

// detail returns what a group is about, and what else its nodes lack.
func (v *verdict) detail(g *suggest.Group) (words string) {
	s := g.Detail
	if n := g.Nearest; n != nil {
		defer func() { words = strings.TrimLeft(words+v.inTheWay(g), ":; ") }()
	}
	if g.Short != nil && g.Rule == resourcesFit && g.Action != suggest.Wait { // the node is smaller than the request
		s = "even empty, " + s
	}
	if unknown := v.gaps.unknown(g); unknown != "" {
		s = strings.TrimPrefix(s+": "+unknown, ": ")
	}
	if s == "" && (g.Reason == engine.CauseRejected || g.Reason == engine.CauseClaimUnbound) {
		s = g.Message
	}
	if g.Merged > 1 {
		s = strings.TrimPrefix(fmt.Sprintf("%s; %d like it", s, g.Merged), "; ")
	}
	for _, also := range g.Also {
		about := also.Reason
		if also.Detail != "" {
			about = also.Detail
		}
		s += fmt.Sprintf("; %s on %s", about, count(also.Nodes))
	}
	if v.wide {
		return s
	}
	return prefixes.Replace(s)
}

// caveats prints what was not judged.
func (v *verdict) caveats() {
	if v.scheduler != "" && v.profile == "" && v.node == "" && v.scheduler != v.got.Profile {
		v.labelled("NOTE", fmt.Sprintf("its scheduler is %s, not one of the profiles: this is what %s would decide. --profile picks another.", v.scheduler, v.got.Profile))
	}
	for _, text := range v.admitted {
		v.labelled("NOTE", text)
	}
	for _, n := range v.got.Notes {
		if v.refusal != "" && strings.HasSuffix(n, v.refusal) { // said above
			continue
		}
		if v.got.BoundTo == "" || n == decision.UnreadyNote(v.got.Node) { // that it was taken out is said above
			v.labelled("NOTE", n)
		}
	}
	v.warnings(slices.DeleteFunc(slices.Clone(v.got.Warnings), func(text string) bool {
		return v.got.ProfileFallback != "" && text == decision.FallbackText(v.got.ProfileFallback, v.got.Profile) // said above
	}))
	for _, n := range v.got.NotEvaluated {
		v.labelled("NOTE", "not judged: "+n.Plugin+", "+n.Reason)
	}
}

// more prints how to go on.
func (v *verdict) more() {
	var list [][]string
	if name := v.oneRejected(); name != "" && v.got.Outcome != engine.Gated {
		list = append(list, v.again("explain", "--node", name))
	}
	if v.got.Outcome == engine.Preempting {
		list = append(list, v.again("victims"))
	}
	if len(v.got.Spread) > 0 {
		list = append(list, v.again("spread"))
	}
	if like := likeIn(v.got.Suggestions); like != "" && v.got.Outcome != engine.Gated {
		list = append(list, v.again("pools", "--like", like))
	}
	v.commands(list...)
}
