package admit

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/store"
)

// Bounds of what is counted, so that who is refused on purpose takes neither memory nor rows of the
// store from others. Named callers and addresses have each their own, since anyone can have many
// addresses.
const (
	// mostKinds is how many rows a minute may have, and mostOfCaller those of one caller.
	mostKinds, mostOfCaller = 300, 50
	// mostRows and rowsPerMinute are how many rows may come at once, and how many for long.
	mostRows, rowsPerMinute = 3000, 20
	// mostKept is how many rows wait for a store that is away.
	mostKept = 2000
	// flushEvery is the interval at which minutes that are over are looked for.
	flushEvery = 15 * time.Second
)

// deniedCalls counts the calls that were refused for who asked, by the minute. It is safe for
// concurrent use.
type deniedCalls struct {
	st       store.Denials // nil: nothing is counted
	instance string
	log      *slog.Logger

	mu     sync.Mutex
	minute time.Time                    // guarded by mu: the one that is counted
	kinds  map[deniedKind]*store.Denial // guarded by mu: of that minute
	byWho  map[string]int               // guarded by mu: kinds of each caller in it
	room   [2]deniedRoom                // guarded by mu: of addresses, of named callers
	ready  []store.Denial               // guarded by mu: of minutes that are over
}

// deniedKind is what a row of a minute has in common.
type deniedKind struct {
	cluster, caller, route, reason string
	status                         int
}

// deniedRoom is how many rows may still come.
type deniedRoom struct {
	kinds int // of this minute
	rows  float64
}

// add counts a refused call.
func (d *deniedCalls) add(now time.Time, kind deniedKind, askedBy, peer string) {
	if d.st == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn(now)
	row := d.kinds[kind]
	if row == nil {
		room := &d.room[0]
		if askedBy != "" {
			room = &d.room[1]
		}
		if room.kinds >= mostKinds || room.rows < 1 || d.byWho[kind.caller] >= mostOfCaller {
			kind, askedBy, peer = deniedKind{reason: store.DenialsCut}, "", ""
		} else {
			room.kinds++
			room.rows--
			d.byWho[kind.caller]++
		}
		if row = d.kinds[kind]; row == nil {
			row = &store.Denial{
				Minute: d.minute, Instance: d.instance, Cluster: kind.cluster, Caller: kind.caller, Route: kind.route,
				Status: kind.status, Reason: kind.reason, AskedBy: askedBy, FirstAt: now,
			}
			d.kinds[kind] = row
		}
	}
	row.Count++
	row.LastAt = now
	if row.Reason != store.DenialsCut {
		row.Peer = strings.Clone(peer)
	}
}

// turn begins another minute where the one that is counted is over. Who calls it holds mu.
func (d *deniedCalls) turn(now time.Time) {
	minute := now.UTC().Truncate(time.Minute)
	if !minute.After(d.minute) && d.kinds != nil {
		return // a clock that is set back goes on with the minute
	}
	for i := range d.room {
		room := &d.room[i]
		room.kinds = 0
		if d.minute.IsZero() {
			room.rows = mostRows
		}
		room.rows = min(mostRows, room.rows+rowsPerMinute*minute.Sub(d.minute).Minutes())
	}
	for _, row := range d.kinds {
		d.ready = append(d.ready, *row)
	}
	if over := len(d.ready) - mostKept; over > 0 {
		d.ready = slices.Insert(d.ready[over+1:], 0, cutDenials(d.ready[:over+1]))
	}
	d.minute, d.kinds, d.byWho = minute, map[deniedKind]*store.Denial{}, map[string]int{}
}

// cutDenials returns one row in the place of several.
func cutDenials(list []store.Denial) store.Denial {
	all := store.Denial{
		Minute: list[0].Minute, Instance: list[0].Instance, Reason: store.DenialsCut, FirstAt: list[0].FirstAt, LastAt: list[0].LastAt,
	}
	for i := range list {
		all.Count += list[i].Count
		if list[i].FirstAt.Before(all.FirstAt) {
			all.FirstAt = list[i].FirstAt
		}
		if list[i].LastAt.After(all.LastAt) {
			all.LastAt = list[i].LastAt
		}
	}
	return all
}

// flush writes the minutes that are over, and with all also the one that is counted. What could not
// be written waits for the next time.
func (d *deniedCalls) flush(ctx context.Context, now time.Time, all bool) error {
	d.mu.Lock()
	if d.turn(now); all {
		d.ready = slices.AppendSeq(d.ready, func(yield func(store.Denial) bool) {
			for row := range maps.Values(d.kinds) {
				if !yield(*row) {
					return
				}
			}
		})
		d.kinds = nil
	}
	list := d.ready
	d.ready = nil
	d.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	err := d.st.PutDenials(ctx, list)
	if err != nil {
		d.mu.Lock()
		d.ready = append(list, d.ready...)
		d.mu.Unlock()
	}
	return err
}

// KeepDenials writes what was refused to the store, each minute and when ctx ends.
func (a *Admission) KeepDenials(ctx context.Context) {
	d := &a.deniedCalls
	if d.st == nil {
		return
	}
	flush := func(ctx context.Context, all bool) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if err := d.flush(ctx, time.Now(), all); err != nil && a.Seldom.Allow("denials") {
			d.log.LogAttrs(ctx, slog.LevelWarn, "refused calls are not recorded yet", slog.String("error", err.Error()))
		}
	}
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			flush(ctx, false)
		case <-ctx.Done():
			flush(context.WithoutCancel(ctx), true)
			return
		}
	}
}

// countDenial counts a call whose error is a refusal of who asked.
func (a *Admission) countDenial(r *http.Request, err error, e *exchange.Error) {
	reason, about := e.Denied, e.About
	var hidden *exchange.HiddenError
	switch {
	case errors.As(err, &hidden):
		reason, about = "hidden", hidden.Cluster
	case reason != "":
	case e.Kind == "unauthenticated" || e.Kind == "forbidden":
		reason = e.Kind
	default:
		return
	}
	route := exchange.RoutePattern(r)
	if about == "" {
		t := aboutOf(r.Method, route)
		about = t.cluster(r)
	}
	if revision.CheckName(about) != nil {
		about = ""
	}
	by, peer := exchange.CallerOf(r), access.Peer(r)
	if by.Identity == "" {
		peer = by.String()
	}
	a.deniedCalls.add(time.Now(), deniedKind{strings.Clone(about), by.String(), route, reason, e.Status}, by.Identity, peer)
}
