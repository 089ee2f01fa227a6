package report

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
)

// Running is what the objects of a cluster say of the releases that run it. What they do not show
// is left out: a managed control plane has no pods.
type Running struct {
	APIServers []Component `json:"apiServers,omitempty"`
	Schedulers []Component `json:"schedulers,omitempty"`
	// Kubelets are the versions of kubelets that nodes report, by version.
	Kubelets []KubeletVersion `json:"kubelets,omitempty"`
} // @name Running

// Component is a pod of the control plane, and the version of its image.
type Component struct {
	Pod     string `json:"pod" example:"kube-scheduler-cp-1"`
	Version string `json:"version" example:"v1.37.1"`
} // @name Component

// KubeletVersion is how many nodes have a version of the kubelet.
type KubeletVersion struct {
	Version string `json:"version" example:"v1.37.1"`
	Nodes   int    `json:"nodes"`
} // @name KubeletVersion

// RunningOf reads what runs a cluster from a revision of it; nil where it says nothing.
func RunningOf(ctx context.Context, v *revision.View) (*Running, error) {
	r, nodes := &Running{}, map[string]int{}
	list, _, err := v.List(ctx, "Node", object.Key{}, 0)
	if err != nil {
		return nil, err
	}
	for _, js := range list {
		var n struct {
			Status struct {
				NodeInfo struct {
					KubeletVersion string `json:"kubeletVersion"`
				} `json:"nodeInfo"`
			} `json:"status"`
		}
		if err := json.Unmarshal(js, &n); err != nil {
			return nil, fmt.Errorf("a node in %s: %w", v.ID(), err)
		}
		if version := n.Status.NodeInfo.KubeletVersion; version != "" {
			nodes[version]++
		}
	}
	for version, n := range nodes {
		r.Kubelets = append(r.Kubelets, KubeletVersion{version, n})
	}
	slices.SortFunc(r.Kubelets, func(a, b KubeletVersion) int { return cmp.Compare(a.Version, b.Version) })
	var names []string
	v.State.EachPod(func(p *state.Pod) {
		if p.Namespace == object.SystemNamespace && !p.Terminal &&
			(strings.HasPrefix(p.Name, object.APIServer) || strings.HasPrefix(p.Name, object.Scheduler)) {
			names = append(names, p.Name)
		}
	})
	slices.Sort(names)
	for _, name := range names {
		pod, err := v.Pod(object.SystemNamespace, name)
		if err != nil {
			return nil, err
		}
		if _, version := object.Runs(pod, object.APIServer); version != "" {
			r.APIServers = append(r.APIServers, Component{name, version})
		}
		if _, version := object.Runs(pod, object.Scheduler); version != "" {
			r.Schedulers = append(r.Schedulers, Component{name, version})
		}
	}
	if len(r.APIServers)+len(r.Schedulers)+len(r.Kubelets) == 0 {
		return nil, nil
	}
	return r, nil
}

// Mismatches says in which of these decisions as a release may not be the cluster's.
func (r *Running) Mismatches(decides *semantics.Release) (list []string) {
	if r == nil {
		return nil
	}
	say := func(what string, found []Component) {
		for _, c := range found {
			if !decides.Follows(c.Version) {
				list = append(list, fmt.Sprintf("%s in pod kube-system/%s is %s; decisions are as by %s", what, c.Pod, c.Version, decides.Stamp()))
			}
		}
	}
	if say(object.Scheduler, r.Schedulers); len(r.Schedulers) == 0 {
		say(object.APIServer, r.APIServers)
	}
	for _, k := range r.Kubelets { // which are never newer than their control plane
		if decides.Before(k.Version) {
			list = append(list, fmt.Sprintf("kubelets of %d nodes are %s, so that the cluster is newer than %s, as which decisions are", k.Nodes, k.Version, decides.Stamp()))
		}
	}
	return list
}
