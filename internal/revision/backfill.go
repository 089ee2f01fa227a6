package revision

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/jsonscan"
	"berth/internal/kube/object"
	"berth/internal/steps"
	"berth/internal/store"
)

// Filled is what a backfill of a cluster's revisions came to.
type Filled struct {
	Revisions int64 // of which the objects were filled in
	// Removed are those whose objects were removed for their age, and Rootless those whose parent
	// is gone or whose content cannot be read: what they changed cannot be told.
	Removed, Rootless int64
}

// fillStore is what a backfill needs of a store.
type fillStore interface {
	store.Revisions
	store.Backfill
}

// fillRows is about how many rows of objects one transaction writes.
const fillRows = 2000

// Backfill writes the objects of revisions that earlier releases stored without, as far as the
// revisions and their parents are there. told is called after each step with the revision reached.
// What is there stays, so that one that was cut off may be called again.
func Backfill(
	ctx context.Context, st fillStore, f *store.Fillable, told func(revision int64),
) (out Filled, err error) {
	b := &backfill{st: st, f: f, told: told, out: &out}
	for after := int64(0); ; {
		list, err := st.Unchanged(ctx, f.Cluster, after, page)
		if err != nil || len(list) == 0 {
			return out, err
		}
		after = list[len(list)-1].Number
		b.recorded = map[int64]bool{}
		var lacking []int64
		for _, r := range list {
			if f.Gone(r.Number) {
				out.Removed++
				continue
			}
			// A bind whose decision was deleted for its age has no row either.
			b.recorded[r.Number] = r.Recorded || f.Shortened
			lacking = append(lacking, r.Number)
		}
		for len(lacking) > 0 {
			if lacking, err = b.fill(ctx, lacking); err != nil {
				return out, err
			}
		}
	}
}

// backfill walks through the revisions of a cluster.
type backfill struct {
	st   fillStore
	f    *store.Fillable
	told func(int64)
	out  *Filled
	// recorded are revisions whose bound pods decisions have.
	recorded map[int64]bool

	inv *inventory // the content of at; nil: it is not known
	at  predecessor
}

// fill fills in the first of some revisions, as far as one page goes, and returns the others.
func (b *backfill) fill(ctx context.Context, lacking []int64) ([]int64, error) {
	if b.inv == nil || lacking[0] > b.at.number+page {
		if err := b.jump(ctx, lacking[0]-1); err != nil {
			return nil, err
		}
	}
	list, err := b.st.RevisionsAfter(ctx, b.f.Cluster, b.at.number, page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FormatID(b.f.Cluster, lacking[0]), err)
	}
	if len(list) == 0 { // pruned meanwhile
		return nil, nil
	}
	var ready []*store.Revision
	for rows := 0; len(list) > 0 && len(lacking) > 0 && rows < fillRows; list = list[1:] {
		r := list[0]
		c, err := b.step(ctx, r)
		if err != nil && (ctx.Err() != nil || !errors.Is(err, ErrCorrupt)) {
			return nil, err
		}
		if wanted := r.Number == lacking[0]; wanted && c != nil && err == nil {
			c.into(r)
			ready = append(ready, r)
			rows += len(r.Objects)
		} else if wanted {
			b.out.Rootless++
		}
		for len(lacking) > 0 && lacking[0] <= r.Number {
			lacking = lacking[1:]
		}
	}
	if len(ready) > 0 {
		n, err := b.st.FillObjects(ctx, b.f.Cluster, ready)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", FormatID(b.f.Cluster, ready[0].Number), err)
		}
		b.out.Revisions += n
	}
	b.told(b.at.number)
	return lacking, nil
}

// jump goes to the checkpoint at or before a revision, where that is ahead.
func (b *backfill) jump(ctx context.Context, revision int64) error {
	c, err := b.st.CheckpointAt(ctx, b.f.Cluster, revision, nil)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", FormatID(b.f.Cluster, revision), err)
	case c.Number <= b.at.number:
		return nil
	}
	// It is compared with its digest as its own revision is read.
	b.inv, b.at = nil, predecessor{number: c.Number - 1}
	return nil
}

// step goes on to a revision, and returns what it changed; nil where that cannot be told. After an
// error the walk is nowhere until a revision has a checkpoint.
func (b *backfill) step(ctx context.Context, r *store.Revision) (c *changes, err error) {
	from := b.inv
	if from != nil && !b.at.leadsTo(r) {
		from = nil
	}
	b.inv, b.at = nil, predecessor{r.Number, r.Token}
	var to *inventory
	switch {
	case r.Change != nil && from != nil:
		c, to, err = b.change(ctx, from, r)
	case r.Checkpointed:
		to, err = b.checkpoint(ctx, r)
		if err == nil && r.Change == nil && (from != nil || r.ParentToken == "") {
			c, err = replaced(steps.Of(ctx), from, to)
		}
	}
	if err != nil || to == nil {
		return nil, err
	}
	if got := to.digest(); got != r.Digest {
		why := fmt.Sprintf("content has the digest %s, not %s", got, r.Digest)
		return nil, corrupt(r.Cluster, r.Number, why, nil)
	}
	b.inv = to
	return c, nil
}

// change carries out a revision's change.
func (b *backfill) change(
	ctx context.Context, from *inventory, r *store.Revision,
) (*changes, *inventory, error) {
	stored, err := decodeChange(r.Change)
	if err != nil {
		return nil, nil, corrupt(r.Cluster, r.Number, "change", err)
	}
	c, err := stored.changesOf(from, r.Cause, b.recorded[r.Number])
	d := from.draft()
	if err == nil {
		err = d.apply(r.Change)
	}
	if err != nil {
		return nil, nil, corrupt(r.Cluster, r.Number, "change", err)
	}
	to, err := d.done(steps.Of(ctx))
	return c, to, err
}

// checkpoint reads the content of a revision that has it.
func (b *backfill) checkpoint(ctx context.Context, r *store.Revision) (*inventory, error) {
	cp, err := b.st.CheckpointAt(ctx, r.Cluster, r.Number, nil)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w", FormatID(r.Cluster, r.Number), err)
	}
	if err != nil || cp.Number != r.Number {
		return nil, corrupt(r.Cluster, r.Number, "its checkpoint is gone", err)
	}
	inv, err := decodeCheckpoint(cp.Payload, nil, takeFrom(ctx))
	if err != nil {
		return nil, corrupt(r.Cluster, r.Number, "checkpoint", err)
	}
	return inv, nil
}

// changesOf are what a stored change does to an inventory, as grow notes it; recorded: a decision
// has the pod that it bound.
func (c *change) changesOf(inv *inventory, cause string, recorded bool) (*changes, error) {
	x, bind := &difference{del: c.Delete, recorded: recorded}, -1
	var node []byte
	if last := len(c.Apply) - 1; cause == causeBind && c.Bind == nil && last >= 0 { // the pod
		if node = jsonscan.Member(jsonscan.Member(c.Apply[last], "spec"), "nodeName"); len(node) > 2 {
			bind = last
		}
	}
	var bound object.Object
	for i, js := range c.Apply {
		k, err := keyOf(js)
		if err != nil {
			return nil, fmt.Errorf("apply[%d]: %w", i, err)
		}
		o := object.Object{Key: k, JSON: js}
		if i != bind {
			x.apply = append(x.apply, o)
			continue
		}
		bound, x.bind = o, &Bind{Node: string(jsonscan.Unquote(node))}
	}
	if c.Bind != nil {
		pod := &corev1.Pod{}
		k := object.Key{Kind: "Pod", Namespace: c.Bind.Namespace, Name: c.Bind.Name}
		if e := inv.get(k); e != nil {
			pod.UID = types.UID(uidOf(e.json()))
		}
		x.bind = &Bind{Pod: pod, Node: c.Bind.Node}
	}
	return changesOf(inv, x, bound, c.Bind), nil
}
