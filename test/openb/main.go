// Command openb runs a real cluster's history through a berth server: the
// machines of Alibaba's cluster-trace-gpu-v2023 are uploaded as nodes, its tasks
// are decided and bound in the order that they were created in, and deleted when
// they ended. It ends with a table and, unless told otherwise, replays every
// decision. With a second server, on another store, both are asked the same and
// have to give the same answers, byte for byte.
package main

import (
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
	Compare string `placeholder:"URL" help:"A second server, whose answers must be the same, byte for byte."`
	Data    string `required:"" placeholder:"DIR" help:"Directory with the trace's CSV files."`
	Pods    string `default:"openb_pod_list_default.csv" help:"Which pod list of the trace."`
	Cluster string `default:"openb" help:"Cluster to write to; its content is replaced."`
	Limit   int    `help:"Stop after that many pods (0: all)."`
	Replay  bool   `default:"true" negatable:"" help:"Replay every decision at the end."`

	Simulate bool `help:"Run the trace as one scenario under three configurations instead, and compare it with the service deciding task by task."`
	Alone    bool `default:"true" negatable:"" help:"With --simulate: decide task by task as well."`

	Upgrade []string `placeholder:"RELEASE" help:"Run the trace, and have its decisions made again under these releases instead: what each changes, and why."`
	Plant   int      `help:"With --upgrade: plant that many decisions between the tasks that v1.37 makes otherwise. Each has to be found with its cause."`
	Seed    uint64   `default:"1" help:"Draws what is planted where."`

	Machines   float64 `default:"1" placeholder:"SHARE" help:"Share of the trace's machines to use, from 0 to 1: with fewer the cluster fills up."`
	Stretch    float64 `default:"1" placeholder:"FACTOR" help:"Factor on the duration of tasks: longer ones fill the cluster."`
	Priorities bool    `help:"Run a second time with priorities by the trace's quality of service and with preemption, in the cluster CLUSTER-priorities."`
	Rounds     int     `default:"10" help:"How often a preempted task is tried again before it is given up."`
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
	if machines, err = thin(machines, o.Machines); err != nil {
		return err
	}
	if tasks, err = stretch(tasks, o.Stretch); err != nil {
		return err
	}
	servers := []*client{newClient(o.Server)}
	if o.Compare != "" {
		servers = append(servers, newClient(o.Compare))
	}
	if o.Simulate {
		return runSimulation(ctx, o, servers[0], machines, tasks, os.Stdout)
	}
	if len(o.Upgrade) > 0 {
		return runUpgrade(ctx, o, servers[0], machines, tasks, os.Stdout)
	}
	before, err := runOnce(ctx, o, servers, o.Cluster, machines, tasks, false)
	if err != nil || !o.Priorities {
		return err
	}
	with, err := runOnce(ctx, o, servers, o.Cluster+"-priorities", machines, tasks, true)
	if err != nil {
		return err
	}
	beside(os.Stdout, before, with)
	return nil
}

// runOnce plays the trace into a cluster and replays what was decided.
func runOnce(ctx context.Context, o options, servers []*client, cluster string, machines []machine, tasks []task, priorities bool) (*report, error) {
	began := time.Now()
	for _, c := range servers {
		id, err := c.upload(ctx, cluster, machines)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%d machines uploaded as %s to %s\n", len(machines), id, c.base)
		if !priorities {
			continue
		}
		if err := c.classes(ctx, cluster); err != nil {
			return nil, err
		}
	}
	p := newPlayer(servers, cluster, newReport(machines))
	p.priorities, p.rounds = priorities, o.Rounds
	if err := p.play(ctx, tasks); err != nil {
		return nil, err
	}
	r := p.r
	r.write(os.Stdout)
	if o.Compare != "" {
		if err := sameEnd(ctx, servers, cluster); err != nil {
			return nil, err
		}
		fmt.Printf("\nboth servers gave the same %d answers, byte for byte (but for %v)\n", r.decisions, own)
	}
	if !o.Replay {
		return r, nil
	}
	for _, c := range servers {
		b, err := replayAll(ctx, c, cluster, began, r.decisions)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.base, err)
		}
		r.replayed, r.identical = b.Done, b.Identical
	}
	return r, nil
}

func newClient(base string) *client {
	return &client{base: base, http: &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
}
