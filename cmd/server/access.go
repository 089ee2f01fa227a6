package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/access"
	"berth/internal/store"
)

// accessSettings are who may ask.
type accessSettings struct {
	RequireIdentity bool   `help:"Each call needs an identity, also on loopback and with --insecure: an API token (server token create) or a client certificate."`
	AccessFile      string `placeholder:"FILE" help:"What users and groups may, in YAML; read again when it changes. Without it a client certificate may everything."`
}

// callers opens what tells who asks. run is to run while the server does.
func (d *dependencies) callers(ctx context.Context, s *settings, log *slog.Logger) (a *access.Authenticator, run func(context.Context), err error) {
	a = &access.Authenticator{}
	if a.Tokens, err = access.OpenTokens(ctx, d.store, log); err != nil {
		return nil, nil, err
	}
	if s.Access.AccessFile == "" {
		return a, a.Tokens.Run, nil
	}
	if a.File, err = access.OpenFile(s.Access.AccessFile); err != nil {
		return nil, nil, fmt.Errorf("--access-file: %w", err)
	}
	return a, func(ctx context.Context) {
		defer background(ctx, a.Tokens.Run)()
		a.File.Watch(ctx, reread, log, func(digest string) {
			recordAccess(ctx, d.store, log, "access-file.replace", s.Access.AccessFile, map[string]string{"digest": digest})
		})
	}, nil
}

// recordAccess writes a record of a change of access that no caller made. A store that does not
// answer loses it, which the log names.
func recordAccess(ctx context.Context, st store.Access, log *slog.Logger, action, object string, detail any) {
	ctx, cancel := context.WithTimeout(access.With(ctx, access.Server(), "", ""), 5*time.Second)
	defer cancel()
	c, err := access.Change(ctx, action, object, detail, time.Now())
	if err == nil {
		err = st.PutAccessChange(ctx, c)
	}
	if err != nil {
		log.Error("a change of access is not recorded", slog.String("action", action), slog.String("object", object), slog.Any("error", err))
	}
}

// recordStart writes the settings that are not the defaults.
func (c *serveCmd) recordStart(ctx context.Context, st store.Access, a *access.Authenticator, log *slog.Logger) {
	detail := map[string]string{"version": buildVersion().Version}
	for _, s := range c.inEffect {
		if s.From != "default" {
			detail["--"+s.Name] = s.Value
		}
	}
	if a.File != nil {
		detail["accessFileDigest"] = a.File.Digest()
	}
	recordAccess(ctx, st, log, "server.start", c.Listen, detail)
}
