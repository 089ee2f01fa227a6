package admit

import (
	"container/list"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

// maxCallers bounds the callers that are remembered, beside those that have calls in flight.
const maxCallers = 4096

// callerLimits bounds the calls of each caller, over all routes. The gates bound those of all
// callers together.
type callerLimits struct {
	rate, burst, inFlight int // rate and inFlight: 0 is no bound
	policy                string

	mu      sync.Mutex
	callers map[exchange.Caller]*list.Element // guarded by mu
	recent  *list.List                        // guarded by mu: of *callerUse, longest unused first
}

// callerUse is the rate of one caller, and how many of its calls run.
type callerUse struct {
	key     exchange.Caller
	bucket  *rate.Limiter
	running int
}

func newCallerLimits(l *limits.Limits) *callerLimits {
	c := &callerLimits{rate: l.CallerRate, burst: l.CallerBurst, inFlight: l.CallerInFlight, callers: map[exchange.Caller]*list.Element{}, recent: list.New()}
	if c.rate > 0 {
		c.policy = fmt.Sprintf(`"caller-rate";q=%d;w=%d`, c.burst, c.seconds(float64(c.burst)))
	}
	return c
}

// seconds is in how many whole seconds so many calls are allowed again, at least 1.
func (c *callerLimits) seconds(calls float64) int { return max(1, int(calls/float64(c.rate)+0.999)) }

// enter counts a call that begins at now, and adds the headers of the draft
// draft-ietf-httpapi-ratelimit-headers-11. The call is ended by end unless there is an error. The
// use of a caller that nothing is counted for is nil.
func (c *callerLimits) enter(h http.Header, key exchange.Caller, now time.Time) (*callerUse, error) {
	if c.rate == 0 && c.inFlight == 0 || key.Exempt() {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.use(key)
	if c.rate > 0 {
		allowed := u.bucket.AllowN(now, 1)
		left := max(0, u.bucket.TokensAt(now))
		h.Set("RateLimit-Policy", c.policy)
		h.Set("RateLimit", `"caller-rate";r=`+strconv.Itoa(int(left))+";t="+strconv.Itoa(c.seconds(float64(c.burst)-left)))
		if !allowed {
			return nil, c.refusal("caller-rate", c.rate, "calls a second", c.seconds(1-left))
		}
	}
	if c.inFlight > 0 && u.running >= c.inFlight {
		return nil, c.refusal("caller-in-flight", c.inFlight, "calls at once", 1+rand.IntN(3))
	}
	u.running++
	return u, nil
}

func (c *callerLimits) refusal(limit string, n int, what string, after int) *exchange.Error {
	return &exchange.Error{
		Status: http.StatusTooManyRequests, Kind: "overload", Limit: limit, RetryAfter: after, Gate: true, Denied: limit,
		Detail: fmt.Sprintf("this caller has more than --%s=%d %s; try again in %d s", limit, n, what, after),
	}
}

func (c *callerLimits) end(u *callerUse) {
	if u == nil {
		return
	}
	c.mu.Lock()
	u.running--
	c.mu.Unlock()
}

// use finds a caller, or adds it in place of the one that has asked for nothing longest. A caller
// that is forgotten begins with a whole burst. The caller of use holds mu.
func (c *callerLimits) use(key exchange.Caller) *callerUse {
	if e := c.callers[key]; e != nil {
		c.recent.MoveToBack(e)
		return e.Value.(*callerUse)
	}
	for e := c.recent.Front(); e != nil && len(c.callers) >= maxCallers; e = e.Next() {
		if u := e.Value.(*callerUse); u.running == 0 {
			delete(c.callers, u.key)
			c.recent.Remove(e)
			break
		}
	}
	u := &callerUse{key: key, bucket: rate.NewLimiter(rate.Limit(c.rate), c.burst)}
	c.callers[key] = c.recent.PushBack(u)
	return u
}
