package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"berth/internal/engine"
	"berth/internal/report"
	"berth/internal/words"
)

// pendingView is the board of the pods that wait.
type pendingView struct {
	report.PendingCounts
	Snapshot string
	// Summary is the answer in one sentence.
	Summary string
	Oldest  *time.Time
	Causes  []cause
	// Stuck are pods that have a node and cannot start there.
	Stuck []report.UnstartedPod
	// Untried reports that no changes were tried, since it would have taken too long for a page;
	// the page links to itself with them.
	Untried bool
}

// cause is the pods that wait for the same reason.
type cause struct {
	Code, Words string
	Pods        int
	Oldest      *time.Time
	Workloads   []workload
	// Hidden workloads are not listed.
	Hidden int
}

// workload is pods that differ in name and age alone.
type workload struct {
	report.PendingPod
	// Others is how many more there are; Oldest is the age of the oldest.
	Others int
	Oldest *time.Time
}

// shownWorkloads is how many rows a cause has unless the URL names it.
const shownWorkloads = 20

// triedNodes is the most nodes times waiting pods for which a page tries changes unasked: trying
// takes some hundred decisions a pod, and the first page has to come within a second.
const triedNodes = 20_000

func pendingData(v *visit) string {
	return v.ofCluster([]string{"pending"}, "namespace", "limit", "suggest", "snapshot", "now")
}

func loadPending(v *visit) (string, any, error) {
	if v.cluster == "" {
		return "Welcome", nil, nil
	}
	view, err := v.pending()
	if err != nil {
		return "", nil, err
	}
	return view.Summary, view, nil
}

func (v *visit) pending() (*pendingView, error) {
	list := &report.Pending{}
	untried, without := false, v.query.Get("suggest") != "true"
	if without {
		v.query.Set("suggest", "false")
	}
	if err := v.get(pendingData(v), list); err != nil {
		return nil, err
	}
	if without {
		v.query.Del("suggest")
		untried = list.Counts.Judged*list.Counts.Nodes > triedNodes
		if !untried && list.Counts.Judged > 0 {
			if err := v.get(pendingData(v), list); err != nil {
				return nil, err
			}
		}
	}
	view := boardOf(list, v.query.Get("cause"), v.now)
	view.Untried = untried
	return view, nil
}

// boardOf groups the pods that wait by what keeps them waiting; all workloads of the cause open are
// listed.
func boardOf(list *report.Pending, open string, now time.Time) *pendingView {
	view := &pendingView{PendingCounts: list.Counts, Snapshot: list.Snapshot, Causes: causesOf(list.Pods, open), Stuck: list.Unstarted}
	for i := range view.Causes {
		view.Oldest = older(view.Oldest, view.Causes[i].Oldest)
	}
	view.Summary = boardSentence(view, now)
	return view
}

func boardSentence(view *pendingView, now time.Time) string {
	total := view.Active + view.Gated
	if total == 0 && view.Unstarted > 0 {
		return words.Plural(view.Unstarted, "pod") + " cannot start on the node that " + agree(view.Unstarted, "it has.", "they have.")
	}
	if total == 0 {
		return "No pod waits for a node."
	}
	text := words.Plural(total, "pod") + agree(total, " waits", " wait") + " for a node"
	if view.Oldest != nil {
		text += ", the oldest for " + words.Span(int64(now.Sub(*view.Oldest).Seconds()))
	}
	if view.Unstarted > 0 {
		text += "; " + words.Count(view.Unstarted) + " cannot start on " + agree(view.Unstarted, "its node", "their nodes")
	}
	return text + "."
}

// causesOf groups pods by what keeps them waiting, the cause with most pods first. All workloads of
// the cause open are listed.
func causesOf(pods []report.PendingPod, open string) []cause {
	var out []cause
	at := map[string]int{}
	rows := map[string]map[string]int{} // of a cause, by the pod that was judged
	for i := range pods {
		p := &pods[i]
		code := causeOf(p)
		n, known := at[code]
		if !known {
			n, at[code] = len(out), len(out)
			out = append(out, cause{Code: code})
			rows[code] = map[string]int{}
		}
		c := &out[n]
		c.Pods++
		c.Oldest = older(c.Oldest, p.Since)
		like := p.Namespace + "/" + p.Name
		if p.Like != nil {
			like = p.Like.Namespace + "/" + p.Like.Name
		}
		row, known := rows[code][like]
		if !known {
			rows[code][like] = len(c.Workloads)
			c.Workloads = append(c.Workloads, workload{PendingPod: *p, Oldest: p.Since})
			continue
		}
		w := &c.Workloads[row]
		w.Others++
		w.Oldest = older(w.Oldest, p.Since)
	}
	for i := range out {
		c := &out[i]
		c.Words = causeWords(c.Code, c.Pods)
		if n := len(c.Workloads); n > shownWorkloads && c.Code != open {
			c.Workloads, c.Hidden = c.Workloads[:shownWorkloads], n-shownWorkloads
		}
	}
	slices.SortStableFunc(out, func(a, b cause) int { return cmp.Compare(b.Pods, a.Pods) })
	return out
}

func older(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// causeOf is what keeps a pod from a node, or what it waits for where no node is the cause.
func causeOf(p *report.PendingPod) string {
	switch {
	case p.State == report.StateGated:
		return "Gated"
	case p.State == report.StateNominated:
		return "Nominated"
	case p.Outcome == engine.Scheduled:
		return "Fits"
	case p.Outcome == engine.Preempting:
		return "Preempting"
	case p.Cause != "":
		return p.Cause
	}
	return "Undecided"
}

// causeWords is the head of a cause's list, behind the number of pods.
func causeWords(code string, pods int) string {
	switch code {
	case "Gated":
		return agree(pods, "waits", "wait") + " for scheduling gates"
	case "Nominated":
		return agree(pods, "waits", "wait") + " for evicted pods to end"
	case "Fits":
		return agree(pods, "fits, and waits for its turn", "fit, and wait for their turn")
	case "Preempting":
		return agree(pods, "fits", "fit") + " once pods of lower priority are evicted"
	case "Undecided":
		return "cannot be decided on"
	}
	head := agree(pods, "finds", "find") + " no node"
	if text, ok := report.Phrase(code); ok {
		return head + ": nodes " + text
	}
	return head + ": " + strings.ToLower(code)
}
