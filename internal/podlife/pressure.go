package podlife

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// monitoringInterval is the kubelet's pause between two looks
	// (pkg/kubelet/kubelet.go evictionMonitoringPeriod).
	monitoringInterval = 10 * time.Second
	// cleanupPoll is how often the kubelet checks whether an evicted pod is cleaned up,
	// before it looks again at once (eviction_manager.go waitForPodsCleanup).
	cleanupPoll = time.Second
	// mostEvictions bounds an answer; a node has 110 pods by default.
	mostEvictions = 10000
)

// pressing is an answer in the making.
type pressing struct {
	Pressure
	lines      []threshold
	transition time.Duration
	available  map[string]resource.Quantity
	reclaimed  map[string]bool
	cleaned    bool // in this pass, which was enough
	pods       []Consumer
	// first is when a threshold was first met, unresolved those that acted.
	first      map[int]time.Time
	unresolved map[int]bool
	seen       map[corev1.NodeConditionType]time.Time
	open       map[corev1.NodeConditionType]int // its place in out.Conditions
	out        *PressureRelief
}

// Relieve plays the kubelet's eviction manager from now on, until nothing happens
// any more. Beside what evicted pods and the kubelet's own cleaning give back
// usage stays as it is (pkg/kubelet/eviction eviction_manager.go synchronize).
func Relieve(q Pressure) (*PressureRelief, field.ErrorList) {
	lines, transition, errs := q.Config.thresholds(field.NewPath("config"))
	for _, signal := range slices.Sorted(maps.Keys(q.Signals)) {
		if !slices.Contains(pressureSignals, signal) {
			errs = append(errs, field.NotSupported(field.NewPath("signals"), signal, pressureSignals))
		}
	}
	for i := range lines {
		if o, ok := q.Signals[lines[i].signal]; ok && lines[i].value.quantity == nil && o.Capacity.IsZero() && len(errs) == 0 {
			errs = append(errs, field.Required(field.NewPath("signals").Key(lines[i].signal).Child("capacity"), "a threshold in percent needs it"))
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	w := &pressing{
		Pressure: q, lines: lines, transition: transition, available: map[string]resource.Quantity{}, reclaimed: map[string]bool{}, pods: slices.Clone(q.Pods),
		first: map[int]time.Time{}, unresolved: map[int]bool{}, seen: map[corev1.NodeConditionType]time.Time{}, open: map[corev1.NodeConditionType]int{},
		out: &PressureRelief{Thresholds: []ThresholdState{}, Evictions: []PressureEviction{}, Conditions: []PressureCondition{}, Available: map[string]resource.Quantity{}},
	}
	for signal, o := range q.Signals {
		// The kubelet reads whole numbers (helpers.go makeSignalObservations).
		format := resource.BinarySI
		if by, _ := ranks(signal); by == SignalInodes || by == SignalPIDs {
			format = resource.DecimalSI
		}
		w.available[signal] = *resource.NewQuantity(o.Available.Value(), format)
	}
	w.describe()
	w.play()
	maps.Copy(w.out.Available, w.available)
	w.out.Notes = append(w.out.Notes, "usage is taken to stay as it is; what an evicted pod used is free when it is gone")
	return w.out, nil
}

// describe writes how the thresholds stand.
func (w *pressing) describe() {
	for i := range w.lines {
		t := &w.lines[i]
		s := ThresholdState{Signal: t.signal, Kind: kindOf(t), Value: t.value.text}
		if o, ok := w.Signals[t.signal]; ok {
			s.Observed, s.Met = true, w.met(t, false)
			s.Quantity, s.Available = new(t.value.of(o.Capacity)), new(o.Available.DeepCopy())
			if s.Met {
				since := w.Now
				if o.Since != nil && o.Since.Before(w.Now) {
					since = *o.Since
				}
				w.first[i] = since
				acts := since.Add(t.grace)
				if acts.Before(w.Now) {
					acts = w.Now
				}
				s.Since, s.ActsAt = inYears(since), inYears(acts)
			}
		}
		if t.signal != allocatableAvailable || s.Observed {
			w.out.Thresholds = append(w.out.Thresholds, s)
		}
	}
}

func kindOf(t *threshold) string {
	if t.soft {
		return "soft"
	}
	return "hard"
}

// met compares a signal with a threshold, or with what has to be free beyond it
// (helpers.go thresholdsMet).
func (w *pressing) met(t *threshold, reclaim bool) bool {
	available, ok := w.available[t.signal]
	if !ok {
		return false
	}
	capacity := w.Signals[t.signal].Capacity
	quantity := t.value.of(capacity)
	if reclaim && t.reclaim != nil {
		quantity.Add(t.reclaim.of(capacity))
	}
	return quantity.Cmp(available) > 0
}

// play goes from pass to pass.
func (w *pressing) play() {
	at := w.Now
	for range mostEvictions {
		acting, quiet := w.look(at)
		if len(acting) > 0 {
			if gone, evicted := w.act(at, &w.lines[acting[0]], acting); evicted {
				at = gone
				continue
			}
		}
		if w.cleaned {
			w.cleaned = false
			at = at.Add(monitoringInterval)
			continue
		}
		next, any := w.wakes(at, acting, quiet)
		if !any {
			return
		}
		passes := max(1, (next.Sub(at)+monitoringInterval-1)/monitoringInterval)
		at = at.Add(passes * monitoringInterval)
	}
}

// look is the first half of a pass: which thresholds act now, in their order, and
// whether none is met.
func (w *pressing) look(at time.Time) (acting []int, quiet bool) {
	now := map[int]time.Time{}
	conditions := map[corev1.NodeConditionType]bool{}
	for i := range w.lines {
		t := &w.lines[i]
		if !w.met(t, false) && !(w.unresolved[i] && w.met(t, true)) {
			continue
		}
		since, known := w.first[i]
		if !known {
			since = at
		}
		now[i] = since
		conditions[conditionOf(t.signal)] = true
	}
	w.first, w.unresolved = now, map[int]bool{}
	for _, i := range slices.Sorted(maps.Keys(now)) {
		if at.Sub(now[i]) >= w.lines[i].grace {
			w.unresolved[i] = true
			acting = append(acting, i)
		}
	}
	slices.SortStableFunc(acting, func(a, b int) int {
		x, y := &w.lines[a], &w.lines[b]
		return cmp.Or(cmp.Compare(slices.Index(pressureSignals, x.signal), slices.Index(pressureSignals, y.signal)), cmp.Compare(x.grace, y.grace))
	})
	w.report(at, conditions)
	return acting, len(now) == 0
}

// report keeps the node's conditions (helpers.go nodeConditionsLastObservedAt,
// nodeConditionsObservedSince).
func (w *pressing) report(at time.Time, observed map[corev1.NodeConditionType]bool) {
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		if observed[kind] {
			w.seen[kind] = at
		}
		last, ever := w.seen[kind]
		i, open := w.open[kind]
		switch on := ever && at.Sub(last) < w.transition; {
		case on && !open:
			w.open[kind] = len(w.out.Conditions)
			w.out.Conditions = append(w.out.Conditions, PressureCondition{Type: kind, From: at.UTC()})
		case !on && open:
			w.out.Conditions[i].Until = inYears(at)
			delete(w.open, kind)
		}
	}
}

// wakes is the next moment at which a pass may do something.
func (w *pressing) wakes(at time.Time, acting []int, quiet bool) (next time.Time, any bool) {
	earlier := func(t time.Time) {
		if t.After(at) && (!any || t.Before(next)) {
			next, any = t, true
		}
	}
	for i, since := range w.first {
		if !slices.Contains(acting, i) {
			earlier(since.Add(w.lines[i].grace))
		}
	}
	held := map[corev1.NodeConditionType]bool{}
	for i := range w.first {
		held[conditionOf(w.lines[i].signal)] = true
	}
	for kind := range w.open {
		if !held[kind] {
			earlier(w.seen[kind].Add(w.transition))
		}
	}
	if !quiet && !any {
		w.out.Notes = append(w.out.Notes, "thresholds stay met, and no pod is left that the kubelet would evict")
	}
	return next, any
}

// conditionOf is the node condition of a signal.
func conditionOf(signal string) corev1.NodeConditionType {
	switch signal {
	case memoryAvailable, allocatableAvailable:
		return corev1.NodeMemoryPressure
	case pidAvailable:
		return corev1.NodePIDPressure
	}
	return corev1.NodeDiskPressure
}

// ranks is what pods are ranked by for a signal, and what the node is low on.
func ranks(signal string) (Signal, corev1.ResourceName) {
	switch conditionOf(signal) {
	case corev1.NodeMemoryPressure:
		return SignalMemory, corev1.ResourceMemory
	case corev1.NodePIDPressure:
		return SignalPIDs, usagePIDs
	}
	if signal == nodefsInodes || signal == imagefsInodes {
		return SignalInodes, usageInodes
	}
	return SignalDisk, corev1.ResourceEphemeralStorage
}

// reclaim frees what the kubelet cleans away itself; true: no threshold is met any
// more (eviction_manager.go reclaimNodeLevelResources).
func (w *pressing) reclaim(signal string) bool {
	if conditionOf(signal) != corev1.NodeDiskPressure {
		return false
	}
	for s, o := range w.Signals {
		if conditionOf(s) == corev1.NodeDiskPressure && !w.reclaimed[s] {
			w.available[s], w.reclaimed[s] = sumOf(w.available[s], o.Reclaimable), true
		}
	}
	for i := range w.lines {
		if w.met(&w.lines[i], true) {
			return false
		}
	}
	return true
}

// act is the second half of a pass: clean up, else evict the first pod of the
// order that may be evicted. gone is the next pass after it.
func (w *pressing) act(at time.Time, t *threshold, acting []int) (gone time.Time, evicted bool) {
	if w.reclaim(t.signal) {
		w.cleaned = true
		w.out.Notes = append(w.out.Notes, "deleting dead containers and unused images is enough for "+t.signal)
		return at, false
	}
	by, what := ranks(t.signal)
	ranking, _, _ := RankForEviction(by, w.pods)
	if len(ranking) == 0 {
		return at, false
	}
	r := &ranking[0]
	i := slices.IndexFunc(w.pods, func(c Consumer) bool {
		return c.Pod.Name == r.Name && cmp.Or(c.Pod.Namespace, corev1.NamespaceDefault) == r.Namespace
	})
	c := w.pods[i]
	cause := CauseEvictHard
	if !t.hard() {
		cause = CauseEvictSoft
	}
	end, errs := Terminate(Ending{Pod: c.Pod, Cause: cause, EvictionMaxPodGracePeriod: w.Config.EvictionMaxPodGracePeriod, Now: at})
	if len(errs) > 0 {
		return at, false
	}
	took := time.Duration(*end.EvictionTimeoutSeconds) * time.Second
	if n := end.GoneAfterSeconds; n != nil {
		took = min(took, time.Duration(*n)*time.Second)
	}
	available := w.available[t.signal]
	first := &w.lines[acting[slices.IndexFunc(acting, func(i int) bool { _, same := ranks(w.lines[i].signal); return same == what })]]
	quantity, shown := first.value.of(w.Signals[first.signal].Capacity), w.available[first.signal]
	e := PressureEviction{
		At: at.UTC(), OffsetSeconds: int64(at.Sub(w.Now) / time.Second), Namespace: r.Namespace, Name: r.Name, Signal: t.signal, Kind: kindOf(t), Resource: string(what),
		GracePeriodSeconds: evictionOverride(t, c.Pod, w.Config.EvictionMaxPodGracePeriod), GoneAtSeconds: int64(at.Add(took).Sub(w.Now) / time.Second), Available: new(available.DeepCopy()),
		Message: fmt.Sprintf("The node was low on resource: %s. Threshold quantity: %s, available: %s. ", what, quantity.String(), shown.String()),
	}
	if len(ranking) > 1 {
		e.Why = "before " + ranking[1].Namespace + "/" + ranking[1].Name + ": " + ranking[1].Why
	}
	w.out.Evictions = append(w.out.Evictions, e)
	w.pods = slices.Delete(slices.Clone(w.pods), i, i+1)
	for signal, q := range w.available {
		by, _ := ranks(signal)
		w.available[signal] = sumOf(q, c.Usage[by.UsageKey()])
	}
	return at.Add(took + cleanupPoll), true
}

// sumOf adds to what is available, in its format: Add takes that of the other amount where nothing
// was left.
func sumOf(q, more resource.Quantity) resource.Quantity {
	sum := q.DeepCopy()
	sum.Add(more)
	sum.Format = q.Format
	return sum
}

// evictionOverride is the period that the kubelet requests.
func evictionOverride(t *threshold, p *corev1.Pod, most int32) int64 {
	if t.hard() {
		return hardEvictionPeriod
	}
	return min(int64(most), specPeriod(p, false, nil))
}
