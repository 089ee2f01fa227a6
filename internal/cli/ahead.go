package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/handlers/limits"
	"berth/internal/jobs/simulations"
	"berth/internal/scenario"
	"berth/internal/world"
)

// scenarioQuestion is a question about what comes next.
type scenarioQuestion struct {
	verb string // the last part of its path below the cluster
	scenario.Question
	edits *scenario.Edits
	wait  *progress
}

// scenarioCommand is a command that asks such a question.
type scenarioCommand[T any] struct {
	verb     string
	question scenario.Question
	edits    *scenario.Edits
	doing    string
	// gaps completes the question by what a source has, and returns the gaps that matter for it.
	gaps func(ctx context.Context, from *source) (*gaps, error)
	show func(*page, *T, *gaps)
	// no reports whether the command ends as one whose answer is a no.
	no func(*T) bool
}

func (h *scenarioCommand[T]) run(ctx context.Context, a *app) error {
	var relevant *gaps
	out, raw, _, err := answered[T](ctx, a, func(from *source) (raw json.RawMessage, err error) {
		if relevant, err = h.gaps(ctx, from); err == nil {
			err = from.fullNames(ctx, h.nodes()...)
		}
		if err != nil {
			return nil, err
		}
		return from.scenario(ctx, scenarioQuestion{h.verb, h.question, h.edits, a.progress(h.doing)})
	})
	if err != nil {
		return err
	}
	if err := a.show(raw, relevant, out, func(p *page) { h.show(p, out, relevant) }); err != nil {
		return err
	}
	if h.no(out) {
		return errNo
	}
	return nil
}

// nodes returns the names of nodes that the question has.
func (h *scenarioCommand[T]) nodes() (out []*string) {
	names := func(list []string) {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	like := func(n *scenario.AddNodes) {
		if n.Like != "" {
			out = append(out, &n.Like)
		}
	}
	switch q := h.question.(type) {
	case *scenario.DrainQuestion:
		names(q.Nodes)
	case *scenario.LossQuestion:
		names(q.Nodes)
	case *scenario.PoolsQuestion:
		for i := range q.Pools {
			like(&q.Pools[i].AddNodes)
		}
	}
	if h.edits != nil {
		for i := range h.edits.AddNodes {
			like(&h.edits.AddNodes[i])
		}
	}
	return out
}

// anyNotOK reports whether a zone or node of a sweep leaves a pod without a node.
func anyNotOK(list []*scenario.SweepItem) bool {
	return slices.ContainsFunc(list, func(i *scenario.SweepItem) bool { return !i.OK })
}

// sweep shows what the loss or the drain of each zone or node alone does: those first that leave a
// pod without a node.
func (p *page) sweep(list []*scenario.SweepItem, what, done string, warnings []string) {
	head := "@" + strings.ToUpper(what)
	if what == scenario.EachZone {
		head = "." + strings.ToUpper(what)
	}
	var seconds int64
	var sum world.Replaced
	left, preempted, leave := 0, 0, "deleted"
	t := newTable(head, ">PODS", ">PLACED", ">NO NODE", ">STAY", "~BECAUSE")
	if done == "drained" {
		leave = "evicted"
		t = newTable(head, "OUTCOME", ">PODS", ">PLACED", ">NO NODE", "~BECAUSE")
	}
	for _, i := range list {
		seconds, preempted = max(seconds, i.Seconds), preempted+i.Preempted
		if left += i.Deleted; done == "drained" {
			left += i.Pods
		}
		if sum.Add(&i.Replaced); i.OK {
			continue
		}
		without := count(i.Pending + i.NotStarted + i.Held)
		if done == "drained" {
			t.add(i.Name, i.Outcome, count(i.Pods), count(i.Placed-i.NotStarted), without, i.Why)
		} else {
			t.add(i.Name, count(i.Pods), count(i.Placed-i.NotStarted), without, count(i.Stay), i.Why)
		}
	}
	bad, all := len(t.rows), len(list)
	beside := "until " + span(seconds) + " at the latest"
	if done == "drained" {
		beside = "in " + span(seconds) + " at most"
	}
	of := func(n int) string { return count(n) + " OF " + strings.ToUpper(plural(all, what)) }
	switch {
	case bad > 0:
		p.head(of(bad), red, "cannot be "+done, beside, "")
	case all == 1:
		p.head(of(all), green, "can be "+done, beside, "")
	default:
		p.head(of(all), green, "can each be "+done, beside, "")
	}
	p.text(fmt.Sprintf("%s %s in all: %s.", plural(left, "pod"), leave, replaced(&sum, preempted)))
	p.notes(warnings)
	p.list(t, what+"s")
	p.gap()
	switch rest := all - bad; {
	case bad == 0 || rest == 0:
	case rest == 1:
		p.text("The other " + what + " can be " + done + ".")
	default:
		p.text("The other " + plural(rest, what) + " can each be " + done + ".")
	}
}

// body returns a question as the fields of a request.
func (s *source) body(q *scenarioQuestion) (map[string]any, error) {
	js, err := json.Marshal(q.Question)
	body := map[string]any{"wait": jobWait}
	if s.dump != nil { // a process of one caller has no jobs
		body["wait"] = limits.Unbounded().ScenarioDeadline.String()
	}
	if err == nil {
		err = json.Unmarshal(js, &body)
	}
	if q.edits != nil {
		body["edits"] = q.edits
	}
	if s.semantics != "" {
		body["semantics"] = s.semantics
	}
	return body, err
}

func (s *source) scenario(ctx context.Context, q scenarioQuestion) (json.RawMessage, error) {
	body, err := s.body(&q)
	if err != nil {
		return nil, err
	}
	if s.config != nil {
		body["config"] = s.config
	}
	if s.profile != "" {
		body["profile"] = s.profile
	}
	query := passedOver()
	if s.older() {
		query.Set("snapshot", s.snapshot)
	}
	raw, err := s.follow(ctx, q.wait, query, body, "v1", "clusters", s.cluster, q.verb)
	return raw, s.hint(ctx, err, target{})
}

// ownBounds are those of a scenario in the process: its user can end it.
var ownBounds = scenario.Bounds{Pods: 1 << 30, Attempts: 1 << 30, Profiles: 16}

// A question about what comes next may keep its call waiting for a while, and is then a job that is
// looked at now and then.
const (
	jobWait  = "1s"
	jobEvery = 300 * time.Millisecond
)

// follow sends a question about what comes next, and follows it to its end where it is a job. The
// job is cancelled where ctx ends before.
func (s *source) follow(ctx context.Context, wait *progress, query url.Values, body any, path ...string) (json.RawMessage, error) {
	defer wait.end()
	if s.dump != nil {
		ctx = (&world.Watch{Progress: wait.at}).With(ctx)
	}
	raw, status, err := s.exchange(ctx, http.MethodPost, query, body, path...)
	if err != nil || status != http.StatusAccepted {
		return raw, err
	}
	var job simulations.Job
	err = s.followJob(ctx, raw, []string{"v1", "simulations"}, func(raw json.RawMessage) (jobState, error) {
		job = simulations.Job{}
		if err := json.Unmarshal(raw, &job); err != nil {
			return jobState{}, fmt.Errorf("read the job: %w", err)
		}
		if n := len(job.Progress); n > 0 {
			p := job.Progress[n-1]
			wait.at(p.Part, p.Done, p.Total)
		}
		return jobState{job.ID, job.State, job.Reason}, nil
	})
	return job.Result, err
}

// jobState is what every kind of job says of itself.
type jobState struct{ id, state, reason string }

// followJob looks at a job until it ends; its error is that the job does not end as done. raw is
// how it began, and read reads what it says. It is cancelled where ctx ends before.
func (s *source) followJob(ctx context.Context, raw json.RawMessage, path []string, read func(json.RawMessage) (jobState, error)) error {
	for {
		job, err := read(raw)
		if err != nil {
			return err
		}
		switch job.state {
		case "done":
			return nil
		case "failed":
			return &problem{what: "job " + job.id, why: errors.New(job.reason)}
		case "cancelled":
			return &problem{what: "job " + job.id + " was cancelled"}
		}
		one := append(slices.Clip(path), job.id)
		select {
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			if _, err := s.call(ending, http.MethodPost, nil, nil, append(one, "cancel")...); err != nil {
				return fmt.Errorf("cancel the job %s: %w", job.id, err)
			}
			return ctx.Err()
		case <-time.After(jobEvery):
		}
		next, err := s.call(ctx, http.MethodGet, nil, nil, one...)
		if err == nil {
			raw = next
		} else if ctx.Err() == nil {
			return err
		}
	}
}

// progress is a line on stderr that reports that something is going on. It is
// shown only on a terminal, and only where it takes a while.
type progress struct {
	a     *app
	what  string
	n     int
	began time.Time
	shown time.Time
}

// The first line is due after a while, further ones now and then.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

func (a *app) progress(what string) *progress {
	now := a.Now()
	return &progress{a: a, what: what, began: now, shown: now.Add(progressAfter - progressEvery)}
}

// step counts one more.
func (p *progress) step() {
	p.n++
	if p.n%256 == 0 {
		p.show()
	}
}

// tick counts one more of what takes long.
func (p *progress) tick() {
	p.n++
	p.show()
}

func (p *progress) show() {
	if p.due() {
		p.line(fmt.Sprintf("%s: %d objects", p.what, p.n))
	}
}

// due reports whether the line is to be written anew.
func (p *progress) due() bool {
	if !p.a.Watched || p.a.Env("TERM") == "dumb" {
		return false
	}
	now := p.a.Now()
	if now.Sub(p.shown) < progressEvery {
		return false
	}
	p.shown = now
	return true
}

func (p *progress) line(text string) {
	fmt.Fprintf(p.a.Err, "\r%-*s", standardWidth-1, fit(text, standardWidth-1))
}

// progressWidth is how many columns the bar of a run has.
const progressWidth = 30

// at shows how far a part of a run is, as a bar where its end is known.
func (p *progress) at(part string, done, total int) {
	switch {
	case !p.due():
	case total == 0:
		p.line(fmt.Sprintf("%s: %s %s", p.what, count(done), part))
	default:
		full := progressWidth * done / total
		p.line(fmt.Sprintf("%s: [%s%s] %d%% of %s (%s)", p.what, strings.Repeat("#", full), strings.Repeat(".", progressWidth-full), 100*done/total, count(total), part))
	}
}

// waiting shows for how long an answer has been waited for, until end.
func (a *app) waiting(what string) (end func()) {
	if !a.Watched {
		return func() {}
	}
	p, stop := a.progress(what), make(chan struct{})
	var shows sync.WaitGroup
	shows.Go(func() {
		every := time.NewTicker(progressEvery)
		defer every.Stop()
		for {
			select {
			case <-stop:
				return
			case <-every.C:
				if p.due() {
					p.line(fmt.Sprintf("%s: %s", p.what, p.shown.Sub(p.began).Round(time.Second)))
				}
			}
		}
	})
	return func() {
		close(stop)
		shows.Wait()
		p.end()
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.a.Watched && p.shown.After(p.began.Add(progressAfter-progressEvery)) {
		fmt.Fprintf(p.a.Err, "\r%s\r", strings.Repeat(" ", standardWidth-1))
	}
}
