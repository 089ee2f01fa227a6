package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/audit"
)

var errAuditServer = &problem{what: "audit reads a server's log", next: "Name the server: --server http://127.0.0.1:8080."}

func (a *app) auditCommand() *cobra.Command {
	var anchor string
	var accept bool
	verify := &cobra.Command{
		Use:   "verify",
		Short: "Is the log as it was written?",
		Long: `Compares what a server has stored of a cluster with the hash chain that was
written with it. Rows and seals that were changed, removed, moved or put in
are named. With --anchor the chain also has to hold what audit head printed
before, which finds a chain that was written anew as a whole.

A chain whose rows have no seal of its beginning is missing it; what cannot
be checked for that is accepted by --accept-unchecked.

Exit code 0 if nothing is found, 2 if something is.`,
		Example:           "  " + a.name + " audit verify --server http://127.0.0.1:8080 --cluster prod",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.auditVerify(cmd.Context(), anchor, accept) },
	}
	verify.Flags().StringVar(&anchor, "anchor", "", "what audit head printed before")
	verify.Flags().BoolVar(&accept, "accept-unchecked", false, "end with 0 also where something could not be checked, such as what is older than a chain without a beginning")
	head := &cobra.Command{
		Use:               "head",
		Short:             "The end of the log's hash chain, to be kept elsewhere",
		Example:           "  " + a.name + " audit head --server http://127.0.0.1:8080 > anchor.json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.auditHead(cmd.Context()) },
	}
	parent := &cobra.Command{
		Use:   "audit",
		Short: "Is the log as it was written?",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(verify, head)
	return parent
}

func (a *app) auditHead(ctx context.Context) error {
	if a.o.server == "" {
		return errAuditServer
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	raw, err := s.call(ctx, http.MethodGet, nil, nil, "v1", "audit", "heads")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Out, string(raw))
	return err
}

// auditVerify checks the chain part by part, and shows the parts as one.
func (a *app) auditVerify(ctx context.Context, anchorFile string, accept bool) error {
	if a.o.server == "" {
		return errAuditServer
	}
	s, err := newServer(a)
	if err != nil {
		return err
	}
	query := url.Values{}
	if anchorFile != "" {
		anchor, err := audit.ReadAnchor(anchorFile)
		if err != nil {
			return fmt.Errorf("--anchor: %w", err)
		}
		h := anchor.Of(s.cluster)
		if h == nil {
			return &problem{what: fmt.Sprintf("--anchor %s has no cluster %s", anchorFile, s.cluster)}
		}
		query.Set("seal", strconv.FormatInt(h.Seal, 10))
		query.Set("hash", h.Hash)
	}
	wait := a.progress("verifying")
	defer wait.end()
	whole := &audit.Report{}
	for more := true; more; {
		raw, err := s.call(ctx, http.MethodGet, query, nil, "v1", "clusters", s.cluster, "audit")
		if err != nil {
			return err
		}
		part := &audit.Report{}
		if err := json.Unmarshal(raw, part); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		whole.Join(part)
		more = part.More
		query.Set("after", strconv.FormatInt(part.ToSeal, 10))
		wait.at("seals", int(part.ToSeal), int(part.Head.Seal))
	}
	wait.end()
	if accept {
		whole.Accept()
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	if err := a.show(raw, nil, whole, func(p *page) {
		for line := range strings.Lines(whole.Text()) {
			p.text(strings.TrimSuffix(line, "\n"))
		}
	}); err != nil {
		return err
	}
	if !whole.Good() {
		return errNo
	}
	return nil
}
