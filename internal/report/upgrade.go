package report

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/upgrade"
)

// Upgrade is what another release of Kubernetes would change for a cluster, by its objects alone.
type Upgrade struct {
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// From and To are the releases, with gates that are not at their defaults.
	From string `json:"from" example:"v1.36.3"`
	To   string `json:"to" example:"v1.37.2"`
	// Asked counts the pods that were decided on under both.
	Asked UpgradeAsked `json:"asked"`
	// Differ is how many of them have another answer.
	Differ int `json:"differ"`
	// Groups are the differences, counted by kind and cause; Decisions are they one by one.
	Groups    []upgrade.Group     `json:"groups"`
	Decisions []UpgradeDifference `json:"decisions"`
	// Objects are worth a look whatever is decided today.
	Objects []upgrade.Finding `json:"objects"`
	// Gone are in versions of APIs, or have fields, that the other release does not have, drops, or
	// will not have for long.
	Gone []upgrade.Finding `json:"gone"`
	// Settings are what the other release does not take of the configuration. What is decided is
	// then decided by the rest, or not at all.
	Settings []string `json:"settings,omitempty"`
	// Behaviours are all differences between the releases.
	Behaviours []*semantics.Behaviour `json:"behaviours"`
	// NotTold is what a snapshot cannot tell.
	NotTold []string `json:"notTold"`
} // @name Upgrade

// UpgradeAsked counts pods: those that wait, and one that runs of each workload, decided as if it
// came now.
type UpgradeAsked struct {
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	// Omitted are behind the limit.
	Omitted int `json:"omitted"`
} // @name UpgradeAsked

// UpgradeDifference is a pod whose answer is another one.
type UpgradeDifference struct {
	Pod     decision.PodRef  `json:"pod"`
	Changes []upgrade.Change `json:"changes"`
} // @name UpgradeDifference

// notTold is true of every comparison of two releases.
var notTold = []string{
	"which pods come in which order, and how long each takes",
	"which of several equally good nodes is drawn: a change among them counts as none",
	"decisions of groups of pods, of batches (OpportunisticBatching), and extenders' own answers",
	"what the API server and the kubelets do otherwise, but for objects that are listed",
	"in which versions of APIs manifests and clients write: a cluster hands each object out in one",
	"fields and kinds that are not kept, such as spec.workloadRef and Workloads of v1alpha1",
}

// UpgradeAsk describes a comparison.
type UpgradeAsk struct {
	Profiles []*engine.Profile // of the release before
	To       *semantics.Release
	// Refused are what To does not take of the file that Profiles were read from.
	Refused []string
	Limit   int // pods that are decided on
	Now     time.Time
}

// UpgradeIn compares what two releases decide about the pods of a view: decide makes a decision
// that is not recorded.
func UpgradeIn(ctx context.Context, v *revision.View, ask UpgradeAsk, decide func(context.Context, decision.Question) (*decision.Answer, error)) (*Upgrade, error) {
	from := ask.Profiles[0].Semantics
	c := &comparison{ctx: ctx, view: v, ask: ask, decide: decide, known: map[string][]*engine.Profile{from.Stamp(): ask.Profiles}}
	out := &Upgrade{
		Snapshot: v.ID(), From: from.Stamp(), To: ask.To.Stamp(), Decisions: []UpgradeDifference{},
		Behaviours: slices.Concat(semantics.Differences(from, ask.To), semantics.LifeDifferences(from, ask.To)), NotTold: notTold,
	}
	out.Settings = ask.Refused
	decided := true
	for _, p := range ask.Profiles {
		if _, err := rules.Under(p, ask.To); err != nil {
			decided = false
			if len(ask.Refused) == 0 {
				out.Settings = append(out.Settings, err.Error())
			}
		}
	}
	var err error
	if out.Objects, err = upgrade.Objects(ctx, v, out.Behaviours); err != nil {
		return nil, err
	}
	if out.Gone, err = upgrade.Gone(ctx, v, from, ask.To); err != nil || !decided {
		out.Groups = []upgrade.Group{}
		return out, err
	}
	var tally upgrade.Tally
	for _, pod := range c.pods(&out.Asked) {
		changes, err := c.compare(pod)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			continue
		}
		ref := decision.PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: v.State.Pod(pod.Namespace, pod.Name).UID}
		out.Differ++
		out.Decisions = append(out.Decisions, UpgradeDifference{ref, changes})
		tally.Add("", ref, changes)
	}
	out.Groups = tally.Groups()
	return out, nil
}

type comparison struct {
	ctx    context.Context
	view   *revision.View
	ask    UpgradeAsk
	decide func(context.Context, decision.Question) (*decision.Answer, error)
	known  map[string][]*engine.Profile // by release
}

// pods lists the pods to decide on, by name, waiting ones first.
func (c *comparison) pods(asked *UpgradeAsked) (list []object.Key) {
	var running []object.Key
	c.view.State.EachPod(func(p *state.Pod) {
		k := object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}
		switch {
		case p.Terminal || p.Terminating:
		case p.NodeName == "":
			list = append(list, k)
		default:
			running = append(running, k)
		}
	})
	slices.SortFunc(list, object.Key.Compare)
	slices.SortFunc(running, object.Key.Compare)
	seen := map[string]bool{}
	asked.Waiting = len(list)
	for _, k := range running {
		owner := c.workload(k)
		if owner != "" && seen[owner] {
			continue
		}
		seen[owner] = true
		asked.Running++
		list = append(list, k)
	}
	if n := len(list) - c.ask.Limit; n > 0 {
		list = list[:c.ask.Limit]
		asked.Omitted, asked.Waiting = n, min(asked.Waiting, c.ask.Limit)
		asked.Running = c.ask.Limit - asked.Waiting
	}
	return list
}

// workload names the controller of a pod; empty without one.
func (c *comparison) workload(k object.Key) string {
	pod, err := c.view.Pod(k.Namespace, k.Name)
	if err != nil {
		return ""
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return fmt.Sprintf("%s/%s/%s", k.Namespace, owner.Kind, owner.Name)
	}
	return ""
}

// compare decides on a pod under both releases.
func (c *comparison) compare(k object.Key) ([]upgrade.Change, error) {
	from := c.ask.Profiles[0].Semantics
	pod, err := c.view.Pod(k.Namespace, k.Name)
	if err != nil {
		return nil, err
	}
	short := func(r *semantics.Release) (upgrade.Reply, error) { return c.reply(r, pod, engine.ExplainNone) }
	full := func(r *semantics.Release) (upgrade.Reply, error) { return c.reply(r, pod, engine.ExplainFull) }
	before, err := short(from)
	if err != nil {
		return nil, err
	}
	after, err := short(c.ask.To)
	if err != nil || before.Err == nil && after.Err == nil && before.Digest == after.Digest {
		return nil, err
	}
	if before, err = full(from); err != nil {
		return nil, err
	}
	if after, err = full(c.ask.To); err != nil {
		return nil, err
	}
	return upgrade.Explain(before, after, from, c.ask.To, full)
}

// reply decides on a pod under a release. What is wrong with the question alone is in the reply.
func (c *comparison) reply(r *semantics.Release, pod *corev1.Pod, level engine.Explain) (upgrade.Reply, error) {
	profiles, ok := c.known[r.Stamp()]
	if !ok {
		for _, p := range c.ask.Profiles {
			other, err := rules.Under(p, r)
			if err != nil {
				return upgrade.Reply{}, err
			}
			profiles = append(profiles, other)
		}
		c.known[r.Stamp()] = profiles
	}
	ans, err := c.decide(c.ctx, decision.Question{
		Cluster: c.view.Cluster, Revision: c.view.Revision, Pod: pod.DeepCopy(), Profiles: profiles, Explain: level, DryRun: true, Now: c.ask.Now,
	})
	return upgrade.ReplyOf(c.ctx, ans, err)
}
