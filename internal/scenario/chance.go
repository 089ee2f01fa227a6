package scenario

import (
	"context"
	"slices"

	"berth/internal/decision"
	"berth/internal/memory"
	"berth/internal/world"
)

// Chancing is part of questions whose answers count what Kubernetes leaves to chance.
type Chancing struct {
	// Chance is how many times the question is run, each time with other outcomes of what
	// Kubernetes leaves to chance: which of equal nodes, of equal pods, the order of maps. The
	// answer is that of the first run, with what chance decided in it and, for more than one, the
	// lowest, median and highest of the headline counts. If absent, questions without a clock
	// count nothing.
	Chance *int `json:"chance,omitempty" example:"20"`
}

// Chanced is part of their answers, and no part of their digests.
type Chanced struct {
	Chance *Chance `json:"chance,omitempty"`
}

// Chance is what Kubernetes leaves to chance in an answer.
type Chance struct {
	// Runs is how often the question was run.
	Runs int `json:"runs"`
	// Decided counts the choices of the first run that are chance, Named are the first ten.
	Decided int            `json:"decided"`
	Named   []world.Choice `json:"named,omitempty"`
	// Figures are there for more than one run.
	Figures []ChanceFigure `json:"figures,omitempty"`
} // @name Chance

// ChanceFigure is a headline count over all runs. The median of an even number of runs is the lower
// one of the two in the middle.
type ChanceFigure struct {
	// Name is placed; pending, which are pods that have no node at the end, or places without a
	// running pod; preempted; drained, which are nodes; or seconds, until all is over.
	Name    string `json:"name" enums:"placed,pending,preempted,drained,seconds"`
	Lowest  int64  `json:"lowest"`
	Median  int64  `json:"median"`
	Highest int64  `json:"highest"`
} // @name ChanceFigure

// mostRuns bounds how often one question is run.
const mostRuns = 100

// headline are the headline counts of one answer, by name.
type headline []ChanceFigure

// count is one of them.
func (h *headline) count(name string, n int) {
	*h = append(*h, ChanceFigure{Name: name, Lowest: int64(n)})
}

// checkChance refuses a number of runs that is none.
func (q *Chancing) checkChance() error {
	if q.Chance != nil && (*q.Chance < 1 || *q.Chance > mostRuns) {
		return decision.Errorf(decision.Invalid, "chance", "want a number of runs from 1 to %d", mostRuns)
	}
	return nil
}

// counting returns the stage on which the first run counts what is chance; the stage itself where
// the question does not want that.
func (q *Chancing) counting(s *Stage) *Stage {
	if q.Chance == nil {
		return s
	}
	return s.salted(0)
}

// salted returns the stage with a salt. What a run finishes is not kept for a later one, which
// would lack the choices that were counted.
func (s *Stage) salted(salt int) *Stage {
	on := *s
	on.Options.Chance = world.NewDraws(salt)
	if w := on.Options.Watch; w != nil {
		on.Options.Watch = &world.Watch{Progress: w.Progress}
	}
	return &on
}

// chances sums up what chance decided in the first run, and runs the question again with other
// salts. It returns nothing where the question does not want that.
func (q *Chancing) chances(
	ctx context.Context, s *Stage, first headline, again func(context.Context, *Stage) (headline, error),
) (c Chanced, err error) {
	if q.Chance == nil {
		return c, nil
	}
	c.Chance = &Chance{Runs: *q.Chance}
	c.Chance.Decided, c.Chance.Named = s.Options.Chance.Counted()
	if *q.Chance == 1 {
		return c, nil
	}
	runs := []headline{first}
	for salt := 1; salt < *q.Chance; salt++ {
		s.Options.Watch.Progressed("runs", salt, *q.Chance)
		on := s.salted(salt)
		on.Options.Watch = nil
		within, free := memory.Within(ctx)
		h, err := again(within, on)
		free()
		if err != nil {
			return c, err
		}
		runs = append(runs, h)
	}
	for i, f := range first {
		values := make([]int64, 0, len(runs))
		for _, h := range runs {
			values = append(values, h[i].Lowest)
		}
		slices.Sort(values)
		c.Chance.Figures = append(c.Chance.Figures, ChanceFigure{f.Name, values[0], values[(len(values)-1)/2], values[len(values)-1]})
	}
	return c, nil
}

// draws returns how a scenario is run: one with a clock counts what is chance in any case.
func (q *Request) draws() *Chancing {
	if q.Clock && q.Chance == nil {
		return &Chancing{new(1)}
	}
	return &q.Chancing
}

// headline returns the counts that chance may change.
func (s *Simulation) headline() (h headline) {
	r := &s.Profiles[0]
	if s.Clock == nil {
		h.count("placed", r.Placed)
		h.count("pending", r.Pending)
		h.count("preempted", r.Victims)
		return h
	}
	t := &s.Clock.Totals
	h.count("placed", r.Placed+t.Placed)
	h.count("pending", s.Clock.Waiting+t.NotStarted+t.Held)
	h.count("preempted", t.Preempted)
	h.count("seconds", int(s.Clock.Seconds))
	return h
}
