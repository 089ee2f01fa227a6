package admit

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"berth/internal/handlers/exchange"
)

const (
	// denialsEvery is how often a line is logged of what one caller is refused for one reason.
	denialsEvery = 10 * time.Second
	// maxDenials is of how many of these is remembered when one was logged; what comes beside them
	// shares one.
	maxDenials = 1000
)

// denial is a caller that is refused for its identity or its rights, and why.
type denial struct {
	by  exchange.Caller
	why string
}

// denials let through a line for each of them in a while, so that no flood hides another caller's
// attempt and none fills the log.
type denials struct {
	mu   sync.Mutex
	last map[denial]*denied // guarded by mu
}

// denied is when a line was logged, and how many calls none was logged of since.
type denied struct {
	at     time.Time
	untold int
}

// allow reports whether a line is to be logged, and how many calls of that kind had none since the
// last.
func (d *denials) allow(of denial, now time.Time) (tell bool, untold int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil {
		d.last = map[denial]*denied{}
	}
	if d.last[of] == nil && len(d.last) >= maxDenials {
		for k, v := range d.last {
			if now.Sub(v.at) >= denialsEvery {
				delete(d.last, k)
			}
		}
		if len(d.last) >= maxDenials {
			of = denial{}
		}
	}
	have := d.last[of]
	switch {
	case have == nil:
		d.last[of] = &denied{at: now}
		return true, 0
	case now.Sub(have.at) < denialsEvery:
		have.untold++
		return false, 0
	}
	untold, have.at, have.untold = have.untold, now, 0
	return true, untold
}

// denied reports whether a line is to be logged of a call that is refused, with the number of those
// before it that had none.
func (a *Admission) denied(r *http.Request, why string) (tell bool, untold slog.Attr) {
	tell, n := a.denials.allow(denial{exchange.CallerOf(r), why}, time.Now())
	if n > 0 {
		untold = slog.Int("untold", n)
	}
	return tell, untold
}
