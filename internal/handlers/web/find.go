package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"berth/internal/decision/record"
	"berth/internal/handlers/rest"
	"berth/internal/scenario"
	"berth/internal/words"
)

// elsewhere is an error that leads to another page.
type elsewhere struct{ address string }

// Error implements error.
func (e *elsewhere) Error() string { return "see " + e.address }

// findView is what a text of the search may stand for.
type findView struct {
	Text string
	Hits []hit
	// Meant is a name that is like the text, where nothing has the text in its name.
	Meant *hit
	// Cut reports that more was found than is listed.
	Cut bool
}

// hit is a page whose name has the text in it.
type hit struct{ Kind, Name, Address string }

// listedHits is how many hits of a kind are listed.
const listedHits = 20

// loadFound leads to what the search names where that is one thing: a decision by its id, a pod, a
// node, a revision or a page by its name. Else it lists what has the text in its name.
func loadFound(v *visit) (string, any, error) {
	f := frame{visit: v}
	text := strings.TrimSpace(strings.TrimLeft(v.query.Get("q"), " /")) // people type the key that leads here
	if uuid.Validate(text) == nil {
		return "", nil, &elsewhere{f.To("decisions", strings.ToLower(text))}
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "pod/"), "node/")
	if text == "" {
		return "", nil, &elsewhere{f.To()}
	}
	all := v.findable(&f, text)
	view := &findView{Text: text}
	counts := map[string]int{}
	for _, h := range all {
		if h.Name == text || strings.HasSuffix(h.Name, "/"+text) && v.only(all, text) {
			return "", nil, &elsewhere{h.Address}
		}
		if !strings.Contains(strings.ToLower(h.Name), strings.ToLower(text)) {
			continue
		}
		if counts[h.Kind]++; counts[h.Kind] <= listedHits {
			view.Hits = append(view.Hits, h)
		} else {
			view.Cut = true
		}
	}
	if len(view.Hits) == 1 {
		return "", nil, &elsewhere{view.Hits[0].Address}
	}
	if len(view.Hits) > 0 {
		return "Find " + text, view, nil
	}
	if namespace, name, both := strings.Cut(text, "/"); both && namespace != "" && name != "" && v.exists(namespace, name) {
		return "", nil, &elsewhere{f.To("pods", namespace, name)}
	}
	view.Meant = meant(all, text)
	return "Not found", view, &problem{Status: http.StatusNotFound, Title: "Not found", Detail: fmt.Sprintf("nothing in %s has “%s” in its name", v.cluster, text)}
}

// only reports whether one thing alone has a name that ends so.
func (v *visit) only(all []hit, text string) bool {
	n := 0
	for _, h := range all {
		if strings.HasSuffix(h.Name, "/"+text) {
			n++
		}
	}
	return n == 1
}

// findable lists what a search may lead to: pods that wait first, then nodes, other pods,
// decisions, revisions and pages. What the caller may not see is not among them.
func (v *visit) findable(f *frame, text string) (all []hit) {
	known := map[string]bool{}
	add := func(kind, name, address string) {
		if !known[kind+name] {
			known[kind+name] = true
			all = append(all, hit{kind, name, address})
		}
	}
	if v.cluster != "" {
		for _, pod := range v.waitingPods() {
			namespace, name, _ := strings.Cut(pod, "/")
			add("Pod", pod, f.To("pods", namespace, name))
		}
		for _, name := range v.ofNodes(func(n *scenario.NodeUse) string { return n.Name }) {
			add("Node", name, f.To("nodes", name))
		}
		for _, pod := range v.pods(text) {
			namespace, name, _ := strings.Cut(pod, "/")
			add("Pod", pod, f.To("pods", namespace, name))
		}
		v.decided(func(d *record.Row) {
			if strings.Contains(d.ID, strings.ToLower(text)) && len(text) >= 4 {
				add("Decision", d.ID, f.To("decisions", d.ID))
			}
			add("Pod", d.Pod.Namespace+"/"+d.Pod.Name, f.To("pods", d.Pod.Namespace, d.Pod.Name))
		})
		for _, id := range v.revisions() {
			add("Revision", id, f.To("snapshots", id))
		}
	}
	for _, room := range menu {
		for _, e := range room.Entries {
			add("Page", e.Name, f.To(e.Path))
		}
	}
	return all
}

// pods lists pods of the page's revision, of the namespace that a text begins with if it does, a
// page of the list at most.
func (v *visit) pods(text string) (out []string) {
	filter := url.Values{"kind": {"Pod"}, "limit": {"500"}}
	if namespace, _, both := strings.Cut(text, "/"); both {
		filter.Set("namespace", namespace)
	}
	for _, js := range v.objects(filter) {
		var o struct {
			Metadata struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"metadata"`
		}
		if json.Unmarshal(js, &o) == nil {
			out = append(out, o.Metadata.Namespace+"/"+o.Metadata.Name)
		}
	}
	return out
}

func (v *visit) exists(namespace, name string) bool {
	return len(v.objects(url.Values{"kind": {"Pod"}, "namespace": {namespace}, "name": {name}})) > 0
}

// decided calls f for the newest decisions on record.
func (v *visit) decided(f func(*record.Row)) {
	list := &rest.DecisionList{}
	if v.get("/v1/decisions?"+url.Values{"cluster": {v.cluster}, "limit": {"500"}}.Encode(), list) != nil {
		return
	}
	for i := range list.Items {
		f(list.Items[i])
	}
}

// meant returns what a misspelt text most likely stands for; nil where nothing is like it. A pod
// may be named without its namespace.
func meant(all []hit, text string) *hit {
	names, of := make([]string, 0, len(all)), map[string]*hit{}
	for i := range all {
		name := all[i].Name
		if !strings.Contains(text, "/") {
			name = name[strings.LastIndex(name, "/")+1:]
		}
		if of[name] == nil {
			names, of[name] = append(names, name), &all[i]
		}
	}
	near, ok := words.Nearest(text, names)
	if !ok {
		return nil
	}
	return of[near]
}
