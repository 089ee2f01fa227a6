package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"berth/internal/access"
	"berth/internal/kube/follow"
	"berth/internal/store"
)

// accessSettings are who may ask.
type accessSettings struct {
	RequireIdentity bool   `help:"Each call needs an identity, also on loopback and with --insecure: an API token (server token create) or a client certificate."`
	AccessFile      string `placeholder:"FILE" help:"What users and groups may, in YAML; read again when it changes. Without it a client certificate may everything."`

	OIDC oidcSettings `embed:"" prefix:"oidc-"`

	TokenReview          string   `placeholder:"NAME" help:"Check tokens of Kubernetes, such as those of service accounts, by a TokenReview in this followed cluster."`
	TokenReviewAudiences []string `placeholder:"AUDIENCE" help:"Audiences of which such a token must have one; without any it is the cluster's own API server."`
}

// oidcSettings are an issuer of JWTs.
type oidcSettings struct {
	Issuer         string   `placeholder:"URL" help:"Issuer of JWTs that are identities, as their claim iss has it; https only."`
	Audience       string   `placeholder:"NAME" help:"Audience that such a token must have."`
	UsernameClaim  string   `default:"sub" placeholder:"CLAIM" help:"Claim that names the user."`
	UsernamePrefix string   `placeholder:"TEXT" help:"Text before the names of such users, so that they are not taken for others; without it the issuer and #, but for the claim email; - for none, as for an apiserver."`
	GroupsClaim    string   `default:"groups" placeholder:"CLAIM" help:"Claim that names the groups."`
	GroupsPrefix   string   `placeholder:"TEXT" help:"Text before the names of such groups; without it the issuer and #; - for none."`
	Algs           []string `default:"RS256,ES256" placeholder:"ALG" help:"Algorithms of signatures that are taken."`
	CA             string   `name:"ca" placeholder:"FILE" help:"CAs of the issuer, in PEM; without it those of the system."`
}

// options returns the issuer's options; nil without one.
func (s *oidcSettings) options() (*access.OIDCOptions, error) {
	if s.Issuer == "" {
		return nil, nil
	}
	o := &access.OIDCOptions{
		Issuer: s.Issuer, Audience: s.Audience, UsernameClaim: s.UsernameClaim, UsernamePrefix: s.prefix(s.UsernamePrefix),
		GroupsClaim: s.GroupsClaim, GroupsPrefix: s.prefix(s.GroupsPrefix), Algorithms: s.Algs,
	}
	if s.UsernameClaim == "email" && s.UsernamePrefix == "" {
		o.UsernamePrefix = ""
	}
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	if s.CA == "" {
		return o, nil
	}
	raw, err := os.ReadFile(s.CA)
	if err != nil {
		return nil, fmt.Errorf("--oidc-ca: %w", err)
	}
	o.Roots = x509.NewCertPool()
	if !o.Roots.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("--oidc-ca %s: it holds no certificate in PEM", s.CA)
	}
	return o, nil
}

// prefix returns what stands before names, which a setting names: unless told the issuer, so that
// who has an account there is not taken for a user of a certificate or for a service account. An
// apiserver does so for users of another claim than email, not for groups
// (pkg/kubeapiserver/options/authentication.go).
func (s *oidcSettings) prefix(given string) string {
	switch given {
	case "":
		return s.Issuer + "#"
	case "-":
		return ""
	}
	return given
}

// validate names the flag at fault.
func (s *accessSettings) validate(followed map[string]string) error {
	_, err := s.OIDC.options()
	if _, ok := followed[s.TokenReview]; s.TokenReview != "" && !ok {
		err = errors.Join(err, fmt.Errorf("--token-review %q is no cluster that is followed: add --follow %s=KUBECONFIG", s.TokenReview, s.TokenReview))
	}
	if len(s.TokenReviewAudiences) > 0 && s.TokenReview == "" {
		err = errors.Join(err, errors.New("--token-review-audiences needs --token-review"))
	}
	if (s.OIDC.Issuer != "" || s.TokenReview != "") && s.AccessFile == "" {
		err = errors.Join(err, errors.New("--oidc-issuer and --token-review need --access-file: without it their users may do nothing"))
	}
	return err
}

// verifiers returns who checks the tokens of others.
func (s *settings) verifiers() (list []access.Verifier, err error) {
	o, err := s.Access.OIDC.options()
	if err != nil {
		return nil, err
	}
	if o != nil {
		list = append(list, access.NewOIDC(*o))
	}
	if s.Access.TokenReview == "" {
		return list, nil
	}
	config, err := follow.Config(s.Kube.sources()[s.Access.TokenReview])
	if err != nil {
		return nil, fmt.Errorf("--token-review: %w", err)
	}
	r, err := follow.NewReviewer(config, s.Access.TokenReviewAudiences)
	if err != nil {
		return nil, fmt.Errorf("--token-review: %w", err)
	}
	return append(list, access.NewKubernetes(r.Review)), nil
}

// callers opens what tells who asks. run is to run while the server does.
func (d *dependencies) callers(ctx context.Context, s *settings, log *slog.Logger) (a *access.Authenticator, run func(context.Context), err error) {
	a = &access.Authenticator{}
	if a.Tokens, err = access.OpenTokens(ctx, d.store, log); err != nil {
		return nil, nil, err
	}
	if a.Verifiers, err = s.verifiers(); err != nil {
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

// recordStart writes the settings that are not the defaults, and the configurations in force.
func (p *startup) recordStart(ctx context.Context, a *access.Authenticator) {
	digests := map[string]string{}
	for _, profile := range p.conf.Profiles {
		digests[profile.Name] = profile.Digest
	}
	for cluster, own := range p.deps.configured.Clusters {
		for _, profile := range own {
			digests[cluster+"/"+profile.Name] = profile.Digest
		}
	}
	detail := map[string]any{"version": buildVersion().Version, "profileDigests": digests}
	for _, s := range p.inEffect {
		if s.From != "default" {
			detail["--"+s.Name] = s.Value
		}
	}
	if a.File != nil {
		detail["accessFileDigest"] = a.File.Digest()
	}
	recordAccess(ctx, p.deps.store, p.log, "server.start", p.Listen, detail)
}
