package scenario

import "berth/internal/world"

// samples is about how many samples a run has.
const samples = 20

// Sample is the state of a run after a number of attempts. Pending are the arrivals that have no
// node yet.
type Sample struct {
	Attempts int `json:"attempts"`
	Placed   int `json:"placed"`
	Pending  int `json:"pending"`
	// Waiting are those of them that wait for a node: not the gated, nor arrivals that were
	// evicted.
	Waiting int `json:"waiting"`
	// Used is requested/allocatable of all nodes together, by resource, in percent.
	Used map[string]float64 `json:"used"`
	// Fragmentation is as in the capacity, by resource.
	Fragmentation map[string]float64 `json:"fragmentation,omitempty"`
	// Allocation is of requested/allocatable over nodes, by resource; Stranded as in the capacity.
	Allocation map[string]Distribution `json:"allocation"`
	Stranded   map[string]int64        `json:"stranded"`
	NodesInUse int                     `json:"nodesInUse"`
	// CouldBeEmpty is how many of them are above the bound, as in the capacity.
	CouldBeEmpty int         `json:"couldBeEmpty"`
	Spread       *Unevenness `json:"spread,omitempty"`
} // @name SimulationSample

// lastSample ends the series with the state at the end of the run, and takes the gated, who are
// known then, from those that wait.
func (s *simulation) lastSample(f *world.Fork, t *traced, evicted int) error {
	r := t.Run
	if n := len(r.Series); n == 0 || r.Series[n-1].Attempts != len(t.Steps) {
		one, err := s.sample(f, len(t.Steps), len(t.At), evicted)
		if err != nil {
			return err
		}
		r.Series = append(r.Series, one)
	}
	for i := range r.Series {
		r.Series[i].Waiting = max(r.Series[i].Waiting-r.Gated, 0)
	}
	return nil
}

// sample measures the fork as it is now.
func (s *simulation) sample(f *world.Fork, attempts, placed, evicted int) (out Sample, err error) {
	c, err := measure(s.ctx, f.State(), s.isDaemon, "", false)
	if err != nil {
		return out, err
	}
	out = Sample{
		Attempts: attempts, Placed: placed, Pending: len(s.arrivals) - placed, Waiting: len(s.arrivals) - placed - evicted, NodesInUse: c.Nodes.InUse, CouldBeEmpty: c.Nodes.CouldBeEmpty,
		Used: map[string]float64{}, Fragmentation: map[string]float64{}, Allocation: map[string]Distribution{}, Stranded: map[string]int64{},
	}
	for i := range c.Resources {
		r := &c.Resources[i]
		out.Allocation[r.Resource], out.Stranded[r.Resource] = r.Nodes, r.Stranded
		if r.Allocatable > 0 {
			out.Used[r.Resource] = percent(float64(r.Requested), float64(r.Allocatable))
		}
		if r.Fragmentation != nil {
			out.Fragmentation[r.Resource] = *r.Fragmentation
		}
	}
	out.Spread, err = s.spreads.uneven(s.ctx, f.State(), s.o)
	return out, err
}
