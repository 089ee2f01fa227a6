package suggest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
	"berth/internal/words"
)

const (
	maxEnding  = 4 // pods that a wait names
	maxDeleted = 6 // pods that are tried to be deleted, one at a time
)

// ending waits for pods that were deleted, on the first node by name that takes the pod once they
// are gone. Those that had to be gone before are deleted by force.
func (s *searcher) ending() {
	pods := map[string][]*state.Pod{} // by node
	s.q.State.EachPod(func(p *state.Pod) {
		if p.Terminating && !p.Terminal && p.NodeName != "" {
			pods[p.NodeName] = append(pods[p.NodeName], p)
		}
	})
	if len(pods) == 0 {
		return
	}
	var all []*state.Pod
	for _, list := range pods {
		all = append(all, list...)
	}
	v := s.fits(s.without(all), s.q.Pod, placing)
	if v == nil {
		return
	}
	needed := all
	if there := pods[v.first(func(row int) bool { return len(pods[v.nodes.Node(row).Name]) > 0 })]; len(there) > 0 && len(there) < len(all) {
		if alone := s.fits(s.without(there), s.q.Pod, placing); alone != nil {
			needed, v = there, alone
		}
	}
	slices.SortFunc(needed, byName)
	for i := 0; len(needed) > 1 && i < len(needed) && i < maxEnding; { // leave out those that keep it from nothing
		rest := slices.Delete(slices.Clone(needed), i, i+1)
		if less := s.fits(s.without(rest), s.q.Pod, placing); less != nil {
			needed, v = rest, less
		} else {
			i++
		}
	}
	s.offerEnd(v, needed)
}

func byName(a, b *state.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// offerEnd keeps the end of pods: a wait, or a deletion by force where one is overdue.
func (s *searcher) offerEnd(v *verdict, pods []*state.Pod) {
	g := Suggestion{Kind: "wait", Target: "pod", Action: Wait}
	until, overdue := int64(0), false
	var names []string
	for _, p := range pods {
		until = max(until, p.Ends)
		overdue = overdue || !s.q.Options.Now.IsZero() && p.Ends < s.q.Options.Now.Unix()
		names = append(names, p.Namespace+"/"+p.Name)
	}
	more := ""
	if len(names) > maxEnding {
		names, more = names[:maxEnding], fmt.Sprintf(" and %d more", len(names)-maxEnding)
	}
	g.Change = fmt.Sprintf("wait until %s%s, which was deleted, is gone: by %s", strings.Join(names, ", "), more, time.Unix(until, 0).UTC().Format(time.RFC3339))
	if len(pods) > 1 {
		g.Change = strings.Replace(g.Change, ", which was deleted, is gone", ", which were deleted, are gone", 1)
	}
	cost := costWait
	if overdue {
		g.Kind, g.Action, cost = "delete", AskPlatform, costForce
		g.Change = fmt.Sprintf("delete %s%s by force: it had to be gone by %s", strings.Join(names, ", "), more, time.Unix(until, 0).UTC().Format(time.RFC3339))
		g.Warning = "its containers may still run on the node"
		if len(pods) == 1 {
			g.Command = fmt.Sprintf("kubectl delete pod %s -n %s --grace-period=0 --force", pods[0].Name, pods[0].Namespace)
		}
	}
	s.withoutPods(&g, pods)
	s.keep(v, engine.Scheduled, cost, g)
}

// deletion is the end of an object.
func deletion(kind, namespace, name string) Edit {
	return Edit{kind, namespace, name, []Op{{Op: "remove", Path: ""}}}
}

// without is the state without some pods, and without what only their claims have.
func (s *searcher) without(pods []*state.Pod) *state.State {
	e := s.q.State.Overlay()
	for _, p := range pods {
		e.Delete("Pod", p.Namespace, p.Name)
	}
	for _, c := range s.freed(pods) {
		free := c.DeepCopy()
		free.Status.Allocation, free.Status.ReservedFor = nil, nil
		if e.Put(free) != nil {
			return s.q.State
		}
	}
	return e.Done()
}

// freed returns the claims that lose their devices with the last of the pods that use them
// (pkg/controller/resourceclaim controller.go syncClaim).
func (s *searcher) freed(pods []*state.Pod) (out []*resourcev1.ResourceClaim) {
	gone := func(c *resourcev1.ResourceClaim) bool {
		for _, r := range c.Status.ReservedFor {
			if r.APIGroup != "" || r.Resource != "pods" || !slices.ContainsFunc(pods, func(p *state.Pod) bool { return p.Namespace == c.Namespace && p.Name == r.Name }) {
				return false
			}
		}
		return len(c.Status.ReservedFor) > 0
	}
	for _, c := range s.q.State.ResourceClaims() {
		if c.Status.Allocation != nil && gone(c) {
			out = append(out, c)
		}
	}
	return out
}

// withoutPods completes a change that ends pods: what is done, and what follows for claims.
func (s *searcher) withoutPods(g *Suggestion, pods []*state.Pod) {
	var edits []Edit
	for _, p := range pods {
		edits = append(edits, deletion("Pod", p.Namespace, p.Name))
	}
	for _, c := range s.freed(pods) {
		edits = append(edits, Edit{kindDeviceClaim, c.Namespace, c.Name, []Op{{Op: "remove", Path: "/status/allocation"}, {Op: "remove", Path: "/status/reservedFor"}}})
	}
	if g.Edit = edits[0]; len(edits) > 1 {
		g.Edits = edits
	}
}

const kindDeviceClaim = "ResourceClaim"

// deletions deletes one of the pods that are in the way, where no eviction helps by itself. Pods of
// the same owner gain nothing by it, and others that end or wait are no help.
func (s *searcher) deletions() {
	if s.base.Outcome != engine.UnschedulableOK {
		return
	}
	tried := map[string]bool{}
	blockers, _ := explain.Blockers(s.base, explain.ManyNodes)
	for _, b := range blockers {
		name := b.Namespace + "/" + b.Name
		if b.Kind == kindDeviceClaim && !tried[name] {
			tried[name] = true
			s.deleteClaim(b.Namespace, b.Name)
		}
		if b.Kind != "Pod" || tried[name] || s.sibling(b.Namespace, b.Name) || !deletable(&b) {
			continue
		}
		if len(tried) == maxDeleted {
			return
		}
		tried[name] = true
		p := s.q.State.Pod(b.Namespace, b.Name)
		if p == nil || p.NodeName == "" {
			continue
		}
		v := s.fits(s.without([]*state.Pod{p}), s.q.Pod, placing)
		if v == nil {
			continue
		}
		g := Suggestion{
			Kind: "delete", Change: "delete pod " + name, Target: "pod", Action: AskPlatform,
			Command: fmt.Sprintf("kubectl delete pod %s -n %s", b.Name, b.Namespace),
		}
		if s.withoutPods(&g, []*state.Pod{p}); b.Rule == "DynamicResources" {
			g.Change += ", which has the device"
		}
		if b.Owner != "" {
			g.Warning = b.Owner + " makes another, which may take the place again"
		}
		s.keep(v, engine.Scheduled, costDelete, g)
	}
}

// deleteClaim deletes a claim that has devices and that no pod uses.
func (s *searcher) deleteClaim(namespace, name string) {
	c := s.q.State.ResourceClaim(namespace, name)
	if c == nil || c.Status.Allocation == nil || len(c.Status.ReservedFor) > 0 {
		return
	}
	e := s.q.State.Overlay()
	e.Delete(kindDeviceClaim, namespace, name)
	if v := s.fits(e.Done(), s.q.Pod, placing); v != nil {
		s.keep(v, engine.Scheduled, costDelete, Suggestion{
			Kind: "delete", Change: fmt.Sprintf("delete claim %s/%s, which has the device and no pod", namespace, name), Target: "claim",
			Action: AskPlatform, Edit: deletion(kindDeviceClaim, namespace, name),
			Command: fmt.Sprintf("kubectl delete resourceclaim %s -n %s", name, namespace),
		})
	}
}

// maxResizes is how many deferred resizes are tried to be undone, one at a time.
const maxResizes = 4

// resizes undoes a resize that a node defers, of a pod that is in the way: meanwhile the pod counts
// with what it requests, and once the resize is done it really has that.
func (s *searcher) resizes() {
	tried := 0
	blockers, _ := explain.Blockers(s.base, explain.ManyNodes)
	for _, b := range blockers {
		if b.State != engine.BlockerResizing || tried == maxResizes {
			continue
		}
		tried++
		pod, js := &corev1.Pod{}, s.q.Object("Pod", b.Namespace, b.Name)
		if js == nil || apply(js, nil, pod) != nil {
			continue
		}
		as := state.AsAllocated(pod)
		ops, what := resizeBack(pod, as)
		e := s.q.State.Overlay()
		if len(ops) == 0 || e.Put(as) != nil {
			continue
		}
		v := s.fits(e.Done(), s.q.Pod, placing)
		if v == nil {
			continue
		}
		patch, err := json.Marshal(ops)
		if err != nil {
			continue
		}
		g := Suggestion{
			Kind: "resize", Change: fmt.Sprintf("undo the resize of %s/%s, which its node defers: %s", b.Namespace, b.Name, what), Target: "pod",
			Action: AskPlatform, Edit: Edit{"Pod", b.Namespace, b.Name, ops},
			Command: fmt.Sprintf("kubectl patch pod %s -n %s --subresource=resize --type=json -p %s", b.Name, b.Namespace, words.Quote(string(patch))),
		}
		if b.Owner != "" {
			g.Warning = "whoever resized the pods of " + b.Owner + " may do it again"
		}
		s.keep(v, engine.Scheduled, costResize, g)
	}
}

// resizeBack is the patch that makes a pod ask for what it has, and that in words. A limit that
// was the request stays it, so that the pod keeps its quality of service.
func resizeBack(pod, as *corev1.Pod) (ops []Op, what string) {
	var list []string
	for i := range pod.Spec.Containers {
		from, to := pod.Spec.Containers[i].Resources, &as.Spec.Containers[i].Resources
		to.Limits = to.Limits.DeepCopy()
		for _, name := range slices.Sorted(maps.Keys(to.Requests)) {
			old, has := from.Requests[name], to.Requests[name]
			if old.Cmp(has) == 0 {
				continue
			}
			at := pointer("spec", "containers", i, "resources")
			ops = append(ops, Op{"replace", at + pointer("requests", name), has.String()})
			if limit, limited := from.Limits[name]; limited && limit.Cmp(old) == 0 {
				to.Limits[name] = has
				ops = append(ops, Op{"replace", at + pointer("limits", name), has.String()})
			}
			list = append(list, fmt.Sprintf("%s of container %s %s", name, pod.Spec.Containers[i].Name, fromTo(name, amountOf(name, old), amountOf(name, has))))
		}
	}
	return ops, strings.Join(list, ", ")
}

// deletable reports whether people would delete a pod that is in the way: one of lower priority, or
// one that excludes the other. One of equals that only takes room has as much right to it.
func deletable(b *explain.Blocker) bool {
	switch b.State {
	case engine.BlockerEvictable:
		return true
	case "":
		return slices.Contains([]string{"NodePorts", "InterPodAffinity", "DynamicResources", "VolumeRestrictions"}, b.Rule)
	default:
		return false
	}
}

// sibling reports whether a pod has the controller that the waiting pod has. Two ReplicaSets of one
// Deployment are one.
func (s *searcher) sibling(namespace, name string) bool {
	own, owned := s.q.State.TopOwnerOf(s.q.Pod)
	p := s.q.State.Pod(namespace, name)
	if !owned || p == nil || namespace != s.q.Pod.Namespace {
		return false
	}
	o, ok := s.q.State.TopOwner(p)
	return ok && o == own
}

// template returns the controller whose template kubectl can change; nothing where there is none.
func (s *searcher) template() (kind, name string) {
	o, _ := s.q.State.TopOwnerOf(s.q.Pod)
	switch o.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
		return strings.ToLower(o.Kind), o.Name
	}
	return "", ""
}

// atTemplate is the command that makes a change of the pod in its controller's template. A
// template has no tolerations and no priority of admission.
func (s *searcher) atTemplate(of string, ops []Op) string {
	kind, name := s.template()
	switch of {
	case "nodeSelector", "nodeAffinity", "podAffinity", "podAntiAffinity", "topologySpread", "hostPort":
	default:
		return ""
	}
	if kind == "" {
		return ""
	}
	there := slices.Clone(ops)
	for i := range there {
		there[i].Path = "/spec/template" + there[i].Path
	}
	js, err := json.Marshal(there)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("kubectl patch %s %s -n %s --type=json -p %s", kind, name, s.q.Pod.Namespace, words.Quote(string(js)))
}

// typos replaces labels that no node has by those that were meant.
func (s *searcher) typos() {
	n := &narrowing{r: s.base}
	for _, key := range s.base.Query.SelectorKeys() {
		value := s.q.Pod.Spec.NodeSelector[key]
		m := n.missing(key, value)
		if m == nil || m.Meant == nil || m.Meant.Value == "" {
			continue
		}
		ops := []Op{{"replace", pointer("spec", "nodeSelector", key), m.Meant.Value}}
		if m.Meant.Key != key {
			ops = []Op{{Op: "remove", Path: pointer("spec", "nodeSelector", key)}, {"add", pointer("spec", "nodeSelector", m.Meant.Key), m.Meant.Value}}
		}
		s.offerPod("nodeSelector", costTypo, ChangePod, fmt.Sprintf("write %s=%s for %s=%s in nodeSelector", m.Meant.Key, m.Meant.Value, key, value), ops...)
	}
	required := state.RequiredNodeAffinity(s.q.Pod)
	if required == nil {
		return
	}
	for t := range required.NodeSelectorTerms {
		for i, e := range required.NodeSelectorTerms[t].MatchExpressions {
			if e.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			for k, value := range e.Values {
				if m := n.missing(e.Key, value); m != nil && m.Meant != nil && m.Meant.Key == e.Key && m.Meant.Value != "" && !slices.Contains(e.Values, m.Meant.Value) {
					s.offerPod("nodeAffinity", costTypo, ChangePod, fmt.Sprintf("write %s for %s, of %s in the required node affinity", m.Meant.Value, value, e.Key),
						Op{"replace", requiredAffinity + pointer("nodeSelectorTerms", t, "matchExpressions", i, "values", k), m.Meant.Value})
				}
			}
		}
	}
}
