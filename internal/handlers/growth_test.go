package handlers

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/test/stepstest"
)

// dimension is one part of a cluster or of a call that its sender can make large.
type dimension struct {
	name string
	// limit names the setting that refuses what is larger. Where it counts the dimension itself,
	// every size up to it is taken and every size beyond it refused.
	limit string
	bound int // of a limit that is no setting
	most  int // the largest size tried; 10,000 if absent
	// invalid is a dimension of which no size is taken.
	invalid bool
	// objects are uploaded, as a part of its own; nil: calls are about the cluster base.
	objects func(g *growing) []string
	// before is called between the upload and the calls; nil: nothing is.
	before func(o *admit.Options, g *growing) error
	calls  func(g *growing) []longCall
}

// growing is one size of a dimension in one run. Names that hold tag differ between runs, so that
// no memo has them.
type growing struct {
	n       int
	tag     string
	cluster string
}

// list joins what f makes of each number below n.
func (g *growing) list(f func(i int) string) string { return strings.Join(items(g.n, f), ",") }

func items(n int, f func(i int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// cost is what one part of a dimension takes at one size.
type cost struct {
	n     int
	looks int // at the call's context, which each few thousand steps are
	bytes uint64
	cpu   time.Duration
	gap   time.Duration // the longest time without a look
}

// timed notes the longest time between two looks at a context.
type timed struct {
	*stepstest.Context
	mu   sync.Mutex
	last time.Time
	gap  time.Duration
}

func (c *timed) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.gap, c.last = max(c.gap, now.Sub(c.last)), now
	return c.Context.Err()
}

// A cost grows too fast if it is more than three times n log n from one size to the next, and above
// what noise makes: what no longer fits into the processor's caches takes up to three times as
// long. A quadratic cost is some eight times n log n from a size to ten times that.
const (
	growthMargin = 3
	floorLooks   = 40
	floorBytes   = 4 << 20
	floorCPU     = 5 * time.Millisecond
)

// tooFast names what grew too fast since the last size that was at most a fifth of this one: what
// is pooled or doubled makes steps between sizes that are near to each other. What was below a
// tenth of the floor counts as that.
func (c *cost) tooFast(sizes []cost, measured bool) (why []string) {
	before := &cost{}
	for i := range sizes {
		if 5*sizes[i].n <= c.n {
			before = &sizes[i]
		}
	}
	if before.n == 0 {
		return nil
	}
	times := func(n int) float64 { return float64(n) * math.Log2(float64(n)) }
	grew := func(what string, from, to, floor float64) {
		if most := growthMargin * times(c.n) / times(before.n) * max(from, floor/10); to > max(floor, most) {
			why = append(why, fmt.Sprintf("%s %.1f times those at %d", what, to/max(from, floor/10), before.n))
		}
	}
	grew("looks", float64(before.looks), float64(c.looks), floorLooks)
	grew("bytes", float64(before.bytes), float64(c.bytes), floorBytes)
	if measured {
		grew("CPU time", float64(before.cpu), float64(c.cpu), float64(floorCPU))
	}
	return why
}

// least takes the smaller figures of two runs.
func (c *cost) least(other cost) {
	c.looks, c.bytes, c.cpu, c.gap = min(c.looks, other.looks), min(c.bytes, other.bytes), min(c.cpu, other.cpu), min(c.gap, other.gap)
}

// growth runs dimensions. Measured, it goes as far as the default limits and compares CPU time;
// else it lowers limits, stays small, and compares looks and allocated bytes.
type growth struct {
	*harness
	measured bool
	table    *tabwriter.Writer
}

// TestGrowth shows that what calls cost does not grow faster than n log n with any dimension of
// their input, and that what is too large is refused by a limit's name. BERTH_GROWTH=1 goes as far
// as the limits allow and prints a table (make growth); BERTH_GROWTH=words runs the dimensions
// whose names hold the words.
func TestGrowth(t *testing.T) {
	only := os.Getenv("BERTH_GROWTH")
	g := &growth{measured: only != "", table: tabwriter.NewWriter(io.Discard, 0, 0, 2, ' ', 0)}
	nodes, pods := 40, 80
	if g.measured {
		nodes, pods = 500, 1000
		g.table = tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		defer g.table.Flush()
	}
	g.harness = start(t, func(o *admit.Options) {
		if l := &o.Limits; !g.measured {
			l.MaxNodes, l.MaxPods, l.MaxObjects, l.NodesMaxNodes, l.FilterMaxNames, l.MaxValues = 500, 500, 1000, 500, 500, 500
			l.DecisionMaxTokens = 20_000
		}
	})
	g.upload("base", growthBase(nodes, pods))
	_, _ = fmt.Fprintln(g.table, "dimension\tpart\tsize\tstatus\tlooks\tgap ms\tKiB\tCPU ms")
	for _, d := range dimensions {
		if only == "" || only == "1" || strings.Contains(d.name, only) {
			g.dimension(t, &d)
		}
	}
}

// limitOf returns the limit that counts the dimension; 0 where none does.
func (g *growth) limitOf(d *dimension) (n int) {
	if n = d.bound; n > 0 || d.limit == "max-objects" || strings.HasSuffix(d.limit, "-tokens") {
		return n // what reaches those limits is more than the dimension
	}
	limits.Each(&g.api.Limits, func(tag reflect.StructTag, p any) {
		if v, ok := p.(*int); ok && tag.Get("name") == d.limit {
			n = *v
		}
	})
	return n
}

func (g *growth) sizes(d *dimension, limit int) []int {
	most := d.most
	if most == 0 {
		most = 10_000
	}
	if !g.measured {
		most = min(most, 1000)
	}
	sizes := []int{10}
	for n := 100; n <= most; n *= 10 {
		sizes = append(sizes, n)
	}
	if limit > 0 && limit <= most {
		sizes = append(sizes, limit, limit+1)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func (g *growth) dimension(t *testing.T, d *dimension) {
	limit, sizes := g.limitOf(d), map[string][]cost{}
	for _, n := range g.sizes(d, limit) {
		var names []string
		now, status, fast := map[string]cost{}, map[string]int{}, map[string]string{}
		for run := range 3 {
			if run > 0 && !g.measured {
				break
			}
			long := false
			clear(fast)
			g.run(t, d, n, run, limit, func(part string, code int, c cost) {
				if have, ok := now[part]; ok {
					c.least(have)
				} else {
					names = append(names, part)
				}
				now[part], status[part] = c, code
				fast[part] = strings.Join(c.tooFast(sizes[part], g.measured), ", ")
				long = long || c.cpu > time.Second
			})
			if long && strings.Join(slices.Collect(maps.Values(fast)), "") == "" {
				break // further runs could only lower it
			}
		}
		for _, part := range names {
			c := now[part]
			_, _ = fmt.Fprintf(g.table, "%s\t%s\t%d\t%d\t%d\t%.1f\t%d\t%.1f\t%s\n", d.name, part, n, status[part], c.looks, float64(c.gap)/1e6, c.bytes>>10, float64(c.cpu)/1e6, fast[part])
			if fast[part] != "" {
				t.Errorf("%s: %s: at %d: %s", d.name, part, n, fast[part])
			}
			sizes[part] = append(sizes[part], c)
		}
		if g.measured {
			_ = g.table.Flush()
		}
	}
}

// run measures the parts of a dimension at one size, once.
func (g *growth) run(t *testing.T, d *dimension, n, run, limit int, seen func(part string, code int, c cost)) {
	at := &growing{n: n, tag: fmt.Sprintf("r%d", run), cluster: "base"}
	part := func(c longCall) bool {
		a, spent := g.spent(&c)
		spent.n = n
		seen(c.name, a.Code, spent)
		body := a.Body.String() // an extender's answer has its error beside the status 200
		refused := a.Code >= 300 || strings.Contains(body, `"Error":"`) && !strings.Contains(body, `"Error":""`)
		// Another limit may be reached first, of bytes or of all lists of an object together.
		named := d.limit != "" && strings.Contains(body, d.limit) || strings.Contains(body, "is over the limit ")
		// What is taken may still be too much for a call about it.
		short := strings.Contains(body, "memory-budget=") && c.name != "upload"
		switch {
		case a.Code >= 500, refused && !d.invalid && !named && !short, refused && !d.invalid && limit > 0 && n <= limit && !short:
			t.Errorf("%s: %s: %d: %d %.300s", d.name, c.name, n, a.Code, body)
		case limit > 0 && n > limit && !(refused && named):
			t.Errorf("%s: %s: %d is not refused by %q: %d %.300s", d.name, c.name, n, d.limit, a.Code, body)
		}
		return !refused
	}
	if d.objects != nil {
		at.cluster = fmt.Sprintf("grown%d", run)
		defer g.do("DELETE", "/v1/clusters/"+at.cluster, "")
		if !part(longCall{name: "upload", method: "POST", path: "/v1/snapshots?cluster=" + at.cluster, body: listOf(d.objects(at)...)}) {
			return
		}
	}
	if d.before != nil {
		if err := d.before(&g.o, at); err != nil {
			t.Fatalf("%s: %d: %v", d.name, n, err)
		}
	}
	if d.calls == nil {
		return
	}
	for _, c := range d.calls(at) {
		part(c)
	}
}

// spent answers a call and measures what that takes.
func (g *growth) spent(c *longCall) (a *httptest.ResponseRecorder, spent cost) {
	var seen *timed
	if g.measured {
		runtime.GC()
	}
	var from, to runtime.MemStats
	runtime.ReadMemStats(&from)
	cpu := processCPU()
	a = g.within(c, func(parent context.Context) context.Context {
		seen = &timed{Context: stepstest.After(parent, 0), last: time.Now()}
		return seen
	})
	spent.cpu = processCPU() - cpu
	runtime.ReadMemStats(&to)
	_ = seen.Err() // the end
	spent.gap = seen.gap
	spent.bytes, spent.looks = to.TotalAlloc-from.TotalAlloc, seen.Looks()-1
	return a, spent
}

func processCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
