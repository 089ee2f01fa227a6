// Command fleet is a fleet of three machines: go run ./examples/fleet URL CLUSTER prints what came
// of it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"berth/client"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "want the URL of a server and the name of a new cluster")
		os.Exit(1)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

type object = map[string]any

func pod(name, cpu, class string) object {
	return object{"metadata": object{"name": name, "namespace": "default"}, "spec": object{"priorityClassName": class, "containers": []object{
		{"name": "c", "resources": object{"requests": object{"cpu": cpu}}},
	}}}
}

func run(ctx context.Context, server, cluster string) error {
	c, err := client.New(client.Options{Server: server})
	if err != nil {
		return err
	}
	latest := cluster + "@latest"
	items := []object{{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": object{"name": "urgent"}, "value": 1000}}
	for i := range 3 {
		items = append(items, object{
			"apiVersion": "v1", "kind": "Node", "metadata": object{"name": fmt.Sprint("m", i)},
			"status": object{"allocatable": object{"cpu": "4", "pods": "10"}},
		})
	}
	if _, err := c.Upload(ctx, cluster, object{"apiVersion": "v1", "kind": "List", "items": items}); err != nil {
		return err
	}
	three := 3
	web, err := c.Place(ctx, &client.PlacementRequest{Snapshot: latest, Template: pod("web", "3", ""), Count: &three, Atomic: true, Bind: true})
	if err != nil {
		return err
	}
	train, victims, err := preempt(ctx, c, latest, pod("train", "3", "urgent"))
	if err != nil {
		return err
	}
	job, err := c.Place(ctx, &client.PlacementRequest{Snapshot: latest, Pods: []client.Object{pod("job", "1", "")}, Hold: "30s"})
	if err != nil {
		return err
	}
	hold, err := c.Commit(ctx, job.Hold.ID)
	if err != nil {
		return err
	}
	left := web.Results[0].Name
	if left == victims[0].Name {
		left = web.Results[1].Name
	}
	gone, err := c.Change(ctx, latest, &client.ChangeRequest{Delete: []client.Deletion{{Kind: "Pod", Namespace: "default", Name: left}}})
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for e, err := range c.Events(ctx, cluster, "0") {
		if err != nil {
			return err
		}
		counts[e.Event]++
		if e.Event == "revision" && e.Data.Revision == gone.Revision {
			break
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"placed": web.Placed, "stopped": len(victims), "train": train.Outcome, "hold": hold.State, "removed": len(gone.Deleted),
		"decisions": counts["decision"], "placements": counts["placement"], "revisions": counts["revision"],
	})
}

// preempt places a pod that others have to make room for, once they are stopped.
func preempt(ctx context.Context, c *client.Client, snapshot string, pod object) (*client.Decision, []client.Victim, error) {
	placed, err := c.Place(ctx, &client.PlacementRequest{Snapshot: snapshot, Pods: []client.Object{pod}, Bind: true})
	if err != nil {
		return nil, nil, err
	}
	result := placed.Results[0]
	if len(result.Victims) == 0 {
		return nil, nil, fmt.Errorf("%s is %s: want victims", result.Name, result.Outcome)
	}
	var stopped client.ChangeRequest
	for _, v := range result.Victims { // here a platform stops their processes
		stopped.Delete = append(stopped.Delete, client.Deletion{Kind: "Pod", Namespace: v.Namespace, Name: v.Name})
	}
	if _, err := c.Change(ctx, snapshot, &stopped); err != nil {
		return nil, nil, err
	}
	d, err := c.Decide(ctx, &client.DecisionRequest{
		Snapshot: snapshot, PodRef: &client.PodName{Namespace: result.Namespace, Name: result.Name}, Bind: true, Explain: "none",
	})
	return d, result.Victims, err
}
