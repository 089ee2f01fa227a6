package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"
	"time"
)

// configurations are what a simulation compares: upstream's default, and two that fill GPUs first.
// A configuration without text is the server's own.
var configurations = []struct{ name, config string }{
	{"default", ""},
	{"most-allocated", fitConfig(`"type":"MostAllocated"`)},
	{"capacity-ratio", fitConfig(`"type":"RequestedToCapacityRatio","requestedToCapacityRatio":{"shape":[{"utilization":0,"score":0},{"utilization":100,"score":10}]}`)},
}

// fitConfig is a KubeSchedulerConfiguration that scores by one strategy, GPUs above all.
func fitConfig(strategy string) string {
	return `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{` +
		strategy + `,"resources":[{"name":"` + gpuResource + `","weight":5},{"name":"cpu","weight":1},{"name":"memory","weight":1}]}}}]}]}`
}

// simulation is what is read of the answer to a simulation.
type simulation struct {
	Digest   string
	Profiles []struct {
		Name                      string
		Placed, Pending, Attempts int
		Series                    []struct {
			Attempts, NodesInUse int
			Used, Fragmentation  map[string]float64
		}
		Moves []struct{ Pod, Outcome, Node string }
	}
}

// simulate runs the trace as one scenario under each configuration. Each task is tried once, as
// when it is decided alone.
func (c *client) simulate(ctx context.Context, cluster string, tasks []task) (*simulation, error) {
	pods := make([]object, len(tasks))
	nth := 0 // of the tasks that came in one second, which come one after the other
	for i, t := range tasks {
		if nth++; i == 0 || t.created != tasks[i-1].created {
			nth = 0
		}
		at := time.Duration(t.created)*time.Second + time.Duration(nth)
		// A task that ends when it came has left before the next one comes.
		stays := max(time.Duration(t.deleted)*time.Second-at, 1)
		pods[i] = object{"pod": t.pod(""), "at": at.String(), "duration": stays.String()}
	}
	var profiles []object
	for _, x := range configurations {
		p := object{"name": x.name}
		if x.config != "" {
			p["config"] = json.RawMessage(x.config)
		}
		profiles = append(profiles, p)
	}
	var out simulation
	err := c.call(ctx, http.MethodPost, "/v1/simulations", object{
		"base": cluster + "@latest", "arrivals": object{"pods": pods}, "profiles": profiles, "tries": 1, "keep": "moves", "wait": "2m",
	}, &out, http.StatusOK)
	return &out, err
}

// nodes are the nodes of the tasks that one configuration placed.
func (s *simulation) nodes(profile int) map[string]string {
	out := map[string]string{}
	for _, m := range s.Profiles[profile].Moves {
		if m.Outcome == "Scheduled" {
			out[m.Pod] = m.Node
		}
	}
	return out
}

// write shows the configurations side by side: the totals, then GPUs over time.
func (s *simulation) write(w io.Writer) {
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nconfiguration\tplaced\tpending\tattempts\tGPU fragmentation, mean\tnodes in use, mean\tmost\t\n")
	for i := range s.Profiles {
		p := &s.Profiles[i]
		var fragmentation float64
		nodes, most := 0, 0
		for _, x := range p.Series {
			fragmentation += x.Fragmentation[gpuResource]
			nodes, most = nodes+x.NodesInUse, max(most, x.NodesInUse)
		}
		n := max(len(p.Series), 1)
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.2f%%\t%d\t%d\t\n", p.Name, p.Placed, p.Pending, p.Attempts, fragmentation/float64(n), nodes/n, most)
	}
	_ = t.Flush()
	t = tabwriter.NewWriter(w, 2, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nattempts\tGPUs used\t")
	for i := range s.Profiles {
		fmt.Fprintf(t, "%s: unusable\tnodes\t", s.Profiles[i].Name)
	}
	fmt.Fprintln(t)
	for k, x := range s.Profiles[0].Series {
		fmt.Fprintf(t, "%d\t%.2f%%\t", x.Attempts, x.Used[gpuResource])
		for i := range s.Profiles {
			if k < len(s.Profiles[i].Series) {
				y := s.Profiles[i].Series[k]
				fmt.Fprintf(t, "%.2f%%\t%d\t", y.Fragmentation[gpuResource], y.NodesInUse)
			}
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
}

// runSimulation simulates the trace, then plays it through the service under each configuration
// alone, and wants the same node for every task.
func runSimulation(ctx context.Context, o options, c *client, machines []machine, tasks []task, w io.Writer) error {
	if _, err := c.upload(ctx, o.Cluster, machines); err != nil {
		return err
	}
	s, err := c.simulate(ctx, o.Cluster, tasks)
	if err != nil {
		return err
	}
	s.write(w)
	if !o.Alone {
		return nil
	}
	for i, x := range configurations {
		cluster := o.Cluster + "-" + x.name
		if _, err := c.upload(ctx, cluster, machines); err != nil {
			return err
		}
		p := newPlayer([]*client{c}, cluster, newReport(machines))
		p.config, p.nodes = x.config, map[string]string{}
		if err := p.play(ctx, tasks); err != nil {
			return err
		}
		if err := sameNodes(s.nodes(i), p.nodes); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		fmt.Fprintf(w, "%s: %d of %d tasks are placed, each on the same node as by the service alone\n", x.name, len(p.nodes), len(tasks))
	}
	return nil
}

// sameNodes wants both to have placed the same tasks on the same nodes.
func sameNodes(simulated, alone map[string]string) error {
	if len(simulated) != len(alone) {
		return fmt.Errorf("the simulation places %d tasks, the service %d", len(simulated), len(alone))
	}
	for name, node := range alone {
		if simulated["openb/"+name] != node {
			return fmt.Errorf("task %s is on %q in the simulation, the service puts it on %s", name, simulated["openb/"+name], node)
		}
	}
	return nil
}
