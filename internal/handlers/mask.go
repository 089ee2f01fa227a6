package handlers

import (
	"context"
	"fmt"
	"slices"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/engine"
)

// mayPod is mayIn for what is about one pod: a grant for the pod's namespace is enough where the
// route masks.
func mayPod(ctx context.Context, right access.Right, name, namespace string) error {
	if err := mayDo(ctx, right, needOf(ctx).scope == someNamespaces, name); err != nil || access.From(ctx).Grants.May(right, name, namespace) {
		return err
	}
	return forbidden(right, fmt.Sprintf("namespace %q of cluster %q", namespace, name))
}

// mask takes out of an answer what is about pods of namespaces that the caller may not see: it
// counts victims, and leaves out other lists and terms of other pods. What is left is the pod's own
// and the nodes'.
func mask(ctx context.Context, ans *decision.Answer) {
	who := access.From(ctx)
	if who.Grants.May(access.View, ans.Cluster, "") {
		return
	}
	hidden := func(namespace string) bool { return !who.Grants.May(access.View, ans.Cluster, namespace) }
	note := func(n int, what string) {
		if n > 0 {
			ans.Notes = append(ans.Notes, fmt.Sprintf("%s: %d pods of other namespaces", what, n))
		}
	}
	if ans.Preemption != nil {
		p := *ans.Preemption
		victims := slices.DeleteFunc(slices.Clone(p.Victims), func(v engine.Victim) bool { return hidden(v.Namespace) })
		note(len(p.Victims)-len(victims), "victims")
		cleared := slices.DeleteFunc(slices.Clone(p.ClearedNominations), func(r engine.PodRef) bool { return hidden(r.Namespace) })
		note(len(p.ClearedNominations)-len(cleared), "cleared nominations")
		p.Victims, p.ClearedNominations = victims, cleared
		p.CandidatesOmitted += len(p.Candidates)
		p.Reprieved, p.Candidates, p.NotCandidates = nil, nil, nil
		ans.Preemption = &p
	}
	if len(ans.Groups)+len(ans.Suggestions) > 0 {
		ans.Groups, ans.Suggestions = nil, nil
		ans.Notes = append(ans.Notes, "groups and suggestions need all namespaces of the cluster: they may name pods of others")
	}
	ans.Nodes = slices.Clone(ans.Nodes)
	for i := range ans.Nodes {
		n := &ans.Nodes[i]
		n.Details = maskDetails(n.Details)
		n.AlsoFailing = slices.Clone(n.AlsoFailing)
		for j := range n.AlsoFailing {
			n.AlsoFailing[j].Details = maskDetails(n.AlsoFailing[j].Details)
		}
	}
}

// existingAntiAffinity is the kind of details whose term is another pod's.
const existingAntiAffinity = "existingAntiAffinity"

func maskDetails(list []engine.Detail) []engine.Detail {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Kind == existingAntiAffinity {
			list[i].Term = ""
		}
	}
	return list
}
