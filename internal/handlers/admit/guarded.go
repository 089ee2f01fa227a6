package admit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/engine/state"
	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
)

// The guarded types stand between handlers and what they read and write: whatever cluster a body
// names, it is checked here against the caller and the right of the route. They embed nothing that
// takes a context, so that a new method does not compile without its check.

// guardedClusters checks each cluster.
type guardedClusters struct{ all Clusters }

func (g guardedClusters) View(ctx context.Context, name string, rev int64) (*revision.View, error) {
	if err := MayIn(ctx, name); err != nil {
		return nil, err
	}
	return g.all.View(ctx, name, rev)
}

func (g guardedClusters) CatchUp(ctx context.Context, v *revision.View) (*revision.View, error) {
	if err := MayIn(ctx, v.Cluster); err != nil {
		return nil, err
	}
	return g.all.CatchUp(ctx, v)
}

func (g guardedClusters) UploadResolved(ctx context.Context, name string, read object.Reader, stored revision.Classes, mayEmpty bool) (*revision.View, bool, error) {
	if err := mayDo(ctx, access.Administer, false, name); err != nil {
		return nil, false, err
	}
	return g.all.UploadResolved(ctx, name, read, stored, mayEmpty)
}

func (g guardedClusters) Change(ctx context.Context, name string, parent int64, apply []object.Object, del []object.Key) (*revision.View, error) {
	if err := mayDo(ctx, access.Administer, false, name); err != nil {
		return nil, err
	}
	return g.all.Change(ctx, name, parent, apply, del)
}

func (g guardedClusters) Update(ctx context.Context, name string, parent int64, f func(v *revision.View) (*revision.Step, error)) (*revision.View, *revision.Step, error) {
	if err := mayDo(ctx, access.Administer, false, name); err != nil {
		return nil, nil, err
	}
	return g.all.Update(ctx, name, parent, f)
}

func (g guardedClusters) List(ctx context.Context, name string, before int64, limit int) ([]*store.Revision, error) {
	if err := MayIn(ctx, name); err != nil {
		return nil, err
	}
	return g.all.List(ctx, name, before, limit)
}

func (g guardedClusters) WalkApart(ctx context.Context, cluster, namespace, name string) (*revision.Walk, error) {
	if err := MayPod(ctx, access.View, cluster, namespace); err != nil {
		return nil, err
	}
	return g.all.WalkApart(ctx, cluster, namespace, name)
}

func (g guardedClusters) Delete(ctx context.Context, name string, revision int64) error {
	if err := mayDo(ctx, access.Administer, false, name); err != nil {
		return err
	}
	return g.all.Delete(ctx, name, revision)
}

func (g guardedClusters) DeleteCluster(ctx context.Context, name string) error {
	if err := mayDo(ctx, access.Administer, false, name); err != nil {
		return err
	}
	return g.all.DeleteCluster(ctx, name)
}

func (g guardedClusters) Clusters(ctx context.Context, f store.ClusterFilter) ([]store.ClusterInfo, error) {
	return visible(f.Limit, func(c *store.ClusterInfo) bool { return SeesCluster(ctx, c.Name) }, func() ([]store.ClusterInfo, error) {
		list, err := g.all.Clusters(ctx, f)
		if len(list) > 0 {
			f.After = list[len(list)-1].Name
		}
		return list, err
	})
}

func (g guardedClusters) Count(ctx context.Context) (int, error) { return g.all.Count(ctx) }

func (g guardedClusters) Held() []*revision.View { return g.all.Held() }

// visible reads pages until limit items pass, or there are no more. A page that is not full is the
// last one; limit 0 has one page.
func visible[T any](limit int, passes func(*T) bool, page func() ([]T, error)) ([]T, error) {
	out := []T{}
	for {
		list, err := page()
		if err != nil {
			return nil, err
		}
		for i := range list {
			if (limit == 0 || len(out) < limit) && passes(&list[i]) {
				out = append(out, list[i])
			}
		}
		if limit == 0 || len(list) < limit || len(out) >= limit {
			return out, nil
		}
	}
}

// guardedDecisions checks the cluster and namespace of each decision.
type guardedDecisions struct{ all Decisions }

func (g guardedDecisions) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	if err := mayDecide(ctx, access.Decide, &q); err != nil {
		return nil, err
	}
	store.KeyedOf(ctx).Mask(func(ans any) { Mask(ctx, ans.(*decision.Answer)) })
	ans, err := g.all.Decide(ctx, q)
	if err == nil {
		Mask(ctx, ans)
	}
	return ans, err
}

// mayDecide refuses a question about a pod of a namespace that the caller lacks the right in. The
// answer is to be masked.
func mayDecide(ctx context.Context, right access.Right, q *decision.Question) error {
	q.Encoded = q.Encoded && seesAll(ctx, q.Cluster) // else mask changes it
	return MayPod(ctx, right, q.Cluster, namespaceOf(q))
}

// namespaceOf returns the namespace of the pod that a question is about.
func namespaceOf(q *decision.Question) string {
	switch {
	case q.PodRef != nil:
		return cmp.Or(q.PodRef.Namespace, corev1.NamespaceDefault)
	case q.Pod != nil:
		return q.Pod.Namespace
	}
	return ""
}

func (g guardedDecisions) Evaluate(ctx context.Context, q decision.Question) (*record.Entry, error) {
	if err := MayIn(ctx, q.Cluster); err != nil {
		return nil, err
	}
	return g.all.Evaluate(ctx, q)
}

func (g guardedDecisions) Write(ctx context.Context, e *record.Entry) (spooled bool, err error) {
	if err := MayIn(ctx, e.Cluster); err != nil {
		e.Release()
		return false, err
	}
	return g.all.Write(ctx, e)
}

// known reports a record that the caller may not see as one that is not there.
func (g guardedDecisions) known(ctx context.Context, id string) error {
	if Sees(ctx, "", "") {
		return nil
	}
	d, err := g.all.Record(ctx, id)
	if err == nil && !Sees(ctx, d.Cluster, d.Namespace) {
		err = &exchange.HiddenError{Cluster: d.Cluster, Err: fmt.Errorf("decision %s: %w", id, store.ErrNotFound)}
	}
	return err
}

func (g guardedDecisions) Get(ctx context.Context, id string) (*record.Recorded, error) {
	if err := g.known(ctx, id); err != nil {
		return nil, err
	}
	rec, err := g.all.Get(ctx, id)
	if err == nil {
		Mask(ctx, &rec.Answer)
	}
	return rec, err
}

func (g guardedDecisions) Record(ctx context.Context, id string) (*store.Decision, error) {
	if err := g.known(ctx, id); err != nil {
		return nil, err
	}
	return g.all.Record(ctx, id)
}

func (g guardedDecisions) Replay(ctx context.Context, id string, o record.Overrides) (*record.Replay, error) {
	if err := g.known(ctx, id); err != nil {
		return nil, err
	}
	if !Sees(ctx, "", "") {
		if err := g.mayReplay(ctx, id, &o); err != nil {
			return nil, err
		}
	}
	out, err := g.all.Replay(ctx, id, o)
	if err == nil {
		maskReplay(ctx, out)
	}
	return out, err
}

// mayReplay checks the snapshot and the pod that a replay takes instead of the recorded ones.
func (g guardedDecisions) mayReplay(ctx context.Context, id string, o *record.Overrides) error {
	d, err := g.all.Record(ctx, id)
	if err != nil {
		return err
	}
	name, namespace := d.Cluster, d.Namespace
	if o.Snapshot != "" {
		if name, _, err = revision.ParseID(o.Snapshot); err != nil {
			return err
		}
	}
	if o.Pod != nil {
		namespace = o.Pod.Namespace
	}
	return MayPod(ctx, access.Decide, name, namespace)
}

func (g guardedDecisions) List(ctx context.Context, f store.DecisionFilter) ([]*record.Row, error) {
	if f.Cluster != "" {
		if err := MayIn(ctx, f.Cluster); err != nil {
			return nil, err
		}
		if only, ok := access.From(ctx).Grants.OneNamespace(access.View, f.Cluster); ok && f.Namespace == "" {
			f.Namespace = only
		}
	}
	return visible(f.Limit, g.row(ctx), func() ([]*record.Row, error) {
		list, err := g.all.List(ctx, f)
		if len(list) > 0 {
			last := list[len(list)-1]
			f.BeforeTime, f.BeforeID = last.CreatedAt, last.ID
		}
		return list, err
	})
}

func (guardedDecisions) row(ctx context.Context) func(**record.Row) bool {
	return func(r **record.Row) bool { return Sees(ctx, (*r).Cluster, (*r).Pod.Namespace) }
}

func (g guardedDecisions) Follow(ctx context.Context, name string, after int64, limit int) ([]*record.Row, error) {
	if err := MayIn(ctx, name); err != nil {
		return nil, err
	}
	return visible(limit, g.row(ctx), func() ([]*record.Row, error) {
		list, err := g.all.Follow(ctx, name, after, limit)
		if len(list) > 0 {
			after = list[len(list)-1].Seq
		}
		return list, err
	})
}

func (g guardedDecisions) History(ctx context.Context, name string, since, until time.Time, most int, progress func(done int)) ([]record.Asked, bool, error) {
	if err := MayIn(ctx, name); err != nil {
		return nil, false, err
	}
	return g.all.History(ctx, name, since, until, most, progress)
}

func (g guardedDecisions) Started(ctx context.Context, name string, since, until time.Time) (int64, error) {
	if err := MayIn(ctx, name); err != nil {
		return 0, err
	}
	return g.all.Started(ctx, name, since, until)
}

func (g guardedDecisions) Preempted(ctx context.Context, name string, pods []object.Key) ([]record.Preempted, error) {
	if err := mayDo(ctx, access.Administer, false, name); err != nil {
		return nil, err
	}
	return g.all.Preempted(ctx, name, pods)
}

// Configuration needs no right in a cluster: a configuration is of none, and who knows a digest has
// seen a decision of it.
func (g guardedDecisions) Configuration(ctx context.Context, digest string) (*store.Profile, error) {
	return g.all.Configuration(ctx, digest)
}

func (g guardedDecisions) Gone(name string) { g.all.Gone(name) }

func (g guardedDecisions) Queue(ctx context.Context, v *revision.View, runs state.Runs, class func(name string) *schedulingv1.PriorityClass, when record.When) (*record.Queue, error) {
	if err := MayIn(ctx, v.Cluster); err != nil {
		return nil, err
	}
	q, err := g.all.Queue(ctx, v, runs, class, when)
	if err != nil || Sees(ctx, v.Cluster, "") {
		return q, err
	}
	hidden := func(p state.Queued) bool { return !Sees(ctx, v.Cluster, p.Namespace) }
	return &record.Queue{
		Active:    slices.DeleteFunc(slices.Clone(q.Active), func(p state.Waiting) bool { return hidden(p.Queued) }),
		Gated:     slices.DeleteFunc(slices.Clone(q.Gated), hidden),
		Nominated: slices.DeleteFunc(slices.Clone(q.Nominated), hidden),
	}, nil
}

// guardedBinder needs the right to bind.
type guardedBinder struct{ all Binder }

func (g guardedBinder) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	if err := mayDecide(ctx, access.Bind, &q); err != nil {
		return nil, err
	}
	store.KeyedOf(ctx).Mask(func(ans any) { Mask(ctx, ans.(*decision.Answer)) })
	ans, err := g.all.Decide(ctx, q)
	if err == nil {
		Mask(ctx, ans)
	}
	return ans, err
}

func (g guardedBinder) Bind(ctx context.Context, name string, pod decision.PodRef, node string) (bind.Bound, error) {
	if err := mayDo(ctx, access.Bind, false, name); err != nil {
		return bind.Bound{}, err
	}
	return g.all.Bind(ctx, name, pod, node)
}

func (g guardedBinder) Unserved(name string, pod decision.PodRef, scheduler string) string {
	return g.all.Unserved(name, pod, scheduler)
}

// guardedClasses checks the cluster of each priority class. Those that decisions read from memory
// belong to a cluster that was checked before, and pass.
type guardedClasses struct{ PriorityClasses }

func (g guardedClasses) List(ctx context.Context, name string) (*schedulingv1.PriorityClassList, error) {
	if err := MayIn(ctx, name); err != nil {
		return nil, err
	}
	return g.PriorityClasses.List(ctx, name)
}

func (g guardedClasses) Get(ctx context.Context, at, name string) (*schedulingv1.PriorityClass, error) {
	if err := MayIn(ctx, at); err != nil {
		return nil, err
	}
	return g.PriorityClasses.Get(ctx, at, name)
}

func (g guardedClasses) Create(ctx context.Context, at string, c *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error) {
	if err := MayIn(ctx, at); err != nil {
		return nil, err
	}
	return g.PriorityClasses.Create(ctx, at, c)
}

func (g guardedClasses) Update(ctx context.Context, at, name string, c *schedulingv1.PriorityClass) (*schedulingv1.PriorityClass, error) {
	if err := MayIn(ctx, at); err != nil {
		return nil, err
	}
	return g.PriorityClasses.Update(ctx, at, name, c)
}

func (g guardedClasses) Delete(ctx context.Context, at, name string) (*schedulingv1.PriorityClass, error) {
	if err := MayIn(ctx, at); err != nil {
		return nil, err
	}
	return g.PriorityClasses.Delete(ctx, at, name)
}

// Guard puts the guarded types between an API and what it is made of.
func Guard(o Options) Options {
	if o.Clusters != nil {
		o.Clusters = guardedClusters{o.Clusters}
	}
	if o.Decisions != nil {
		o.Decisions = guardedDecisions{o.Decisions}
	}
	if o.PriorityClasses != nil {
		o.PriorityClasses = guardedClasses{o.PriorityClasses}
	}
	o.Binder, o.Replays, o.Simulations = guardedBinder{binderOf(&o)}, guardReplays(o.Replays), guardSimulations(o.Simulations)
	return o
}
