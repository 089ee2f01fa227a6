package sqlite

import (
	"fmt"

	"berth/internal/store"
	"berth/internal/store/lists"
)

// putRevision writes a revision that judge let pass. ok is false where the
// table's own keys refuse it, which a reused token makes them do.
func (b *batch) putRevision(r *store.Revision, c *store.Checkpoint) (ok bool, err error) {
	n, err := b.w.exec(sqlPutRevision, r.Cluster, r.Number, r.Token, r.ParentToken,
		r.CreatedAt.UnixMicro(), r.Digest, r.Cause, blob(r.Change), text(r.Summary))
	if err != nil || n == 0 {
		return false, err
	}
	if c != nil {
		n, err := b.w.exec(sqlPutCheckpoint, c.Cluster, c.Number, notNull(c.Payload))
		if err != nil {
			return false, err
		}
		if n != 1 {
			return false, fmt.Errorf("write checkpoint of %s@%d: %d rows added, not 1", c.Cluster, c.Number, n)
		}
	}
	h := b.heads[r.Cluster]
	h.newest, h.token = r.Number, r.Token
	h.revisions++
	b.known[revisionKey{r.Cluster, r.Number}] = true
	return true, nil
}

func (b *batch) putProfile(p *store.Profile) error {
	if b.profiles[p.Digest] {
		return nil
	}
	if _, err := b.w.exec(sqlPutProfile, p.Digest, p.Name, notNull(p.Payload)); err != nil {
		return err
	}
	b.profiles[p.Digest] = true
	return nil
}

// putDecision tells whether the decision was added rather than there already.
func (b *batch) putDecision(d *store.Decision) (added bool, err error) {
	stamp, scores := lists.StampOf(d)
	id, err := b.stamp(stamp)
	if err != nil {
		return false, err
	}
	h, err := b.head(d.Cluster)
	if err != nil {
		return false, err
	}
	// There is one writer: whoever sees this number sees all that are smaller.
	n, err := b.w.exec(sqlPutDecision, decisionValues(d, id, h.seq+h.decisions+1, scores)...)
	if err != nil {
		return false, err
	}
	if n > 1 {
		return false, fmt.Errorf("write decision %s: %d rows added, not 1", d.ID, n)
	}
	return n == 1, nil
}

// stamp gives the number of a stamp, which it writes where it is new.
func (b *batch) stamp(stamp lists.Stamp) (id int64, err error) {
	if id, ok := b.ids.Get(stamp); ok {
		return id, nil
	}
	if id, ok := b.stamps[stamp]; ok {
		return id, nil
	}
	columns := []any{stamp.Profile, stamp.ProfileDigest, stamp.Engine, stamp.Semantics, stamp.Plugins}
	if _, err := b.w.exec(sqlPutStamp, columns...); err != nil {
		return 0, err
	}
	if err := b.w.row(sqlStamp, columns, &id); err != nil {
		return 0, err
	}
	b.stamps[stamp] = id
	return id, nil
}

func decisionValues(d *store.Decision, stamp, seq int64, scores []byte) []any {
	return []any{
		d.Cluster, d.ID, d.CreatedAt.UnixMicro(), d.Now.UnixMicro(), d.Revision, d.BoundRevision, d.Verb, d.Outcome,
		d.Namespace, d.Pod, lists.PackUID(d.PodUID), d.Node, d.NominatedNode, int64(d.Priority),
		int64(d.NodesTotal), int64(d.NodesFeasible), d.Message, stamp,
		lists.PackDigest(d.SnapshotDigest), lists.PackDigest(d.PodDigest), lists.PackDigest(d.AnswerDigest), d.DurationMicros,
		text(lists.EncodeFailures(d.Failures)), text(scores), text(lists.EncodeVictims(d.Victims)), blob(d.Input), seq, d.Mode, number(d.StaleMillis),
	}
}

// blob, text and notNull keep nil apart from empty: a nil []byte inside an any
// is not a nil any.
func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func number(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

func text(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
