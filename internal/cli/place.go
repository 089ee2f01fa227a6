package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/cli/ledger"
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/handlers/rest"
)

// placeCommand places pods by one call.
type placeCommand struct {
	file           string
	count, least   int
	atomic, dryRun bool
	hold           time.Duration
}

func (a *app) placeCommand() *cobra.Command {
	c := &placeCommand{}
	cmd := &cobra.Command{
		Use:   "place -f FILE",
		Short: "Place these pods, each with those before it on their nodes",
		Long: `Places a pod, copies of it, or the pods of a StatefulSet, Job, Deployment or
ReplicaSet, each decided with those before it on their nodes. A server binds
what is placed, by one revision, and records each decision; with --dry-run, or
without a server, nothing is written. With --hold the pods go after a time,
unless hold commit keeps them.

Exit code 0 if every pod has a node, or --min-count of them, 2 if not.`,
		Example: "  " + a.name + " place -f job.yaml --atomic --server http://127.0.0.1:8080\n" +
			"  " + a.name + " place -f pod.yaml --count 100 --min-count 80 --dry-run",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context(), a) },
	}
	cmd.Flags().StringVarP(&c.file, "filename", "f", "", "file with the pod or a workload, - for stdin")
	cmd.Flags().IntVar(&c.count, "count", 0, "copies of the pod, named NAME-0 and so on")
	cmd.Flags().BoolVar(&c.atomic, "atomic", false, "all pods or none")
	cmd.Flags().IntVar(&c.least, "min-count", 0, "so many at least, or none")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only say where they would go")
	cmd.Flags().DurationVar(&c.hold, "hold", 0, "bind for this long, from 1s to 24h, unless it is committed")
	return cmd
}

func (c *placeCommand) run(ctx context.Context, a *app) error {
	if c.file == "" {
		return &problem{what: "which pods?", next: "Give the file of a pod or a workload with -f, or - for stdin."}
	}
	if c.hold != 0 && (c.dryRun || a.o.server == "") {
		return &problem{what: "--hold is for a server that binds", next: "Name it: --server http://127.0.0.1:8080, and leave --dry-run out."}
	}
	pods, err := a.readOne(c.file)
	if err != nil {
		return err
	}
	out, raw, gaps, err := answered[decision.PlacementAnswer](ctx, a, func(from *source) (json.RawMessage, error) {
		if err := from.ownConfig(); err != nil {
			return nil, err
		}
		q := rest.PlacementRequest{Snapshot: from.snapshot, Atomic: c.atomic, Bind: !c.dryRun && from.dump == nil}
		if c.hold != 0 {
			q.Bind, q.Hold = false, c.hold.String()
		}
		var head struct{ Kind string }
		_ = json.Unmarshal(pods, &head) // the API names what is wrong
		switch {
		case c.count != 0:
			q.Template, q.Count = pods, &c.count
		case head.Kind == "Pod" || head.Kind == "":
			q.Pods = []json.RawMessage{pods}
		default:
			q.Workload = pods
		}
		if c.least != 0 {
			q.MinCount = &c.least
		}
		if q.Bind || q.Hold != "" {
			return from.write(ctx, a.o.key, q, "v1", "placements")
		}
		return from.call(ctx, http.MethodPost, from.asPosted(), q, "v1", "placements")
	})
	if err != nil {
		return err
	}
	if err := a.show(raw, gaps, out, func(p *page) { p.placement(out) }); err != nil {
		return err
	}
	if out.StoppedBy != nil || c.least == 0 && out.Placed < len(out.Results) {
		return errNo
	}
	return nil
}

func (p *page) placement(out *decision.PlacementAnswer) {
	word, c, where := "PLACED", green, "by "+out.BoundSnapshot
	switch {
	case out.StoppedBy != nil:
		word, c, where = "NONE PLACED", red, "in "+out.Snapshot
	case !out.Committed:
		word, where = "FITS", "in "+out.Snapshot
	}
	p.head(word, c, fmt.Sprintf("%d of %s %s", out.Placed, plural(len(out.Results), "pod"), where), "", out.ID)
	p.warnings(out.Warnings)
	if h := out.Hold; h != nil {
		p.text(fmt.Sprintf("Held until %s, unless hold commit %s keeps the pods.", h.Expires.UTC().Format(time.RFC3339), h.ID))
	}
	t := newTable("POD", "NODE", "~WHY")
	for _, r := range out.Results {
		why := r.Message
		if r.Outcome != engine.Scheduled {
			why = strings.TrimSuffix(string(r.Outcome)+": "+why, ": ")
		}
		t.add(r.Namespace+"/"+r.Name, r.Node, why)
	}
	p.list(t, "")
}

// ledger returns the cluster of the flags, for commands that write into it.
func (a *app) ledger() (*ledger.Cluster, error) {
	if err := a.o.check(); err != nil {
		return nil, err
	}
	if a.o.server == "" {
		return nil, &problem{what: "a server writes, and none is named", next: "Name it: --server http://127.0.0.1:8080. To change a cluster of Kubernetes, use kubectl."}
	}
	if a.o.output == formHTML {
		return nil, fmt.Errorf("-o html: want table or json")
	}
	s, err := newServer(a)
	if err != nil {
		return nil, err
	}
	if s.older() {
		return nil, &problem{what: "only the newest revision can be written to", next: "Without @REVISION. Another one can be copied: " + a.name + " snapshot fork NAME --from " + s.snapshot}
	}
	c := &ledger.Cluster{
		Client: s.client, Name: s.cluster, Namespace: a.o.namespace, Key: a.o.key, JSON: a.o.output == formJSON, In: a.In, Out: a.Out,
		Broken: func(err error) { a.note("the connection broke (%v); it is opened again", err) },
	}
	return c, nil
}

// holdCommand is about placements that are bound for a time.
func (a *app) holdCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "hold",
		Short: "Placements that are bound for a time",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(&cobra.Command{
		Use:               "list",
		Short:             "The holds of a cluster, newest first",
		Example:           "  " + a.name + " hold list --server http://127.0.0.1:8080 --cluster prod",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.listHolds(cmd.Context()) },
	})
	for _, verb := range []struct{ name, method, short, long string }{
		{"get", http.MethodGet, "A hold, its pods and their nodes", ""},
		{"commit", http.MethodPost, "Keep the pods of a hold", "Keeps the pods of a hold where they are. One that has ended otherwise is an error."},
		{"release", http.MethodPost, "Take the pods of a hold away", "Takes the pods of a hold away before its time. One that was committed is an error."},
	} {
		parent.AddCommand(&cobra.Command{
			Use:               verb.name + " ID",
			Short:             verb.short,
			Long:              verb.long,
			Example:           "  " + a.name + " hold " + verb.name + " 0197a1b2-c3d4-7e5f-8a9b-0123456789ab --server http://127.0.0.1:8080",
			Args:              cobra.ExactArgs(1),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(cmd *cobra.Command, args []string) error {
				path := []string{"v1", "holds", args[0]}
				if verb.method == http.MethodPost {
					path = append(path, verb.name)
				}
				return a.oneHold(cmd.Context(), verb.method, path)
			},
		})
	}
	return parent
}

var errHoldServer = &problem{what: "holds are a server's", next: "Name the server: --server http://127.0.0.1:8080."}

func (a *app) oneHold(ctx context.Context, method string, path []string) error {
	if a.o.server == "" {
		return errHoldServer
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if method == http.MethodPost {
		raw, err = s.write(ctx, a.o.key, nil, path...)
	} else {
		raw, err = s.call(ctx, method, nil, nil, path...)
	}
	if err != nil {
		return err
	}
	h := &rest.HeldPlacement{}
	if err := json.Unmarshal(raw, h); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return a.show(raw, nil, h, func(p *page) {
		p.head(strings.ToUpper(h.State), map[string]colour{"held": yellow, "committed": green}[h.State], plural(h.Placed, "pod")+" by "+h.BoundSnapshot, endOfHold(h), h.ID)
		t := newTable("POD", "NODE")
		for _, pod := range h.Pods {
			t.add(pod.Namespace+"/"+pod.Name, pod.Node)
		}
		p.list(t, "")
	})
}

// endOfHold is when a hold ends, or has ended.
func endOfHold(h *rest.HeldPlacement) string {
	if h.Ended != nil {
		return "since " + h.Ended.UTC().Format(time.RFC3339)
	}
	return "until " + h.Expires.UTC().Format(time.RFC3339)
}

func (a *app) listHolds(ctx context.Context) error {
	if a.o.server == "" {
		return errHoldServer
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	out := &rest.HoldList{Items: []*rest.HeldPlacement{}}
	query := url.Values{"cluster": {s.cluster}}
	for more := true; more; {
		raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "holds")
		if err != nil {
			return err
		}
		var part rest.HoldList
		if err := json.Unmarshal(raw, &part); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		out.Items = append(out.Items, part.Items...)
		query.Set("cursor", part.Cursor)
		more = part.Cursor != ""
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return a.show(raw, nil, out, func(p *page) {
		held := 0
		t := newTable("HOLD", "STATE", ">PODS", "END")
		for _, h := range out.Items {
			if h.State == "held" {
				held++
			}
			_, end, _ := strings.Cut(endOfHold(h), " ") // an id is not to be cut
			t.add(h.ID, h.State, count(h.Placed), end)
		}
		p.head(count(held)+" HELD", green, "of "+plural(len(out.Items), "hold"), "", "")
		p.list(t, "")
	})
}
