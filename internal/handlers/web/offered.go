package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"berth/internal/handlers/rest"
	"berth/internal/report"
	"berth/internal/scenario"
)

// offer is the names that fields of a page offer.
type offer struct {
	ID    string
	Names []string
}

// offeredNames is how many names a list has at most: more are no help, and bytes of each page.
const offeredNames = 1000

// offered are what fields may offer, by name, and how it is found. What a caller may not see is not
// offered.
var offered = map[string]func(v *visit) []string{
	"nodes": func(v *visit) []string {
		return v.ofNodes(func(n *scenario.NodeUse) string { return n.Name })
	},
	"zones": func(v *visit) []string {
		return v.ofNodes(func(n *scenario.NodeUse) string { return n.Zone })
	},
	"groups": func(v *visit) []string {
		return append([]string{"zone", "region", "pool", "rack", "node"}, v.labelNames()...)
	},
	"pools": func(v *visit) []string {
		return v.ofNodes(func(n *scenario.NodeUse) string { return n.Group })
	},
	"selectors":  (*visit).poolSelectors,
	"namespaces": (*visit).namespaces,
	"pods":       (*visit).waitingPods,
	"revisions":  (*visit).revisions,
	"times":      func(*visit) []string { return []string{"1h", "6h", "24h", "7d"} },
}

// Offers returns the lists that the fields of the page offer, each once.
func (f *frame) Offers() (out []offer) {
	if f.cluster == "" {
		return nil
	}
	for _, name := range f.lists {
		names := slices.DeleteFunc(offered[name](f.visit), func(s string) bool { return s == "" })
		slices.Sort(names)
		names = slices.Compact(names)
		out = append(out, offer{"list-" + name, names[:min(len(names), offeredNames)]})
	}
	return out
}

// nodesUse requests the nodes once for a page, by pool; none where the caller may not see them.
func (v *visit) nodesUse() *scenario.NodesUse {
	if v.nodes == nil {
		v.nodes = &scenario.NodesUse{}
		if v.get(v.ofCluster([]string{"nodes"}, "snapshot"), v.nodes) != nil {
			v.nodes = &scenario.NodesUse{}
		}
	}
	return v.nodes
}

func (v *visit) ofNodes(name func(n *scenario.NodeUse) string) (out []string) {
	nodes := v.nodesUse().Nodes
	for i := range nodes {
		out = append(out, name(&nodes[i]))
	}
	return out
}

// poolSelectors are the selectors of the groups that the nodes have.
func (v *visit) poolSelectors() []string {
	label := v.nodesUse().GroupLabel
	return v.ofNodes(func(n *scenario.NodeUse) string {
		if n.Group == "" {
			return ""
		}
		return label + "=" + n.Group
	})
}

// labelNames are the labels of the first node, as examples of what all have.
func (v *visit) labelNames() []string {
	nodes := v.nodesUse().Nodes
	if len(nodes) == 0 {
		return nil
	}
	var object struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	list := v.objects(url.Values{"kind": {"Node"}, "name": {nodes[0].Name}})
	if len(list) == 0 || json.Unmarshal(list[0], &object) != nil {
		return nil
	}
	return slices.Collect(maps.Keys(object.Metadata.Labels))
}

// objects lists objects of the page's revision, a page at most; none where the caller may not.
func (v *visit) objects(filter url.Values) []json.RawMessage {
	of := cmp.Or(v.query.Get("snapshot"), v.cluster+"@latest")
	list := &rest.ObjectList{}
	if v.get("/v1/snapshots/"+url.PathEscape(of)+"/objects?"+filter.Encode(), list) != nil {
		return nil
	}
	return list.Items
}

func (v *visit) namespaces() (out []string) {
	for _, js := range v.objects(url.Values{"kind": {"Namespace"}, "limit": {"500"}}) {
		var o struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if json.Unmarshal(js, &o) == nil {
			out = append(out, o.Metadata.Name)
		}
	}
	for _, pod := range v.waitingPods() {
		namespace, _, _ := strings.Cut(pod, "/")
		out = append(out, namespace)
	}
	return out
}

func (v *visit) waitingPods() (out []string) {
	q := &report.Queue{}
	if v.get(v.ofCluster([]string{"queue"}, "snapshot"), q) != nil {
		return nil
	}
	for _, p := range q.Active {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	for _, p := range q.Gated {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	return out
}

func (v *visit) revisions() (out []string) {
	list := &rest.SnapshotList{}
	if v.get("/v1/snapshots?"+url.Values{"cluster": {v.cluster}}.Encode(), list) != nil {
		return nil
	}
	for i := range list.Items {
		out = append(out, list.Items[i].ID)
	}
	return append(out, v.cluster+"@latest")
}
