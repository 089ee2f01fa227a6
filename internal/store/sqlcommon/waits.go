package sqlcommon

import (
	"context"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/rollup"
)

const (
	sqlWaits = `SELECT namespace, pod, pod_uid, since, cause, until, seen FROM waits
WHERE cluster = $1 AND pod IN ({names 2}) ORDER BY pod, namespace, pod_uid, since`
	sqlPutWait = `INSERT INTO waits (cluster, namespace, pod, pod_uid, since, cause, until, seen) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (cluster, pod, namespace, pod_uid, since) DO UPDATE SET cause = excluded.cause, until = excluded.until, seen = excluded.seen`
	sqlDropWaits = `DELETE FROM waits WHERE cluster = $1 AND namespace = $2 AND pod = $3 AND pod_uid = $4 AND since >= $5`
)

// PodRecords reads the records of pods up to a place; + 0 leaves the index by place out of it, by
// which the whole log would be read.
var PodRecords = `SELECT ` + lists.RolledUp.Select() + ` FROM decisions d
WHERE d.cluster = $1 AND d.pod IN ({names 2}) AND d.seq + 0 <= $3 AND (d.verb IN ('decide', 'filter', 'preempt') OR d.bound_revision > 0)`

// Changes of pods that end their waiting: what was deleted, and what got a node without a decision.
const (
	sqlPodChanges = `SELECT revision, namespace, name, coalesce(uid, ''), created_at FROM revision_changes
WHERE cluster = $1 AND revision > $2 AND revision <= $3 AND kind = 'Pod' AND (action = 'delete' OR node <> '')`
	sqlNextChanges    = sqlPodChanges + ` ORDER BY revision LIMIT $4`
	sqlChangesOfNames = sqlPodChanges + ` AND name IN ({names 4})`
)

// readChanges reads the changes of pods that the step adds.
func (s Rollups) readChanges(ctx context.Context, step *rollupStep) error {
	c := &step.from
	if step.revision <= c.revision {
		return nil
	}
	type change struct {
		revision int64
		pod      rollup.Pod
		at       time.Time
	}
	var list []change
	err := s.db.Read(ctx, s.d.Text(sqlNextChanges), []any{step.cluster, c.revision, step.revision, int64(rollupPlaces)}, func(scan func(into ...any) error) error {
		var x change
		err := scan(&x.revision, &x.pod.Namespace, &x.pod.Name, &x.pod.UID, Time{&x.at})
		list = append(list, x)
		return err
	})
	if err != nil {
		return err
	}
	if n := len(list); n == rollupPlaces && list[n-1].revision > list[0].revision {
		step.revision = list[n-1].revision - 1 // the last one may not be whole
	}
	for _, x := range list {
		if x.revision <= step.revision {
			step.ended(x.pod, x.at)
		}
	}
	return nil
}

// ended notes that a pod waits no more.
func (step *rollupStep) ended(pod rollup.Pod, at time.Time) {
	step.events[pod] = append(step.events[pod], rollup.Event{At: at})
	if pod.UID != "" {
		step.nameless(pod, at)
	}
}

// nameless notes that a pod waits no more which decisions may know without its UID.
func (step *rollupStep) nameless(pod rollup.Pod, at time.Time) {
	pod.UID = ""
	step.events[pod] = append(step.events[pod], rollup.Event{At: at})
}

// changedWaits are stretches of a pod to write; those that begin at or after from go before, unless
// that is zero.
type changedWaits struct {
	pod   rollup.Pod
	from  time.Time
	waits []rollup.Wait
}

// workOutWaits works out which stretches the step changes. In the usual case its events are newer
// than what is known of a pod and go on from its last stretch. A pod whose events are not, such as
// those of a spool, is worked out again of all its records.
func (s Rollups) workOutWaits(ctx context.Context, step *rollupStep) error {
	if len(step.events) == 0 {
		return nil
	}
	known, err := s.knownWaits(ctx, step)
	if err != nil {
		return err
	}
	again := map[rollup.Pod][]rollup.Event{}
	for pod, events := range step.events {
		events = rollup.Sort(events)
		had := known[pod]
		switch n := len(had); {
		case n > 0 && had[n-1].Seen.Before(events[0].At):
			step.waits = append(step.waits, changedWaits{pod: pod, waits: rollup.Waits(had[n-1:], events)})
		case n > 0 || waiting(events):
			again[pod] = nil
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := s.podEvents(ctx, step, again); err != nil {
		return err
	}
	for pod, events := range again {
		if len(events) == 0 {
			continue // deleted for their age since
		}
		events = rollup.Sort(events)
		first := events[0].At
		// What is older than the oldest record that is left stays.
		var before []rollup.Wait
		for _, w := range known[pod] {
			if w.Since.Before(first) {
				before = append(before, w)
			}
		}
		if n := len(before); n > 0 {
			if before = before[n-1:]; !before[0].Until.Before(first) {
				before[0].Until = time.Time{}
			}
		}
		step.waits = append(step.waits, changedWaits{pod: pod, from: first, waits: rollup.Waits(before, events)})
	}
	return nil
}

func waiting(events []rollup.Event) bool {
	for _, e := range events {
		if e.Cause != "" {
			return true
		}
	}
	return false
}

// podNames returns the names of pods as a parameter.
func podNames[V any](pods map[rollup.Pod]V) (string, error) {
	list := make([]string, 0, len(pods))
	for pod := range pods {
		list = append(list, pod.Name)
	}
	return names(list)
}

// knownWaits reads the stretches of the step's pods.
func (s Rollups) knownWaits(ctx context.Context, step *rollupStep) (known map[rollup.Pod][]rollup.Wait, err error) {
	list, err := podNames(step.events)
	if err != nil {
		return nil, err
	}
	known = map[rollup.Pod][]rollup.Wait{}
	err = s.db.Read(ctx, s.d.Text(sqlWaits), []any{step.cluster, list}, func(scan func(into ...any) error) error {
		var pod rollup.Pod
		var w rollup.Wait
		if err := scan(&pod.Namespace, &pod.Name, &pod.UID, Time{&w.Since}, &w.Cause, Time{&w.Until}, Time{&w.Seen}); err != nil {
			return err
		}
		if _, ok := step.events[pod]; ok {
			known[pod] = append(known[pod], w)
		}
		return nil
	})
	return known, err
}

// podEvents reads what the log says of pods, up to the step's last place.
func (s Rollups) podEvents(ctx context.Context, step *rollupStep, pods map[rollup.Pod][]rollup.Event) error {
	list, err := podNames(pods)
	if err != nil {
		return err
	}
	first, placed := step.revision, []*store.Decision{}
	err = s.db.Read(ctx, s.d.Text(PodRecords), []any{step.cluster, list, step.seq}, func(scan func(into ...any) error) error {
		d := &store.Decision{}
		if err := scan(lists.RolledUp.Targets(d)...); err != nil {
			return err
		}
		pod := rollup.Pod{Namespace: d.Namespace, Name: d.Pod, UID: d.PodUID}
		if events, ok := pods[pod]; ok {
			if e, says := rollup.EventOf(d); says {
				pods[pod] = append(events, e)
				first = min(first, d.Revision)
			}
		}
		if rollup.Placed(d) && d.PodUID != "" {
			placed = append(placed, d)
		}
		return nil
	})
	for _, d := range placed {
		pod := rollup.Pod{Namespace: d.Namespace, Name: d.Pod}
		if events := pods[pod]; len(events) > 0 {
			pods[pod] = append(events, rollup.Event{At: d.CreatedAt})
		}
	}
	if err != nil || first == step.revision {
		return err
	}
	return s.db.Read(ctx, s.d.Text(sqlChangesOfNames), []any{step.cluster, first, step.revision, list}, func(scan func(into ...any) error) error {
		var revision int64
		var pod rollup.Pod
		var at time.Time
		if err := scan(&revision, &pod.Namespace, &pod.Name, &pod.UID, Time{&at}); err != nil {
			return err
		}
		for _, uid := range []string{pod.UID, ""} {
			pod.UID = uid
			if events := pods[pod]; len(events) > 0 { // what has no record keeps what is known
				pods[pod] = append(events, rollup.Event{At: at})
			}
			if uid == "" {
				break
			}
		}
		return nil
	})
}

// writeWaits writes the stretches that a step changes.
func (s Rollups) writeWaits(x Tx, step *rollupStep) error {
	var rows [][]any
	for _, c := range step.waits {
		if !c.from.IsZero() {
			if _, err := x.Exec(s.d.Text(sqlDropWaits), step.cluster, c.pod.Namespace, c.pod.Name, c.pod.UID, c.from); err != nil {
				return err
			}
		}
		for _, w := range c.waits {
			rows = append(rows, []any{step.cluster, c.pod.Namespace, c.pod.Name, c.pod.UID, w.Since, w.Cause, orNull(w.Until), w.Seen})
		}
	}
	return x.Many(s.d.Text(sqlPutWait), rows)
}
