// Command openb runs a real cluster's history through a berth server: the
// machines of Alibaba's cluster-trace-gpu-v2023 are uploaded as nodes, its tasks
// are decided and bound in the order that they were created in, and deleted when
// they ended. It ends with a table and, unless told otherwise, replays every
// decision. With a second server, on another store, both are asked the same and
// have to give the same answers, byte for byte.
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
	Compare string `placeholder:"URL" help:"A second server, that has to answer the same, byte for byte."`
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
	servers := []*client{newClient(o.Server)}
	if o.Compare != "" {
		servers = append(servers, newClient(o.Compare))
	}
	began := time.Now()
	for _, c := range servers {
		id, err := c.upload(ctx, o.Cluster, machines)
		if err != nil {
			return err
		}
		fmt.Printf("%d machines uploaded as %s to %s\n", len(machines), id, c.base)
	}
	r := newReport(machines)
	if err := play(ctx, servers, o.Cluster, tasks, r); err != nil {
		return err
	}
	r.write(os.Stdout)
	if o.Compare != "" {
		if err := sameEnd(ctx, servers, o.Cluster); err != nil {
			return err
		}
		fmt.Printf("\nboth servers gave the same %d answers, byte for byte (but for %v)\n", r.decisions, own)
	}
	if !o.Replay {
		return nil
	}
	for _, c := range servers {
		if err := replayAll(ctx, c, o.Cluster, began, r.decisions); err != nil {
			return fmt.Errorf("%s: %w", c.base, err)
		}
	}
	return nil
}

func newClient(base string) *client {
	return &client{base: base, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
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
// ended by then.
func play(ctx context.Context, servers []*client, cluster string, tasks []task, r *report) error {
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
			for _, c := range servers {
				if err := c.remove(ctx, cluster, gone); err != nil {
					return err
				}
			}
		}
		d, err := decideAll(ctx, servers, cluster, t, i, r)
		if err != nil {
			return err
		}
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
	return nil
}

// fullEvery is every how many decisions the whole explanation is asked for and
// compared; the others are compared by their digest, which is over all of it.
const fullEvery = 50

// decideAll asks all servers for a decision and wants the same from all.
func decideAll(ctx context.Context, servers []*client, cluster string, t task, n int, r *report) (first *decision, err error) {
	explain := "none"
	if len(servers) > 1 && n%fullEvery == 0 {
		explain = "full"
	}
	var wanted []byte
	for i, c := range servers {
		start := time.Now()
		d, raw, err := c.decide(ctx, cluster, t, explain)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			r.spent += time.Since(start)
			first, wanted = d, raw
			continue
		}
		if err := sameAnswer(wanted, raw); err != nil {
			return nil, fmt.Errorf("task %s, decisions %s and %s: %w", t.name, first.ID, d.ID, err)
		}
	}
	return first, nil
}
