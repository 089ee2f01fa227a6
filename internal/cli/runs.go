package cli

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"berth/internal/engine"
	"berth/internal/scenario"
	"berth/internal/world"
)

// simulation writes a scenario: the configurations side by side, then what waits, then where they
// differ.
func (p *page) simulation(s *scenario.Simulation) {
	if s.Clock != nil {
		p.clock(s)
		return
	}
	word, c := "ALL PLACED", green
	for i := range s.Profiles {
		if s.Profiles[i].Pending > 0 {
			word, c = "SOME WAIT", yellow
		}
	}
	p.head(word, c, plural(s.Arrivals, "pod")+" on "+plural(s.Nodes, "node"), "", "")
	if len(s.Removed) > 0 {
		p.text(fmt.Sprintf("%s removed, with %s.", plural(len(s.Removed), "node"), plural(len(s.Gone), "pod")))
	}
	for i := range s.Differences {
		p.text(better(s, &s.Differences[i]))
	}
	p.gap()
	p.runs(s)
	p.chance(s.Chance)
	for i := range s.Profiles {
		p.pendingGroups(&s.Profiles[i], len(s.Profiles) > 1)
	}
	for i := range s.Differences {
		p.difference(&s.Differences[i])
	}
	p.gap()
	p.notes(append(s.Notes, s.Warnings...))
}

// namedGains is how many pods a comparison names that only one of two configurations places.
const namedGains = 3

// better describes whether the configuration of a difference serves the pods better than the one
// that it is compared with, and which ones.
func better(s *scenario.Simulation, d *scenario.RunDifference) string {
	var run, against *scenario.ProfileRun
	for i := range s.Profiles {
		switch s.Profiles[i].Name {
		case d.Profile:
			run = &s.Profiles[i]
		case d.Against:
			against = &s.Profiles[i]
		}
	}
	if run == nil || against == nil {
		return ""
	}
	named := func(wanted func(m *scenario.MovedPod) bool) string {
		var names []string
		for i := range d.Pods {
			if wanted(&d.Pods[i]) && len(names) < namedGains {
				names = append(names, d.Pods[i].Pod)
			}
		}
		if len(names) == 0 {
			return ""
		}
		return " (" + strings.Join(names, ", ") + ")"
	}
	var parts []string
	switch more := run.Placed - against.Placed; {
	case d.Gained+d.Lost == 0:
		parts = append(parts, "places the same pods")
	case more > 0:
		parts = append(parts, "is better for the pods: it places "+count(more)+" more")
	case more < 0:
		parts = append(parts, "is worse for the pods: it places "+count(-more)+" fewer")
	default:
		parts = append(parts, "places as many pods")
	}
	if d.Gained > 0 {
		parts = append(parts, fmt.Sprintf("%s only there%s", plural(d.Gained, "pod"), named(func(m *scenario.MovedPod) bool { return m.Against == "" })))
	}
	if d.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%s no longer%s", plural(d.Lost, "pod"), named(func(m *scenario.MovedPod) bool { return m.Node == "" })))
	}
	if n := run.End.Nodes.InUse - against.End.Nodes.InUse; n > 0 {
		parts = append(parts, "uses "+plural(n, "node")+" more")
	} else if n < 0 {
		parts = append(parts, "uses "+plural(-n, "node")+" fewer")
	}
	if d.Elsewhere > 0 {
		parts = append(parts, "puts "+plural(d.Elsewhere, "pod")+" elsewhere")
	}
	return fmt.Sprintf("%s, beside %s: %s.", d.Profile, d.Against, strings.Join(parts, ", "))
}

// runs writes the figures of each configuration in a column of its own.
func (p *page) runs(s *scenario.Simulation) {
	head := []string{""}
	for i := range s.Profiles {
		head = append(head, ">"+s.Profiles[i].Name)
	}
	t := newTable(head...)
	row := func(name string, of func(r *scenario.ProfileRun) string) {
		cells, any := []string{name}, false
		for i := range s.Profiles {
			v := of(&s.Profiles[i])
			any = any || v != "0" && v != ""
			cells = append(cells, v)
		}
		if any {
			t.add(cells...)
		}
	}
	number := func(name string, of func(r *scenario.ProfileRun) int) {
		row(name, func(r *scenario.ProfileRun) string { return count(of(r)) })
	}
	number("placed", func(r *scenario.ProfileRun) int { return r.Placed })
	number("pending", func(r *scenario.ProfileRun) int { return r.Pending })
	number("gated", func(r *scenario.ProfileRun) int { return r.Gated })
	number("victims of preemption", func(r *scenario.ProfileRun) int { return r.Victims })
	number("attempts", func(r *scenario.ProfileRun) int { return r.Attempts })
	row("attempts until placed, p90", func(r *scenario.ProfileRun) string { return count(int(r.Wait.P90)) })
	number("moved to another node", func(r *scenario.ProfileRun) int { return r.Moved })
	number("uneven, hard spread", func(r *scenario.ProfileRun) int { return cmp.Or(r.Spread, &scenario.Unevenness{}).Hard })
	number("uneven, soft spread", func(r *scenario.ProfileRun) int { return cmp.Or(r.Spread, &scenario.Unevenness{}).Soft })
	number("nodes in use", func(r *scenario.ProfileRun) int { return r.End.Nodes.InUse })
	number("nodes that would do", func(r *scenario.ProfileRun) int { return r.End.Nodes.Bound })
	for i := range s.Start.Resources {
		of := func(r *scenario.ProfileRun) *scenario.ResourceCapacity { return &r.End.Resources[i] }
		if s.Start.Resources[i].Allocatable == 0 {
			continue
		}
		name := s.Start.Resources[i].Resource
		row(name+" used", func(r *scenario.ProfileRun) string {
			if of(r).Requested == 0 {
				return ""
			}
			return share(of(r).Requested, of(r).Allocatable) + ", sd " + percentage(of(r).Nodes.SD)
		})
		row(name+" unusable", func(r *scenario.ProfileRun) string {
			if of(r).Fragmentation == nil {
				return ""
			}
			return percentage(*of(r).Fragmentation) + "%"
		})
	}
	row("ended", func(r *scenario.ProfileRun) string {
		if r.Stopped {
			return "by its limit"
		}
		return ""
	})
	p.table(t)
}

// fewChoices is how many choices are named on a page that is not wide.
const fewChoices = 3

// chance shows what Kubernetes leaves to chance.
func (p *page) chance(c *scenario.Chance) {
	if c == nil || c.Decided == 0 && c.Runs == 1 {
		return
	}
	p.gap()
	named := c.Named
	if !p.wide {
		named = named[:min(len(named), fewChoices)]
	}
	var texts []string
	for _, x := range named {
		texts = append(texts, strings.TrimSuffix(x.Text, ": which is chance"))
	}
	text := "Chance decides nothing."
	if c.Decided > 0 {
		text = fmt.Sprintf("Chance decides %s: %s", plural(c.Decided, "choice"), strings.Join(texts, "; "))
		if more := c.Decided - len(named); more > 0 {
			text += fmt.Sprintf("; and %s more", count(more))
		}
		text += "."
	}
	p.text(text)
	if c.Runs == 1 {
		return
	}
	t := newTable(fmt.Sprintf(".IN %d RUNS", c.Runs), ">LOWEST", ">MEDIAN", ">HIGHEST")
	for _, f := range c.Figures {
		show := func(n int64) string { return count(int(n)) }
		if f.Name == "seconds" {
			show = span
		}
		t.add(f.Name, show(f.Lowest), show(f.Median), show(f.Highest))
	}
	p.table(t)
}

// pendingGroups lists why pods wait at the end.
func (p *page) pendingGroups(r *scenario.ProfileRun, several bool) {
	if len(r.Groups) == 0 {
		return
	}
	p.gap()
	head := "WHY THEY WAIT"
	if several {
		head += ", " + r.Name
	}
	t := newTable(">PODS", ".SUCH AS", "~"+head)
	for i := range r.Groups {
		g := &r.Groups[i]
		why := g.Message
		switch {
		case g.Outcome == engine.Scheduled:
			why = "it fits; the run ended before"
		case len(g.Groups) > 0:
			nodes, reasons := map[string]int{}, []string{}
			for _, of := range g.Groups {
				if nodes[of.Reason] == 0 {
					reasons = append(reasons, of.Reason)
				}
				nodes[of.Reason] += of.Nodes
			}
			for i, reason := range reasons {
				reasons[i] = count(nodes[reason]) + " " + reason
			}
			why = strings.Join(reasons, ", ")
		}
		t.add(count(g.Pods), g.Example, why)
	}
	p.table(t)
}

// difference writes where two runs differ.
func (p *page) difference(d *scenario.RunDifference) {
	p.gap()
	if d.Elsewhere+d.Gained+d.Lost == 0 {
		p.text(fmt.Sprintf("Under %s every pod has the node that it has under %s.", d.Profile, d.Against))
		return
	}
	p.text(fmt.Sprintf("Under %s, compared with %s: %s elsewhere, %s placed only here, %s only there.",
		d.Profile, d.Against, plural(d.Elsewhere, "pod"), count(d.Gained), count(d.Lost)))
	p.gap()
	t := newTable(".POD", "@"+strings.ToUpper(d.Profile), "@"+strings.ToUpper(d.Against))
	t.omitted = d.Elsewhere + d.Gained + d.Lost - len(d.Pods)
	for _, m := range d.Pods {
		t.add(m.Pod, orNone(m.Node), orNone(m.Against))
	}
	p.list(t, "pods")
	if f := d.First; f != nil {
		p.gap()
		p.labelled("FIRST", fmt.Sprintf("attempt %s, pod %s, on the same state:", count(f.Attempt), f.Pod))
		p.oneOutcome(d.Against, &f.Against)
		p.oneOutcome(d.Profile, &f.Profile)
	}
}

// mostApart says in which constraint or term two nodes differ most, where there are several.
func mostApart(a, b []engine.ScorePart) string {
	most, at := 0.0, -1
	for i := range a {
		if len(a) == len(b) && a[i].By == b[i].By && a[i].Term == b[i].Term && math.Abs(a[i].Points-b[i].Points) > most {
			most, at = math.Abs(a[i].Points-b[i].Points), i
		}
	}
	if at < 0 || len(a) < 2 {
		return ""
	}
	name := a[at].Term
	if a[at].By == engine.PartSpread {
		name = prefixes.Replace(a[at].TopologyKey)
	}
	return fmt.Sprintf(" [%s %s:%s]", name, points(a[at].Points), points(b[at].Points))
}

// noNode stands for the node of a pod that has none.
const noNode = "none"

func orNone(node string) string {
	if node == "" {
		return noNode
	}
	return node
}

// oneOutcome writes a decision with what made the difference.
func (p *page) oneOutcome(name string, o *scenario.OneOutcome) {
	switch {
	case o.Limit != nil:
		p.labelled("", fmt.Sprintf("%s: %s. %s", name, o.Outcome, o.Limit.Message))
		return
	case len(o.Nodes) < 2 || o.Nodes[0].Score == nil:
		p.labelled("", fmt.Sprintf("%s: %s", name, o.Node))
		return
	}
	a, b := &o.Nodes[0], &o.Nodes[1]
	if b.Score == nil {
		p.labelled("", fmt.Sprintf("%s: %s; %s fails %s", name, a.Name, b.Name, b.Plugin))
		return
	}
	var parts []string
	for i := range a.Scores {
		if i < len(b.Scores) && a.Scores[i].Weighted != b.Scores[i].Weighted {
			parts = append(parts, fmt.Sprintf("%s %d:%d%s", a.Scores[i].Plugin, a.Scores[i].Weighted, b.Scores[i].Weighted, mostApart(a.Scores[i].Parts, b.Scores[i].Parts)))
		}
	}
	text := fmt.Sprintf("%s: %s with %d points, %s has %d", name, a.Name, *a.Score, b.Name, *b.Score)
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	p.labelled("", text)
}

// next is what happens to pods by itself.
type next struct {
	moments []world.Moment
	stuck   bool // one of them does not run in the end
}

// nextOf takes out of a timeline what happens to pods, to those that replace them, and to those
// that are preempted for one of them.
func nextOf(k *scenario.Clock, is func(pod, owner string) bool) (n next) {
	own, victims := map[string]bool{}, map[string]bool{}
	for i := range k.Timeline {
		if m := &k.Timeline[i]; m.Pod != "" && is(m.Pod, m.Owner) {
			own[m.Pod] = true
		}
	}
	ends := func(namespace string, r *world.Replacement) {
		own[namespace+"/"+r.Name] = true
		n.stuck = n.stuck || r.Node == "" || r.NotStarted != ""
	}
	for _, p := range k.Pods { // in the order of time, so that those that follow are known
		switch r := p.Replacement; {
		case own[p.By]:
			victims[p.Namespace+"/"+p.Name] = true
		case !own[p.Namespace+"/"+p.Name]:
		case r != nil:
			ends(p.Namespace, r)
		default:
			n.stuck = n.stuck || p.Cause != world.CauseScaleDown
		}
	}
	for _, r := range k.Others {
		if name := r.Namespace + "/" + r.Name; own[name] || is(name, "") { // one that waits for its gates has no moment
			ends(r.Namespace, r)
		}
	}
	n.moments = []world.Moment{}
	for _, m := range k.Timeline {
		if own[m.Pod] || victims[m.Pod] && (m.What == world.PodLeaves || m.What == world.PodGone) {
			n.moments = append(n.moments, m)
		}
	}
	return n
}

// next shows what happens to a pod or a workload.
func (p *page) next(about string, s *scenario.Simulation, n *next) {
	word, c := "NOTHING HAPPENS", green
	if len(n.moments) > 0 {
		last := &n.moments[len(n.moments)-1]
		word, c = strings.ToUpper(spaced(last.What)), yellow
		if last.What == world.PodReady {
			word, c = "READY AFTER "+span(last.AfterSeconds), green
		}
	}
	if n.stuck {
		word, c = "DOES NOT RUN", red
	}
	after := "within " + span(s.Clock.Seconds)
	if s.Clock.Ended == scenario.EndedIdle {
		after = "nothing happens any more after " + span(s.Clock.Seconds)
	}
	p.head(word, c, about, after, "")
	p.moments(n.moments, s.Clock.TimelineOmitted)
	p.gap()
	p.notes(append(s.Notes, s.Warnings...))
}
