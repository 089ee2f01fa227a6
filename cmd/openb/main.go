// Command openb runs a real cluster's history through a berth server: the
// machines of Alibaba's cluster-trace-gpu-v2023 are uploaded as nodes, its tasks
// are decided and bound in the order that they were created in, and deleted when
// they ended. It ends with a table and, unless told otherwise, replays every
// decision.
package main

import (
	"container/heap"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"
)

type options struct {
	Server  string `default:"http://127.0.0.1:8080" help:"Address of the berth server."`
	Data    string `required:"" placeholder:"DIR" help:"Directory with the trace's CSV files."`
	Pods    string `default:"openb_pod_list_default.csv" help:"Which pod list of the trace."`
	Cluster string `default:"openb" help:"Cluster to write to; what it holds is replaced."`
	Limit   int    `help:"Stop after that many pods (0: all)."`
	Replay  bool   `default:"true" negatable:"" help:"Replay every decision at the end."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("openb"), kong.Description("Run a real cluster's history through a berth server."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "openb:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	machines, err := readMachines(o.Data)
	if err != nil {
		return err
	}
	tasks, err := readTasks(o.Data, o.Pods)
	if err != nil {
		return err
	}
	if o.Limit > 0 && o.Limit < len(tasks) {
		tasks = tasks[:o.Limit]
	}
	c := &client{base: o.Server, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
	id, err := c.upload(ctx, o.Cluster, machines)
	if err != nil {
		return err
	}
	fmt.Printf("%d machines uploaded as %s\n", len(machines), id)
	r := newReport(machines)
	ids, err := play(ctx, c, o.Cluster, tasks, r)
	if err != nil {
		return err
	}
	r.write(os.Stdout)
	if !o.Replay {
		return nil
	}
	return replayAll(ctx, c, ids)
}

// ending is a running task and when it ends; endings is a heap by that time.
type ending struct{ task }

type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].deleted < e[j].deleted }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// play decides the tasks one after the other, taking out before each what has
// ended by then. It gives the decisions' ids.
func play(ctx context.Context, c *client, cluster string, tasks []task, r *report) ([]string, error) {
	running := &endings{}
	ids := make([]string, 0, len(tasks))
	p := newProgress("decided", len(tasks))
	every := max(len(tasks)/20, 1)
	for i, t := range tasks {
		var gone []string
		for running.Len() > 0 && (*running)[0].deleted <= t.created {
			e := heap.Pop(running).(ending)
			gone = append(gone, e.name)
			r.held.add(e.task, -1)
		}
		if len(gone) > 0 {
			if err := c.remove(ctx, cluster, gone); err != nil {
				return nil, err
			}
		}
		start := time.Now()
		d, err := c.decide(ctx, cluster, t)
		if err != nil {
			return nil, err
		}
		r.spent += time.Since(start)
		r.decisions++
		ids = append(ids, d.ID)
		if d.Outcome == "Scheduled" {
			r.scheduled++
			r.held.add(t, 1)
			heap.Push(running, ending{t})
		} else {
			r.unschedulable(d)
		}
		if (i+1)%every == 0 || i == len(tasks)-1 {
			r.samples = append(r.samples, sample{t.created, running.Len(), r.held})
		}
		p.at(i + 1)
	}
	return ids, nil
}

// replayAll replays every decision and fails if one comes out otherwise.
func replayAll(ctx context.Context, c *client, ids []string) error {
	p := newProgress("replayed", len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2)
	same := make([]bool, len(ids))
	start := time.Now()
	for i, id := range ids {
		g.Go(func() error {
			ok, err := c.replay(ctx, id)
			same[i] = ok
			return err
		})
		p.at(i + 1)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	different := 0
	for i, ok := range same {
		if !ok {
			different++
			if different <= 5 {
				fmt.Printf("decision %s replays otherwise\n", ids[i])
			}
		}
	}
	fmt.Printf("\nreplayed %d decisions in %s: %d identical, %d different\n", len(ids), time.Since(start).Round(time.Millisecond), len(ids)-different, different)
	if different > 0 {
		return fmt.Errorf("%d decisions replay otherwise", different)
	}
	return nil
}
