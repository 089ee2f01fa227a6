package web

import (
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"berth/internal/report"
	"berth/internal/scenario"
	"berth/internal/words"
)

// nodePageView is one node: its room, its pods and its object.
type nodePageView struct {
	report.NodeStory
	Summary, Lead string
	States        []nodeState
	Space         []spaceRow
	// Groups are the pods by priority, the highest first.
	Groups []podGroup
	// Ended counts the pods that take no room.
	Ended int
	// Conditions are those of the object, Labels its labels in order, YAML all of it.
	Conditions []nodeCondition
	LabelNames []string
	TaintWords []string
	Kubelet    string
	Created    *time.Time
	YAML       string
}

type spaceRow struct {
	report.NodeRoom
	Bar                                             template.HTML
	RequestedText, AllocatableText, Free, FreeLater string
}

type podGroup struct {
	Priority int32
	Class    string
	Pods     []podOnNode
}

type podOnNode struct {
	report.NodePod
	CPU, Memory, IfGone string
}

type nodeCondition struct {
	Icon, Words string
	Since       *time.Time
}

func loadNodePage(v *visit) (string, any, error) {
	view := &nodePageView{}
	if err := v.get(v.ofCluster([]string{"nodes", v.param("name")}, "snapshot"), &view.NodeStory); err != nil {
		return "", nil, err
	}
	view.States = statesOf(&scenario.NodeUse{Cordoned: view.Cordoned, NodeHealth: view.NodeHealth})
	classes := priorityClasses(view.Pods)
	for i := range view.Resources {
		if r := &view.Resources[i]; r.Allocatable > 0 || r.Requested > 0 {
			view.Space = append(view.Space, spaceOf(&view.NodeStory, i, classes))
		}
	}
	view.group(v, classes)
	view.object(v.objects(url.Values{"kind": {"Node"}, "name": {view.Name}}))
	view.Summary, view.Lead = view.sentences()
	return view.Name, view, nil
}

// sentences are the answer, and what is under way.
func (n *nodePageView) sentences() (summary, lead string) {
	state := "takes pods"
	switch {
	case len(n.States) > 0:
		list := make([]string, 0, len(n.States))
		for _, s := range n.States {
			list = append(list, "is "+s.Word)
			if s.Class == "pressure" {
				list[len(list)-1] = "has " + s.Word
			}
		}
		state = strings.Join(list, " and ")
	case slices.ContainsFunc(n.Resources[:3], func(r report.NodeRoom) bool { return r.Allocatable-r.Requested <= r.Allocatable/20 }):
		state = "is full"
	}
	cpu := amounts("cpu", []int64{n.Resources[0].Allocatable - n.Resources[0].Requested, n.Resources[0].Allocatable})
	lead = fmt.Sprintf("%s of %s cpu is free.", cpu[0], cpu[1])
	leaving := 0
	for _, p := range n.Pods {
		if p.Leaving && !p.Ended {
			leaving++
		}
	}
	if leaving > 0 {
		lead += fmt.Sprintf(" %s %s.", words.Plural(leaving, "pod"), agree(leaving, "leaves", "leave"))
	}
	return n.Name + " " + state, lead
}

// priorityClasses are the strengths in which priorities are drawn: kube-system's own, then the
// highest first.
func priorityClasses(pods []report.NodePod) map[int32]string {
	strengths := []string{"p-crit", "p-std", "p-batch", "p-pre"}
	out := map[int32]string{}
	for i := range pods { // the highest first
		p := pods[i].Priority
		if _, known := out[p]; known {
			continue
		}
		if p >= systemPriority {
			out[p] = "p-sys"
			continue
		}
		out[p] = strengths[0]
		if len(strengths) > 1 {
			strengths = strengths[1:]
		}
	}
	return out
}

// systemPriority is the lowest of the classes that Kubernetes itself defines
// (pkg/apis/scheduling SystemCriticalPriority).
const systemPriority = 2_000_000_000

const (
	roomWidth  = 360
	roomHeight = 20
)

// spaceOf draws what the pods of a node request of a resource, one after the other, the strongest
// first, up to what the node has.
func spaceOf(n *report.NodeStory, i int, classes map[int32]string) spaceRow {
	r := &n.Resources[i]
	later := r.Requested - r.Leaving + r.Nominated
	text := amounts(r.Resource, []int64{r.Requested, r.Allocatable, r.Allocatable - r.Requested, r.Allocatable - later})
	row := spaceRow{NodeRoom: *r, RequestedText: text[0], AllocatableText: text[1], Free: text[2], FreeLater: text[3]}
	whole := max(r.Allocatable, r.Requested, later)
	var b strings.Builder
	fmt.Fprintf(&b, `<rect class="track" y="4" width="%d" height="%d"/>`, roomWidth, roomHeight)
	var x int64
	for j := range n.Pods {
		p := &n.Pods[j]
		if p.Ended || p.Requests[i] == 0 {
			continue
		}
		from, to := share64(x, whole), share64(x+p.Requests[i], whole)
		class := classes[p.Priority]
		if p.Leaving {
			class += " leaving"
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="4" width="%d" height="%d"><title>%s/%s: %s</title></rect>`, class, from, max(to-from-1, 1), roomHeight,
			html.EscapeString(p.Namespace), html.EscapeString(p.Name), amounts(r.Resource, []int64{p.Requests[i]})[0])
		x += p.Requests[i]
	}
	if later != r.Requested {
		fmt.Fprintf(&b, `<path class="limit" d="M%d 0v28"/>`, share64(later, whole))
	}
	fmt.Fprintf(&b, `<path class="alloc" d="M%d 1v26"/>`, share64(r.Allocatable, whole)-1)
	row.Bar = svg(roomWidth, 28, "bar", b.String())
	return row
}

func share64(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * roomWidth)
}

// group puts the pods together by priority.
func (n *nodePageView) group(v *visit, classes map[int32]string) {
	for _, p := range n.Pods {
		if p.Ended {
			n.Ended++
			continue
		}
		if at := len(n.Groups); at == 0 || n.Groups[at-1].Priority != p.Priority {
			n.Groups = append(n.Groups, podGroup{Priority: p.Priority, Class: classes[p.Priority]})
		}
		g := &n.Groups[len(n.Groups)-1]
		g.Pods = append(g.Pods, podOnNode{p, amounts("cpu", p.Requests[:1])[0], amounts("memory", p.Requests[1:2])[0], ifGone(&p, v.now)})
	}
}

// ifGone describes what happens to a pod if it is to leave the node.
func ifGone(p *report.NodePod, now time.Time) string {
	switch {
	case p.Leaving && p.LeavesAt != nil && p.LeavesAt.After(now):
		return "leaves within " + words.Span(int64(p.LeavesAt.Sub(now).Seconds())+1)
	case p.Leaving:
		return "leaves, and is overdue"
	case p.Stays:
		return "stays: DaemonSet"
	case p.Owner == "":
		return "nothing makes it again"
	case len(p.Budgets) == 0:
		return "no budget"
	}
	list := make([]string, 0, len(p.Budgets))
	for _, b := range p.Budgets {
		text := "budget " + b.Name + " allows no eviction"
		if b.Allowed > 0 {
			text = fmt.Sprintf("budget %s: %s more may go", b.Name, words.Count(int(b.Allowed)))
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// object reads what the page shows of the node's own object; nothing where the caller may not see
// it.
func (n *nodePageView) object(list []json.RawMessage) {
	if len(list) == 0 {
		return
	}
	var o struct {
		Metadata struct {
			CreationTimestamp *time.Time `json:"creationTimestamp"`
		} `json:"metadata"`
		Status struct {
			Conditions []struct {
				Type, Status       string
				LastTransitionTime *time.Time `json:"lastTransitionTime"`
			} `json:"conditions"`
			NodeInfo struct {
				KubeletVersion string `json:"kubeletVersion"`
			} `json:"nodeInfo"`
		} `json:"status"`
	}
	if json.Unmarshal(list[0], &o) != nil {
		return
	}
	n.Created, n.Kubelet = o.Metadata.CreationTimestamp, o.Status.NodeInfo.KubeletVersion
	for _, c := range o.Status.Conditions {
		n.Conditions = append(n.Conditions, conditionOf(c.Type, c.Status, c.LastTransitionTime))
	}
	n.LabelNames = slices.Sorted(maps.Keys(n.Labels))
	for i := range n.Taints {
		n.TaintWords = append(n.TaintWords, n.Taints[i].String())
	}
	if text, err := yaml.JSONToYAML(list[0]); err == nil {
		n.YAML = string(text)
	}
}

// conditionOf puts a condition into words, with the shape of how good it is.
func conditionOf(kind, status string, since *time.Time) nodeCondition {
	bad, pressure := pressureWords[kind]
	switch {
	case status == "Unknown":
		return nodeCondition{"off", kind + " is unknown", since}
	case kind == "Ready" && status == "True":
		return nodeCondition{"ok", "ready", since}
	case kind == "Ready":
		return nodeCondition{"down", "not ready", since}
	case pressure && status == "True":
		return nodeCondition{"warn", bad, since}
	case pressure:
		return nodeCondition{"ok", "no " + strings.TrimPrefix(bad, "no "), since}
	}
	return nodeCondition{"off", kind + ": " + status, since}
}
