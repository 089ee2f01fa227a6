package revision

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/store"
)

// A hold is a row beside the revisions, whose pods are bound pods like others. It is made and ended
// by a revision, in whose entry the row is written. To end one its row is read once the head is
// durable, and the end is written on that head: of two ends the chain refuses one. Each revision's
// summary has when the first hold is over, so that no call has to look.

// holdsAtOnce is how many holds one revision ends at most, which bounds the memory of reading them.
const holdsAtOnce = 16

// Hold is that of a placement's step.
type Hold struct {
	ID  string
	For time.Duration
	// Expires is set by Update.
	Expires time.Time
}

// HoldEndedError is the error where a hold has ended otherwise than was to be.
type HoldEndedError struct{ Hold *store.Hold }

func (e *HoldEndedError) Error() string {
	return fmt.Sprintf("hold %s is %s since %s", e.Hold.ID, e.Hold.State, e.Hold.EndedAt.UTC().Format(time.RFC3339))
}

// holdStep is what a revision does to holds.
type holdStep struct {
	cause string        // of the revision; empty: it makes one, with a bind
	rows  []*store.Hold // as they are from then on
	made  *Hold         // of the one that is made
	sum   *HoldSum      // what the summary has then
	ends  []*store.Hold // of rows, those that end
}

// at sets the revision of a step.
func (s *holdStep) at(v *View) {
	if h := s.made; h != nil {
		row := s.rows[0]
		row.Revision, row.CreatedAt, row.ExpiresAt = v.Revision, v.CreatedAt, v.CreatedAt.Add(h.For).Truncate(time.Microsecond)
		h.Expires = row.ExpiresAt
		if s.sum.Until.IsZero() || row.ExpiresAt.Before(s.sum.Until) {
			s.sum.Until = row.ExpiresAt
		}
	}
	for _, row := range s.ends {
		row.EndedRevision, row.EndedAt = v.Revision, v.CreatedAt
	}
	v.Summary.Holds = s.sum
}

// due reports whether the time of a hold of the view is over.
func (v *View) due(m *Manager) bool {
	sum := v.Summary.Holds
	return sum != nil && store.HoldOver(sum.Until, m.now())
}

// undo is an object that a placement wrote, and what it was before.
type undo struct {
	object.Key
	Wrote  []byte          `json:"wrote"`            // the beginning of its SHA-256
	Before json.RawMessage `json:"before,omitempty"` // absent: it was not there
}

func wrote(js []byte) []byte {
	sum := sha256.Sum256(js)
	return sum[:16]
}

// holdOf makes the hold of a placement; nil where no pod is bound.
func (m *Manager) holdOf(ctx context.Context, head *View, step *Step) (*holdStep, error) {
	last, order := map[object.Key]object.Object{}, []object.Key{}
	for _, o := range step.Apply {
		if _, again := last[o.Key]; !again {
			order = append(order, o.Key)
		}
		last[o.Key] = o
	}
	var pods []store.HeldPod
	row := &store.Hold{ID: step.Hold.ID, Cluster: head.Cluster, State: store.HoldHeld, AskedBy: store.AskedOf(ctx).By}
	for _, d := range step.Placed {
		if d.Outcome != string(engine.Scheduled) {
			continue
		}
		p := store.HeldPod{Namespace: d.Namespace, Name: d.Pod, Node: d.Node, Decision: d.ID}
		if pod, ok := last[object.Key{Kind: "Pod", Namespace: d.Namespace, Name: d.Pod}].Value.(*corev1.Pod); ok {
			p.UID = string(pod.UID)
		}
		if pods = append(pods, p); !slices.Contains(row.Namespaces, d.Namespace) {
			row.Namespaces = append(row.Namespaces, d.Namespace)
		}
	}
	if len(pods) == 0 {
		return nil, nil
	}
	list := make([]undo, len(order))
	for i, k := range order {
		list[i] = undo{Key: k, Wrote: wrote(last[k].JSON)}
		if js, there := head.Object(k); there {
			list[i].Before = js
		}
	}
	var err1, err2 error
	row.Pods, err1 = json.Marshal(pods)
	row.Undo, err2 = json.Marshal(list)
	row.PodCount = len(pods)
	sum := HoldSum{}
	if s := head.Summary.Holds; s != nil {
		sum = *s
	}
	sum.Held++
	return &holdStep{rows: []*store.Hold{row}, made: step.Hold, sum: &sum},
		errors.Join(err1, err2, memory.Take(ctx, object.Weight(row.Undo)))
}

// withoutDue returns the newest view once the holds whose time is over have gone. While the store
// is away they stay: no other caller can have got their room.
func (m *Manager) withoutDue(ctx context.Context, v *View) (*View, error) {
	if !v.due(m) {
		return v, nil
	}
	without, _, err := m.Update(ctx, v.Cluster, 0, func(*View) (*Step, error) { return nil, nil })
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrFull) {
		return v, nil
	}
	return without, err
}

// holdsLook is the time between two looks for holds whose time is over. No decision waits for it.
const holdsLook = time.Second

// KeepHolds ends the holds of all clusters as their time is over, until ctx ends. Each process may
// do so: of several one ends a hold.
func (m *Manager) KeepHolds(ctx context.Context) {
	var before error
	for ctx.Err() == nil {
		err := m.ExpireDue(ctx)
		if err != nil && before == nil && ctx.Err() == nil {
			m.o.Log.Warn("holds whose time is over cannot be ended", slog.Any("error", err))
		}
		before = err
		select {
		case <-time.After(holdsLook*9/10 + rand.N(holdsLook/5)):
		case <-ctx.Done():
		}
	}
}

// ExpireDue ends the holds of all clusters whose time is over.
func (m *Manager) ExpireDue(ctx context.Context) error {
	clusters, err := m.st.HoldsDue(ctx, m.now())
	if err != nil {
		return fmt.Errorf("look for holds whose time is over: %w", err)
	}
	var errs []error
	for _, cluster := range clusters {
		if err := m.ExpireHolds(ctx, cluster); err != nil && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// ExpireHolds ends the holds of a cluster whose time is over.
func (m *Manager) ExpireHolds(ctx context.Context, cluster string) error {
	for {
		_, step, err := m.Update(ctx, cluster, 0, func(v *View) (*Step, error) { return m.expiry(ctx, v) })
		if err != nil || step == nil {
			return err
		}
	}
}

// expireLocked begins the revisions that end the holds whose time is over. The caller holds the
// chain's writer token, and what it writes follows them.
func (m *Manager) expireLocked(ctx context.Context, l *chain, head *View, epoch uint64) error {
	for head.due(m) {
		step, err := m.expiry(ctx, head)
		if err != nil {
			return err
		}
		if head, _, err = m.begin(ctx, l, head, epoch, step); err != nil {
			return err
		}
		p := head.write
		m.work.Go(func() { _ = m.finish(context.WithoutCancel(ctx), p, nil) }) // who follows it gets the error
	}
	return nil
}

// expiry returns the step that ends holds whose time is over; nil where there are none.
func (m *Manager) expiry(ctx context.Context, head *View) (*Step, error) {
	if err := head.write.wait(ctx); err != nil {
		return nil, err
	}
	list, err := m.st.Held(ctx, head.Cluster, holdsAtOnce+1)
	if err != nil {
		return nil, fmt.Errorf("holds of cluster %s: %w", head.Cluster, err)
	}
	now, n := m.now(), 0
	for n < len(list) && n < holdsAtOnce && store.HoldOver(list[n].ExpiresAt, now) {
		n++
	}
	if n == 0 && !head.due(m) {
		return nil, nil
	}
	ends := make([]*store.Hold, n)
	for i := range ends {
		if ends[i], err = m.st.Hold(ctx, list[i].ID); err != nil {
			return nil, err
		}
		if ends[i].State != store.HoldHeld { // by another server, whose revision is newer than head
			return nil, &lostError{fmt.Errorf("hold %s is %s: %w", ends[i].ID, ends[i].State, store.ErrConflict)}
		}
	}
	return m.ending(ctx, head, causeExpired, ends, list[n:])
}

// ending returns the step that ends holds. rest are the next of those that go on.
func (m *Manager) ending(ctx context.Context, head *View, cause string, ends, rest []*store.Hold) (*Step, error) {
	s := &Step{holds: &holdStep{cause: cause, rows: ends, ends: ends}}
	if len(rest) > 0 {
		s.holds.sum = &HoldSum{Held: len(rest), Until: rest[0].ExpiresAt}
		if sum := head.Summary.Holds; sum != nil {
			s.holds.sum.Held = max(len(rest), sum.Held-len(ends))
		}
	}
	state := map[string]string{causeCommit: store.HoldCommitted, causeRelease: store.HoldReleased, causeExpired: store.HoldExpired}[cause]
	// The youngest first: what it wrote over another one's comes back before that goes.
	slices.SortStableFunc(ends, func(a, b *store.Hold) int { return int(b.Revision - a.Revision) })
	now := map[object.Key][]byte{}
	for _, h := range ends {
		if state != store.HoldCommitted {
			if err := undone(ctx, head, h, now); err != nil {
				return nil, err
			}
		}
		h.State, h.Undo = state, nil
		if cause != causeExpired {
			h.EndedBy = store.AskedOf(ctx).By
		}
	}
	for k, js := range now {
		if js == nil {
			s.Delete = append(s.Delete, k)
			continue
		}
		o, err := object.FromCanonical(k.Kind, js)
		if err != nil {
			return nil, err
		}
		s.Apply = append(s.Apply, o)
	}
	slices.SortFunc(s.Delete, object.Key.Compare)
	slices.SortFunc(s.Apply, func(a, b object.Object) int { return a.Key.Compare(b.Key) })
	return s, nil
}

// undone adds what the end of a hold does to the objects of a view; nil: the object goes. Its pods
// go, or wait as they did before it. What else its placement wrote is as before, unless it has
// changed since.
func undone(ctx context.Context, v *View, h *store.Hold, now map[object.Key][]byte) error {
	if err := memory.Take(ctx, object.Weight(h.Undo)); err != nil {
		return err
	}
	var pods []store.HeldPod
	var list []undo
	if err := errors.Join(json.Unmarshal(h.Pods, &pods), json.Unmarshal(h.Undo, &list)); err != nil {
		return fmt.Errorf("hold %s: %w (%w)", h.ID, ErrCorrupt, err)
	}
	held := make(map[object.Key]store.HeldPod, len(pods))
	for _, p := range pods {
		held[object.Key{Kind: "Pod", Namespace: p.Namespace, Name: p.Name}] = p
	}
	for i := range list {
		u := &list[i]
		js, changed := now[u.Key]
		if !changed {
			js, _ = v.Object(u.Key)
		}
		if js == nil {
			continue // it was deleted
		}
		if p, ok := held[u.Key]; ok {
			if uidOf(js) != p.UID || nodeOf(js) != p.Node {
				continue // another pod of that name
			}
		} else if !slices.Equal(wrote(js), u.Wrote) {
			continue
		}
		now[u.Key] = u.Before
	}
	return nil
}

// Hold returns a hold as it is now: one whose time is over has ended.
func (m *Manager) Hold(ctx context.Context, id string) (*store.Hold, error) {
	h, err := m.st.Hold(ctx, id)
	if err != nil || h.State != store.HoldHeld || !store.HoldOver(h.ExpiresAt, m.now()) {
		return h, err
	}
	if err := m.ExpireHolds(ctx, h.Cluster); err != nil {
		return nil, err
	}
	return m.st.Hold(ctx, id)
}

// ListHolds lists holds as they are now.
func (m *Manager) ListHolds(ctx context.Context, f store.HoldFilter) ([]*store.Hold, error) {
	list, err := m.st.ListHolds(ctx, f)
	over := func(h *store.Hold) bool { return h.State == store.HoldHeld && store.HoldOver(h.ExpiresAt, m.now()) }
	if err != nil || !slices.ContainsFunc(list, over) {
		return list, err
	}
	if err := m.ExpireDue(ctx); err != nil {
		return nil, err
	}
	return m.st.ListHolds(ctx, f)
}

// EndHold commits a hold, which leaves its pods where they are, or releases it. One that has ended
// so stays as it is, and so does one that expired and is to be released. One that has ended
// otherwise is a *HoldEndedError.
func (m *Manager) EndHold(ctx context.Context, id string, commit bool) (*store.Hold, error) {
	cause, want := causeRelease, store.HoldReleased
	if commit {
		cause, want = causeCommit, store.HoldCommitted
	}
	h, err := m.st.Hold(ctx, id)
	if err == nil && h.State == store.HoldHeld {
		_, _, err = m.Update(ctx, h.Cluster, 0, func(v *View) (*Step, error) {
			if err := v.write.wait(ctx); err != nil {
				return nil, err
			}
			now, err := m.st.Hold(ctx, id)
			if err != nil {
				return nil, err
			}
			if h = now; h.State != store.HoldHeld {
				return nil, nil
			}
			ends := cause
			if store.HoldOver(h.ExpiresAt, m.now()) {
				ends = causeExpired
			}
			rest, err := m.st.Held(ctx, v.Cluster, 2)
			if err != nil {
				return nil, err
			}
			rest = slices.DeleteFunc(rest, func(o *store.Hold) bool { return o.ID == id })
			step, err := m.ending(ctx, v, ends, []*store.Hold{h}, rest)
			if k := store.KeyedOf(ctx); err == nil && k.Renders() && ends != causeExpired { // which is of no call
				step.Before = func(*View) error { return k.Prepare(h) }
			}
			return step, err
		})
	}
	switch {
	case err != nil:
		return nil, err
	case h.State == want, h.State == store.HoldExpired && !commit:
		return h, nil
	}
	return nil, &HoldEndedError{h}
}
