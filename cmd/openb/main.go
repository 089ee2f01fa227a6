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
	began := time.Now()
	id, err := c.upload(ctx, o.Cluster, machines)
	if err != nil {
		return err
	}
	fmt.Printf("%d machines uploaded as %s\n", len(machines), id)
	r := newReport(machines)
	decisions, err := play(ctx, c, o.Cluster, tasks, r)
	if err != nil {
		return err
	}
	r.write(os.Stdout)
	if !o.Replay {
		return nil
	}
	return replayAll(ctx, c, o.Cluster, began, decisions)
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
// ended by then. It gives the number of decisions.
func play(ctx context.Context, c *client, cluster string, tasks []task, r *report) (int, error) {
	running := &endings{}
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
				return 0, err
			}
		}
		start := time.Now()
		d, err := c.decide(ctx, cluster, t)
		if err != nil {
			return 0, err
		}
		r.spent += time.Since(start)
		r.decisions++
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
	return r.decisions, nil
}

// replayAll has the server replay every decision as one batch, and fails if one
// comes out otherwise.
func replayAll(ctx context.Context, c *client, cluster string, began time.Time, decisions int) error {
	b, err := c.startReplay(ctx, cluster, began.Add(-time.Minute)) // the server's clock may be another's
	if err != nil {
		return err
	}
	p := newProgress("replayed", int(b.Total))
	start := time.Now()
	for b.State == "queued" || b.State == "running" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if b, err = c.replay(ctx, b.ID); err != nil {
			return err
		}
		p.at(int(b.Done))
	}
	took := time.Since(start)
	fmt.Printf("\nreplayed %d decisions in %s (%.0f/s) as batch %s: %d identical, %d different, %d errors\n", b.Done, took.Round(time.Millisecond),
		float64(b.Done)/took.Seconds(), b.ID, b.Identical, b.Different, b.Errors)
	if b.State != "done" || b.Different+b.Errors > 0 || b.Identical < int64(decisions) {
		return fmt.Errorf("batch %s is %s, and %d of %d decisions replay identical", b.ID, b.State, b.Identical, decisions)
	}
	return nil
}
