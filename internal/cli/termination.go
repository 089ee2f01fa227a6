package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/podlife"
)

// causes are what ends a pod, in the words of the API.
var causes = []string{"delete", "evict-soft", "evict-hard", "preempt", "liveness", "startup", "shutdown", "api-eviction", "taint", "kubelet-preempt"}

// termination answers how a pod ends, and when.
type termination struct {
	file, cause, container, now string
	lostSince                   string
	grace                       int64
	hasGrace, force, nodeGone   bool
	preStop, exits, codes       map[string]int64
	hookFails, then             []string
	softMax                     int32
}

func (a *app) terminationCommand() *cobra.Command {
	t := &termination{}
	cmd := &cobra.Command{
		Use:   "termination [POD]",
		Short: "How does it end, in which time, and which period counts?",
		Long: `How a pod ends: the grace period and its origin, the time of each container, and
the events in order, if every container uses all its time. Nodes and
PodDisruptionBudgets in the same input are used: a pod on a node that is not
Ready stays Terminating, and an api-eviction checks the budgets.

As with kubectl, --grace-period 0 without --force is sent as 1, and a negative
one counts as not given.

Exit code 0 if no container keeps running, 2 if one may (a forced delete).`,
		Example: "  kubectl get pod checkout -o json | " + a.name + " termination -\n" +
			"  " + a.name + " termination -f pod.json --cause evict-soft --eviction-max-pod-grace-period 60\n" +
			"  " + a.name + " termination shop/checkout --snapshot cluster.json --grace-period 5",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, names []string) error {
			// kubectl's default is -1, and it sends no negative one (k8s.io/kubectl/pkg/cmd/delete
			// DeleteOptions.deleteResource); a node's share is not kubectl's.
			t.hasGrace = cmd.Flags().Changed("grace-period") && (t.grace >= 0 || t.cause == string(podlife.CauseShutdown))
			return t.run(cmd.Context(), a, names)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&t.file, "filename", "f", "", "file with the pod")
	f.StringVar(&t.cause, "cause", "delete", "what ends it: "+strings.Join(causes, ", "))
	f.Int64Var(&t.grace, "grace-period", -1, "grace period of the delete in seconds")
	f.BoolVar(&t.force, "force", false, "a forced delete, as kubectl delete --force")
	f.StringVar(&t.container, "container", "", "the container whose probe failed, if several have one")
	f.StringToInt64Var(&t.preStop, "pre-stop", nil, "seconds that a container's preStop hook runs, such as web=5")
	f.Int32Var(&t.softMax, "eviction-max-pod-grace-period", 0, "the kubelet's setting for soft evictions, in seconds")
	f.StringToInt64Var(&t.exits, "exit", nil, "seconds that a container takes to exit after the signal, such as web=3")
	f.StringToInt64Var(&t.codes, "exit-code", nil, "what it exits with then if not 0, such as web=143")
	f.StringSliceVar(&t.hookFails, "hook-fails", nil, "containers whose preStop hook fails")
	f.BoolVar(&t.nodeGone, "node-gone", false, "assume the pod's node has been deleted")
	f.StringVar(&t.lostSince, "node-lost-since", "", "last heartbeat of the node's kubelet, such as 2026-01-31T12:00:00Z")
	f.StringArrayVar(&t.then, "then", nil, "what happens later, such as evict-hard@10s or delete@10s,grace-period=5")
	f.StringVar(&t.now, "now", "", "when it happens, such as 2026-01-31T12:00:00Z")
	_ = cmd.RegisterFlagCompletionFunc("cause", cobra.FixedCompletions(causes, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

func (t *termination) run(ctx context.Context, a *app, names []string) error {
	if err := a.o.check(); err != nil {
		return err
	}
	if !slices.Contains(causes, t.cause) {
		return fmt.Errorf("--cause %s: want one of %s", t.cause, strings.Join(causes, ", "))
	}
	now, err := a.moment(t.now)
	if err != nil {
		return err
	}
	asKubectl := t.cause == "delete" && t.hasGrace && t.grace == 0 && !t.force
	if asKubectl {
		t.grace = 1 // k8s.io/kubectl/pkg/cmd/delete DeleteOptions.Complete
	}
	in, err := a.wholePods(ctx, names, t.file)
	if err != nil {
		return err
	}
	if len(in.pods) != 1 {
		return &problem{what: fmt.Sprintf("there are %d pods in it", len(in.pods)), next: "Say which: the name of one of them."}
	}
	q, err := t.question(ctx, a, in, now)
	if err != nil {
		return err
	}
	raw, err := a.terminate(ctx, q)
	if err != nil && q.PodRef == nil {
		err = fmt.Errorf("pod %s: %w", in.pods[0], err)
	}
	if err != nil {
		return err
	}
	e := &podlife.Termination{}
	if err := readInto(raw, e); err != nil {
		return err
	}
	if asKubectl {
		e.Notes = append(e.Notes, "kubectl sends --grace-period 0 without --force as 1; with --force the object goes at once")
	}
	if a.o.output == formJSON {
		err = a.json(raw)
	} else {
		p := a.page()
		p.ending(in.pods[0], t.cause, e, now)
		err = p.end(a)
	}
	if err == nil && (len(e.LeftRunning) > 0 || e.Refused != nil || e.Eviction != nil && !e.Eviction.Allowed) {
		return errNo
	}
	return err
}
