package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"berth/internal/access"
	"berth/internal/store"
	"berth/internal/store/sqlite"
)

// tokenCmd manages the API tokens of a store, without a server.
type tokenCmd struct {
	DataDir     string `default:"./data" placeholder:"DIR" help:"Directory of the embedded store."`
	DatabaseURL string `env:"BERTH_DATABASE_URL,DATABASE_URL" placeholder:"URL" help:"Postgres instead of the embedded store."`

	Create tokenCreateCmd `cmd:"" help:"Make a token and print it; it is not stored and cannot be printed again."`
	List   tokenListCmd   `cmd:"" help:"List tokens, without their secrets."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token at once."`
	Rotate tokenRotateCmd `cmd:"" help:"Replace a token and print the new one; the old one stays valid for the overlap."`
}

type tokenCreateCmd struct {
	Name      string   `required:"" help:"Name of who uses it, as records and logs have it."`
	Role      string   `required:"" enum:"viewer,decider,binder,admin" help:"viewer, decider, binder or admin; each may what those before it may."`
	Cluster   []string `default:"*" placeholder:"PATTERN" help:"Clusters that it is for, such as prod-*; all if not set."`
	Namespace []string `default:"*" placeholder:"PATTERN" help:"Namespaces that it is for; all if not set."`
	Expires   age      `default:"90d" placeholder:"AGE" help:"Lifetime, such as 30d; 0 for no end."`
}

type tokenListCmd struct{}

type tokenRevokeCmd struct {
	Token string `arg:"" help:"Its id, or the name for all tokens of it."`
}

type tokenRotateCmd struct {
	Token   string `arg:"" help:"Its id or name."`
	Overlap age    `default:"1h" placeholder:"AGE" help:"How long the old one stays valid."`
}

// withTokens opens the store's tokens.
func (c *cli) withTokens(ctx context.Context, s streams, use func(ctx context.Context, tokens *access.Tokens) error) (err error) {
	log := newLogger(s.err, "text", "warn")
	st, err := backend{dir: c.Token.DataDir, url: c.Token.DatabaseURL}.open(ctx, log)
	if errors.Is(err, sqlite.ErrLocked) {
		return fmt.Errorf("%w; a server that runs makes tokens by POST /v1/tokens", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	tokens, err := access.OpenTokens(ctx, st, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return use(store.WithAsked(ctx, store.Asked{By: strings.TrimSuffix("shell:"+name, ":")}), tokens)
}

// Run makes a token.
func (t *tokenCreateCmd) Run(ctx context.Context, c *cli, s streams) error {
	return c.withTokens(ctx, s, func(ctx context.Context, tokens *access.Tokens) error {
		now := time.Now()
		expires := time.Time{}
		if t.Expires > 0 {
			expires = now.Add(time.Duration(t.Expires))
		}
		grants := access.Grants{{Role: t.Role, Clusters: t.Cluster, Namespaces: t.Namespace}}
		made, secret, err := tokens.Create(ctx, t.Name, grants, expires, now)
		return printToken(s, made, secret, err)
	})
}

// printToken writes the secret alone to the output, so that it can be redirected to a file.
func printToken(s streams, made *access.Token, secret string, err error) error {
	if err != nil {
		return err
	}
	until := "does not expire"
	if made.ExpiresAt != nil {
		until = "is valid until " + made.ExpiresAt.Format(time.RFC3339)
	}
	fmt.Fprintf(s.err, "token %s (%s) %s; this is the only time that it is shown:\n", made.Name, made.ID, until)
	_, err = fmt.Fprintln(s.out, secret)
	return err
}

// Run lists tokens.
func (*tokenListCmd) Run(ctx context.Context, c *cli, s streams) error {
	return c.withTokens(ctx, s, func(ctx context.Context, tokens *access.Tokens) error {
		list, err := tokens.List(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tROLE\tCREATED\tEXPIRES\tREVOKED\tUSED")
		for _, t := range list {
			var roles []string
			for _, g := range t.Grants {
				roles = append(roles, fmt.Sprintf("%s:%s/%s", g.Role, strings.Join(g.Clusters, ","), strings.Join(g.Namespaces, ",")))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, strings.Join(roles, " "), t.CreatedAt.Format(time.RFC3339), when(t.ExpiresAt), when(t.RevokedAt), when(t.UsedAt))
		}
		return w.Flush()
	})
}

func when(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}

// Run revokes tokens.
func (t *tokenRevokeCmd) Run(ctx context.Context, c *cli, s streams) error {
	return c.withTokens(ctx, s, func(ctx context.Context, tokens *access.Tokens) error {
		list, err := tokens.Revoke(ctx, t.Token, time.Now())
		for _, t := range list {
			fmt.Fprintf(s.out, "revoked %s (%s)\n", t.Name, t.ID)
		}
		return err
	})
}

// Run replaces a token.
func (t *tokenRotateCmd) Run(ctx context.Context, c *cli, s streams) error {
	return c.withTokens(ctx, s, func(ctx context.Context, tokens *access.Tokens) error {
		made, secret, err := tokens.Rotate(ctx, t.Token, time.Duration(t.Overlap), time.Now())
		return printToken(s, made, secret, err)
	})
}
